// trainer/text/gguf_tokenizer.cpp — the two kinds of vocabularies, and the names under which converters store how words are cut.
#include "trainer/text/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "kernels/check.h"
#include "tensor/sort_stably.h"
#include "trainer/text/json_view.h"
#include "trainer/text/unicode.h"
#include "trainer/text/vocabulary.h"

namespace rote::text {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kScores = "tokenizer.ggml.scores";
enum TokenType : int64_t { kNormal = 1, kControl = 3, kUserDefined = 4 };
// A few times what any tokenizer has: each costs more in memory than its shortest form in a file.
constexpr int64_t kMostTokens = 1 << 20, kMostMerges = 1 << 20;
constexpr size_t kMaxAddedTokens = 65536;

// How words are cut, under the names of `tokenizer.ggml.pre`.
struct Cut {
  const char* names;           // between blanks
  const char* regex;           // empty: GPT-2's, which ByteLevel has
  bool single_digits = false;  // each a word, before the pattern
  bool whole_words = false;    // a word that is a token is that token, whatever the merges say
  bool adds_bos = false;       // where the file does not say
};
constexpr Cut kCuts[] = {
    {" default gpt-2 phi-2 mpt olmo jais jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert "
     "exaone4 trillion granite-docling ", ""},
    {" smollm starcoder refact command-r codeshell exaone minerva-7b ", "", true},
    {" llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 ",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)", false, true, true},
    {" dbrx smaug-bpe ", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {" qwen2 deepseek-r1-qwen stablelm2 kormo megrez hunyuan ",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {" tekken ",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
     R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)", false, true, true},
    {" gpt-4o llama4 kanana2 ",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
     R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
     R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

const Cut& cut_of(const GgufFile& file) {
  const std::string name = file.text("tokenizer.ggml.pre").value_or("default");
  std::string known;
  for (const Cut& one : kCuts) {
    const std::string names = one.names;
    if (!name.empty() && name.find(' ') == std::string::npos && names.find(" " + name + " ") != std::string::npos) return one;
    known += names.substr(known.empty() ? 1 : 0, names.size() - (known.empty() ? 2 : 1));
  }
  throw ArgumentError(str("tokenizer: ", file.path(), ": tokenizer.ggml.pre is \"", name.substr(0, 60), "\"; known are ", known, "."));
}

std::string pre_tokenizer_json(const Cut& cut) {
  const bool own_pattern = cut.regex[0] == '\0';
  const std::string bytes = str("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":", own_pattern ? "true" : "false", "}");
  if (own_pattern && !cut.single_digits) return bytes;
  const std::string before = own_pattern ? "{\"type\":\"Digits\",\"individual_digits\":true}"
                                         : str("{\"type\":\"Split\",\"pattern\":{\"Regex\":", quoted(cut.regex), "},\"behavior\":\"Isolated\",\"invert\":false}");
  return str("{\"type\":\"Sequence\",\"pretokenizers\":[", before, ",", bytes, "]}");
}

// A text that grows with what the file holds and not far beyond: control characters and derived merges could make it many times longer.
class BoundedText {
 public:
  explicit BoundedText(const GgufFile& file) : file_(file) {}

  void add(std::string_view part) {
    constexpr size_t kFree = 16 << 20;
    ROTE_CHECK(text_.size() + part.size() <= static_cast<size_t>(file_.bytes()) + kFree, IoError, "tokenizer: ", file_.path(),
               " would need a tokenizer.json larger than itself; the file is damaged.");
    text_ += part;
  }
  // With a comma after what was added before.
  void add_item(const std::string& item) {
    if (!text_.empty()) add(",");
    add(item);
  }
  std::string take() { return std::move(text_); }

 private:
  const GgufFile& file_;
  std::string text_;
};

std::string checked(const GgufFile& file, std::string_view text, const char* what) {
  ROTE_CHECK(find_malformed(text) == kWellFormed, IoError, "tokenizer: ", file.path(), ": ", what, " is not UTF-8; it must be.");
  return quoted(text);
}

// The ids by role that the file gives.
std::vector<std::pair<const char*, int64_t>> role_ids(const GgufFile& file) {
  static constexpr std::pair<const char*, const char*> kRoles[] = {
      {"bos_token", "bos"}, {"eos_token", "eos"}, {"unk_token", "unknown"}, {"pad_token", "padding"}};
  std::vector<std::pair<const char*, int64_t>> ids;
  for (const auto& [role, theirs] : kRoles) {
    const std::string key = str("tokenizer.ggml.", theirs, "_token_id");
    const auto id = file.integer(key);
    ROTE_CHECK(!id || (*id >= 0 && *id < file.count(kTokens)), IoError, "tokenizer: ", file.path(), ": ", key, " is ", id.value_or(0), " of ",
               file.count(kTokens), " tokens; it must be the number of one.");
    if (id) ids.emplace_back(role, *id);
  }
  return ids;
}

// Tokens, their roles, and those that are looked for in a text as they are. Gives {"the":0,…} without its brackets.
std::string read_tokens(const GgufFile& file, TokenizerText& text) {
  const int64_t n = file.count(kTokens);
  ROTE_CHECK(n > 0, IoError, "tokenizer: ", file.path(), " has no ", kTokens, "; it is no whole model.");
  ROTE_CHECK(n <= kMostTokens, IoError, "tokenizer: ", file.path(), " has ", n, " tokens; at most ", kMostTokens, " are read.");
  const int64_t typed = file.count(kTypes);
  ROTE_CHECK(typed == 0 || typed == n, IoError, "tokenizer: ", file.path(), " has ", n, " tokens but ", typed, " of ", kTypes, "; there must be as many.");
  const std::vector<int64_t> types = file.integers(kTypes);
  const auto ids = role_ids(file);
  BoundedText vocab(file);
  int64_t id = 0;
  file.for_each_text(kTokens, [&](const std::string& token) {
    vocab.add_item(str(checked(file, token, kTokens), ":", id));
    const int64_t type = types.empty() ? int64_t{kNormal} : types[static_cast<size_t>(id)];
    bool has_role = false;
    for (const auto& [role, named] : ids) {
      if (named != id) continue;
      text.roles.emplace_back(role, token);
      has_role = true;
    }
    if (type == kControl || type == kUserDefined || has_role) {
      ROTE_CHECK(text.added_tokens.size() < kMaxAddedTokens, IoError, "tokenizer: ", file.path(), " marks more than ", kMaxAddedTokens,
                 " tokens as special; the file is damaged.");
      AddedToken added;
      added.content = token;
      added.normalized = false;
      added.special = type != kUserDefined;
      text.added_tokens.emplace_back(id, std::move(added));
    }
    ++id;
  });
  return vocab.take();
}

// Every way to make a token of two others, the best score first and the longer left part first among equals. transformers recovers them so.
std::string derived_merges(const GgufFile& file) {
  const int64_t n = file.count(kTokens);
  ROTE_CHECK(file.count(kScores) == n, IoError, "tokenizer: ", file.path(), " lists no merges and ", file.count(kScores), " of ", kScores, " for ", n,
             " tokens; there must be as many.");
  const std::vector<double> scores = file.numbers(kScores);
  Vocabulary vocabulary;
  int64_t id = 0;
  file.for_each_text(kTokens, [&](const std::string& token) { vocabulary.add(token, id++); });
  vocabulary.sort_ids();

  struct Merge {
    int32_t token;
    uint16_t cut, left, right;  // bytes before the cut; characters on both sides
  };
  std::vector<Merge> merges;
  vocabulary.for_each([&](std::string_view token, int64_t of) {
    ROTE_CHECK(!std::isnan(scores[static_cast<size_t>(of)]), IoError, "tokenizer: ", file.path(), ": ", kScores, "[", of, "] is NaN; it must be a number.");
    const auto begins_character = [&](size_t i) { return (static_cast<unsigned char>(token[i]) & 0xC0) != 0x80; };
    uint16_t characters = 0, left = 0;
    for (size_t i = 0; i < token.size(); ++i) characters = static_cast<uint16_t>(characters + begins_character(i));
    for (size_t cut = 1; cut < token.size(); ++cut) {
      if (!begins_character(cut)) continue;
      ++left;
      if (!vocabulary.id_of(token.substr(0, cut)) || !vocabulary.id_of(token.substr(cut))) continue;
      ROTE_CHECK(static_cast<int64_t>(merges.size()) < kMostMerges, IoError, "tokenizer: ", file.path(), " stands for more than ", kMostMerges,
                 " merges; the file is damaged.");
      merges.push_back({static_cast<int32_t>(of), static_cast<uint16_t>(cut), left, static_cast<uint16_t>(characters - left)});
    }
  });
  sort_stably(merges, [&](const Merge& a, const Merge& b) {
    const double x = scores[static_cast<size_t>(a.token)], y = scores[static_cast<size_t>(b.token)];
    return std::tie(x, a.left, a.right) > std::tie(y, b.left, b.right);
  });
  BoundedText rules(file);
  for (const Merge& merge : merges) {
    const std::string_view token = *vocabulary.token_of(merge.token);
    rules.add_item(str("[", quoted(token.substr(0, merge.cut)), ",", quoted(token.substr(merge.cut)), "]"));
  }
  return rules.take();
}

std::string read_merges(const GgufFile& file) {
  ROTE_CHECK(file.count(kMerges) <= kMostMerges, IoError, "tokenizer: ", file.path(), " has ", file.count(kMerges), " merges; at most ", kMostMerges, " are read.");
  BoundedText rules(file);
  file.for_each_text(kMerges, [&](const std::string& merge) { rules.add_item(checked(file, merge, kMerges)); });
  return rules.take();
}

std::string model_json(const char* options, const std::string& vocab, const std::string& merges) {
  std::string out = str("{\"type\":\"BPE\",\"dropout\":null,\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,", options, ",\"vocab\":{");
  out.reserve(out.size() + vocab.size() + merges.size() + 16);
  out += vocab;
  out += "},\"merges\":[";
  out += merges;
  out += "]}";
  return out;
}

void read_byte_level(const GgufFile& file, const Cut& cut, TokenizerText& text) {
  const std::string vocab = read_tokens(file, text);
  text.pre_tokenizer = pre_tokenizer_json(cut);
  text.decoder = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}";
  const std::string options = str("\"unk_token\":null,\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":", cut.whole_words ? "true" : "false");
  text.model = model_json(options.c_str(), vocab, read_merges(file));
}

void read_sentencepiece(const GgufFile& file, bool prefix_space, TokenizerText& text) {
  const std::string vocab = read_tokens(file, text);
  text.pre_tokenizer = str("{\"type\":\"Metaspace\",\"replacement\":\"▁\",\"prepend_scheme\":\"", prefix_space ? "first" : "never", "\",\"split\":false}");
  text.decoder = str("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"▁\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},"
                     "{\"type\":\"Fuse\"}", prefix_space ? ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}" : "", "]}");
  text.model = model_json("\"unk_token\":null,\"fuse_unk\":true,\"byte_fallback\":true,\"ignore_merges\":false", vocab,
                          file.count(kMerges) > 0 ? read_merges(file) : derived_merges(file));
}

// bos $A eos $B eos, as far as the file wants them.
std::string template_of(const TokenizerText& text, bool adds_bos, bool adds_eos) {
  std::string before, after;
  std::map<std::string, int64_t> ids;
  for (const auto& [role, token] : text.roles) {
    const bool first = adds_bos && role == "bos_token", last = adds_eos && role == "eos_token";
    if (!first && !last) continue;
    (first ? before : after) = token;
    for (const auto& [id, added] : text.added_tokens)
      if (added.content == token) ids[token] = id;
  }
  const auto around = [&](const char* name, const char* type) {
    return (before.empty() ? "" : before + type + " ") + name + type + (after.empty() ? "" : " " + after + type);
  };
  return template_json(around("$A", ""), around("$A", "") + " " + around("$B", ":1"), ids);
}

}  // namespace

bool has_tokenizer(const GgufFile& file) {
  const std::string model = file.text("tokenizer.ggml.model").value_or("none");
  return model != "none" && model != "no_vocab";
}

TokenizerText read_gguf_tokenizer(const GgufFile& file) {
  const std::string model = file.text("tokenizer.ggml.model").value_or("");
  ROTE_CHECK(model == "gpt2" || model == "llama", ArgumentError, "tokenizer: ", file.path(), ": tokenizer.ggml.model is \"", model.substr(0, 60),
             "\"; gpt2 and llama are read.");
  const auto said = [&](const char* key, bool otherwise) { return file.integer(key).value_or(otherwise) != 0; };
  const bool is_bytes = model == "gpt2";
  const Cut* cut = is_bytes ? &cut_of(file) : nullptr;
  TokenizerText text;
  if (is_bytes) read_byte_level(file, *cut, text);
  else read_sentencepiece(file, said("tokenizer.ggml.add_space_prefix", true), text);

  const auto has_role = [&](const char* role) {
    return std::any_of(text.roles.begin(), text.roles.end(), [&](const auto& one) { return one.first == role; });
  };
  const bool adds_bos = said("tokenizer.ggml.add_bos_token", cut == nullptr || cut->adds_bos) && has_role("bos_token");
  const bool adds_eos = said("tokenizer.ggml.add_eos_token", false) && has_role("eos_token");
  text.post_processor = template_of(text, adds_bos, adds_eos);
  text.tokenizer_class = "PreTrainedTokenizerFast";
  text.settings = {{"add_bos_token", adds_bos ? "true" : "false"}, {"add_eos_token", adds_eos ? "true" : "false"}, {"clean_up_tokenization_spaces", "false"}};
  if (const auto longest = file.integer(file.text("general.architecture").value_or("") + ".context_length"); longest && *longest > 0)
    text.settings.emplace_back("model_max_length", str(*longest));
  if (const auto chat = file.text("tokenizer.chat_template")) text.settings.emplace_back("chat_template", checked(file, *chat, "tokenizer.chat_template"));
  return text;
}

}  // namespace rote::text
