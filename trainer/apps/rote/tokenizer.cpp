// trainer/apps/rote/tokenizer.cpp — `rote tokenizer train`: a tokenizer out of text files.
#include <cstdio>
#include <cstring>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/folder_write.h"
#include "trainer/parser.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/train_tokenizer.h"

namespace rote::app {

namespace {

enum class Model { bpe, wordpiece, unigram };  // in the order of TokenizerTraining::Kind
WordList words_of(Model) { return {"bpe", "wordpiece", "unigram"}; }

struct TrainTokenizerArguments {
  Model model = Model::bpe;
  std::vector<std::string> files = {};
  std::string output_dir;
  int64_t vocab_size = 30000;
  int64_t min_frequency = 0;
  std::optional<std::vector<std::string>> special_tokens = {};
  std::optional<std::string> unk_token = {};
  std::optional<int64_t> limit_alphabet = {};
  std::string initial_alphabet;
  std::optional<std::string> continuing_subword_prefix = {};
  std::string end_of_word_suffix;
  std::optional<int64_t> max_token_length = {};
  bool byte_level = true;
  bool add_prefix_space = false;
  bool lowercase = true;
  Number shrinking_factor = 0.75;
  int64_t n_sub_iterations = 2;
  int64_t max_piece_length = 16;

  static const ArgumentTable<TrainTokenizerArguments>& table();
};

const ArgumentTable<TrainTokenizerArguments>& TrainTokenizerArguments::table() {
  using A = TrainTokenizerArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::model, {.name = "model", .help = "what is learnt"}),
          field(&A::files, {.name = "files", .help = "texts in UTF-8", .required = true}),
          field(&A::output_dir, {.name = "output_dir", .help = "folder for tokenizer.json and its companions", .required = true}),
          field(&A::vocab_size, {.name = "vocab_size", .help = "tokens, special ones included", .unit = "tokens", .at_least = 1}),
          field(&A::min_frequency, {.name = "min_frequency", .help = "bpe, wordpiece: occurrences of a pair that is still merged", .at_least = 0}),
          field(&A::special_tokens, {.name = "special_tokens", .help = "the first ids; absent: those of the kind"}),
          field(&A::unk_token, {.name = "unk_token", .help = "token of what is unknown; absent: that of the kind"}),
          field(&A::limit_alphabet, {.name = "limit_alphabet", .help = "bpe, wordpiece: most characters that are kept", .at_least = 0}),
          field(&A::initial_alphabet, {.name = "initial_alphabet", .help = "characters that are kept whether they occur or not"}),
          field(&A::continuing_subword_prefix,
                {.name = "continuing_subword_prefix", .help = "bpe, wordpiece: of what does not begin a word; absent: ## for wordpiece"}),
          field(&A::end_of_word_suffix, {.name = "end_of_word_suffix", .help = "bpe: of what ends a word"}),
          field(&A::max_token_length, {.name = "max_token_length", .help = "bpe, wordpiece: longest token", .unit = "characters", .at_least = 1}),
          field(&A::byte_level, {.name = "byte_level", .help = "bpe: bytes as letters, so nothing is unknown; else words at blanks and punctuation"}),
          field(&A::add_prefix_space, {.name = "add_prefix_space", .help = "bpe: a blank before the text"}),
          field(&A::lowercase, {.name = "lowercase", .help = "wordpiece: lower case, without accents"}),
          field(&A::shrinking_factor, {.name = "shrinking_factor", .help = "unigram: share of the tokens that a round keeps", .at_least = 0.0, .below = 1.0}),
          field(&A::n_sub_iterations, {.name = "n_sub_iterations", .help = "unigram: fits of a round", .at_least = 1}),
          field(&A::max_piece_length, {.name = "max_piece_length", .help = "unigram: longest token", .unit = "characters", .at_least = 1}),
      },
  };
  return rows;
}

}  // namespace

int tokenizer(int argc, char** argv) {
  const bool train = argc > 1 && std::strcmp(argv[1], "train") == 0;
  if (train) {
    --argc;
    ++argv;
  }
  auto parsed = parse_command(argc, argv, Usage{"rote tokenizer train", "Learns the vocabulary of a tokenizer from texts and saves it."}, TrainTokenizerArguments{});
  ROTE_CHECK(train, ArgumentError, "there is one thing to do with tokenizers; write `rote tokenizer train`.");
  print_warnings(parsed.warnings);
  const TrainTokenizerArguments& args = std::get<0>(parsed.values);
  const text::TokenizerText made = text::train_tokenizer(
      args.files, {.kind = static_cast<text::TokenizerTraining::Kind>(args.model),
                   .vocab_size = args.vocab_size,
                   .min_frequency = args.min_frequency,
                   .special_tokens = args.special_tokens,
                   .unk_token = args.unk_token,
                   .limit_alphabet = args.limit_alphabet,
                   .initial_alphabet = args.initial_alphabet,
                   .continuing_subword_prefix = args.continuing_subword_prefix,
                   .end_of_word_suffix = args.end_of_word_suffix,
                   .max_token_length = args.max_token_length,
                   .byte_level = args.byte_level,
                   .add_prefix_space = args.add_prefix_space,
                   .lowercase = args.lowercase,
                   .shrinking_factor = args.shrinking_factor,
                   .n_sub_iterations = args.n_sub_iterations,
                   .max_piece_length = args.max_piece_length});
  write_files_into(args.output_dir, [&](const std::filesystem::path& folder) {
    write_file((folder / "tokenizer.json").string(), made.tokenizer_json());
    write_file((folder / "tokenizer_config.json").string(), made.tokenizer_config());
    write_file((folder / "special_tokens_map.json").string(), made.special_tokens_map());
  });
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(args.output_dir);
  std::printf("%s: %lld tokens\n", args.output_dir.c_str(), static_cast<long long>(tokenizer.vocab_size()));
  return 0;
}

}  // namespace rote::app
