// trainer/apps/rote/tokenize.cpp — `rote tokenize`: the pieces and ids of texts, or those of whole files into a file of tokens.
#include <cstdio>

#include "kernels/check.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/data/token_file.h"
#include "trainer/data/token_texts.h"
#include "trainer/json_text.h"
#include "trainer/parser.h"
#include "trainer/text/tokenizer.h"

namespace rote::app {

namespace {

enum class OutputFormat { text, json };
WordList words_of(OutputFormat) { return {"text", "json"}; }

struct TokenizeArguments {
  std::string model_name_or_path;
  std::optional<int64_t> max_seq_length = {};
  bool add_special_tokens = true;
  OutputFormat output_format = OutputFormat::text;
  std::vector<std::string> files = {};
  std::optional<std::string> output_file = {};
  std::string text_column_name = "text";
  bool keep_linebreaks = true;

  static const ArgumentTable<TokenizeArguments>& table();
};

const ArgumentTable<TokenizeArguments>& TokenizeArguments::table() {
  using A = TokenizeArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::model_name_or_path, {.name = "model_name_or_path", .help = "folder with a tokenizer.json, or a .gguf file", .required = true}),
          field(&A::max_seq_length, {.name = "max_seq_length", .help = "length to which texts are cut", .unit = "tokens", .at_least = 1, .aliases = {"max_length"}}),
          field(&A::add_special_tokens, {.name = "add_special_tokens", .help = "puts the tokens of the template around"}),
          field(&A::output_format, {.name = "output_format", .help = "text: one `id<tab>piece` a line, an empty line between texts; json: one object a text"}),
          field(&A::files, {.name = "files", .help = "in place of texts: .txt .csv .tsv .jsonl, whose ids go into --output_file"}),
          field(&A::output_file, {.name = "output_file", .help = ".npy: an array of uint16 or uint32 for --train_file of rote train, which maps it into memory"}),
          field(&A::text_column_name, {.name = "text_column_name", .help = "column of the texts of --files that are tables"}),
          field(&A::keep_linebreaks, {.name = "keep_linebreaks", .help = "lines of a .txt file keep their ends"}),
      },
  };
  return rows;
}

// The ids of all texts of the files, one after another.
void write_tokens(const TokenizeArguments& args, const text::Tokenizer& tokenizer, const text::EncodeOptions& options) {
  data::TokenFileWriter writer(*args.output_file, tokenizer.id_limit());
  for (const std::string& file : args.files) {
    data::TextReader reader({.path = file, .column = args.text_column_name, .keep_linebreaks = args.keep_linebreaks});
    for (std::vector<data::Text> texts = reader.next(); !texts.empty(); texts = reader.next())
      for (const text::Encoding& one : data::encode_texts(texts, file, tokenizer, options)) writer.write(one.ids);
  }
  writer.commit();
  std::printf("%s: %lld tokens\n", args.output_file->c_str(), static_cast<long long>(writer.tokens()));
}

}  // namespace

int tokenize(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote tokenize", "The pieces and ids that a model's tokenizer makes of texts.", "TEXT..."}, TokenizeArguments{});
  print_warnings(parsed.warnings);
  const TokenizeArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(!parsed.positional.empty() || !args.files.empty(), ArgumentError, "no text; give at least one.");
  ROTE_CHECK(parsed.positional.empty() || args.files.empty(), ArgumentError, "give texts or --files, one of the two.");
  ROTE_CHECK(args.files.empty() == !args.output_file, ArgumentError, "--files and --output_file belong together; give both.");
  ROTE_CHECK(!args.output_file || args.output_file->ends_with(".npy"), ArgumentError, "--output_file: ", args.output_file.value_or(""), " must end in .npy.");
  const text::Tokenizer tokenizer = text::Tokenizer::from_folder(args.model_name_or_path);
  text::EncodeOptions options;
  options.add_special_tokens = args.add_special_tokens;
  if (args.max_seq_length) options.truncation = text::Truncation{.max_length = *args.max_seq_length};
  if (args.output_file) {
    options.fields = text::Fields::ids;
    write_tokens(args, tokenizer, options);
    return 0;
  }
  bool first = true;
  for (const std::string& text : parsed.positional) {
    const text::Encoding e = tokenizer.encode(text, options);
    if (args.output_format == OutputFormat::json) {
      ValueList ids, tokens;
      for (size_t i = 0; i < e.ids.size(); ++i) {
        ids.push_back(e.ids[i]);
        tokens.push_back(e.tokens[i]);
      }
      ValueMap record;
      record.set("input_ids", std::move(ids));
      record.set("tokens", std::move(tokens));
      std::printf("%s\n", json_text(Value(std::move(record)), {.indent = -1}).c_str());
      continue;
    }
    if (!first) std::printf("\n");
    first = false;
    for (size_t i = 0; i < e.ids.size(); ++i) std::printf("%lld\t%s\n", static_cast<long long>(e.ids[i]), e.tokens[i].c_str());
  }
  return 0;
}

}  // namespace rote::app
