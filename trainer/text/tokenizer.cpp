// trainer/text/tokenizer.cpp — the way of a text through the parts, from added tokens to padding. Reads no JSON.
#include "trainer/text/tokenizer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "kernels/check.h"
#include "kernels/pool.h"
#include "trainer/text/gguf_tokenizer.h"
#include "trainer/text/plain_files.h"
#include "trainer/text/tokenizer_json.h"
#include "trainer/text/unicode.h"

namespace rote::text {

struct Tokenizer::Parts {
  Parts(TokenizerSpec spec, TokenizerConfig settings)
      : normalizer(std::move(spec.normalizer)),
        pre_tokenizer(std::move(spec.pre_tokenizer)),
        model(std::move(spec.model)),
        added(spec.added_tokens, model, normalizer),
        post_processor(std::move(spec.post_processor)),
        decoder(std::move(spec.decoder)),
        config(std::move(settings)) {
    vocab_size = model.vocab_size();
    id_limit = model.id_limit();
    for (const auto& [token, id] : added.ids()) {
      vocab_size += !model.token_to_id(token);
      id_limit = std::max(id_limit, id + 1);
    }
  }

  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Model model;
  AddedTokens added;
  PostProcessor post_processor;
  Decoder decoder;
  TokenizerConfig config;
  int64_t vocab_size = 0, id_limit = 0;  // added tokens included
  std::vector<std::pair<std::string, std::string>> files;
};

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kFolderFiles[] = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt",
                                        "vocab.json",     "merges.txt",            "added_tokens.json"};

constexpr int64_t kRowsOfTask = 16;  // of a batch

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<size_t>(std::filesystem::file_size(path, error)), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ROTE_CHECK(in && !error, IoError, "tokenizer: ", path.string(), " cannot be read: ", std::strerror(errno), ".");
  return bytes;
}

// The files of a tokenizer that came in none of its own, tokenizer.json first; those of `given` stay.
Files made_files(const TokenizerText& text, Files given) {
  const auto add = [&](const char* name, std::string bytes) {
    const auto same = [&](const auto& file) { return file.first == name; };
    if (std::none_of(given.begin(), given.end(), same)) given.emplace_back(name, std::move(bytes));
  };
  given.insert(given.begin(), {"tokenizer.json", text.tokenizer_json()});
  add("tokenizer_config.json", text.tokenizer_config());
  add("special_tokens_map.json", text.special_tokens_map());
  return given;
}

// Collects the tokens of one text. Words and added tokens are counted as they come; in a list of words all tokens of one share its number.
class Row {
 public:
  Row(Encoding& row, Fields fields, int64_t sequence) : row_(row), fields_(fields), sequence_(sequence) {}

  void begin_word(std::optional<int64_t> number) { word_ = number ? *number : word_ + 1; }
  bool full() const { return fields_ == Fields::all; }
  void push(int64_t id) { row_.ids.push_back(id); }
  void describe(std::string token, Span origin) {
    row_.tokens.push_back(std::move(token));
    row_.offsets.emplace_back(origin.begin, origin.end);
    row_.word_ids.push_back(word_);
  }
  void finish() {
    const size_t n = row_.ids.size();
    row_.type_ids.assign(n, sequence_);
    row_.attention_mask.assign(n, 1);
    if (!full()) return;
    row_.special_tokens_mask.assign(n, 0);
    row_.sequence_ids.assign(n, sequence_);
  }

 private:
  Encoding& row_;
  const Fields fields_;
  const int64_t sequence_;
  int64_t word_ = -1;
};

NormalizedText slice(const NormalizedText& text, const Stretch& part) {
  NormalizedText out;
  out.chars = text.chars.substr(part.begin, part.end - part.begin);
  out.origin.assign(text.origin.begin() + part.begin, text.origin.begin() + part.end);
  out.first = out.origin[0].begin;
  return out;
}

// The tokens of `bytes`, appended to `row`; `word` is the number of all of them where the text is one word of a list.
void encode_text(const Tokenizer::Parts& parts, std::string_view bytes, std::optional<int64_t> word, Row& row) {
  const std::u32string text = decode_text(bytes, "encode");
  std::vector<Stretch> outer, inner;
  std::vector<Span> words;
  std::vector<Piece> pieces;
  const auto push_added = [&](int64_t id, std::u32string_view found, Span origin) {
    row.begin_word(word);
    row.push(id);
    if (row.full()) row.describe(to_utf8(found), origin);
  };

  parts.added.in_text().split(text, outer);
  for (const Stretch& stretch : outer) {
    const std::u32string_view found = std::u32string_view(text).substr(stretch.begin, stretch.end - stretch.begin);
    if (stretch.id >= 0) {
      push_added(stretch.id, found, {stretch.begin, stretch.end});
      continue;
    }
    NormalizedText normalized = NormalizedText::of(found, stretch.begin);
    normalize(parts.normalizer, normalized);
    parts.added.in_normalized().split(normalized.chars, inner);
    for (const Stretch& part : inner) {
      NormalizedText rest = part.begin == 0 && part.end == normalized.chars.size() ? std::move(normalized) : slice(normalized, part);
      if (part.id >= 0) {
        push_added(part.id, rest.chars, {rest.origin.front().begin, rest.origin.back().end});
        continue;
      }
      pre_tokenize(parts.pre_tokenizer, rest, words);
      for (const Span& span : words) {
        pieces.clear();
        parts.model.tokenize(std::u32string_view(rest.chars).substr(span.begin, span.end - span.begin), pieces);
        row.begin_word(word);
        for (const Piece& piece : pieces) {
          row.push(piece.id);
          if (!row.full()) continue;
          const uint32_t begin = span.begin + piece.begin, end = span.begin + piece.end;
          row.describe(piece.as_written ? to_utf8(std::u32string_view(rest.chars).substr(begin, end - begin))
                                        : std::string(parts.model.id_to_token(piece.id).value_or("")),
                       {rest.origin[begin].begin, rest.origin[end - 1].end});
        }
      }
    }
  }
}

Encoding encode_sequence(const Tokenizer::Parts& parts, const Sequence& sequence, int64_t number, Fields fields) {
  Encoding encoding;
  Row row(encoding, fields, number);
  if (sequence.words() == nullptr) {
    encode_text(parts, sequence.text(), std::nullopt, row);
  } else {
    int64_t word = 0;
    for (const std::string& text : *sequence.words()) encode_text(parts, text, word++, row);
  }
  row.finish();
  return encoding;
}

// `special` tokens go to the template. A stride too great beside the `least` of a template for one text is refused whatever the text, as the library
// does it, with and without the template.
void check_truncation(const Truncation& truncation, int64_t special, int64_t least) {
  ROTE_CHECK(truncation.max_length >= 0 && truncation.stride >= 0, ArgumentError, "truncation: max_length is ", truncation.max_length,
             " and stride ", truncation.stride, "; neither may be negative.");
  ROTE_CHECK(truncation.max_length >= special, ArgumentError, "truncation: max_length is ", truncation.max_length,
             " but the template alone has ", special, " special tokens; raise max_length.");
  const int64_t left = truncation.max_length - least;
  ROTE_CHECK(left < 0 || truncation.stride <= left, ArgumentError, "truncation: stride is ", truncation.stride, " but max_length ", truncation.max_length,
             " leaves ", left, " tokens for the text; the stride must be smaller.");
}

// Where no template marks the place of a text, the reference counts a row of one text as that text throughout, padding included.
void number_as_one_text(Encoding& row) {
  std::fill(row.sequence_ids.begin(), row.sequence_ids.end(), 0);
  for (Encoding& rest : row.overflowing) number_as_one_text(rest);
}

// The id of the token that the files give this role, else of `usual` where that is a special token.
std::optional<int64_t> role_id(const Tokenizer::Parts& parts, const char* role, const std::string& usual) {
  const auto named = parts.config.roles.find(role);
  if (named == parts.config.roles.end()) return parts.added.is_special(usual) ? parts.added.token_to_id(usual) : std::nullopt;
  const auto id = parts.added.token_to_id(named->second);
  return id ? id : parts.model.token_to_id(named->second);
}

}  // namespace

// One row, not padded.
Encoding Tokenizer::encode_row(const EncodeInput& input, const EncodeOptions& options) const {
  Encoding first = encode_sequence(*parts_, input.text, 0, options.fields);
  std::optional<Encoding> second;
  if (input.pair) second = encode_sequence(*parts_, *input.pair, 1, options.fields);
  if (options.truncation) {
    const int64_t special = options.add_special_tokens ? parts_->post_processor.added_tokens(second.has_value()) : 0;
    check_truncation(*options.truncation, special, parts_->post_processor.added_tokens(false));
    truncate_texts(first, second ? &*second : nullptr, options.truncation->max_length - special, *options.truncation, options.fields);
  }
  return parts_->post_processor.process(std::move(first), std::move(second), {options.add_special_tokens, options.fields});
}

Encoding Tokenizer::encode(Sequence text, const EncodeOptions& options) const {
  return std::move(encode_batch({{text, std::nullopt}}, options)[0]);
}

Encoding Tokenizer::encode(Sequence text, Sequence pair, const EncodeOptions& options) const {
  return std::move(encode_batch({{text, pair}}, options)[0]);
}

std::vector<Encoding> Tokenizer::encode_batch(const std::vector<EncodeInput>& inputs, const EncodeOptions& options) const {
  std::vector<Encoding> rows(inputs.size());
  const auto n = static_cast<int64_t>(inputs.size());
  parallel((n + kRowsOfTask - 1) / kRowsOfTask, [&](int64_t task) {
    for (int64_t i = task * kRowsOfTask; i < std::min(n, (task + 1) * kRowsOfTask); ++i) {
      rows[static_cast<size_t>(i)] = encode_row(inputs[static_cast<size_t>(i)], options);
    }
    return 0u;
  });
  if (options.padding) pad(rows, *options.padding, options.fields);
  if (!parts_->post_processor.given) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!inputs[i].pair) number_as_one_text(rows[i]);
    }
  }
  return rows;
}

std::string Tokenizer::decode(const std::vector<int64_t>& ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < ids.size(); ++i) {
    ROTE_CHECK(ids[i] >= 0, ArgumentError, "decode: ids[", i, "] is ", ids[i],
               ", which no token has; replace fillers such as -100 by the pad token or leave them out.");
    std::optional<std::string> token = id_to_token(ids[i]);
    if (token && !(skip_special_tokens && parts_->added.is_special(*token))) tokens.push_back(std::move(*token));
  }
  std::string text = join(std::move(tokens));
  if (parts_->config.clean_up_tokenization_spaces.value_or(false) && !parts_->model.is_bpe()) clean_up_spaces(text);
  return text;
}

std::string Tokenizer::join(std::vector<std::string> tokens) const { return join_tokens(parts_->decoder, std::move(tokens)); }

std::optional<int64_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto id = parts_->added.token_to_id(token);
  return id ? id : parts_->model.token_to_id(token);
}

std::optional<std::string> Tokenizer::id_to_token(int64_t id) const {
  if (const std::string* token = parts_->added.id_to_token(id)) return *token;
  const auto token = parts_->model.id_to_token(id);
  return token ? std::optional<std::string>(*token) : std::nullopt;
}

int64_t Tokenizer::vocab_size(bool with_added_tokens) const {
  return with_added_tokens ? parts_->vocab_size : parts_->model.vocab_size();
}

int64_t Tokenizer::id_limit() const { return parts_->id_limit; }

bool Tokenizer::marks_subwords() const { return !parts_->model.continuing_subword_prefix().empty(); }

std::optional<int64_t> Tokenizer::pad_token_id() const { return role_id(*parts_, "pad_token", "[PAD]"); }
std::optional<int64_t> Tokenizer::cls_token_id() const { return role_id(*parts_, "cls_token", "[CLS]"); }
std::optional<int64_t> Tokenizer::sep_token_id() const { return role_id(*parts_, "sep_token", "[SEP]"); }
std::optional<int64_t> Tokenizer::mask_token_id() const { return role_id(*parts_, "mask_token", "[MASK]"); }
std::optional<int64_t> Tokenizer::unk_token_id() const {
  const auto id = role_id(*parts_, "unk_token", "[UNK]");
  return id ? id : parts_->model.unk_id();
}
std::optional<int64_t> Tokenizer::bos_token_id() const { return role_id(*parts_, "bos_token", ""); }
std::optional<int64_t> Tokenizer::eos_token_id() const { return role_id(*parts_, "eos_token", ""); }
std::vector<int64_t> Tokenizer::special_token_ids() const {
  std::vector<int64_t> ids;
  for (const auto& [token, id] : parts_->added.ids())
    if (parts_->added.is_special(token)) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::optional<int64_t> Tokenizer::model_max_length() const { return parts_->config.model_max_length; }
Side Tokenizer::padding_side() const { return parts_->config.padding_side.value_or(Side::right); }
Side Tokenizer::truncation_side() const { return parts_->config.truncation_side.value_or(Side::right); }

Padding Tokenizer::padding() const {
  const std::optional<int64_t> pad = pad_token_id();
  ROTE_CHECK(pad.has_value(), ArgumentError, "padding: the tokenizer has no pad token; batches of unequal rows need one.");
  return {.direction = padding_side(), .pad_id = *pad, .pad_token = *id_to_token(*pad)};
}

const Files& Tokenizer::files() const { return parts_->files; }

void Tokenizer::save(const std::filesystem::path& folder) const {
  for (const auto& [name, bytes] : parts_->files) {
    const std::filesystem::path path = folder / name;
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    ROTE_CHECK(out, IoError, "tokenizer: ", path.string(), " cannot be written: ", std::strerror(errno), ".");
  }
}

Tokenizer Tokenizer::from_file(const std::filesystem::path& tokenizer_json) {
  auto bytes = read_file(tokenizer_json);
  ROTE_CHECK(bytes.has_value(), IoError, "tokenizer: ", tokenizer_json.string(), " is not there; give the path of a tokenizer.json.");
  auto parts = std::make_shared<Parts>(read_tokenizer_json(*bytes, tokenizer_json.string()), TokenizerConfig{});
  parts->files.emplace_back("tokenizer.json", std::move(*bytes));
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_folder(const std::filesystem::path& folder) {
  Files files;
  if (folder.extension() == ".gguf") {
    files = made_files(read_gguf_tokenizer(GgufFile::open(folder.string())), {});
  } else {
    for (const char* name : kFolderFiles) {
      if (auto bytes = read_file(folder / name)) files.emplace_back(name, std::move(*bytes));
    }
    const auto has = [&](const char* name) {
      return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.first == name; });
    };
    ROTE_CHECK(has("tokenizer.json") || has("vocab.txt") || has("vocab.json"), IoError, "tokenizer: ", folder.string(),
               " has no tokenizer.json, no vocab.txt and no vocab.json with merges.txt; give a checkpoint folder that holds its tokenizer.");
    if (!has("tokenizer.json")) {
      const TokenizerText text = read_plain_files(files, folder.string());
      files = made_files(text, std::move(files));
    }
  }
  return from_files(std::move(files), folder);
}

Tokenizer Tokenizer::from_files(Files files, const std::filesystem::path& folder) {
  TokenizerConfig config;
  for (const auto& [name, bytes] : files) {
    if (name == "tokenizer_config.json" || name == "special_tokens_map.json") {
      read_tokenizer_config(bytes, (folder / name).string(), config);
    }
  }
  auto parts = std::make_shared<Parts>(read_tokenizer_json(files[0].second, (folder / files[0].first).string()), std::move(config));
  parts->files = std::move(files);
  return Tokenizer(std::move(parts));
}

}  // namespace rote::text
