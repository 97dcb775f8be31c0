// trainer/data/token_file.h — token ids in a file that is mapped into memory, cut into blocks of one length; writing one. No texts: token_texts.h.
//
// The file is an array of one dimension in NumPy's format (.npy, versions 1 and 2), of uint16 or uint32: its tiny header says dtype and length, so nothing
// has to lie beside it, other programs map it too (np.load(path, mmap_mode="r")), and anybody writes one:
//   np.save("tokens.npy", np.asarray(ids, dtype=np.uint16))
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tensor/file.h"
#include "trainer/data/dataset.h"

namespace rote::data {

struct TokenFileOptions {
  int64_t length = 1024;                // tokens of a block
  bool labels = false;                  // rows have labels, equal to input_ids
  int64_t id_limit = int64_t{1} << 32;  // ids are below
};

// Rows of input_ids. Of the file nothing is copied but the rows that are asked for. A file that is cut short meanwhile is found at the next row;
// one that is cut while a row is read ends the process.
class TokenFile : public Dataset {
 public:
  // Throws IoError where the file cannot be read, ArgumentError where it is no such array, shorter than it says or than one block,
  // or holds an id beyond the limit: of a file above 2^26 ids that is said by at().
  TokenFile(const std::string& path, const TokenFileOptions& options);

  int64_t size() const override { return tokens_ / options_.length; }
  Example at(int64_t row) const override;  // throws IoError where the file has become shorter
  int64_t tokens() const { return tokens_; }
  int64_t left_out() const { return tokens_ % options_.length; }

 private:
  int64_t id_at(int64_t place) const;
  void check_ids(int64_t row) const;

  InputFile file_;
  TokenFileOptions options_;
  int64_t bytes_ = 0, begin_ = 0;  // of the file; where its ids begin
  int64_t tokens_ = 0;
  size_t width_ = 2;               // bytes of an id
  struct Unmap {
    size_t bytes;
    void operator()(const std::byte* at) const;
  };
  std::unique_ptr<const std::byte[], Unmap> map_;
};

// Writes such a file as ids come: of uint16 where they fit, else uint32. It has its name once commit() was called.
class TokenFileWriter {
 public:
  // Ids are below `id_limit`. Throws IoError, here and below.
  TokenFileWriter(const std::string& path, int64_t id_limit);
  void write(const std::vector<int64_t>& ids);  // throws ArgumentError for one that is not, and writes none of them
  void commit();
  int64_t tokens() const { return tokens_; }

 private:
  std::string header() const;

  OutputFile file_;
  int64_t id_limit_;
  size_t width_;
  int64_t tokens_ = 0;
};

}  // namespace rote::data
