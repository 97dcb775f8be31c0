// trainer/text/print.cpp — a tokenizer as transformers prints one, out of its files and its answers.
#include <map>
#include <ostream>

#include "kernels/check.h"
#include "trainer/text/json_view.h"
#include "trainer/text/tokenizer.h"

namespace rote::text {

namespace {

const char* word(bool value) { return value ? "True" : "False"; }
const char* word(Side side) { return side == Side::left ? "'left'" : "'right'"; }

// The class that tokenizer_config.json names.
std::string class_of(const Tokenizer& tokenizer) {
  for (const auto& [name, bytes] : tokenizer.files())
    if (name == "tokenizer_config.json") return read_json_object(bytes, name).text("tokenizer_class", "Tokenizer");
  return "Tokenizer";
}

std::string special_tokens(const Tokenizer& tokenizer) {
  const std::pair<const char*, std::optional<int64_t>> roles[] = {
      {"bos_token", tokenizer.bos_token_id()}, {"eos_token", tokenizer.eos_token_id()}, {"unk_token", tokenizer.unk_token_id()},
      {"sep_token", tokenizer.sep_token_id()}, {"pad_token", tokenizer.pad_token_id()}, {"cls_token", tokenizer.cls_token_id()},
      {"mask_token", tokenizer.mask_token_id()}};
  std::string out;
  for (const auto& [role, id] : roles)
    if (id) out += str(out.empty() ? "" : ", ", "'", role, "': '", *tokenizer.id_to_token(*id), "'");
  return out;
}

std::map<int64_t, std::string> added_tokens(const Tokenizer& tokenizer) {
  std::map<int64_t, std::string> lines;
  const std::string name = tokenizer.files()[0].first;
  const JsonNode root = read_json_object(tokenizer.files()[0].second, name);
  if (!root.has("added_tokens")) return lines;
  root.at("added_tokens").value.for_each_item([&](const JsonView& item) {
    const JsonNode token{item, name};
    const std::string content = token.at("content").text();
    const std::optional<int64_t> id = tokenizer.token_to_id(content);
    if (!id) return;
    const bool special = token.truth("special", false);
    lines[*id] = str("AddedToken(", quoted(content), ", rstrip=", word(token.truth("rstrip", false)), ", lstrip=", word(token.truth("lstrip", false)),
                     ", single_word=", word(token.truth("single_word", false)), ", normalized=", word(token.truth("normalized", !special)),
                     ", special=", word(special), ")");
  });
  return lines;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tokenizer& tokenizer) {
  const std::optional<int64_t> longest = tokenizer.model_max_length();
  out << class_of(tokenizer) << "(vocab_size=" << tokenizer.vocab_size(false) << ", model_max_length=" << (longest ? std::to_string(*longest) : "None")
      << ", padding_side=" << word(tokenizer.padding_side()) << ", truncation_side=" << word(tokenizer.truncation_side()) << ", special_tokens={"
      << special_tokens(tokenizer) << "}, added_tokens_decoder={\n";
  for (const auto& [id, line] : added_tokens(tokenizer)) out << "\t" << id << ": " << line << ",\n";
  return out << "})";
}

}  // namespace rote::text
