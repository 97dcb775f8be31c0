#include "tensor/gguf.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <set>

#include "kernels/check.h"
#include "kernels/dtype.h"

namespace rote {

namespace {

// Value types of the metadata, by their numbers in the file.
enum : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64, kValueTypes };
constexpr int64_t kValueBytes[kValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

bool is_integer(uint32_t type) { return type < kValueTypes && type != kF32 && type != kString && type != kArray && type != kF64; }
bool is_number(uint32_t type) { return is_integer(type) || type == kF32 || type == kF64; }

// Limits of what is kept in memory for each entry of a header.
constexpr uint64_t kMostValues = 4096, kMostTensors = 65536, kLongestName = 1000, kLongestText = 16 << 20;

struct TypeInfo {
  GgufType type;
  const char* name;
  int64_t elements, bytes;  // of a block
};
constexpr TypeInfo kTypes[] = {{GgufType::f32, "F32", 1, 4},   {GgufType::f16, "F16", 1, 2},    {GgufType::bf16, "BF16", 1, 2},
                               {GgufType::q8_0, "Q8_0", 32, 34}, {GgufType::q4_0, "Q4_0", 32, 18}, {GgufType::q4_1, "Q4_1", 32, 20}};

const TypeInfo* find_type(uint32_t number) {
  for (const TypeInfo& one : kTypes)
    if (static_cast<uint32_t>(one.type) == number) return &one;
  return nullptr;
}

int64_t signed_of(uint32_t type, uint64_t bits) {
  switch (type) {
    case kI8: return static_cast<int8_t>(bits);
    case kI16: return static_cast<int16_t>(bits);
    case kI32: return static_cast<int32_t>(bits);
    default: return static_cast<int64_t>(bits);
  }
}

double number_of(uint32_t type, uint64_t bits) {
  if (type == kF32) {  // the shortest number that rounds to it: 1e-05, not 9.99999974e-06
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, std::bit_cast<float>(static_cast<uint32_t>(bits))).ptr;
    double shortest = 0;
    std::from_chars(text, end, shortest);
    return shortest;
  }
  return type == kF64 ? std::bit_cast<double>(bits) : static_cast<double>(signed_of(type, bits));
}

float half_at(const std::byte* p) {
  Half h;
  std::memcpy(&h, p, sizeof h);
  return to_float(h);
}

// n elements of whole blocks.
void dequantise(GgufType type, const std::byte* from, int64_t n, float* to) {
  switch (type) {
    case GgufType::f32: std::memcpy(to, from, static_cast<size_t>(n) * 4); return;
    case GgufType::f16:
      for (int64_t i = 0; i < n; ++i) to[i] = half_at(from + 2 * i);
      return;
    case GgufType::bf16:
      for (int64_t i = 0; i < n; ++i) {
        BFloat16 b;
        std::memcpy(&b, from + 2 * i, sizeof b);
        to[i] = to_float(b);
      }
      return;
    case GgufType::q8_0:
      for (int64_t block = 0; block < n / 32; ++block, from += 34, to += 32) {
        const float d = half_at(from);
        for (int i = 0; i < 32; ++i) to[i] = static_cast<float>(static_cast<int8_t>(from[2 + i])) * d;
      }
      return;
    case GgufType::q4_0:
      for (int64_t block = 0; block < n / 32; ++block, from += 18, to += 32) {
        const float d = half_at(from);
        for (int i = 0; i < 16; ++i) {
          const int both = std::to_integer<int>(from[2 + i]);
          to[i] = static_cast<float>((both & 15) - 8) * d;
          to[i + 16] = static_cast<float>((both >> 4) - 8) * d;
        }
      }
      return;
    case GgufType::q4_1:
      for (int64_t block = 0; block < n / 32; ++block, from += 20, to += 32) {
        const float d = half_at(from), m = half_at(from + 2);
        for (int i = 0; i < 16; ++i) {
          const int both = std::to_integer<int>(from[4 + i]);
          to[i] = static_cast<float>(both & 15) * d + m;
          to[i + 16] = static_cast<float>(both >> 4) * d + m;
        }
      }
      return;
  }
}

}  // namespace

// Reads forward through a file, piece by piece.
class GgufFile::Cursor {
 public:
  explicit Cursor(const InputFile& file, int64_t at = 0) : file_(file), at_(at) {}

  int64_t at() const { return at_; }
  int64_t left() const { return file_.bytes() - at_; }

  [[noreturn]] void refuse(const std::string& what) const { throw IoError(str("read ", file_.path(), ": ", what, "; the file is damaged or no GGUF file.")); }

  void skip(uint64_t n) {
    if (n > static_cast<uint64_t>(left())) refuse(str("it would need ", n, " bytes from byte ", at_, " on but ends at ", file_.bytes()));
    at_ += static_cast<int64_t>(n);
  }

  void bytes(void* to, int64_t n) {
    const int64_t from = at_;
    skip(static_cast<uint64_t>(n));
    if (from < first_ || from + n > first_ + static_cast<int64_t>(piece_.size())) {
      constexpr int64_t kPiece = 1 << 16;
      if (n > kPiece) return file_.read(from, n, to);
      piece_.resize(static_cast<size_t>(std::min(kPiece, file_.bytes() - from)));
      file_.read(first_ = from, static_cast<int64_t>(piece_.size()), piece_.data());
    }
    std::memcpy(to, piece_.data() + (from - first_), static_cast<size_t>(n));
  }

  uint64_t scalar(int64_t size) {
    uint64_t bits = 0;
    bytes(&bits, size);
    return bits;
  }
  uint32_t u32() { return static_cast<uint32_t>(scalar(4)); }
  uint64_t u64() { return scalar(8); }

  std::string text(uint64_t longest, const char* what) {
    const uint64_t length = u64();
    if (length > longest) refuse(str(what, " at byte ", at_ - 8, " would have ", length, " bytes, more than ", longest));
    if (length > static_cast<uint64_t>(left())) skip(length);
    std::string text(length, '\0');
    bytes(text.data(), static_cast<int64_t>(length));
    return text;
  }

  // A value of the metadata, passed over.
  Value value() {
    Value v{u32()};
    if (v.type >= kValueTypes) refuse(str("the value at byte ", at_ - 4, " has the type ", v.type, "; there are ", static_cast<uint32_t>(kValueTypes)));
    if (v.type == kString) {
      v.count = u64();
      v.offset = at_;
      skip(v.count);
    } else if (v.type == kArray) {
      v.element = u32();
      v.count = u64();
      v.offset = at_;
      if (v.element >= kValueTypes || v.element == kArray) refuse(str("the array at byte ", at_, " has elements of the type ", v.element, ", which none holds"));
      const uint64_t least = v.element == kString ? 8 : static_cast<uint64_t>(kValueBytes[v.element]);
      if (v.count > static_cast<uint64_t>(left()) / least) refuse(str("the array at byte ", at_, " would have ", v.count, " elements, more than follow"));
      if (v.element != kString) skip(v.count * least);
      else for (uint64_t i = 0; i < v.count; ++i) skip(u64());
    } else {
      v.bits = scalar(kValueBytes[v.type]);
    }
    return v;
  }

 private:
  const InputFile& file_;
  int64_t at_, first_ = 0;
  std::vector<std::byte> piece_;
};

GgufFile GgufFile::open(const std::string& path) {
  GgufFile f{InputFile(path)};
  f.read_header();
  return f;
}

void GgufFile::read_header() {
  Cursor in(file_);
  ROTE_CHECK(in.left() >= 24, IoError, "read ", path(), ": ", in.left(), " bytes are no GGUF file, which begins with 24 of them.");
  char magic[4];
  in.bytes(magic, 4);
  ROTE_CHECK(std::memcmp(magic, "GGUF", 4) == 0, IoError, "read ", path(), ": it does not begin with GGUF; the file is no GGUF file.");
  const uint32_t version = in.u32();
  ROTE_CHECK(version == 2 || version == 3, IoError, "read ", path(), ": it is of version ", version, "; little-endian files of version 2 and 3 are read.");
  const uint64_t tensors = in.u64(), values = in.u64();
  if (tensors > kMostTensors || values > kMostValues)
    in.refuse(str("it would have ", tensors, " tensors and ", values, " values; at most ", kMostTensors, " and ", kMostValues, " are read"));
  for (uint64_t i = 0; i < values; ++i) {
    const std::string key = in.text(kLongestName, "a key");
    if (!values_.emplace(key, in.value()).second) in.refuse(str("the key ", key, " is there twice"));
  }
  std::set<std::string> names;
  for (uint64_t i = 0; i < tensors; ++i) {
    GgufInfo one{in.text(kLongestName, "the name of a tensor"), GgufType::f32, {}, 0, 0};
    if (!names.insert(one.name).second) in.refuse(str(one.name, " is named twice"));
    const uint32_t axes = in.u32();
    if (axes > 4) in.refuse(str(one.name, " has ", axes, " axes; at most 4 are there"));
    std::vector<int64_t> extents(axes);
    int64_t elements = 1;
    for (uint32_t a = 0; a < axes; ++a) {
      const uint64_t extent = in.u64();
      if (extent > static_cast<uint64_t>(INT64_MAX) || __builtin_mul_overflow(elements, static_cast<int64_t>(extent), &elements) || elements > INT64_MAX / 8)
        in.refuse(str(one.name, " has more elements than any file"));
      extents[axes - 1 - a] = static_cast<int64_t>(extent);
    }
    one.shape = Shape(extents);
    const uint32_t number = in.u32();
    const TypeInfo* type = find_type(number);
    ROTE_CHECK(type != nullptr, IoError, "read ", path(), ": ", one.name, " has the type number ", number,
               "; F32 (0), F16 (1), BF16 (30), Q8_0 (8), Q4_0 (2) and Q4_1 (3) are read.");
    one.type = type->type;
    const int64_t columns = axes == 0 ? 1 : extents.back();
    if (columns % type->elements != 0) in.refuse(str(one.name, " has rows of ", columns, ", no multiple of the ", type->elements, " of a block of ", type->name));
    one.bytes = elements / type->elements * type->bytes;
    const uint64_t offset = in.u64();
    if (offset > static_cast<uint64_t>(file_.bytes())) in.refuse(str(one.name, " begins at byte ", offset, " of the data, behind the end of the file"));
    one.offset = static_cast<int64_t>(offset);
    infos_.push_back(std::move(one));
  }
  const int64_t alignment = integer("general.alignment").value_or(32);
  if (alignment < 1 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) in.refuse(str("general.alignment is ", alignment, ", no power of two up to 2^20"));
  const int64_t data = (in.at() + alignment - 1) / alignment * alignment;
  std::sort(infos_.begin(), infos_.end(), [](const auto& a, const auto& b) { return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes; });
  int64_t end = 0;
  for (GgufInfo& one : infos_) {
    if (one.offset % alignment != 0) in.refuse(str(one.name, " begins at byte ", one.offset, " of the data, no multiple of ", alignment));
    if (one.offset < end) in.refuse(str(one.name, " begins at byte ", one.offset, " of the data but the tensor before it ends at ", end));
    ROTE_CHECK(one.bytes <= file_.bytes() - data - one.offset, IoError, "read ", path(), ": ", one.name, " ends at byte ", one.offset + one.bytes,
               " of the data but the file holds only ", std::max<int64_t>(0, file_.bytes() - data), "; it was cut short.");
    end = one.offset + one.bytes;
    one.offset += data;
  }
}

const GgufInfo* GgufFile::find(const std::string& name) const {
  const auto found = std::find_if(infos_.begin(), infos_.end(), [&](const GgufInfo& one) { return one.name == name; });
  return found == infos_.end() ? nullptr : &*found;
}

const GgufFile::Value* GgufFile::value(const std::string& key, const char* kind, bool fits(const Value&)) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  ROTE_CHECK(fits(found->second), IoError, "read ", path(), ": ", key, " is no ", kind, "; the file is damaged or of another kind.");
  return &found->second;
}

bool GgufFile::is_array(const std::string& key) const {
  const auto found = values_.find(key);
  return found != values_.end() && found->second.type == kArray;
}

std::optional<int64_t> GgufFile::integer(const std::string& key) const {
  const Value* v = value(key, "whole number", [](const Value& x) { return is_integer(x.type) && !(x.type == kU64 && x.bits > static_cast<uint64_t>(INT64_MAX)); });
  return v == nullptr ? std::nullopt : std::optional(signed_of(v->type, v->bits));
}

std::optional<double> GgufFile::number(const std::string& key) const {
  const Value* v = value(key, "number", [](const Value& x) { return is_number(x.type); });
  return v == nullptr ? std::nullopt : std::optional(number_of(v->type, v->bits));
}

std::optional<std::string> GgufFile::text(const std::string& key) const {
  const Value* v = value(key, "text of at most 16 MiB", [](const Value& x) { return x.type == kString && x.count <= kLongestText; });
  if (v == nullptr) return std::nullopt;
  std::string text(v->count, '\0');
  file_.read(v->offset, static_cast<int64_t>(v->count), text.data());
  return text;
}

int64_t GgufFile::count(const std::string& key) const {
  const Value* v = value(key, "array", [](const Value& x) { return x.type == kArray; });
  return v == nullptr ? 0 : static_cast<int64_t>(v->count);
}

std::vector<int64_t> GgufFile::integers(const std::string& key) const {
  const Value* v = value(key, "array of whole numbers", [](const Value& x) { return x.type == kArray && is_integer(x.element); });
  std::vector<int64_t> all(v == nullptr ? 0 : v->count);
  Cursor in(file_, v == nullptr ? 0 : v->offset);
  for (int64_t& one : all) one = signed_of(v->element, in.scalar(kValueBytes[v->element]));
  return all;
}

std::vector<double> GgufFile::numbers(const std::string& key) const {
  const Value* v = value(key, "array of numbers", [](const Value& x) { return x.type == kArray && is_number(x.element); });
  std::vector<double> all(v == nullptr ? 0 : v->count);
  Cursor in(file_, v == nullptr ? 0 : v->offset);
  for (double& one : all) one = number_of(v->element, in.scalar(kValueBytes[v->element]));
  return all;
}

void GgufFile::for_each_text(const std::string& key, const std::function<void(const std::string&)>& f) const {
  const Value* v = value(key, "array of texts", [](const Value& x) { return x.type == kArray && x.element == kString; });
  if (v == nullptr) return;
  Cursor in(file_, v->offset);
  for (uint64_t i = 0; i < v->count; ++i) f(in.text(kLongestName, "a text"));
}

void GgufFile::read_rows(const GgufInfo& info, int64_t first, int64_t n, float* to) const {
  const TypeInfo& type = *find_type(static_cast<uint32_t>(info.type));
  const int64_t columns = info.shape.axes() == 0 ? 1 : info.shape[info.shape.axes() - 1];
  const int64_t row_bytes = columns / type.elements * type.bytes;
  const int64_t at_once = std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(1, row_bytes));
  std::vector<std::byte> piece(static_cast<size_t>(std::min(at_once, n) * row_bytes));
  for (int64_t row = 0; row < n; row += at_once) {
    const int64_t rows = std::min(at_once, n - row);
    file_.read(info.offset + (first + row) * row_bytes, rows * row_bytes, piece.data());
    dequantise(info.type, piece.data(), rows * columns, to + row * columns);
  }
}

}  // namespace rote
