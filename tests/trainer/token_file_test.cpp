// tests/trainer/token_file_test.cpp — files of tokens: written here and by numpy, read as blocks, and what is wrong with others.
#include "trainer/data/token_file.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "kernels/check.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

using Ids = std::vector<int64_t>;
using data::TokenFile;

// np.save(path, np.array([1, 2, 70000], dtype=np.uint32)) of numpy 2.3.5: as `head` and the ids.
std::string numpy_file(const std::string& head, const std::string& ids) {
  std::string out = std::string("\x93NUMPY\x01\x00v\x00", 10) + head;
  out.resize(127, ' ');
  return out + "\n" + ids;
}
const std::string kHead = "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }";
const std::string kIds("\x01\0\0\0\x02\0\0\0p\x11\x01\0", 12);

Ids row(const TokenFile& file, int64_t at, const char* name = "input_ids") {
  const data::Example example = file.at(at);
  return data::find(example, name)->whole;
}

std::string fault(const std::string& path, const data::TokenFileOptions& options = {.length = 1}) {
  try {
    const TokenFile file(path, options);
    for (int64_t at = 0; at < file.size(); ++at) file.at(at);
  } catch (const Error& error) {
    return error.text;
  }
  return "";
}

void write(const std::string& path, const Ids& ids, int64_t id_limit) {
  data::TokenFileWriter writer(path, id_limit);
  writer.write({ids.begin(), ids.begin() + 1});
  CHECK_FALSE(std::filesystem::exists(path));
  writer.write({ids.begin() + 1, ids.end()});
  writer.commit();
  CHECK(writer.tokens() == static_cast<int64_t>(ids.size()));
}

}  // namespace

TEST_CASE("TokenFile: an array as numpy writes it") {
  const TempFolder folder;
  const TokenFile file(folder.file("x.npy", numpy_file(kHead, kIds)), {.length = 2, .labels = true});
  CHECK(file.size() == 1);
  CHECK(file.tokens() == 3);
  CHECK(file.left_out() == 1);
  CHECK(row(file, 0) == Ids{1, 2});
  CHECK(row(file, 0, "labels") == Ids{1, 2});
  const TokenFile single(folder.file("x.npy"), {.length = 1});
  CHECK(row(single, 2) == Ids{70000});
  CHECK(single.at(2).size() == 1);
  // Version 2.0 has a length of four bytes.
  std::string second = std::string("\x93NUMPY\x02\x00t\x00\0\0", 12) + kHead;
  second.resize(127, ' ');
  CHECK(row(TokenFile(folder.file("y.npy", second + "\n" + kIds), {.length = 3}), 0) == Ids{1, 2, 70000});
}

TEST_CASE("TokenFileWriter: the bytes of numpy, of 16 bits where ids fit") {
  const TempFolder folder;
  write(folder.file("x.npy"), {1, 2, 70000}, 100000);
  CHECK(read_text(folder.file("x.npy")) == numpy_file(kHead, kIds));
  Ids ids;
  for (int64_t i = 0; i < 1000; ++i) ids.push_back(i * 65 % 65536);
  write(folder.file("y.npy"), ids, 65536);
  CHECK(std::filesystem::file_size(folder.file("y.npy")) == 128 + 2000);
  const TokenFile file(folder.file("y.npy"), {.length = 1000});
  CHECK(row(file, 0) == ids);
  data::TokenFileWriter narrow(folder.file("w.npy"), 65536);
  CHECK_THROWS_WITH_AS(narrow.write({1, 65536}), "a file of tokens: the id 65536 is to be written; ids lie in 0 … 65535.", ArgumentError);
  CHECK_THROWS_WITH_AS(narrow.write({-1}), "a file of tokens: the id -1 is to be written; ids lie in 0 … 65535.", ArgumentError);
  CHECK(narrow.tokens() == 0);
  { data::TokenFileWriter never(folder.file("z.npy"), 10); }
  CHECK_FALSE(std::filesystem::exists(folder.file("z.npy")));
}

TEST_CASE("TokenFile: anything else is refused in one sentence") {
  const TempFolder folder;
  const std::string path = folder.file("x.npy"), advice = "; a file of tokens is written by np.save(path, np.asarray(ids, dtype=np.uint16)) or rote tokenize --output_file.";
  const auto of = [&](const std::string& bytes) {
    folder.file("x.npy", bytes);
    const std::string text = fault(path);
    CHECK(text.rfind(path + ": ", 0) == 0);
    return text.substr(std::min(text.size(), path.size() + 2));
  };
  const auto headed = [&](const char* head) { return of(numpy_file(head, kIds)); };
  CHECK(of("") == "is no array of one dimension in NumPy's format" + advice);
  const std::string whole = numpy_file(kHead, kIds);
  for (size_t length = 1; length < 128; ++length) CHECK(of(whole.substr(0, length)) == "is no array of one dimension in NumPy's format" + advice);
  CHECK(of(whole.substr(0, 139)) == "says that it holds 3 ids of 4 bytes, but has 11 bytes of them; it is cut short, write it again.");
  for (const char* head : {"{'descr': '<u4', 'fortran_order': False, 'shape': (3,4), }", "{'descr': '<u4', 'fortran_order': False, 'shape': (), }",
                           "{'descr': '<u4', 'fortran_order': False, 'shape': (-3,), }", "{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "{'descr': '<u4'}", "",
                           "{'descr': '<u4', 'fortran_order': False, 'shape': (3", "{'descr': '<u4', 'shape': (3,), }", "{'fortran_order': False, 'shape': (3,), }",
                           "{'descr': '<u4', 'fortran_order': 0, 'shape': (3,), }", "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (3,), }",
                           "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), } x",
                           "{'descr': '<u4' 'fortran_order': False, 'shape': (3,), }", "x{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }"})
    CHECK(headed(head) == "is no array of one dimension in NumPy's format" + advice);
  CHECK(fault(folder.file("y.npy", numpy_file("{'shape':(3,),'fortran_order': True , 'descr':'<u4'}", kIds))) == "");  // of one axis both orders are the same
  CHECK(headed("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }") == "holds <i8, ids are <u2 (uint16) or <u4 (uint32)" + advice);
  CHECK(headed("{'descr': '<u4', 'fortran_order': False, 'shape': (9223372036854775807,), }").rfind("says that it holds 9223372036854775807 ids", 0) == 0);
  for (size_t at = 0; at < 12; ++at) {  // a byte of the start at a time: refused, or read as what it then says
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    folder.file("x.npy", bytes);
    fault(path);
  }
  folder.file("x.npy", whole);
  CHECK(fault(path, {.length = 4}) == path + ": has 3 tokens, fewer than the 4 of one block; give more text, or a smaller --block_size.");
  CHECK(fault(path, {.length = 1, .id_limit = 70000}) == path + ": the id 70000 stands in block 2, but ids are below 70000; the file was written with another tokenizer.");
  CHECK_THROWS_AS(TokenFile(path, {.length = 1, .id_limit = 70000}), ArgumentError);  // before a row is asked for
  const TokenFile file(path, {.length = 1});
  file.at(2);
  std::filesystem::resize_file(path, 130);
  CHECK_THROWS_WITH_AS(file.at(2), (path + ": had 140 bytes and has 130; a file of tokens must stay as it is while it is read.").c_str(), IoError);
  CHECK_THROWS_AS(TokenFile(folder.file("none.npy"), {}), IoError);
  CHECK_THROWS_AS(TokenFile(folder.path(), {}), IoError);
}

}  // namespace rote::testing
