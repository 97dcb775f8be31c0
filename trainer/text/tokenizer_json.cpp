// trainer/text/tokenizer_json.cpp — reading of tokenizer.json and its companions. A component is added to the reader of its kind and to
// the list of known ones that stands beside it.
#include "trainer/text/tokenizer_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/check.h"

namespace rote::text {
namespace {

using nlohmann::json;

// A JSON object and where it stands, for messages: `path: post_processor`.
struct Node {
  const json& value;
  std::string where;

  bool has(const char* key) const { return value.is_object() && value.contains(key) && !value.at(key).is_null(); }
  Node at(const char* key) const {
    ROTE_CHECK(has(key), IoError, "tokenizer: ", where, " has no \"", key, "\"; the file must be a complete tokenizer.json.");
    return {value.at(key), str(where, ".", key)};
  }
  std::string text() const {
    ROTE_CHECK(value.is_string(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be a string.");
    return value.get<std::string>();
  }
  bool truth() const {
    ROTE_CHECK(value.is_boolean(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be true or false.");
    return value.get<bool>();
  }
  int64_t count() const {
    const bool fits = value.is_number_integer() && value >= 0 && value <= std::numeric_limits<int32_t>::max();
    ROTE_CHECK(fits, IoError, "tokenizer: ", where, " is ", value.is_number() ? value.dump() : value.type_name(),
               "; it must be an integer in [0, 2^31).");
    return value.get<int64_t>();
  }
  std::vector<Node> items() const {
    ROTE_CHECK(value.is_array(), IoError, "tokenizer: ", where, " is ", value.type_name(), "; it must be a list.");
    std::vector<Node> nodes;
    for (const json& item : value) nodes.push_back({item, str(where, "[", nodes.size(), "]")});
    return nodes;
  }
  std::string text(const char* key, const char* otherwise) const { return has(key) ? at(key).text() : otherwise; }
  bool truth(const char* key, bool otherwise) const { return has(key) ? at(key).truth() : otherwise; }
};

[[noreturn]] void refuse(const Node& node, const char* kind, const std::string& name, const char* known) {
  throw ArgumentError(str("tokenizer: ", node.where, ": ", kind, " ", name, " is not known; known are ", known, "."));
}

json parse(std::string_view bytes, const std::string& path) {
  json value = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    throw IoError(str("tokenizer: ", path, " is not a JSON object (", bytes.size(), " bytes); it may be cut short or another file."));
  }
  return value;
}

Normalizer read_normalizer(const Node& node) {
  const std::string type = node.at("type").text();
  if (type != "BertNormalizer") refuse(node, "normalizer", type, "BertNormalizer");
  BertNormalizer bert;
  bert.clean_text = node.truth("clean_text", bert.clean_text);
  bert.handle_chinese_chars = node.truth("handle_chinese_chars", bert.handle_chinese_chars);
  if (node.has("strip_accents")) bert.strip_accents = node.at("strip_accents").truth();
  bert.lowercase = node.truth("lowercase", bert.lowercase);
  return bert;
}

PreTokenizer read_pre_tokenizer(const Node& node) {
  const std::string type = node.at("type").text();
  if (type != "BertPreTokenizer") refuse(node, "pre-tokenizer", type, "BertPreTokenizer");
  return BertPreTokenizer{};
}

std::vector<TemplatePiece> read_template(const Node& node, const Node& special_tokens, int texts) {
  std::vector<TemplatePiece> pieces;
  for (const Node& item : node.items()) {
    TemplatePiece piece;
    if (item.has("Sequence")) {
      const Node text = item.at("Sequence");
      const std::string id = text.at("id").text();
      piece.text = id == "A" ? 0 : 1;
      ROTE_CHECK((id == "A" || id == "B") && piece.text < texts, IoError, "tokenizer: ", text.where, ".id is \"", id, "\"; ",
                 texts == 1 ? "it must be A." : "it must be A or B.");
      piece.type_id = text.at("type_id").count();
    } else {
      const Node special = item.at("SpecialToken");
      piece.type_id = special.at("type_id").count();
      const Node token = special_tokens.at(special.at("id").text().c_str());
      for (const Node& id : token.at("ids").items()) piece.ids.push_back(id.count());
      for (const Node& name : token.at("tokens").items()) piece.tokens.push_back(name.text());
      ROTE_CHECK(piece.ids.size() == piece.tokens.size(), IoError, "tokenizer: ", token.where, " has ", piece.ids.size(), " ids and ",
                 piece.tokens.size(), " tokens; there must be as many of both.");
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

TemplatePiece read_named_id(const Node& node, int64_t type_id) {
  const std::vector<Node> items = node.items();
  ROTE_CHECK(items.size() == 2, IoError, "tokenizer: ", node.where, " has ", items.size(), " entries; it must be [token, id].");
  return {-1, type_id, {items[1].count()}, {items[0].text()}};
}

PostProcessor read_post_processor(const Node& node) {
  const std::string type = node.at("type").text();
  PostProcessor processor;
  processor.given = true;
  if (type == "TemplateProcessing") {
    processor.single = read_template(node.at("single"), node.at("special_tokens"), 1);
    processor.pair = read_template(node.at("pair"), node.at("special_tokens"), 2);
  } else if (type == "BertProcessing") {
    const TemplatePiece cls = read_named_id(node.at("cls"), 0);
    const TemplatePiece sep = read_named_id(node.at("sep"), 0);
    const TemplatePiece second_sep = read_named_id(node.at("sep"), 1);
    const TemplatePiece first{0, 0, {}, {}}, second{1, 1, {}, {}};
    processor.single = {cls, first, sep};
    processor.pair = {cls, first, sep, second, second_sep};
  } else {
    refuse(node, "post-processor", type, "TemplateProcessing, BertProcessing");
  }
  return processor;
}

Decoder read_decoder(const Node& node) {
  const std::string type = node.at("type").text();
  if (type != "WordPiece") refuse(node, "decoder", type, "WordPiece");
  WordPieceDecoder decoder;
  decoder.prefix = node.text("prefix", decoder.prefix.c_str());
  decoder.cleanup = node.truth("cleanup", decoder.cleanup);
  return decoder;
}

void read_model(const Node& node, TokenizerSpec& spec) {
  // Files of before 2020 do not name the model; this key is WordPiece's alone.
  const std::string type = node.text("type", node.has("max_input_chars_per_word") ? "WordPiece" : "without a type");
  if (type != "WordPiece") refuse(node, "model", type, "WordPiece");
  spec.model.unk_token = node.text("unk_token", spec.model.unk_token.c_str());
  spec.model.continuing_subword_prefix = node.text("continuing_subword_prefix", spec.model.continuing_subword_prefix.c_str());
  if (node.has("max_input_chars_per_word")) spec.model.max_input_chars_per_word = node.at("max_input_chars_per_word").count();

  const Node vocab = node.at("vocab");
  ROTE_CHECK(vocab.value.is_object(), IoError, "tokenizer: ", vocab.where, " is ", vocab.value.type_name(),
             "; it must map tokens to ids.");
  spec.vocab.reserve(vocab.value.size());
  for (const auto& [token, id] : vocab.value.items()) {
    if (!id.is_number_unsigned() || id > std::numeric_limits<int32_t>::max()) Node{id, str(vocab.where, "[\"", token, "\"]")}.count();
    spec.vocab.emplace_back(token, id.get<int64_t>());
  }
}

AddedToken read_added_token(const Node& node) {
  AddedToken token;
  token.content = node.at("content").text();
  token.single_word = node.truth("single_word", false);
  token.lstrip = node.truth("lstrip", false);
  token.rstrip = node.truth("rstrip", false);
  token.special = node.truth("special", false);
  token.normalized = node.truth("normalized", !token.special);
  return token;
}

std::optional<Side> read_side(const Node& root, const char* key) {
  if (!root.has(key)) return std::nullopt;
  const std::string side = root.at(key).text();
  ROTE_CHECK(side == "left" || side == "right", IoError, "tokenizer: ", root.where, ".", key, " is \"", side,
             "\"; it must be left or right.");
  return side == "left" ? Side::left : Side::right;
}

}  // namespace

TokenizerSpec read_tokenizer_json(std::string_view bytes, const std::string& path) {
  const json value = parse(bytes, path);
  const Node root{value, path};
  TokenizerSpec spec;
  read_model(root.at("model"), spec);
  if (root.has("normalizer")) spec.normalizer = read_normalizer(root.at("normalizer"));
  if (root.has("pre_tokenizer")) spec.pre_tokenizer = read_pre_tokenizer(root.at("pre_tokenizer"));
  if (root.has("post_processor")) spec.post_processor = read_post_processor(root.at("post_processor"));
  if (root.has("decoder")) spec.decoder = read_decoder(root.at("decoder"));
  if (root.has("added_tokens")) {
    for (const Node& token : root.at("added_tokens").items()) spec.added_tokens.push_back(read_added_token(token));
  }
  return spec;
}

void read_tokenizer_config(std::string_view bytes, const std::string& path, TokenizerConfig& config) {
  const json value = parse(bytes, path);
  const Node root{value, path};
  for (const char* role : {"pad_token", "cls_token", "sep_token", "mask_token", "unk_token", "bos_token", "eos_token"}) {
    if (!root.has(role)) continue;
    const Node token = root.at(role);
    config.roles.emplace(role, token.value.is_object() ? token.at("content").text() : token.text());
  }
  if (root.has("model_max_length") && !config.model_max_length) {
    // Libraries write 1e30 for "no limit".
    const Node length = root.at("model_max_length");
    ROTE_CHECK(length.value.is_number() && length.value > 0, IoError, "tokenizer: ", length.where, " is ", length.value.dump(),
               "; it must be a positive number.");
    if (length.value < 1e9) config.model_max_length = length.value.get<int64_t>();
  }
  if (!config.padding_side) config.padding_side = read_side(root, "padding_side");
  if (!config.truncation_side) config.truncation_side = read_side(root, "truncation_side");
}

}  // namespace rote::text
