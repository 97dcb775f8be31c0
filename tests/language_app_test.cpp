// tests/language_app_test.cpp — `rote train` and `rote evaluate` on texts: masked-lm, causal-lm and seq2seq from a tokenizer of their own on.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/app.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

constexpr char kBert[] = R"({"model_type": "bert", "vocab_size": 120, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 32})";
constexpr char kGpt2[] = R"({"model_type": "gpt2", "vocab_size": 300, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2})";
constexpr char kT5[] = R"({"model_type": "t5", "vocab_size": 120, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0, "pad_token_id": 0})";

// Sentences that say how they go on.
std::string sentences(int64_t n) {
  const char* who[] = {"the good cast", "a dull plot", "one bad film", "the fine act"};
  const char* does[] = {"is not very long", "was seen and heard", "ends in the end", "plays on"};
  std::string out;
  for (int64_t i = 0; i < n; ++i) out += std::string(who[i % 4]) + " " + does[(i * 3) % 4] + (i % 5 == 4 ? " ,\n\n" : " .\n");
  return out;
}

// Configs, texts and tokenizers of both kinds.
struct LanguageFolder : AppFolder {
  LanguageFolder() {
    for (const auto& [name, config] : {std::pair("bert", kBert), std::pair("gpt2", kGpt2), std::pair("t5", kT5)}) {
      fs::create_directory(file(name));
      folder.file(std::string(name) + "/config.json", config);
    }
    folder.file("train.txt", sentences(240));
    folder.file("test.txt", sentences(40));
    std::string pairs = "text\ttarget\n";
    const std::vector<std::string> lines = lines_of(sentences(60));
    for (const std::string& line : lines)
      if (!line.empty()) pairs += line + "\t" + line.substr(0, line.find(' ', 4)) + "\n";
    folder.file("pairs.tsv", pairs);
    REQUIRE(rote("tokenizer train --model wordpiece --files train.txt --output_dir wordpiece --vocab_size 120").status == 0);
    REQUIRE(rote("tokenizer train --model bpe --files train.txt --output_dir bpe --vocab_size 300").status == 0);
  }

  AppResult run(const std::string& task, const std::string& model, const std::string& out, const std::string& more, const std::string& before = "true") const {
    return rote("train --task " + task + " " + model + " --per_device_train_batch_size 8 --learning_rate 1e-2 --save_strategy no --disable_tqdm true --output_dir " + out + " " + more, before);
  }
  AppResult masked(const std::string& out, const std::string& more, const std::string& before = "true") const {
    return run("masked-lm", "--config_name bert --tokenizer_name wordpiece --train_file train.txt --line_by_line --max_seq_length 16", out, more, before);
  }

  double result(const std::string& out, const std::string& name) const {
    const Value results = parse_json(read_text(file(out + "/all_results.json")), "results");
    double number = NAN;
    const Value* found = results.as_map()->find(name);
    REQUIRE_MESSAGE((found != nullptr && found->number(number)), name);
    return number;
  }
};

// `= 0.1234`, as the table of metrics shows it; empty where it does not.
std::string shown(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text))
    if (line.rfind("  " + name + " ", 0) == 0) return line.substr(line.find('='));
  return "";
}

}  // namespace

TEST_CASE("rote train --task causal-lm: a new model learns from blocks of a text, and evaluate reads it back") {
  const LanguageFolder app;
  const AppResult train = app.run("causal-lm", "--config_name gpt2 --tokenizer_name bpe --train_file train.txt --validation_file test.txt --block_size 16", "out", "--num_train_epochs 6");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(contains(train.err, " blocks of 16, the last "));
  CHECK(app.result("out", "eval_loss") < 0.6 * std::log(300.0));  // log 300 without learning
  CHECK(app.result("out", "perplexity") == doctest::Approx(std::exp(app.result("out", "eval_loss"))).epsilon(1e-6));
  CHECK(app.result("out", "eval_accuracy") > 0.5);
  CHECK(app.result("out", "bits_per_byte") < 8 * 0.6);
  const AppResult evaluate = app.rote("evaluate --task causal-lm --model_name_or_path out --validation_file test.txt --block_size 16 --per_device_eval_batch_size 8");
  REQUIRE_MESSAGE(evaluate.status == 0, evaluate.err);
  for (const char* name : {"bits_per_byte", "eval_accuracy", "eval_loss", "perplexity"}) {
    CAPTURE(std::string(name));
    CHECK(shown(evaluate.out, name) == shown(train.out, name));
    CHECK(shown(train.out, name) != "");
  }
}

TEST_CASE("rote train --task masked-lm: rows and blocks, tokens and whole words") {
  const LanguageFolder app;
  const AppResult rows = app.masked("rows", "--validation_file test.txt --num_train_epochs 6");
  REQUIRE_MESSAGE(rows.status == 0, rows.err);
  CHECK(app.result("rows", "eval_loss") < 0.7 * std::log(120.0));
  CHECK(app.result("rows", "perplexity") == doctest::Approx(std::exp(app.result("rows", "eval_loss"))).epsilon(1e-6));
  CHECK(app.result("rows", "eval_accuracy") > 0.3);
  CHECK_FALSE(contains(rows.err, "left out"));
  const std::string evaluate = "evaluate --task masked-lm --model_name_or_path rows --validation_file test.txt --line_by_line --max_seq_length 16 --per_device_eval_batch_size 5 ";
  CHECK(shown(app.rote(evaluate).out, "eval_accuracy") == shown(rows.out, "eval_accuracy"));  // masked by row, whatever the batches
  CHECK(shown(app.rote(evaluate + "--seed 43").out, "eval_loss") != shown(rows.out, "eval_loss"));
  const AppResult words = app.masked("words", "--whole_word_mask --max_steps 2");
  REQUIRE_MESSAGE(words.status == 0, words.err);
  REQUIRE(app.masked("tokens", "--max_steps 2").status == 0);
  CHECK(app.hash("words") != app.hash("tokens"));
  const AppResult blocks = app.run("masked-lm", "--config_name bert --tokenizer_name wordpiece --train_file train.txt --max_seq_length 16 --mlm_probability 0.3", "blocks", "--max_steps 2");
  REQUIRE_MESSAGE(blocks.status == 0, blocks.err);
  CHECK(contains(blocks.err, " blocks of 16, the last "));
  // A saved body gets the head of another task, and a table's column serves as well as lines.
  const AppResult classify = app.rote("train --model_name_or_path rows --train_file train.tsv --max_seq_length 16 --max_steps 1 --save_strategy no --output_dir classes");
  CHECK_MESSAGE(classify.status == 0, classify.err);
  CHECK(app.run("masked-lm", "--model_name_or_path rows --train_file train.tsv --line_by_line --max_seq_length 16", "column", "--max_steps 1").status == 0);
}

TEST_CASE("rote train --task masked-lm: the same weights for 1 x 8 and 2 x 4 rows, any threads and instructions, and after a resume") {
  const LanguageFolder app;
  const std::string run = "--num_train_epochs 2 --train_sampling_strategy group_by_length ";
  REQUIRE(app.masked("whole", run + "--num_threads 1").status == 0);
  const std::string hash = app.hash("whole");
  REQUIRE(app.masked("split", run + "--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --num_threads 3").status == 0);
  CHECK(app.hash("split") == hash);
  REQUIRE(app.masked("scalar", run + "--per_device_train_batch_size 2 --gradient_accumulation_steps 4", "export ROTE_ISA=scalar").status == 0);
  CHECK(app.hash("scalar") == hash);
  // From the middle of the first epoch on.
  const std::string saving = run + "--save_strategy steps --save_steps 11 ";
  REQUIRE(app.masked("part", saving + "--num_threads 2", "export ROTE_ISA=avx2").status == 0);
  fs::rename(app.file("part/checkpoint-11"), app.file("at11"));
  const AppResult resumed = app.masked("resumed", saving + "--resume_from_checkpoint at11 --per_device_train_batch_size 4 --gradient_accumulation_steps 2");
  REQUIRE_MESSAGE(resumed.status == 0, resumed.err);
  CHECK(app.hash("resumed") == hash);
}

TEST_CASE("rote train --streaming: the weights of the same rows read at once, in order or drawn from a buffer, and after a resume") {
  const LanguageFolder app;
  const std::string causal = "--config_name gpt2 --tokenizer_name bpe --train_file train.txt --block_size 16 --max_steps 20 ";
  const auto trained = [&](const std::string& out, const std::string& more) {
    const AppResult result = app.run("causal-lm", causal, out, more);
    REQUIRE_MESSAGE(result.status == 0, result.err);
    return result;
  };
  trained("read", "--train_sampling_strategy sequential");
  const AppResult streamed = trained("streamed", "--streaming true --save_strategy steps --save_steps 13 --log_level info");
  CHECK(app.hash("streamed") == app.hash("read"));
  CHECK_FALSE(contains(streamed.err, "left out"));
  CHECK(contains(streamed.err, "  Total optimization steps = 20\n"));
  CHECK_FALSE(contains(streamed.err, "Num Epochs"));  // as many as it takes
  trained("drawn", "--streaming --shuffle_buffer_size 50 --save_strategy steps --save_steps 13");
  CHECK(app.hash("drawn") != app.hash("read"));
  for (const char* how : {"", "--shuffle_buffer_size 50 "}) {
    const std::string from = *how ? "drawn" : "streamed";
    trained("rest", std::string("--streaming ") + how + "--resume_from_checkpoint " + from + "/checkpoint-13 --per_device_train_batch_size 4 --gradient_accumulation_steps 2");
    CHECK(app.hash("rest") == app.hash(from));
  }
  const std::string masked = "--config_name bert --tokenizer_name wordpiece --train_file train.txt --line_by_line --max_seq_length 16 --whole_word_mask --max_steps 40 ";
  const AppResult passes = app.run("masked-lm", masked, "masked", "--streaming");
  REQUIRE_MESSAGE(passes.status == 0, passes.err);
  CHECK(contains(passes.err, "train_dataset: the stream ends after 240 rows of pass 1, at step 30 of 40; pass 2 begins\n"));
  const std::string labels = "--model_name_or_path masked --train_file train.tsv --max_seq_length 16 --max_steps 3 ";
  REQUIRE(app.run("text-classification", labels, "classes", "--streaming").status == 0);
  REQUIRE(app.run("text-classification", labels, "listed", "--train_sampling_strategy sequential").status == 0);
  CHECK(app.hash("classes") == app.hash("listed"));

  const auto refused = [&](const std::string& words) {
    const AppResult result = app.rote("train " + words + " --output_dir none");
    CHECK(result.status == 2);
    CHECK_FALSE(fs::exists(app.file("none")));
    return result.err;
  };
  CHECK(contains(refused("--task causal-lm --config_name gpt2 --tokenizer_name bpe --train_file train.txt --block_size 16 --streaming"),
                 "max_steps: is -1, but the train_dataset is a stream, whose length is not known; give --max_steps."));
  app.folder.file("short.txt", "a\n");
  CHECK(contains(refused("--task causal-lm --config_name gpt2 --tokenizer_name bpe --train_file short.txt --block_size 16 --streaming --max_steps 3"),
                 "fewer than the 16 of one block; give more text, or a smaller --block_size."));
  CHECK(contains(refused("--task seq2seq --config_name t5 --train_file pairs.tsv --streaming"),
                 "--streaming: is for the tasks text-classification, masked-lm and causal-lm; leave it out for seq2seq."));
  CHECK(contains(refused("--task causal-lm --config_name gpt2 --train_file train.txt --shuffle_buffer_size 5"), "--shuffle_buffer_size: is for --streaming; "));
}

TEST_CASE("rote tokenize --output_file: a file of tokens trains and evaluates as the text that it was made of") {
  const LanguageFolder app;
  for (const char* name : {"train", "test"}) {
    const AppResult made = app.rote(std::string("tokenize --model_name_or_path bpe --files ") + name + ".txt --output_file " + name + ".npy");
    REQUIRE_MESSAGE(made.status == 0, made.err);
    CHECK(contains(made.out, std::string(name) + ".npy: "));
  }
  const std::string model = "--config_name gpt2 --tokenizer_name bpe --block_size 16 --max_steps 12 ";
  const AppResult texts = app.run("causal-lm", model + "--train_file train.txt --validation_file test.txt", "texts", "");
  const AppResult tokens = app.run("causal-lm", model + "--train_file train.npy --validation_file test.npy", "tokens", "");
  REQUIRE_MESSAGE(tokens.status == 0, tokens.err);
  CHECK(app.hash("tokens") == app.hash("texts"));
  CHECK(shown(tokens.out, "eval_loss") == shown(texts.out, "eval_loss"));
  CHECK(shown(tokens.out, "perplexity") == shown(texts.out, "perplexity"));
  CHECK(shown(tokens.out, "bits_per_byte") == "");  // the bytes of the text are not known
  CHECK(contains(tokens.err, "train.npy: "));
  REQUIRE(app.rote("tokenize --model_name_or_path wordpiece --files train.txt --output_file words.npy").status == 0);
  const std::string masked = "--config_name bert --tokenizer_name wordpiece --train_file words.npy --max_seq_length 16 --max_steps 2 ";
  CHECK(app.run("masked-lm", masked, "masked", "").status == 0);
  CHECK(contains(app.run("masked-lm", masked, "none", "--line_by_line").err, "--line_by_line: words.npy holds tokens, which have no lines; "));
  CHECK(contains(app.run("masked-lm", masked, "none", "--whole_word_mask").err, "--whole_word_mask: words.npy holds tokens, of which words are not known; "));
  CHECK(contains(app.run("masked-lm", masked, "none", "--streaming").err, "--streaming: words.npy is mapped into memory, not held; leave it out."));
  CHECK(contains(app.rote("tokenize --model_name_or_path bpe --files train.txt").err, "--files and --output_file belong together; give both."));
  CHECK(contains(app.rote("tokenize --model_name_or_path bpe --files train.txt --output_file x.bin").err, "--output_file: x.bin must end in .npy."));
}

TEST_CASE("rote train --task seq2seq: T5 learns a target that its text holds") {
  const LanguageFolder app;
  const std::string model = "--config_name t5 --tokenizer_name wordpiece --train_file pairs.tsv --validation_file pairs.tsv --label_column_name target --max_source_length 24 --max_target_length 12";
  const AppResult train = app.run("seq2seq", model, "out", "--num_train_epochs 12 --source_prefix 'the '");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(app.result("out", "eval_loss") < 0.4 * std::log(120.0));
  CHECK(app.result("out", "eval_accuracy") > 0.6);
  const AppResult evaluate = app.rote("evaluate --task seq2seq --model_name_or_path out --validation_file pairs.tsv --label_column_name target --source_prefix 'the ' --per_device_eval_batch_size 8 --max_target_length 12");
  REQUIRE_MESSAGE(evaluate.status == 0, evaluate.err);
  CHECK(shown(evaluate.out, "eval_accuracy") == shown(train.out, "eval_accuracy"));
  // The same rows by what the model writes; the command that evaluates gives what the one that trains gave.
  const AppResult writing = app.run("seq2seq", model, "writes", "--num_train_epochs 12 --source_prefix 'the ' --predict_with_generate --num_beams 2");
  REQUIRE_MESSAGE(writing.status == 0, writing.err);
  CHECK(app.hash("writes") == app.hash("out"));
  CHECK(shown(writing.out, "eval_loss") == shown(train.out, "eval_loss"));
  CHECK(app.result("writes", "eval_exact_match") > 0.3);
  CHECK(app.result("writes", "eval_exact_match") <= 1);
  for (const char* name : {"eval_rouge1", "eval_rougeL", "eval_rougeLsum"}) {  // a text that is met has every word of it
    CHECK(app.result("writes", name) >= 100 * app.result("writes", "eval_exact_match") - 1e-3);
    CHECK(app.result("writes", name) <= 100);
  }
  CHECK(app.result("writes", "eval_rouge2") <= app.result("writes", "eval_rouge1"));
  CHECK(app.result("writes", "eval_bleu") <= 100);
  CHECK(app.result("writes", "eval_gen_len") >= 1);
  const std::string evaluation = "evaluate --task seq2seq --model_name_or_path out --validation_file pairs.tsv --label_column_name target --source_prefix 'the ' --predict_with_generate ";
  const AppResult written = app.rote(evaluation + "--num_beams 2 --per_device_eval_batch_size 8 --max_target_length 12");
  REQUIRE_MESSAGE(written.status == 0, written.err);
  CHECK(shown(written.out, "eval_exact_match") == shown(writing.out, "eval_exact_match"));
  const AppResult wide = app.rote(evaluation + "--num_beams 2 --per_device_eval_batch_size 3 --num_threads 1 --max_target_length 12");
  CHECK(shown(wide.out, "eval_exact_match") == shown(written.out, "eval_exact_match"));
  // predict: a text a line, those that were scored; targets are not needed.
  const std::string predict = "predict --task seq2seq --model_name_or_path out --source_prefix 'the ' --num_beams 2 --max_target_length 12 ";
  const AppResult texts = app.rote(predict + "--test_file pairs.tsv --per_device_eval_batch_size 8");
  REQUIRE_MESSAGE(texts.status == 0, texts.err);
  const std::vector<std::string> lines = lines_of(texts.out), pairs = lines_of(read_text(app.file("pairs.tsv")));
  REQUIRE(lines.size() == pairs.size() - 1);
  double same = 0;
  for (size_t row = 0; row < lines.size(); ++row) same += pairs[row + 1].substr(pairs[row + 1].find('\t') + 1) == lines[row] ? 1 : 0;
  CHECK(same / static_cast<double>(lines.size()) == doctest::Approx(app.result("writes", "eval_exact_match")).epsilon(1e-6));
  CHECK(app.rote(predict + "--test_file pairs.tsv --label_column_name target --output_dir said").status == 0);
  CHECK(read_text(app.file("said/generated_predictions.txt")) == texts.out);
  CHECK(contains(read_text(app.file("said/predict_results.json")), "\"predict_rougeL\""));
  REQUIRE(app.run("seq2seq", model, "a", "--max_steps 2").status == 0);
  REQUIRE(app.run("seq2seq", model, "b", "--max_steps 2 --per_device_train_batch_size 4 --gradient_accumulation_steps 2").status == 0);
  CHECK(app.hash("a") == app.hash("b"));
}

TEST_CASE("rote train on texts: what cannot be learnt is refused, and what has no effect is said") {
  const LanguageFolder app;
  struct Row {
    const char *task, *arguments, *expected;
  };
  const std::string models = "--tokenizer_name wordpiece ";
  const Row table[] = {
      {"causal-lm", "--config_name gpt2 --tokenizer_name bpe --train_file train.txt --block_size 33", "--max_seq_length: 33 tokens, the model takes at most 32; give that or less."},
      {"causal-lm", "--config_name gpt2 --tokenizer_name bpe --train_file test.tsv --text_column_names text label", "--text_column_names: text and label; --task causal-lm takes one text."},
      {"causal-lm", "--config_name gpt2 --tokenizer_name bpe --train_file train.txt --validation_file short.txt", "fewer than the 32 of one block; give more text, or a smaller --block_size."},
      {"causal-lm", "--config_name bert --tokenizer_name wordpiece --train_file train.txt", "text-generation"},
      {"masked-lm", "--config_name bert --tokenizer_name wordpiece --train_file empty.txt", "empty.txt: is empty; a file of texts has at least one line."},
      {"masked-lm", "--config_name bert --tokenizer_name model --train_file train.txt", "mlm: the tokenizer has no mask token"},
      {"seq2seq", "--config_name t5 --tokenizer_name wordpiece --train_file train.txt", "train.txt: ends in .txt; .csv, .tsv and .jsonl can be read."},
      {"seq2seq", "--config_name t5 --tokenizer_name wordpiece --train_file pairs.tsv", "pairs.tsv: has no column label"},
      {"seq2seq", "--config_name t5 --tokenizer_name wordpiece --train_file pairs.tsv --label_column_name target --predict_with_generate --generation_config '{\"do_sample\": true}'",
       "generate: do_sample is true, and this build does not sample; set it to false."},
      {"causal-lm", "--config_name gpt2 --tokenizer_name bpe --train_file train.txt --predict_with_generate", "--predict_with_generate: --task causal-lm has no texts to write; it is for --task seq2seq."},
  };
  app.folder.file("short.txt", "the end\n");
  app.folder.file("empty.txt", "");
  for (const Row& row : table) {
    CAPTURE(std::string(row.expected));
    const AppResult result = app.run(row.task, row.arguments, "out", "");
    CHECK(result.status == 2);
    CHECK_MESSAGE(contains(lines_of(result.err).back(), row.expected), result.err);
    CHECK_FALSE(fs::exists(app.file("out")));
  }
  const AppResult warned = app.masked("out", "--max_steps 1 --source_prefix x --no_keep_linebreaks");
  CHECK(warned.status == 0);
  CHECK(contains(warned.err, "--source_prefix: has no effect for --task masked-lm.\n"));
  CHECK(contains(warned.err, "--keep_linebreaks: has no effect for --task masked-lm.\n"));
}

TEST_CASE("docs: every argument of the language models' example is one of the commands'") {
  const AppFolder app;
  const std::string page = read_text(source_folder() + "/docs/examples/language_model.md"), help = app.rote("train --help").out + app.rote("tokenizer train --help").out + app.rote("pipeline --help").out + app.rote("tokenize --help").out;
  int64_t found = 0;
  for (size_t at = page.find("--"); at != std::string::npos; at = page.find("--", page.find_first_of(" \n`)", at))) {
    const std::string flag = page.substr(at, page.find_first_of(" \n`)", at) - at);
    if (flag == "--no-deps" || flag == "---") continue;  // of pip, of tables
    CAPTURE(flag);
    CHECK(contains(help, flag.rfind("--no_", 0) == 0 ? "--[no_]" + flag.substr(5) + " " : flag));
    ++found;
  }
  CHECK(found > 40);
}

}  // namespace rote::testing
