// trainer/text/tokenizer_text.cpp — the texts of the three files.
#include "trainer/text/tokenizer_text.h"

#include <set>
#include <sstream>
#include <unordered_map>

#include "kernels/check.h"
#include "trainer/text/json_view.h"

namespace rote::text {
namespace {

const char* word(bool value) { return value ? "true" : "false"; }

// "$A" or "[SEP]:1" as a piece of a template.
std::string piece_json(std::string piece) {
  const char* type = "0";
  if (piece.ends_with(":1")) {
    type = "1";
    piece.resize(piece.size() - 2);
  }
  const bool text = piece == "$A" || piece == "$B";
  return str("{\"", text ? "Sequence" : "SpecialToken", "\":{\"id\":", quoted(text ? piece.substr(1) : piece), ",\"type_id\":", type, "}}");
}

std::string pieces_json(const std::string& pieces) {
  std::istringstream words(pieces);
  std::string out;
  for (std::string piece; words >> piece;) out += (out.empty() ? "" : ",") + piece_json(piece);
  return "[" + out + "]";
}

}  // namespace

std::string template_json(const std::string& single, const std::string& pair, const std::map<std::string, int64_t>& ids) {
  std::string tokens;
  for (const auto& [token, id] : ids) {
    const std::string name = quoted(token);
    tokens += str(tokens.empty() ? "" : ",", name, ":{\"id\":", name, ",\"ids\":[", id, "],\"tokens\":[", name, "]}");
  }
  return str("{\"type\":\"TemplateProcessing\",\"single\":", pieces_json(single), ",\"pair\":", pieces_json(pair), ",\"special_tokens\":{", tokens, "}}");
}

std::string vocab_json(const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, size_t> last;
  for (size_t i = 0; i < tokens.size(); ++i) last[tokens[i]] = i;
  std::string out = "{";
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (last.at(tokens[i]) == i) out += str(out.size() > 1 ? "," : "", quoted(tokens[i]), ":", i);
  }
  return out + "}";
}

std::string TokenizerText::tokenizer_json() const {
  std::string tokens;
  for (const auto& [id, token] : added_tokens) {
    tokens += str(tokens.empty() ? "\n" : ",\n", "    {\"id\":", id, ",\"content\":", quoted(token.content), ",\"single_word\":", word(token.single_word),
                  ",\"lstrip\":", word(token.lstrip), ",\"rstrip\":", word(token.rstrip), ",\"normalized\":", word(token.normalized),
                  ",\"special\":", word(token.special), "}");
  }
  // The model is nearly all of it, so it is copied once.
  std::string out = str("{\n  \"version\":\"1.0\",\n  \"truncation\":null,\n  \"padding\":null,\n  \"added_tokens\":[", tokens,
                        "],\n  \"normalizer\":", normalizer, ",\n  \"pre_tokenizer\":", pre_tokenizer, ",\n  \"post_processor\":", post_processor,
                        ",\n  \"decoder\":", decoder, ",\n  \"model\":");
  out.reserve(out.size() + model.size() + 3);
  out += model;
  out += "\n}\n";
  return out;
}

std::string TokenizerText::tokenizer_config() const {
  std::string out = "{\n";
  for (const auto& [role, token] : roles) out += str("  \"", role, "\": ", quoted(token), ",\n");
  for (const auto& [name, value] : settings) out += str("  \"", name, "\": ", value, ",\n");
  return out + "  \"tokenizer_class\": " + quoted(tokenizer_class) + "\n}\n";
}

std::string TokenizerText::special_tokens_map() const {
  std::string out;
  for (const auto& [role, token] : roles) out += str(out.empty() ? "" : ",\n", "  \"", role, "\": ", quoted(token));
  return "{\n" + out + "\n}\n";
}

}  // namespace rote::text
