// trainer/text/tokenizer.h — the tokenizer of a checkpoint: text to ids and back, as its tokenizer.json says. Trains no vocabulary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/text/encoding.h"

namespace rote::text {

struct EncodeOptions {
  bool add_special_tokens = true;
  Fields fields = Fields::all;
  std::optional<Truncation> truncation = std::nullopt;
  std::optional<Padding> padding = std::nullopt;
};

// A text to encode: a string, or a list of words that are each encoded on its own. Refers to the caller's memory; used as an argument.
class Sequence {
 public:
  Sequence(std::string_view text) : text_(text) {}
  Sequence(const std::string& text) : text_(text) {}
  Sequence(const char* text) : text_(text) {}
  Sequence(const std::vector<std::string>& words) : words_(&words) {}

  std::string_view text() const { return text_; }
  // Null where this is a string.
  const std::vector<std::string>* words() const { return words_; }

 private:
  std::string_view text_;
  const std::vector<std::string>* words_ = nullptr;
};

// A row of a batch: one text or two.
struct EncodeInput {
  Sequence text;
  std::optional<Sequence> pair = std::nullopt;
};

// 1. Immutable and cheap to copy; any thread may call any member.
// 2. Ids, offsets and the rest equal those of the Hugging Face tokenizers library for the same tokenizer.json.
// 3. Truncation and padding that the file asks for are not applied; the caller's options are.
class Tokenizer {
 public:
  struct Parts;  // known to tokenizer.cpp only

  // Reads one tokenizer.json. Throws IoError where it cannot be read or is none, ArgumentError where it needs a component Rote lacks.
  static Tokenizer from_file(const std::filesystem::path& tokenizer_json);
  // Reads tokenizer.json and its companions of a checkpoint; where there is none, vocab.txt of BERT's kinds or vocab.json and merges.txt of
  // GPT-2's and RoBERTa's, with tokenizer_config.json, special_tokens_map.json and added_tokens.json where they are there. Or a .gguf
  // file, whose metadata hold a tokenizer (gguf_tokenizer.h).
  static Tokenizer from_folder(const std::filesystem::path& folder);
  // The same of files that were read, name and bytes, tokenizer.json first; `folder` is for error texts.
  static Tokenizer from_files(std::vector<std::pair<std::string, std::string>> files, const std::filesystem::path& folder);

  // Throws ArgumentError where a text is not UTF-8, and where it cannot be truncated as asked. A batch is shared among threads.
  Encoding encode(Sequence text, const EncodeOptions& options = {}) const;
  Encoding encode(Sequence text, Sequence pair, const EncodeOptions& options = {}) const;
  std::vector<Encoding> encode_batch(const std::vector<EncodeInput>& inputs, const EncodeOptions& options = {}) const;

  // The text of `ids`; ids that no token has are left out. Throws ArgumentError at a negative id. With clean_up_tokenization_spaces in the
  // folder's tokenizer_config.json blanks before punctuation go, but for BPE, as transformers has it.
  std::string decode(const std::vector<int64_t>& ids, bool skip_special_tokens = true) const;
  // The text of tokens as they are in the vocabulary, or of words that were joined so before. No clean-up but the decoder's own.
  std::string join(std::vector<std::string> tokens) const;

  std::optional<int64_t> token_to_id(std::string_view token) const;
  std::optional<std::string> id_to_token(int64_t id) const;
  // Tokens of the model, with those added to it unless told otherwise.
  int64_t vocab_size(bool with_added_tokens = true) const;
  // Ids are below: vocab_size(), or more where some in between have no token.
  int64_t id_limit() const;
  // Whether a token shows that it does not begin a word, by a prefix such as ##.
  bool marks_subwords() const;

  // Ids by role, as the checkpoint's files name them; where they do not, [PAD] [CLS] [SEP] [MASK] if those are special tokens.
  std::optional<int64_t> pad_token_id() const;
  std::optional<int64_t> cls_token_id() const;
  std::optional<int64_t> sep_token_id() const;
  std::optional<int64_t> mask_token_id() const;
  std::optional<int64_t> unk_token_id() const;
  std::optional<int64_t> bos_token_id() const;  // this one and the next: only where the files name them
  std::optional<int64_t> eos_token_id() const;
  // Of every added token that the files call special, ascending.
  std::vector<int64_t> special_token_ids() const;

  // Tokens that the model can take at once, template included; absent where the files set no limit.
  std::optional<int64_t> model_max_length() const;
  Side padding_side() const;
  Side truncation_side() const;
  // To the longest row of a batch, with this tokenizer's pad token on its side. Throws ArgumentError where it has none.
  Padding padding() const;

  // The files that were read, name and bytes, for a checkpoint to carry along; with the tokenizer.json and the companions that were made
  // where there were none, so that transformers loads them.
  const std::vector<std::pair<std::string, std::string>>& files() const;
  // Writes them into `folder`, byte for byte. Throws IoError.
  void save(const std::filesystem::path& folder) const;

 private:
  Encoding encode_row(const EncodeInput& input, const EncodeOptions& options) const;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

// As transformers prints one: class, sizes, sides, special tokens by role, added tokens by id.
std::ostream& operator<<(std::ostream& out, const Tokenizer& tokenizer);

}  // namespace rote::text
