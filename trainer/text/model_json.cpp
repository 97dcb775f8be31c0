// trainer/text/model_json.cpp — reading of the four models.
#include "trainer/text/model_json.h"

#include <utility>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

WordPiece read_wordpiece(const JsonNode& node) {
  WordPiece::Options options;
  options.unk_token = node.text("unk_token", options.unk_token);
  options.continuing_subword_prefix = node.text("continuing_subword_prefix", options.continuing_subword_prefix);
  options.max_input_chars_per_word = node.count("max_input_chars_per_word", options.max_input_chars_per_word);
  return WordPiece(read_vocabulary(node.at("vocab")), std::move(options));
}

// The two tokens of an entry of `merges`: "a b" or ["a", "b"].
std::pair<std::string, std::string> read_merge(const JsonView& entry, const std::string& where, int64_t number) {
  const auto refuse = [&] {
    throw IoError(str("tokenizer: ", where, "[", number, "] is ", entry.text().substr(0, 60), "; it must be two tokens, \"a b\" or [\"a\", \"b\"]."));
  };
  if (entry.is_string()) {
    const std::string text = entry.string();
    const size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) refuse();
    return {text.substr(0, blank), text.substr(blank + 1)};
  }
  std::vector<std::string> tokens;
  if (entry.is_array()) {
    entry.for_each_item([&](const JsonView& token) {
      if (!token.is_string() || tokens.size() == 2) refuse();
      tokens.push_back(token.string());
    });
  }
  if (tokens.size() != 2) refuse();
  return {std::move(tokens[0]), std::move(tokens[1])};
}

Bpe read_bpe(const JsonNode& node) {
  Bpe::Options options;
  if (node.has("unk_token")) options.unk_token = node.at("unk_token").text();
  options.continuing_subword_prefix = node.text("continuing_subword_prefix", "");
  options.end_of_word_suffix = node.text("end_of_word_suffix", "");
  options.fuse_unk = node.truth("fuse_unk", false);
  options.byte_fallback = node.truth("byte_fallback", false);
  options.ignore_merges = node.truth("ignore_merges", false);
  ROTE_CHECK(!node.has("dropout") || node.at("dropout").number() == 0, ArgumentError, "tokenizer: ", node.where, ".dropout is ",
             node.at("dropout").value.text(), "; with it the same text has other ids each time, so it must be null or 0.");

  Vocabulary vocabulary = read_vocabulary(node.at("vocab"));
  const JsonNode merges = node.at("merges");
  ROTE_CHECK(merges.value.is_array(), IoError, "tokenizer: ", merges.where, " is ", merges.value.type_name(), "; it must be a list.");
  MergeTable table;
  uint32_t number = 0;
  merges.value.for_each_item([&](const JsonView& entry) {
    if (entry.is_string() && entry.text().starts_with("\"#version")) return;
    const auto [left, right] = read_merge(entry, merges.where, number);
    const auto id_of = [&](const std::string& token) {
      const auto id = vocabulary.id_of(token);
      ROTE_CHECK(id.has_value(), IoError, "tokenizer: ", merges.where, "[", number, "] needs \"", token.substr(0, 60),
                 "\", which is not in the vocabulary; the file must be a complete tokenizer.json.");
      return *id;
    };
    const int64_t a = id_of(left), b = id_of(right);
    ROTE_CHECK(right.size() >= options.continuing_subword_prefix.size(), IoError, "tokenizer: ", merges.where, "[", number,
               "] continues a word with \"", right, "\", which is shorter than the prefix \"", options.continuing_subword_prefix, "\".");
    table.insert(a, b, {number++, static_cast<int32_t>(id_of(left + right.substr(options.continuing_subword_prefix.size())))});
  });
  return Bpe(std::move(vocabulary), std::move(table), std::move(options));
}

Unigram read_unigram(const JsonNode& node) {
  Unigram::Options options;
  if (node.has("unk_id")) options.unk_id = node.at("unk_id").count();
  options.byte_fallback = node.truth("byte_fallback", false);
  const JsonNode vocab = node.at("vocab");
  ROTE_CHECK(vocab.value.is_array(), IoError, "tokenizer: ", vocab.where, " is ", vocab.value.type_name(), "; it must be a list of [token, score].");
  std::vector<std::string> tokens;
  std::vector<double> scores;
  vocab.value.for_each_item([&](const JsonView& entry) {
    std::optional<std::string> token;
    std::optional<double> score;
    bool fits = entry.is_array();
    if (fits) {
      entry.for_each_item([&](const JsonView& part) {
        if (!token) {
          fits = fits && part.is_string();
          token = part.is_string() ? part.string() : "";
        } else {
          fits = fits && !score && part.number();
          score = part.number();
        }
      });
    }
    ROTE_CHECK(fits && token && score, IoError, "tokenizer: ", vocab.where, "[", tokens.size(), "] is ", entry.text().substr(0, 60),
               "; it must be [token, score].");
    tokens.push_back(std::move(*token));
    scores.push_back(*score);
  });
  return Unigram(std::move(tokens), std::move(scores), options);
}

}  // namespace

Vocabulary read_vocabulary(const JsonNode& node) {
  ROTE_CHECK(node.value.is_object(), IoError, "tokenizer: ", node.where, " is ", node.value.type_name(), "; it must map tokens to ids.");
  Vocabulary vocabulary;
  node.value.for_each_member([&](const JsonView& token, const JsonView& id) {
    const auto n = id.integer();
    if (!n || *n < 0 || *n >= int64_t{1} << 31) JsonNode(id, str(node.where, "[", token.text().substr(0, 60), "]")).count();  // throws
    vocabulary.add(token.string(), *n);
  });
  vocabulary.sort_ids();
  return vocabulary;
}

Model read_model(const JsonNode& node) {
  // Files of before 2020 do not name the model; what they hold tells it.
  const bool listed = node.has("vocab") && node.at("vocab").value.is_array();
  const char* guess = node.has("merges") ? "BPE" : listed ? "Unigram" : node.has("max_input_chars_per_word") ? "WordPiece" : "without a type";
  const std::string type = node.text("type", guess);
  if (type == "BPE") return read_bpe(node);
  if (type == "Unigram") return read_unigram(node);
  if (type == "WordPiece") return read_wordpiece(node);
  if (type == "WordLevel") return WordLevel(read_vocabulary(node.at("vocab")), node.at("unk_token").text());
  throw ArgumentError(str("tokenizer: ", node.where, ": model ", type, " is not known; known are BPE, Unigram, WordLevel, WordPiece."));
}

}  // namespace rote::text
