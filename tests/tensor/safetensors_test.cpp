// tests/tensor/safetensors_test.cpp — safetensors files: round trips, the reference's layout, and every hostile header refused.
#include "tensor/safetensors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/place.h"

using namespace rote;
using rote::testing::TempFolder;

namespace {

// A file with this header and that many bytes of data behind it.
std::string file_of(const std::string& header, size_t data_bytes, int64_t claimed = -1) {
  const uint64_t length = claimed < 0 ? header.size() : static_cast<uint64_t>(claimed);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string refusal(const std::string& bytes) {
  const TempFolder folder;
  const std::string path = folder.file("x.safetensors", bytes);
  try {
    SafetensorsFile::open(path);
  } catch (const IoError& e) {
    const std::string text = e.what(), lead = "read " + path + ": ";
    REQUIRE(text.compare(0, lead.size(), lead) == 0);
    return text.substr(lead.size());
  }
  return "";
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(contiguous(a).raw(), contiguous(b).raw(), static_cast<size_t>(a.numel() * size_of(a.dtype()))) == 0;
}

}  // namespace

TEST_CASE("safetensors: every dtype and shape comes back bit by bit, strided ones in logical order") {
  const TempFolder folder;
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int i = 0; i < kDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    tensors.emplace_back(str("n.", name(t)), converted(from_values({2, 3}, std::vector<double>{0, 1, 2, 3, 1, 0}), t));
  }
  tensors.emplace_back("empty", empty({0, 4}));
  tensors.emplace_back("scalar", scalar(2.5));
  const Tensor x = from_values({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  tensors.emplace_back("transposed", alias(x, {3, 2}, {1, 3}, 0));
  const std::string path = folder.file("t.safetensors");
  save_safetensors(path, tensors, {.metadata = {{"format", "pt"}, {"note", "\"quoted\" \xC3\xA4"}}});
  const SafetensorsFile file = SafetensorsFile::open(path);
  CHECK(file.metadata().at("note") == "\"quoted\" \xC3\xA4");
  REQUIRE(file.infos().size() == tensors.size());
  for (const auto& one : tensors) {
    const std::string name = one.first;
    const Tensor& tensor = one.second;
    CAPTURE(name);
    const Tensor y = file.read(name);
    CHECK(same(y, tensor));
    CHECK(reinterpret_cast<uintptr_t>(y.raw()) % 64 == 0);
    const SafetensorsInfo& info = *file.find(name);
    CHECK(info.offset % size_of(info.dtype) == 0);
    CHECK(std::memcmp(file.mapped(info), contiguous(tensor).raw(), static_cast<size_t>(info.bytes)) == 0);
  }
  CHECK(load_safetensors(path).size() == tensors.size());
  CHECK_THROWS_AS(file.read("absent"), ArgumentError);
}

TEST_CASE("safetensors: the bytes are those of the reference") {
  const TempFolder folder;
  const std::string path = folder.file("t.safetensors");
  save_safetensors(path, {{"b", from_values({2}, std::vector<float>{1, 2})}, {"a", from_values({1}, std::vector<float>{3})}, {"c", from_values({1}, std::vector<int64_t>{7})}});
  // safetensors 0.8.0 writes this for {"b": [1,2], "a": [3], "c": int64 [7]} with metadata {"format": "pt"}.
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},"b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})";
  const std::string bytes = read_file(path);
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  CHECK(length - header.size() < 8);
  CHECK(bytes.substr(8, header.size()) == header);
  CHECK(bytes.substr(8 + header.size(), length - header.size()) == std::string(length - header.size(), ' '));
  CHECK(bytes.size() == 8 + length + 20);
}

TEST_CASE("safetensors: NaNs are stored as one pattern, the tensor keeps its own") {
  const TempFolder folder;
  const std::string path = folder.file("t.safetensors");
  Tensor f = empty({3}), h = empty({2}, {.dtype = DType::f16}), b = empty({1}, {.dtype = DType::bf16}), d = empty({1}, {.dtype = DType::f64});
  const uint32_t f_bits[] = {0xFFC12345u, 0x7F800001u, 0xFF800000u};
  std::memcpy(f.raw(), f_bits, sizeof f_bits);
  h.data<Half>()[0] = {0xFE01};
  h.data<Half>()[1] = {0x7C00};
  b.data<BFloat16>()[0] = {0xFFFF};
  d.data<double>()[0] = -std::nan("7");
  save_safetensors(path, {{"f", f}, {"h", h}, {"b", b}, {"d", d}});
  const SafetensorsFile file = SafetensorsFile::open(path);
  const auto* stored = static_cast<const uint32_t*>(file.read("f").raw());
  CHECK(stored[0] == 0x7FC00000u);
  CHECK(stored[1] == 0x7FC00000u);
  CHECK(stored[2] == 0xFF800000u);
  CHECK(file.read("h").data<Half>()[0].bits == 0x7E00);
  CHECK(file.read("h").data<Half>()[1].bits == 0x7C00);
  CHECK(file.read("b").data<BFloat16>()[0].bits == 0x7FC0);
  CHECK(*static_cast<const uint64_t*>(file.read("d").raw()) == 0x7FF8000000000000u);
  CHECK(std::memcmp(f.raw(), f_bits, sizeof f_bits) == 0);
}

TEST_CASE("safetensors: reading into a tensor converts, and refuses another shape") {
  const TempFolder folder;
  const std::string path = folder.file("t.safetensors");
  save_safetensors(path, {{"x", converted(from_values({2, 2}, std::vector<float>{1, 2, 3, 4}), DType::bf16)}});
  const SafetensorsFile file = SafetensorsFile::open(path);
  const Tensor to = empty({2, 2});
  file.read_into(*file.find("x"), alias(to, {2, 2}, {1, 2}, 0));
  CHECK(same(to, from_values({2, 2}, std::vector<float>{1, 3, 2, 4})));
  CHECK_THROWS_AS(file.read_into(*file.find("x"), empty({4})), ShapeError);
}

TEST_CASE("safetensors: a bool byte that is neither 0 nor 1 is read as true") {
  const TempFolder folder;
  const std::string header = R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  std::string bytes = file_of(header, 2);
  bytes[bytes.size() - 2] = '\0';
  bytes[bytes.size() - 1] = '\x40';
  const Tensor m = SafetensorsFile::open(folder.file("t.safetensors", bytes)).read("m");
  CHECK_FALSE(m.data<bool>()[0]);
  CHECK(static_cast<const unsigned char*>(m.raw())[1] == 1);
}

TEST_CASE("safetensors: each fault of a file is refused in one sentence") {
  const std::string w = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(refusal(file_of(w, 8)) == "");
  CHECK(refusal("short") == "5 bytes are no safetensors file, which begins with 8 bytes of header length.");
  CHECK(refusal(file_of(w, 8, 1000)) == "its header would have 1000 bytes but only 62 follow; it was cut short.");
  CHECK(refusal(file_of(w, 8, 100'000'001)) == "its header would have 100000001 bytes; at most 100000000 are read.");
  CHECK(refusal(file_of(w, 7)) == "w ends at byte 8 of the data but the file holds only 7; it was cut short.");
  CHECK(refusal(file_of(w, 9)) == "1 bytes follow the last tensor, w; the header must cover the file.");
  CHECK(refusal(file_of("[]", 0)) == "its header does not begin with {; the file is no safetensors file.");
  const std::string end = "; the file is damaged or no safetensors file.";
  CHECK(refusal(file_of("{\"w\":", 0)) == "its header is no JSON from byte 6 on" + end);
  CHECK(refusal(file_of("{}x", 0)) == "its header is no JSON from byte 3 on" + end);
  CHECK(refusal(file_of(R"({"w":[1]})", 0)) == "w is not described by an object" + end);
  CHECK(refusal(file_of(R"({"__metadata__":{"a":1}})", 0)) == "the metadata a is no string" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[2]}})", 8)) == "w has no data_offsets" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", 2)) ==
        "w has the dtype F8_E4M3, which is none of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4)) == "w is f32[2] and takes 8 bytes but its data_offsets hold 4" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8)) == "w has data_offsets that are no range" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8)) == "w has a shape of the wrong kind" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8)) == "w has a shape of the wrong kind" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})", 8)) == "w has a shape of the wrong kind" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})", 0)) ==
        "w is f32[4294967296,4294967296,4], larger than any file" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0)) ==
        "w has 18446744073709551615 in its shape, which no file can hold" + end);
  CHECK(refusal(file_of(R"({"w":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1)) == "w has more than 8 numbers in its shape" + end);
  const std::string entry = R"({"dtype":"U8","shape":[2],"data_offsets":)";
  CHECK(refusal(file_of("{\"a\":" + entry + "[0,2]},\"a\":" + entry + "[2,4]}}", 4)) == "a is named twice" + end);
  CHECK(refusal(file_of("{\"a\":" + entry + "[0,2]},\"b\":" + entry + "[1,3]}}", 3)) ==
        "b begins at byte 1 of the data but the tensor before it ends at 2; tensors follow one another without overlap or hole.");
  CHECK(refusal(file_of("{\"a\":" + entry + "[0,2]},\"b\":" + entry + "[3,5]}}", 5)) ==
        "b begins at byte 3 of the data but the tensor before it ends at 2; tensors follow one another without overlap or hole.");
  CHECK(refusal(file_of(std::string("{\"w\":") + std::string(100000, '['), 0)) == "w is not described by an object" + end);
  CHECK(refusal(file_of("{\"" + std::string(1001, 'n') + "\":", 0)) == "it has a name of 1001 bytes, more than 1000" + end);
  // Fields that the format may gain are passed over, whatever they hold.
  CHECK(refusal(file_of(R"({"w":{"new":{"a":[1,{"b":null}]},"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":-1.5}})", 1)) == "");
  CHECK(refusal(file_of("{}", 0)) == "");
}

TEST_CASE("safetensors: a failed write leaves the old file and nothing else") {
  const TempFolder folder;
  const std::string path = folder.file("t.safetensors", "old");
  const Tensor x = scalar(1);
  CHECK_THROWS_AS(save_safetensors(path, {{"x", x}, {"x", x}}), ArgumentError);
  CHECK_THROWS_AS(save_safetensors(path + "/below", {{"x", x}}), IoError);
  CHECK(read_file(path) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("safetensors: a folder is one file or the files of its index") {
  const TempFolder folder;
  const Tensor a = from_values({1}, std::vector<float>{1}), b = from_values({1}, std::vector<float>{2});
  const auto text_of = [&] {
    try {
      SafetensorsFolder::open(folder.path());
    } catch (const IoError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(text_of() == "read " + folder.path() + ": it holds neither model.safetensors nor model.safetensors.index.json; name a model folder.");
  save_safetensors(folder.file("one.safetensors"), {{"a", a}});
  save_safetensors(folder.file("two.safetensors"), {{"b", b}});
  const std::string index = folder.file("model.safetensors.index.json", R"({"metadata":{"total_size":8},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  const SafetensorsFolder both = SafetensorsFolder::open(folder.path());
  REQUIRE(both.infos().size() == 2);
  CHECK(both.file_of("b")->read("b").item() == 2);
  CHECK(both.file_of("c") == nullptr);
  folder.file("model.safetensors.index.json", R"({"weight_map":{"a":"two.safetensors"}})");
  CHECK(text_of() == "read " + index + ": it places a in two.safetensors, which does not hold it.");
  folder.file("model.safetensors.index.json", R"({"weight_map":{"a":"../one.safetensors"}})");
  CHECK(text_of() == "read " + index + ": a lies in \"../one.safetensors\", which is not the name of a file beside the index.");
  folder.file("model.safetensors.index.json", R"({"weight_map":{"a":"three.safetensors"}})");
  CHECK(text_of() == "read " + folder.path() + "/three.safetensors: No such file or directory.");
  save_safetensors(folder.file("two.safetensors"), {{"a", a}, {"b", b}});
  folder.file("model.safetensors.index.json", R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  CHECK(text_of() == "read " + index + ": a is stored in two of its files.");
  folder.file("model.safetensors.index.json", "[");
  CHECK(text_of() == "read " + index + ": it is no JSON object with a weight_map; download it again.");
}
