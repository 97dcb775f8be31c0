// trainer/text/train_tokenizer.cpp — the components of each kind.
#include "trainer/text/train_tokenizer.h"

#include <algorithm>
#include <charconv>

#include "kernels/check.h"
#include "trainer/text/byte_level.h"
#include "trainer/text/json_view.h"
#include "trainer/text/tokenizer_json.h"
#include "trainer/text/train_bpe.h"
#include "trainer/text/train_unigram.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

std::string number(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

const char* word(bool value) { return value ? "true" : "false"; }

// The roles that tokens of these names have in published tokenizers.
void name_roles(TokenizerText& text, const std::vector<std::string>& special_tokens) {
  static constexpr std::pair<const char*, const char*> kRoles[] = {
      {"unk_token", "[UNK]"}, {"sep_token", "[SEP]"}, {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"},
      {"bos_token", "<s>"},   {"eos_token", "</s>"},  {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask>"},
      {"eos_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}};
  for (const auto& [role, token] : kRoles) {
    const bool there = std::find(special_tokens.begin(), special_tokens.end(), token) != special_tokens.end();
    const bool named = std::any_of(text.roles.begin(), text.roles.end(), [r = role](const auto& known) { return known.first == r; });
    if (there && !named) text.roles.emplace_back(role, token);
  }
}

void set_components(TokenizerText& text, const TokenizerTraining& options) {
  switch (options.kind) {
    case TokenizerTraining::Kind::wordpiece:
      text.normalizer = str("{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":",
                            word(options.lowercase), "}");
      text.pre_tokenizer = "{\"type\":\"BertPreTokenizer\"}";
      text.decoder = str("{\"type\":\"WordPiece\",\"prefix\":", quoted(options.continuing_subword_prefix.value_or("##")), ",\"cleanup\":true}");
      return;
    case TokenizerTraining::Kind::unigram:
      text.normalizer =
          "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"},{\"type\":\"NFKC\"},"
          "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"}]}";
      text.pre_tokenizer = text.decoder = "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\",\"split\":true}";
      return;
    case TokenizerTraining::Kind::bpe:
      if (options.byte_level) {
        text.pre_tokenizer = str("{\"type\":\"ByteLevel\",\"add_prefix_space\":", word(options.add_prefix_space),
                                 ",\"trim_offsets\":true,\"use_regex\":true}");
        text.post_processor = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":false,\"use_regex\":true}";
        text.decoder = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}";
        return;
      }
      text.pre_tokenizer = "{\"type\":\"Whitespace\"}";
      if (!options.end_of_word_suffix.empty()) text.decoder = str("{\"type\":\"BPEDecoder\",\"suffix\":", quoted(options.end_of_word_suffix), "}");
  }
}

std::vector<std::string> usual_special_tokens(const TokenizerTraining& options) {
  switch (options.kind) {
    case TokenizerTraining::Kind::wordpiece: return {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    case TokenizerTraining::Kind::unigram: return {"<pad>", "</s>", "<unk>"};
    case TokenizerTraining::Kind::bpe: break;
  }
  return options.byte_level ? std::vector<std::string>{"<|endoftext|>"} : std::vector<std::string>{"<unk>"};
}

// Learns by `options` and returns the model as JSON; `special` is what the first ids are.
std::string learn(const WordCounts& words, const TokenizerTraining& options, std::vector<std::string>& special) {
  if (options.kind == TokenizerTraining::Kind::unigram) {
    const UnigramResult result = train_unigram(words, {.vocab_size = options.vocab_size,
                                                       .special_tokens = special,
                                                       .unk_token = options.unk_token.value_or("<unk>"),
                                                       .initial_alphabet = decode_text(options.initial_alphabet, "tokenizer train"),
                                                       .shrinking_factor = options.shrinking_factor,
                                                       .n_sub_iterations = options.n_sub_iterations,
                                                       .max_piece_length = options.max_piece_length});
    special.assign(result.tokens.begin(), result.tokens.begin() + std::max<int64_t>(static_cast<int64_t>(special.size()), *result.unk_id + 1));
    std::string vocab;
    for (size_t i = 0; i < result.tokens.size(); ++i) {
      vocab += str(i > 0 ? "," : "", "[", quoted(result.tokens[i]), ",", number(result.scores[i]), "]");
    }
    return str("{\"type\":\"Unigram\",\"unk_id\":", *result.unk_id, ",\"vocab\":[", vocab, "],\"byte_fallback\":false}");
  }
  const bool wordpiece = options.kind == TokenizerTraining::Kind::wordpiece;
  const std::string prefix = options.continuing_subword_prefix.value_or(wordpiece ? "##" : "");
  std::u32string alphabet = decode_text(options.initial_alphabet, "tokenizer train");
  for (unsigned byte = 0; byte < 256 && !wordpiece && options.byte_level; ++byte) alphabet.push_back(letter_of(static_cast<unsigned char>(byte)));
  const BpeResult result = train_bpe(words, {.vocab_size = options.vocab_size,
                                             .min_frequency = options.min_frequency,
                                             .special_tokens = special,
                                             .limit_alphabet = options.limit_alphabet,
                                             .initial_alphabet = alphabet,
                                             .continuing_subword_prefix = prefix,
                                             .end_of_word_suffix = options.end_of_word_suffix,
                                             .max_token_length = options.max_token_length});
  const std::string vocab = vocab_json(result.tokens);
  if (wordpiece) {
    return str("{\"type\":\"WordPiece\",\"unk_token\":", quoted(options.unk_token.value_or("[UNK]")), ",\"continuing_subword_prefix\":", quoted(prefix),
               ",\"max_input_chars_per_word\":100,\"vocab\":", vocab, "}");
  }
  std::string merges;
  for (const auto& [left, right] : result.merges) {
    merges += str(merges.empty() ? "" : ",", "[", quoted(result.tokens[left]), ",", quoted(result.tokens[right]), "]");
  }
  const auto or_null = [](const std::string& text) { return text.empty() ? std::string("null") : quoted(text); };
  const std::string unk = options.unk_token ? quoted(*options.unk_token) : options.byte_level ? "null" : "\"<unk>\"";
  return str("{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":", unk, ",\"continuing_subword_prefix\":", or_null(prefix), ",\"end_of_word_suffix\":",
             or_null(options.end_of_word_suffix), ",\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":", vocab,
             ",\"merges\":[", merges, "]}");
}

}  // namespace

TokenizerText train_tokenizer(const std::vector<std::string>& files, const TokenizerTraining& options) {
  TokenizerText text;
  set_components(text, options);
  text.model = "{\"type\":\"WordLevel\",\"unk_token\":\"\",\"vocab\":{}}";  // so that the components read as those of any file
  const TokenizerSpec spec = read_tokenizer_json(text.tokenizer_json(), "tokenizer train");

  std::vector<std::string> special = options.special_tokens.value_or(usual_special_tokens(options));
  text.model = learn(count_words(files, spec.normalizer, spec.pre_tokenizer), options, special);
  for (size_t i = 0; i < special.size(); ++i) {
    AddedToken token;
    token.content = special[i];
    token.normalized = false;
    token.special = true;
    text.added_tokens.emplace_back(static_cast<int64_t>(i), token);
  }
  name_roles(text, special);
  const auto cls = std::find(special.begin(), special.end(), "[CLS]"), sep = std::find(special.begin(), special.end(), "[SEP]");
  if (options.kind == TokenizerTraining::Kind::wordpiece && cls != special.end() && sep != special.end()) {
    text.post_processor = template_json("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", {{"[CLS]", cls - special.begin()}, {"[SEP]", sep - special.begin()}});
  }
  text.tokenizer_class = "PreTrainedTokenizerFast";
  return text;
}

}  // namespace rote::text
