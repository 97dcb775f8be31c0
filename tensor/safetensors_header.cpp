#include "tensor/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace rote {

namespace {

constexpr size_t kLongestName = 1000;  // bytes; names stand in error texts

// Takes the header event by event: nothing is built from what the format does not allow, so that a hostile header costs no more
// memory than its own size.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::map<std::string, std::string>& metadata) : path_(path), metadata_(metadata) {}

  std::vector<SafetensorsInfo> take() { return std::move(infos_); }

  bool null() { return other_value(); }
  bool boolean(bool) { return other_value(); }
  bool number_integer(int64_t) { return other_value(); }  // a negative one
  bool number_float(double, const std::string&) { return other_value(); }
  bool binary(nlohmann::json::binary_t&) { return other_value(); }

  bool number_unsigned(uint64_t value) {
    if (skipped_ > 0) return true;
    if (place_ != Place::list) return other_value();
    if (value > static_cast<uint64_t>(INT64_MAX)) return refuse(str(tensor_, " has ", value, " in its ", field_, ", which no file can hold"));
    if (list_.size() == static_cast<size_t>(Shape::kMaxAxes)) return refuse(str(tensor_, " has more than ", Shape::kMaxAxes, " numbers in its ", field_));
    list_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& text) {
    if (skipped_ > 0) return true;
    if (place_ == Place::metadata) {
      metadata_[field_] = text;
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") return other_value();
    for (int i = 0; i < kDTypes; ++i)
      if (text == kDTypeInfo[i].safetensors) {
        dtype_ = i;
        return true;
      }
    std::string known;
    for (const DTypeInfo& one : kDTypeInfo) known += str(known.empty() ? "" : ", ", one.safetensors);
    return refuse(str(tensor_, " has the dtype ", text, ", which is none of ", known));
  }

  bool start_object(size_t) {
    if (skipped_ > 0 || (place_ == Place::tensor && !known_field())) return skip();
    if (place_ == Place::start) place_ = Place::root;
    else if (place_ != Place::root) return other_value();
    else place_ = tensor_ == "__metadata__" ? Place::metadata : Place::tensor;
    fields_.clear();
    return true;
  }

  bool key(std::string& text) {
    if (skipped_ > 0) return true;
    if (text.size() > kLongestName) return refuse(str("it has a name of ", text.size(), " bytes, more than ", kLongestName));
    if (place_ == Place::root) {
      tensor_ = text;
      if (!names_.insert(text).second) return refuse(str(tensor_, " is named twice"));
      dtype_ = -1;
    } else {
      field_ = text;
      if (!fields_.insert(text).second) return refuse(str(tensor_, " has two fields ", field_));
    }
    return true;
  }

  bool end_object() {
    if (skipped_ > 0) return end_skipped();
    if (place_ == Place::tensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"})
        if (fields_.find(field) == fields_.end()) return refuse(str(tensor_, " has no ", field));
      if (!add()) return false;
    }
    place_ = place_ == Place::root ? Place::end : Place::root;
    return true;
  }

  bool start_array(size_t) {
    if (skipped_ > 0 || (place_ == Place::tensor && !known_field())) return skip();
    if (place_ != Place::tensor || field_ == "dtype") return other_value();
    place_ = Place::list;
    list_.clear();
    return true;
  }

  bool end_array() {
    if (skipped_ > 0) return end_skipped();
    (field_ == "shape" ? shape_ : offsets_) = list_;
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    return refuse(str("its header is no JSON from byte ", position, " on"));
  }

 private:
  enum class Place { start, root, metadata, tensor, list, end };

  [[noreturn]] bool refuse(const std::string& what) const { throw IoError(str("read ", path_, ": ", what, "; the file is damaged or no safetensors file.")); }

  bool known_field() const { return field_ == "dtype" || field_ == "shape" || field_ == "data_offsets"; }

  // A value that is not what its place wants; fields that the format does not know may hold anything.
  bool other_value() {
    if (skipped_ > 0 || (place_ == Place::tensor && !known_field())) return true;
    if (place_ == Place::start) return refuse("its header is no JSON object");
    if (place_ == Place::root) return refuse(str(tensor_, " is not described by an object"));
    if (place_ == Place::metadata) return refuse(str("the metadata ", field_, " is no string"));
    return refuse(str(tensor_, " has a ", field_, " of the wrong kind"));
  }

  bool skip() {
    ++skipped_;
    return true;
  }
  bool end_skipped() {
    --skipped_;
    return true;
  }

  bool add() {
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) return refuse(str(tensor_, " has data_offsets that are no range"));
    const DType dtype = static_cast<DType>(dtype_);
    const Shape shape(shape_);
    int64_t bytes = size_of(dtype);
    for (const int64_t extent : shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes)) return refuse(str(tensor_, " is ", name(dtype), shape, ", larger than any file"));
    const int64_t given = offsets_[1] - offsets_[0];
    if (given != bytes) return refuse(str(tensor_, " is ", name(dtype), shape, " and takes ", bytes, " bytes but its data_offsets hold ", given));
    infos_.push_back({tensor_, dtype, shape, offsets_[0], bytes});
    return true;
  }

  const std::string& path_;
  std::map<std::string, std::string>& metadata_;
  std::vector<SafetensorsInfo> infos_;
  Place place_ = Place::start;
  int64_t skipped_ = 0;  // depth inside an unknown field
  std::string tensor_, field_;
  std::set<std::string> names_, fields_;
  int dtype_ = -1;
  std::vector<int64_t> list_, shape_, offsets_;
};

}  // namespace

std::vector<SafetensorsInfo> parse_safetensors_header(const std::string& path, const std::string& header, int64_t data_bytes,
                                                      std::map<std::string, std::string>& metadata) {
  ROTE_CHECK(!header.empty() && header[0] == '{', IoError, "read ", path, ": its header does not begin with {; the file is no safetensors file.");
  HeaderReader reader(path, metadata);
  nlohmann::json::sax_parse(header, &reader);
  std::vector<SafetensorsInfo> infos = reader.take();
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes != b.bytes ? a.bytes < b.bytes : a.name < b.name;
  });
  int64_t end = 0;
  for (const SafetensorsInfo& i : infos) {
    ROTE_CHECK(i.offset == end, IoError, "read ", path, ": ", i.name, " begins at byte ", i.offset, " of the data but the tensor before it ends at ", end,
               "; tensors follow one another without overlap or hole.");
    ROTE_CHECK(i.bytes <= data_bytes - end, IoError, "read ", path, ": ", i.name, " ends at byte ", i.offset + i.bytes, " of the data but the file holds only ",
               data_bytes, "; it was cut short.");
    end += i.bytes;
  }
  ROTE_CHECK(end == data_bytes, IoError, "read ", path, ": ", data_bytes - end, " bytes follow the last tensor, ", infos.empty() ? "none" : infos.back().name,
             "; the header must cover the file.");
  return infos;
}

}  // namespace rote
