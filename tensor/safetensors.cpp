#include "tensor/safetensors.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "tensor/safetensors_header.h"

namespace rote {

static_assert(std::endian::native == std::endian::little, "elements are stored little-endian and read in place");

namespace {

constexpr int64_t kLongestHeader = 100'000'000;

std::string name_of(const SafetensorsInfo& i) { return str(i.name, " (", name(i.dtype), i.shape, ")"); }

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  SafetensorsFile f{InputFile(path)};
  const int64_t size = f.file_.bytes();
  ROTE_CHECK(size >= 8, IoError, "read ", path, ": ", size, " bytes are no safetensors file, which begins with 8 bytes of header length.");
  uint64_t length;
  f.file_.read(0, 8, &length);
  ROTE_CHECK(length <= static_cast<uint64_t>(kLongestHeader), IoError, "read ", path, ": its header would have ", length, " bytes; at most ",
             kLongestHeader, " are read.");
  const int64_t header_bytes = static_cast<int64_t>(length), data = 8 + header_bytes;
  ROTE_CHECK(data <= size, IoError, "read ", path, ": its header would have ", length, " bytes but only ", size - 8, " follow; it was cut short.");
  std::string header(length, '\0');
  f.file_.read(8, header_bytes, header.data());
  f.infos_ = parse_safetensors_header(path, header, size - data, f.metadata_);
  for (SafetensorsInfo& i : f.infos_) {
    i.offset += data;
    f.by_name_.emplace(i.name, f.by_name_.size());
  }
  return f;
}

SafetensorsFile::~SafetensorsFile() {
  if (map_ != nullptr) ::munmap(map_, static_cast<size_t>(file_.bytes()));
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : file_(std::move(other.file_)),
      infos_(std::move(other.infos_)),
      by_name_(std::move(other.by_name_)),
      metadata_(std::move(other.metadata_)),
      map_(std::exchange(other.map_, nullptr)) {}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(infos_, other.infos_);
  std::swap(by_name_, other.by_name_);
  std::swap(metadata_, other.metadata_);
  std::swap(map_, other.map_);
  return *this;
}

const SafetensorsInfo* SafetensorsFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &infos_[found->second];
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const SafetensorsInfo* info = find(name);
  ROTE_CHECK(info != nullptr, ArgumentError, "read ", path(), ": it holds no tensor ", name, "; it has ", infos_.size(), " others.");
  const Tensor x = empty(info->shape, {.dtype = info->dtype});
  read_into(*info, x);
  return x;
}

void SafetensorsFile::read_into(const SafetensorsInfo& info, const Tensor& to) const {
  ROTE_CHECK(to.shape() == info.shape, ShapeError, "read ", path(), ": ", name_of(info), " does not fit into ", describe(to), "; the shapes must be equal.");
  if (to.dtype() != info.dtype || !to.is_contiguous()) {
    const Tensor x = empty(info.shape, {.dtype = info.dtype});
    read_into(info, x);
    copy_elements(to, x);
    return;
  }
  file_.read(info.offset, info.bytes, to.raw());
  if (info.dtype == DType::boolean) {  // a bool of C++ holds 0 or 1 and nothing else
    auto* byte = static_cast<unsigned char*>(to.raw());
    for (int64_t i = 0; i < info.bytes; ++i) byte[i] = byte[i] != 0;
  }
}

const std::byte* SafetensorsFile::mapped(const SafetensorsInfo& info) const {
  if (map_ == nullptr) {
    void* at = ::mmap(nullptr, static_cast<size_t>(file_.bytes()), PROT_READ, MAP_PRIVATE, file_.descriptor(), 0);
    ROTE_CHECK(at != MAP_FAILED, IoError, "map ", path(), ": ", std::strerror(errno), ".");
    map_ = at;
  }
  return static_cast<const std::byte*>(map_) + info.offset;
}

std::map<std::string, Tensor> load_safetensors(const std::string& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  std::map<std::string, Tensor> tensors;
  for (const SafetensorsInfo& i : file.infos()) tensors.emplace(i.name, file.read(i.name));
  return tensors;
}

SafetensorsFolder SafetensorsFolder::open(const std::string& folder) {
  SafetensorsFolder found;
  const std::string single = folder + "/model.safetensors", index = single + ".index.json";
  if (is_file(single)) {
    found.files_.push_back(SafetensorsFile::open(single));
    return found;
  }
  for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    ROTE_CHECK(is_file(index) || !is_file(folder + "/" + pickle), IoError, "read ", folder, ": it holds ", pickle,
               " but no model.safetensors; a pickle can run code when it is read and is not, so save the model as safetensors.");
  ROTE_CHECK(is_file(index), IoError, "read ", folder, ": it holds neither model.safetensors nor model.safetensors.index.json; name a model folder.");
  constexpr int64_t kLongestIndex = 64 << 20;
  ROTE_CHECK(InputFile(index).bytes() <= kLongestIndex, IoError, "read ", index, ": it has more than ", kLongestIndex, " bytes; the file is damaged.");
  const auto shallow = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    ROTE_CHECK(depth <= 8, IoError, "read ", index, ": it nests more than 8 levels; the file is damaged.");
    return true;
  };
  const nlohmann::json parsed = nlohmann::json::parse(read_file(index), shallow, /*allow_exceptions=*/false);
  ROTE_CHECK(parsed.is_object() && parsed.contains("weight_map") && parsed["weight_map"].is_object(), IoError, "read ", index,
             ": it is no JSON object with a weight_map; download it again.");
  std::map<std::string, size_t> opened;
  for (const auto& [name, file] : parsed["weight_map"].items()) {
    ROTE_CHECK(file.is_string(), IoError, "read ", index, ": ", name, " is not given the name of a file.");
    const std::string part = file.get<std::string>();
    ROTE_CHECK(!part.empty() && part.find('/') == std::string::npos && part[0] != '.', IoError, "read ", index, ": ", name, " lies in \"", part,
               "\", which is not the name of a file beside the index.");
    if (opened.find(part) == opened.end()) {
      opened.emplace(part, found.files_.size());
      found.files_.push_back(SafetensorsFile::open(folder + "/" + part));
    }
    ROTE_CHECK(found.files_[opened[part]].find(name) != nullptr, IoError, "read ", index, ": it places ", name, " in ", part, ", which does not hold it.");
  }
  ROTE_CHECK(!found.files_.empty(), IoError, "read ", index, ": its weight_map is empty; it must name the file of each tensor.");
  const std::vector<SafetensorsInfo> all = found.infos();
  for (size_t i = 1; i < all.size(); ++i)
    ROTE_CHECK(all[i].name != all[i - 1].name, IoError, "read ", index, ": ", all[i].name, " is stored in two of its files.");
  return found;
}

std::vector<SafetensorsInfo> SafetensorsFolder::infos() const {
  std::vector<SafetensorsInfo> all;
  for (const SafetensorsFile& file : files_) all.insert(all.end(), file.infos().begin(), file.infos().end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

const SafetensorsFile* SafetensorsFolder::file_of(const std::string& name) const {
  for (const SafetensorsFile& file : files_)
    if (file.find(name) != nullptr) return &file;
  return nullptr;
}

namespace {

// The order of dtypes in a file: the reference's, largest alignment first.
constexpr DType kFileOrder[kDTypes] = {DType::i64, DType::f64, DType::f32, DType::i32, DType::bf16, DType::f16, DType::i16, DType::i8, DType::u8, DType::boolean};

int file_rank(DType t) { return static_cast<int>(std::find(kFileOrder, kFileOrder + kDTypes, t) - kFileOrder); }

// The bits of a float type: what is above `infinity` without its sign is a NaN.
template <class Bits>
struct FloatBits {
  Bits infinity, nan;
};
template <class Bits>
bool has_nan(const Bits* p, int64_t n, FloatBits<Bits> f) {
  const Bits magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= static_cast<Bits>(p[i] & magnitude) > f.infinity;
  return found;
}

// Writes n elements with every NaN as one pattern (arithmetic.md 5).
template <class Bits>
void write_floats(OutputFile& file, const void* data, int64_t n, FloatBits<Bits> f) {
  constexpr int64_t kPiece = (1 << 20) / static_cast<int64_t>(sizeof(Bits));
  const Bits magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  std::vector<Bits> fixed;
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t count = std::min(kPiece, n - first);
    const Bits* p = static_cast<const Bits*>(data) + first;
    if (has_nan(p, count, f)) {
      fixed.assign(p, p + count);
      for (Bits& bits : fixed)
        if (static_cast<Bits>(bits & magnitude) > f.infinity) bits = f.nan;
      p = fixed.data();
    }
    file.write(p, count * static_cast<int64_t>(sizeof(Bits)));
  }
}

void write_elements(OutputFile& file, const Tensor& tensor) {
  const Tensor x = contiguous(tensor);
  const int64_t n = x.numel();
  switch (x.dtype()) {
    case DType::f64: return write_floats<uint64_t>(file, x.raw(), n, {0x7FF0000000000000u, 0x7FF8000000000000u});
    case DType::f32: return write_floats<uint32_t>(file, x.raw(), n, {0x7F800000u, 0x7FC00000u});
    case DType::f16: return write_floats<uint16_t>(file, x.raw(), n, {0x7C00u, 0x7E00u});
    case DType::bf16: return write_floats<uint16_t>(file, x.raw(), n, {0x7F80u, 0x7FC0u});
    default: return file.write(x.raw(), n * size_of(x.dtype()));
  }
}

}  // namespace

void save_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors, const SaveOptions& options) {
  std::vector<const std::pair<std::string, Tensor>*> sorted;
  for (const auto& one : tensors) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    const int rank_a = file_rank(a->second.dtype()), rank_b = file_rank(b->second.dtype());
    return rank_a != rank_b ? rank_a < rank_b : a->first < b->first;
  });

  nlohmann::ordered_json header;
  if (!options.metadata.empty()) header["__metadata__"] = options.metadata;
  int64_t offset = 0;
  for (const auto* one : sorted) {
    const Tensor& x = one->second;
    const int64_t bytes = x.numel() * size_of(x.dtype());
    ROTE_CHECK(one->first != "__metadata__" && !header.contains(one->first), ArgumentError, "write ", path, ": the name ", one->first,
               " is taken; every tensor needs one of its own.");
    header[one->first] = {{"dtype", info(x.dtype()).safetensors}, {"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.empty() ? "{}" : header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();

  OutputFile file(path, static_cast<int64_t>(8 + length) + offset);
  file.write(&length, 8);
  file.write(text.data(), static_cast<int64_t>(length));
  for (const auto* one : sorted) write_elements(file, one->second);
  file.commit(options.sync);
}

}  // namespace rote
