// trainer/text/tokenizer_json.cpp — reading of tokenizer.json and its companions. A component is added to the list of its kind.
#include "trainer/text/tokenizer_json.h"

#include <iterator>
#include <utility>

#include "kernels/check.h"
#include "trainer/text/json_view.h"
#include "trainer/text/model_json.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

constexpr int64_t kMaxAddedTokens = 65536;

// Reads the component `node` by its type from `readers`, a list of {type, function}. Throws ArgumentError where it is none of them.
template <class Reader, size_t N>
auto read_typed(const JsonNode& node, const char* kind, const Reader (&readers)[N]) {
  const std::string type = node.at("type").text();
  std::string known;
  for (const Reader& reader : readers) {
    if (type == reader.type) return reader.read(node);
    known += str(known.empty() ? "" : ", ", reader.type);
  }
  throw ArgumentError(str("tokenizer: ", node.where, ": ", kind, " ", type, " is not known; known are ", known, "."));
}

template <class Step>
struct StepReader {
  const char* type;
  Step (*read)(const JsonNode& node);
};

// Appends the steps of `node`, those of a Sequence one by one.
template <class Step, size_t N>
void read_steps(const JsonNode& node, const char* kind, const char* parts, const StepReader<Step> (&readers)[N], std::vector<Step>& steps) {
  if (node.at("type").text() == "Sequence") {
    for (const JsonNode& part : node.at(parts).items()) read_steps(part, kind, parts, readers, steps);
  } else {
    steps.push_back(read_typed(node, kind, readers));
  }
}

std::u32string characters(const JsonNode& node) { return decode_text(node.short_text(), "tokenizer"); }

// A pattern {"String": …} or {"Regex": …}.
Regex read_pattern(const JsonNode& node) {
  if (node.has("String")) return Regex::literal(characters(node.at("String")));
  return Regex(node.at("Regex").short_text(), str("tokenizer: ", node.where));
}

template <class Step, class Kind>
Step plain(const JsonNode&) {
  return Kind{};
}

NormalizerStep read_bert_normalizer(const JsonNode& node) {
  BertNormalizer bert;
  bert.clean_text = node.truth("clean_text", bert.clean_text);
  bert.handle_chinese_chars = node.truth("handle_chinese_chars", bert.handle_chinese_chars);
  if (node.has("strip_accents")) bert.strip_accents = node.at("strip_accents").truth();
  bert.lowercase = node.truth("lowercase", bert.lowercase);
  return bert;
}

constexpr StepReader<NormalizerStep> kNormalizers[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"NFC", [](const JsonNode&) -> NormalizerStep { return NormalForm{true, false}; }},
    {"NFD", [](const JsonNode&) -> NormalizerStep { return NormalForm{false, false}; }},
    {"NFKC", [](const JsonNode&) -> NormalizerStep { return NormalForm{true, true}; }},
    {"NFKD", [](const JsonNode&) -> NormalizerStep { return NormalForm{false, true}; }},
    {"Lowercase", plain<NormalizerStep, Lowercase>},
    {"StripAccents", plain<NormalizerStep, StripAccents>},
    {"Strip", [](const JsonNode& n) -> NormalizerStep { return Strip{n.truth("strip_left", true), n.truth("strip_right", true)}; }},
    {"Prepend", [](const JsonNode& n) -> NormalizerStep { return Prepend{characters(n.at("prepend"))}; }},
    {"Replace", [](const JsonNode& n) -> NormalizerStep { return Replace{read_pattern(n.at("pattern")), characters(n.at("content"))}; }},
    {"Nmt", plain<NormalizerStep, Nmt>},
    {"ByteLevel", plain<NormalizerStep, ByteLevelLetters>},
    {"Precompiled", [](const JsonNode& n) -> NormalizerStep {
       const JsonNode map = n.at("precompiled_charsmap");
       ROTE_CHECK(map.value.is_string(), IoError, "tokenizer: ", map.where, " is ", map.value.type_name(), "; it must be a string.");
       return Charsmap(map.value.text().substr(1, map.value.text().size() - 2), map.where);  // as written: base64 needs no escapes
     }},
};

SplitBehavior read_behavior(const JsonNode& node) {
  static constexpr std::pair<const char*, SplitBehavior> kNames[] = {{"Removed", SplitBehavior::removed},
                                                                     {"Isolated", SplitBehavior::isolated},
                                                                     {"MergedWithPrevious", SplitBehavior::merged_with_previous},
                                                                     {"MergedWithNext", SplitBehavior::merged_with_next},
                                                                     {"Contiguous", SplitBehavior::contiguous}};
  const std::string name = node.text();
  for (const auto& [known, behavior] : kNames) {
    if (name == known) return behavior;
  }
  throw ArgumentError(str("tokenizer: ", node.where, " is \"", name,
                          "\"; it must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous."));
}

PreTokenizerStep read_split(const JsonNode& node) {
  const JsonNode pattern = node.at("pattern");
  const auto known = pattern.has("Regex") ? WordPattern::of(pattern.at("Regex").short_text()) : std::nullopt;
  const SplitBehavior behavior = read_behavior(node.at("behavior"));
  const bool invert = node.truth("invert", false);
  if (known) return Split{*known, behavior, invert};
  return Split{read_pattern(pattern), behavior, invert};
}

Metaspace read_metaspace(const JsonNode& node) {
  Metaspace metaspace;
  metaspace.replacement = node.at("replacement").character();
  metaspace.split = node.truth("split", true);
  const std::string scheme = node.text("prepend_scheme", "always");
  ROTE_CHECK(scheme == "first" || scheme == "never" || scheme == "always", ArgumentError, "tokenizer: ", node.where, ".prepend_scheme is \"",
             scheme, "\"; it must be first, never or always.");
  metaspace.prepend = scheme == "first" ? Metaspace::Prepend::first : scheme == "never" ? Metaspace::Prepend::never : Metaspace::Prepend::always;
  if (!node.truth("add_prefix_space", true)) {  // as files of before 2024 say it
    ROTE_CHECK(!node.has("prepend_scheme") || scheme == "never", ArgumentError, "tokenizer: ", node.where,
               ".add_prefix_space is false but prepend_scheme is \"", scheme, "\"; they must agree.");
    metaspace.prepend = Metaspace::Prepend::never;
  }
  return metaspace;
}

constexpr StepReader<PreTokenizerStep> kPreTokenizers[] = {
    {"BertPreTokenizer", plain<PreTokenizerStep, BertPreTokenizer>},
    {"ByteLevel", [](const JsonNode& n) -> PreTokenizerStep { return ByteLevel{n.truth("add_prefix_space", true), n.truth("use_regex", true)}; }},
    {"CharDelimiterSplit", [](const JsonNode& n) -> PreTokenizerStep { return CharDelimiterSplit{n.at("delimiter").character()}; }},
    {"Digits", [](const JsonNode& n) -> PreTokenizerStep { return Digits{n.truth("individual_digits", false)}; }},
    {"FixedLength", [](const JsonNode& n) -> PreTokenizerStep {
       const int64_t length = n.count("length", 5);
       ROTE_CHECK(length > 0, ArgumentError, "tokenizer: ", n.where, ".length is 0; it must be positive.");
       return FixedLength{static_cast<uint32_t>(length)};
     }},
    {"Metaspace", [](const JsonNode& n) -> PreTokenizerStep { return read_metaspace(n); }},
    {"Punctuation", [](const JsonNode& n) -> PreTokenizerStep {
       return n.has("behavior") ? Punctuation{read_behavior(n.at("behavior"))} : Punctuation{};
     }},
    {"Split", read_split},
    {"Whitespace", plain<PreTokenizerStep, Whitespace>},
    {"WhitespaceSplit", plain<PreTokenizerStep, WhitespaceSplit>},
};

std::vector<TemplatePiece> read_template(const JsonNode& node, const JsonNode& special_tokens, int texts) {
  std::vector<TemplatePiece> pieces;
  for (const JsonNode& item : node.items()) {
    TemplatePiece piece;
    if (item.has("Sequence")) {
      const JsonNode text = item.at("Sequence");
      const std::string id = text.at("id").text();
      piece.text = id == "A" ? 0 : 1;
      ROTE_CHECK((id == "A" || id == "B") && piece.text < texts, IoError, "tokenizer: ", text.where, ".id is \"", id, "\"; ",
                 texts == 1 ? "it must be A." : "it must be A or B.");
      piece.type_id = text.at("type_id").count();
    } else {
      const JsonNode special = item.at("SpecialToken");
      piece.type_id = special.at("type_id").count();
      const JsonNode token = special_tokens.at(special.at("id").text());
      for (const JsonNode& id : token.at("ids").items()) piece.ids.push_back(id.count());
      for (const JsonNode& name : token.at("tokens").items()) piece.tokens.push_back(name.text());
      ROTE_CHECK(piece.ids.size() == piece.tokens.size(), IoError, "tokenizer: ", token.where, " has ", piece.ids.size(), " ids and ",
                 piece.tokens.size(), " tokens; there must be as many of both.");
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

TemplatePiece read_named_id(const JsonNode& node, int64_t type_id) {
  const std::vector<JsonNode> items = node.items();
  ROTE_CHECK(items.size() == 2, IoError, "tokenizer: ", node.where, " has ", items.size(), " entries; it must be [token, id].");
  return {-1, type_id, {items[1].count()}, {items[0].text()}};
}

const TemplatePiece kFirst{0, 0, {}, {}};

PostProcessor read_template_processing(const JsonNode& node) {
  PostProcessor processor;
  processor.single = read_template(node.at("single"), node.at("special_tokens"), 1);
  processor.pair = read_template(node.at("pair"), node.at("special_tokens"), 2);
  return processor;
}

PostProcessor read_bert_processing(const JsonNode& node) {
  const TemplatePiece cls = read_named_id(node.at("cls"), 0);
  const TemplatePiece sep = read_named_id(node.at("sep"), 0);
  PostProcessor processor;
  processor.single = {cls, kFirst, sep};
  processor.pair = {cls, kFirst, sep, TemplatePiece{1, 1, {}, {}}, read_named_id(node.at("sep"), 1)};
  return processor;
}

PostProcessor read_roberta_processing(const JsonNode& node) {
  const TemplatePiece cls = read_named_id(node.at("cls"), 0);
  const TemplatePiece sep = read_named_id(node.at("sep"), 0);
  PostProcessor processor;
  processor.single = {cls, kFirst, sep};
  processor.pair = {cls, kFirst, sep, sep, TemplatePiece{1, 0, {}, {}}, sep};
  processor.one_type = true;
  if (node.truth("trim_offsets", true)) processor.trims.push_back({node.truth("add_prefix_space", true)});
  return processor;
}

PostProcessor read_byte_level_processing(const JsonNode& node) {
  PostProcessor processor;
  if (node.truth("trim_offsets", true)) processor.trims.push_back({node.truth("add_prefix_space", true)});
  return processor;
}

constexpr StepReader<PostProcessor> kPostProcessors[] = {
    {"TemplateProcessing", read_template_processing},
    {"BertProcessing", read_bert_processing},
    {"RobertaProcessing", read_roberta_processing},
    {"ByteLevel", read_byte_level_processing},
};

// The parts of a Sequence become one: offsets may be trimmed any number of times, special tokens are put in by one part at most.
PostProcessor read_post_processor(const JsonNode& node) {
  std::vector<PostProcessor> parts;
  read_steps(node, "post-processor", "processors", kPostProcessors, parts);
  PostProcessor whole;
  int templates = 0;
  for (PostProcessor& part : parts) {
    std::vector<OffsetTrim> trims = std::move(whole.trims);
    trims.insert(trims.end(), part.trims.begin(), part.trims.end());
    const bool plain = part.added_tokens(false) == 0 && part.added_tokens(true) == 0 && part.pair.size() == 2;
    if (!plain || templates == 0) whole = std::move(part);
    whole.trims = std::move(trims);
    templates += !plain;
  }
  ROTE_CHECK(templates <= 1, ArgumentError, "tokenizer: ", node.where, " puts special tokens around the text ", templates,
             " times; once at most is known here.");
  whole.given = true;
  return whole;
}

constexpr StepReader<DecoderStep> kDecoders[] = {
    {"WordPiece", [](const JsonNode& n) -> DecoderStep { return WordPieceDecoder{n.text("prefix", "##"), n.truth("cleanup", true)}; }},
    {"BPEDecoder", [](const JsonNode& n) -> DecoderStep { return BpeDecoder{n.text("suffix", "</w>")}; }},
    {"ByteLevel", plain<DecoderStep, ByteLevelDecoder>},
    {"ByteFallback", plain<DecoderStep, ByteFallbackDecoder>},
    {"Metaspace", [](const JsonNode& n) -> DecoderStep {
       const Metaspace metaspace = read_metaspace(n);
       return MetaspaceDecoder{to_utf8(std::u32string(1, metaspace.replacement)), metaspace.prepend != Metaspace::Prepend::never};
     }},
    {"Fuse", plain<DecoderStep, FuseDecoder>},
    {"Strip", [](const JsonNode& n) -> DecoderStep {
       return StripDecoder{n.at("content").character(), static_cast<size_t>(n.at("start").count()), static_cast<size_t>(n.at("stop").count())};
     }},
    {"Replace", [](const JsonNode& n) -> DecoderStep { return ReplaceDecoder{read_pattern(n.at("pattern")), n.at("content").text()}; }},
    {"CTC", [](const JsonNode& n) -> DecoderStep {
       return CtcDecoder{n.text("pad_token", "<pad>"), n.text("word_delimiter_token", "|"), n.truth("cleanup", true)};
     }},
};

AddedToken read_added_token(const JsonNode& node) {
  AddedToken token;
  token.content = node.at("content").short_text();
  token.single_word = node.truth("single_word", false);
  token.lstrip = node.truth("lstrip", false);
  token.rstrip = node.truth("rstrip", false);
  token.special = node.truth("special", false);
  token.normalized = node.truth("normalized", !token.special);
  if (node.has("id")) node.at("id").count();  // tokens are numbered by their place; what stands here must still be an id
  return token;
}

std::optional<Side> read_side(const JsonNode& root, const char* key) {
  if (!root.has(key)) return std::nullopt;
  const std::string side = root.at(key).text();
  ROTE_CHECK(side == "left" || side == "right", IoError, "tokenizer: ", root.where, ".", key, " is \"", side,
             "\"; it must be left or right.");
  return side == "left" ? Side::left : Side::right;
}

}  // namespace

TokenizerSpec read_tokenizer_json(std::string_view bytes, const std::string& path) {
  const JsonNode root = read_json_object(bytes, path);
  TokenizerSpec spec{read_model(root.at("model"))};
  if (root.has("normalizer")) read_steps(root.at("normalizer"), "normalizer", "normalizers", kNormalizers, spec.normalizer);
  if (root.has("pre_tokenizer")) read_steps(root.at("pre_tokenizer"), "pre-tokenizer", "pretokenizers", kPreTokenizers, spec.pre_tokenizer);
  if (root.has("post_processor")) spec.post_processor = read_post_processor(root.at("post_processor"));
  if (root.has("decoder")) {
    spec.decoder.given = true;
    read_steps(root.at("decoder"), "decoder", "decoders", kDecoders, spec.decoder.steps);
  }
  if (root.has("added_tokens")) {
    const JsonNode tokens = root.at("added_tokens");
    ROTE_CHECK(tokens.value.is_array(), IoError, "tokenizer: ", tokens.where, " is ", tokens.value.type_name(), "; it must be a list.");
    const int64_t n = tokens.value.size();
    ROTE_CHECK(n <= kMaxAddedTokens, IoError, "tokenizer: ", tokens.where, " has ", n, " entries; at most ", kMaxAddedTokens, " are read.");
    tokens.value.for_each_item([&](const JsonView& token) {
      spec.added_tokens.push_back(read_added_token({token, str(tokens.where, "[", spec.added_tokens.size(), "]")}));
    });
  }
  return spec;
}

void read_tokenizer_config(std::string_view bytes, const std::string& path, TokenizerConfig& config) {
  const JsonNode root = read_json_object(bytes, path);
  for (const char* role : {"pad_token", "cls_token", "sep_token", "mask_token", "unk_token", "bos_token", "eos_token"}) {
    if (!root.has(role)) continue;
    const JsonNode token = root.at(role);
    config.roles.emplace(role, token.value.is_object() ? token.at("content").text() : token.text());
  }
  if (root.has("model_max_length") && !config.model_max_length) {
    // Libraries write 1e30 for "no limit".
    const JsonNode length = root.at("model_max_length");
    ROTE_CHECK(length.value.number().value_or(0) > 0, IoError, "tokenizer: ", length.where, " is ", length.value.text().substr(0, 40),
               "; it must be a positive number.");
    if (length.number() < 1e9) config.model_max_length = static_cast<int64_t>(length.number());
  }
  if (!config.padding_side) config.padding_side = read_side(root, "padding_side");
  if (!config.truncation_side) config.truncation_side = read_side(root, "truncation_side");
  if (!config.clean_up_tokenization_spaces && root.has("clean_up_tokenization_spaces"))
    config.clean_up_tokenization_spaces = root.at("clean_up_tokenization_spaces").truth();
}

}  // namespace rote::text
