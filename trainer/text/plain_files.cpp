// trainer/text/plain_files.cpp — the two kinds of folders.
#include "trainer/text/plain_files.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "kernels/check.h"
#include "tensor/sort_stably.h"
#include "trainer/text/json_view.h"
#include "trainer/text/model_json.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;
using Roles = std::vector<std::pair<std::string, std::string>>;

const Roles kBertRoles = {{"unk_token", "[UNK]"}, {"sep_token", "[SEP]"}, {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};
const Roles kRobertaRoles = {{"bos_token", "<s>"},  {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"sep_token", "</s>"},
                             {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};
const Roles kGpt2Roles = {{"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}};

constexpr std::string_view kBertClasses[] = {"BertTokenizer",     "DistilBertTokenizer", "ElectraTokenizer",  "MobileBertTokenizer", "ConvBertTokenizer",
                                             "LayoutLMTokenizer", "SqueezeBertTokenizer", "RetriBertTokenizer", "LxmertTokenizer"};
constexpr std::string_view kRobertaClasses[] = {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"};
constexpr std::string_view kGpt2Classes[] = {"GPT2Tokenizer"};

const std::string* find_file(const Files& files, std::string_view name) {
  for (const auto& [known, bytes] : files) {
    if (known == name) return &bytes;
  }
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& bytes) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    lines.push_back(bytes.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

AddedToken special_token(const std::string& content) {
  AddedToken token;
  token.content = content;
  token.normalized = false;
  token.special = true;
  return token;
}

AddedToken read_token(const JsonNode& node) {
  AddedToken token = special_token(node.value.is_object() ? node.at("content").text() : node.text());
  if (!node.value.is_object()) return token;
  token.single_word = node.truth("single_word", false);
  token.lstrip = node.truth("lstrip", false);
  token.rstrip = node.truth("rstrip", false);
  token.normalized = node.truth("normalized", false);
  token.special = node.truth("special", true);
  return token;
}

// What the companions of a vocabulary say: later files only add.
struct Companions {
  std::optional<JsonNode> config;  // tokenizer_config.json
  std::vector<JsonNode> all;       // and special_tokens_map.json
  const std::string* added = nullptr;

  Companions(const Files& files, const std::string& folder) : added(find_file(files, "added_tokens.json")) {
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      const std::string* bytes = find_file(files, name);
      if (bytes == nullptr) continue;
      all.push_back(read_json_object(*bytes, folder + "/" + name));
      if (std::string_view(name) == "tokenizer_config.json") config = all.back();
    }
  }

  bool truth(const char* key, bool otherwise) const { return config ? config->truth(key, otherwise) : otherwise; }

  // `usual` with what the files say, and the other roles that they name.
  std::vector<std::pair<std::string, AddedToken>> roles(const Roles& usual) const {
    std::vector<std::pair<std::string, AddedToken>> out;
    for (const char* role : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
      const auto named = std::find_if(all.begin(), all.end(), [&](const JsonNode& file) { return file.has(role); });
      const auto known = std::find_if(usual.begin(), usual.end(), [&](const auto& one) { return one.first == role; });
      if (named != all.end()) {
        out.emplace_back(role, read_token(named->at(role)));
      } else if (known != usual.end()) {
        out.emplace_back(role, special_token(known->second));
      }
    }
    return out;
  }
};

// Adds a token with its id in the vocabulary, or the next free one; one that is there already is left.
void add_token(TokenizerText& text, const Vocabulary& vocabulary, const AddedToken& token, int64_t& next) {
  for (const auto& [id, known] : text.added_tokens) {
    if (known.content == token.content) return;
  }
  const auto id = vocabulary.id_of(token.content);
  text.added_tokens.emplace_back(id ? *id : next++, token);
}

void add_tokens(TokenizerText& text, const Vocabulary& vocabulary, const Companions& companions, const Roles& usual) {
  int64_t next = vocabulary.size();
  std::vector<std::pair<int64_t, AddedToken>> listed;
  const auto list = [&](int64_t id, AddedToken token) {
    if (!vocabulary.id_of(token.content)) next = std::max(next, id + 1);
    listed.emplace_back(id, std::move(token));
  };
  if (companions.config && companions.config->has("added_tokens_decoder")) {
    const JsonNode decoder = companions.config->at("added_tokens_decoder");
    ROTE_CHECK(decoder.value.is_object(), IoError, "tokenizer: ", decoder.where, " is ", decoder.value.type_name(), "; it must map ids to tokens.");
    decoder.value.for_each_member([&](const JsonView& key, const JsonView& value) {
      const std::string number = key.string();
      int64_t id = -1;
      std::from_chars(number.data(), number.data() + number.size(), id);
      ROTE_CHECK(id >= 0 && id < int64_t{1} << 31, IoError, "tokenizer: ", decoder.where, " has the id ", key.text().substr(0, 40),
                 "; it must be an integer in [0, 2^31).");
      list(id, read_token({value, str(decoder.where, ".", number)}));
    });
  }
  if (companions.added != nullptr) {
    read_vocabulary(read_json_object(*companions.added, "added_tokens.json")).for_each([&](std::string_view token, int64_t id) {
      AddedToken plain;
      plain.content = token;
      list(id, std::move(plain));
    });
  }
  sort_stably(listed, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& one : listed) {
    const auto same = [&](const auto& known) { return known.second.content == one.second.content; };
    if (std::any_of(text.added_tokens.begin(), text.added_tokens.end(), same)) continue;
    text.added_tokens.emplace_back(vocabulary.id_of(one.second.content).value_or(one.first), one.second);
  }
  for (const auto& [role, token] : companions.roles(usual)) {
    text.roles.emplace_back(role, token.content);
    add_token(text, vocabulary, token, next);
  }
  for (const JsonNode& file : companions.all) {
    if (!file.has("additional_special_tokens")) continue;
    for (const JsonNode& token : file.at("additional_special_tokens").items()) add_token(text, vocabulary, read_token(token), next);
  }
  sort_stably(text.added_tokens, [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::string role_token(const TokenizerText& text, std::string_view role) {
  for (const auto& [name, token] : text.roles) {
    if (name == role) return token;
  }
  return "";
}

int64_t id_of(const TokenizerText& text, const std::string& token) {
  for (const auto& [id, added] : text.added_tokens) {
    if (added.content == token) return id;
  }
  return 0;
}

TokenizerText read_bert(const std::string& vocab, const Companions& companions) {
  const std::vector<std::string> tokens = lines_of(vocab);
  ROTE_CHECK(find_malformed(vocab) == kWellFormed, IoError, "tokenizer: vocab.txt is not UTF-8 at byte ", find_malformed(vocab), "; it must be.");
  Vocabulary vocabulary;
  for (size_t i = 0; i < tokens.size(); ++i) vocabulary.add(tokens[i], static_cast<int64_t>(i));
  vocabulary.sort_ids();

  TokenizerText text;
  add_tokens(text, vocabulary, companions, kBertRoles);
  const char* strip = companions.config && companions.config->has("strip_accents") ? (companions.truth("strip_accents", false) ? "true" : "false") : "null";
  text.normalizer = str("{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":",
                        companions.truth("tokenize_chinese_chars", true) ? "true" : "false", ",\"strip_accents\":", strip,
                        ",\"lowercase\":", companions.truth("do_lower_case", true) ? "true" : "false", "}");
  text.pre_tokenizer = "{\"type\":\"BertPreTokenizer\"}";
  const std::string cls = role_token(text, "cls_token"), sep = role_token(text, "sep_token");
  text.post_processor = template_json(cls + " $A " + sep, cls + " $A " + sep + " $B:1 " + sep + ":1", {{cls, id_of(text, cls)}, {sep, id_of(text, sep)}});
  text.decoder = "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}";
  text.model = str("{\"type\":\"WordPiece\",\"unk_token\":", quoted(role_token(text, "unk_token")),
                   ",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":", vocab_json(tokens), "}");
  return text;
}

TokenizerText read_byte_level(const std::string& vocab, const std::string& merges, const Companions& companions, const std::string& folder, bool roberta) {
  const Vocabulary vocabulary = read_vocabulary(read_json_object(vocab, folder + "/vocab.json"));
  ROTE_CHECK(find_malformed(merges) == kWellFormed, IoError, "tokenizer: merges.txt is not UTF-8 at byte ", find_malformed(merges), "; it must be.");
  TokenizerText text;
  add_tokens(text, vocabulary, companions, roberta ? kRobertaRoles : kGpt2Roles);
  const char* prefix = companions.truth("add_prefix_space", false) ? "true" : "false";
  text.pre_tokenizer = str("{\"type\":\"ByteLevel\",\"add_prefix_space\":", prefix, ",\"trim_offsets\":true,\"use_regex\":true}");
  text.decoder = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}";
  if (roberta) {
    const auto pair = [&](const char* role) {
      const std::string token = role_token(text, role);
      return str("[", quoted(token), ",", id_of(text, token), "]");
    };
    text.post_processor = str("{\"type\":\"RobertaProcessing\",\"sep\":", pair("sep_token"), ",\"cls\":", pair("cls_token"),
                              ",\"trim_offsets\":true,\"add_prefix_space\":", prefix, "}");
  } else {
    const std::string bos = companions.truth("add_bos_token", false) ? role_token(text, "bos_token") : "";
    std::map<std::string, int64_t> ids;
    if (!bos.empty()) ids[bos] = id_of(text, bos);
    text.post_processor = template_json(bos + " $A", bos + " $A " + (bos.empty() ? "" : bos + ":1") + " $B:1", ids);
  }
  std::string rules;
  for (const std::string& line : lines_of(merges)) {
    if (line.empty() || line.starts_with("#version")) continue;
    rules += (rules.empty() ? "" : ",") + quoted(line);
  }
  text.model = str("{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"\",\"fuse_unk\":false,"
                   "\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":", vocab, ",\"merges\":[", rules, "]}");
  return text;
}

template <size_t N>
bool is_one_of(const std::string& name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

TokenizerText read_plain_files(const Files& files, const std::string& folder) {
  const Companions companions(files, folder);
  const std::string* vocab_txt = find_file(files, "vocab.txt");
  const std::string* vocab_json = find_file(files, "vocab.json");
  const std::string* merges = find_file(files, "merges.txt");
  std::string name = companions.config ? companions.config->text("tokenizer_class", "") : "";
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  const std::string said = name;
  if (name.empty()) {
    const bool has_cls = std::any_of(companions.all.begin(), companions.all.end(), [](const JsonNode& file) { return file.has("cls_token"); });
    name = vocab_txt != nullptr ? "BertTokenizer" : has_cls ? "RobertaTokenizer" : "GPT2Tokenizer";
  }
  const bool bert = is_one_of(name, kBertClasses), roberta = is_one_of(name, kRobertaClasses), gpt2 = is_one_of(name, kGpt2Classes);
  ROTE_CHECK(bert || roberta || gpt2, ArgumentError, "tokenizer: ", folder, "/tokenizer_config.json names the class ", said,
             ", which is not known without a tokenizer.json; known are BertTokenizer, RobertaTokenizer, GPT2Tokenizer and their kin.");
  ROTE_CHECK(bert ? vocab_txt != nullptr : vocab_json != nullptr && merges != nullptr, IoError, "tokenizer: ", folder,
             " has no tokenizer.json, and for a ", name, " no ", bert ? "vocab.txt" : "vocab.json with merges.txt",
             "; give a checkpoint folder that holds its tokenizer.");
  TokenizerText text = bert ? read_bert(*vocab_txt, companions) : read_byte_level(*vocab_json, *merges, companions, folder, roberta);
  text.tokenizer_class = name;
  return text;
}

}  // namespace rote::text
