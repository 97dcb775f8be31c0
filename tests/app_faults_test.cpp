// tests/app_faults_test.cpp — what `rote` refuses and how a run fails: one sentence, the right exit code, nothing half-written.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "tests/app.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

void replace(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = read_text(path);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  text.replace(at, from.size(), to);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

void cut(const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); }

// The one sentence of a refusal or failure: the last line of the error stream, without `rote VERB: `.
std::string sentence(const AppResult& result) {
  const std::vector<std::string> lines = lines_of(result.err);
  REQUIRE(!lines.empty());
  const std::string& last = lines.back();
  REQUIRE_MESSAGE(last.rfind("rote ", 0) == 0, result.err);
  int64_t faults = 0;
  for (const std::string& line : lines) faults += line.rfind("rote ", 0) == 0;
  CHECK_MESSAGE(faults == 1, result.err);
  CHECK_MESSAGE((last.ends_with(".") || last.ends_with("?") || last.ends_with(")")), last);
  CHECK_MESSAGE(!contains(last, "!"), last);
  CHECK_MESSAGE(!contains(last, "nvalid"), last);
  return last.substr(last.find(": ") + 2);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

struct TrainFault {
  std::string name;
  std::function<void(const AppFolder&)> prepare;
  const char* more;     // arguments
  const char* expected; // part of the sentence
};

}  // namespace

TEST_CASE("rote train: broken inputs end with exit code 2 and one sentence, before output_dir is made") {
  const auto nothing = [](const AppFolder&) {};
  const auto file = [](const char* name, std::string text) { return [name, text = std::move(text)](const AppFolder& app) { app.folder.file(name, text); }; };
  const TrainFault table[] = {
      {"weights cut short", [](const AppFolder& app) { cut(app.file("model/model.safetensors")); }, "", "model/model.safetensors"},
      {"weights empty", file("model/model.safetensors", ""), "", "model/model.safetensors"},
      {"weights missing", [](const AppFolder& app) { fs::remove(app.file("model/model.safetensors")); }, "", "model.safetensors"},
      {"weights of another shape", [](const AppFolder& app) { replace(app.file("model/config.json"), "\"intermediate_size\": 20", "\"intermediate_size\": 24"); }, "", "f32[20"},
      {"no config", [](const AppFolder& app) { fs::remove(app.file("model/config.json")); }, "", "config.json"},
      {"config cut short", [](const AppFolder& app) { cut(app.file("model/config.json")); }, "", "config.json"},
      {"config that cannot be built", [](const AppFolder& app) { replace(app.file("model/config.json"), "\"num_attention_heads\": 3", "\"num_attention_heads\": 5"); }, "", "5"},
      {"another model", [](const AppFolder& app) { replace(app.file("model/config.json"), "\"model_type\": \"bert\"", "\"model_type\": \"bort\""); }, "", "\"bort\""},
      {"no tokenizer", [](const AppFolder& app) { fs::remove(app.file("model/tokenizer.json")); }, "", "tokenizer.json"},
      {"tokenizer cut short", [](const AppFolder& app) { cut(app.file("model/tokenizer.json")); }, "", "tokenizer.json"},
      {"tokenizer of another model", [](const AppFolder& app) { replace(app.file("model/tokenizer.json"), "\"star\": 30", "\"star\": 30, \"more\": 31"); }, "",
       "model: the tokenizer's ids go up to 31 but the model has a vocabulary of 31; they do not belong together."},
      {"no model folder", nothing, "--model_name_or_path nowhere", "nowhere"},
      {"no train file", nothing, "--train_file none.tsv", "none.tsv: cannot be read (No such file or directory)."},
      {"empty train file", file("train.tsv", ""), "", "train.tsv"},
      {"no rows", file("train.tsv", "text\tlabel\n"), "", "train.tsv"},
      {"not UTF-8", file("train.tsv", "text\tlabel\ngood\tpos\nb\xff" "d\tneg\n"), "", "train.tsv:3: "},
      {"a row too short", file("train.tsv", "text\tlabel\ngood\tpos\nbad\n"), "", "train.tsv:3: "},
      {"no such column", nothing, "--text_column_names txt", "text"},
      {"no such label column", nothing, "--label_column_name lable", "label"},
      {"an empty label", file("train.tsv", "text\tlabel\ngood\tpos\nbad\t\n"), "", "train.tsv:3: the label in column label is empty; every row needs one."},
      {"one label", file("train.tsv", "text\tlabel\ngood\tpos\nfine\tpos\n"), "", "train.tsv: every row has the label pos; a classifier needs two labels or more."},
      {"a label unseen in training", file("test.tsv", "text\tlabel\ngood\tpos\nbad\tmeh\n"), "--validation_file test.tsv", "test.tsv:3: label \"meh\" is none of the model's: neg, pos."},
      {"validation file not UTF-8", file("test.tsv", "text\tlabel\n\xc3(\tpos\n"), "--validation_file test.tsv", "test.tsv:2: "},
      {"too long", nothing, "--max_seq_length 41", "--max_seq_length: 41 tokens, the model takes at most 40; give that or less."},
      {"output_dir below a file", nothing, "--output_dir train.tsv/out", "output_dir: cannot create train.tsv/out: Not a directory."},
      {"output_dir is a file", nothing, "--output_dir train.tsv", "output_dir: cannot create train.tsv: "},
      {"evaluation without rows", nothing, "--eval_strategy epoch", "eval_strategy: "},
      {"nothing to resume", nothing, "--resume_from_checkpoint true", "resume_from_checkpoint: out holds no folder checkpoint-<step>; leave the flag out to start anew."},
      {"resume from elsewhere", nothing, "--resume_from_checkpoint model", "resume_from_checkpoint: model holds no trainer_state.json; give a folder checkpoint-<step>."},
      {"a misspelt flag", nothing, "--learning_rat2 1", "--learning_rat2: no such argument; did you mean --learning_rate?"},
      {"no number", nothing, "--weight_decay much", "--weight_decay: "},
      {"no such word", nothing, "--save_strategy sometimes", "--save_strategy: "},
      {"an ambiguous flag", nothing, "--log 1", "--log"},
      {"a stray word", nothing, "more", "more"},
  };
  for (const TrainFault& fault : table) {
    CAPTURE(fault.name);
    const AppFolder app;
    fault.prepare(app);
    const AppResult result = app.train("out", fault.more);
    CHECK_MESSAGE(result.status == 2, result.err);
    const std::string said = sentence(result);
    CHECK_MESSAGE(contains(said, fault.expected), said);
    CHECK(result.out == "");
    CHECK_FALSE(fs::exists(app.file("out")));
    for (const std::string& name : names_in(app.folder.path())) CHECK_MESSAGE(!contains(name, ".tmp"), name);
  }
}

TEST_CASE("rote train: what is required is named") {
  const AppFolder app;
  const AppResult result = app.rote("train");
  CHECK(result.status == 2);
  CHECK(contains(result.err, "--model_name_or_path"));
  CHECK(contains(result.err, "--train_file"));
}

TEST_CASE("rote train: a torn checkpoint is refused with exit code 2") {
  const AppFolder app;
  REQUIRE(app.train("out", "--save_strategy steps --save_steps 4 --max_steps 4").status == 0);
  cut(app.file("out/checkpoint-4/optimizer.safetensors"));
  const AppResult result = app.train("out", "--resume_from_checkpoint true");
  CHECK(result.status == 2);
  CHECK(contains(sentence(result), "out/checkpoint-4/optimizer.safetensors"));
}

TEST_CASE("rote train: a full disk ends with exit code 1 and leaves what was there before") {
  const AppFolder app;
  REQUIRE(app.train("out", "--max_steps 1").status == 0);
  const std::string hash = app.hash("out");
  // Blocks of 512 bytes: too few for the manifest, for the weights, then enough for them but not for the moments.
  struct Row {
    std::string blocks, more, file;
  };
  const Row table[] = {{"10", "--save_strategy no", "manifest.json"}, {"20", "--save_strategy no", "model.safetensors"}, {"20", "--save_strategy epoch", "model.safetensors"}, {"40", "--save_strategy epoch", "optimizer.safetensors"}};
  for (const Row& row : table) {
    CAPTURE(row.more);
    const AppResult result = app.train("out", row.more, "ulimit -f " + row.blocks);
    CHECK(result.status == 1);
    const std::string said = sentence(result);
    CHECK_MESSAGE(contains(said, row.file), said);
    CHECK_MESSAGE(contains(said, "File too large"), said);
    CHECK(app.hash("out") == hash);
    for (const std::string& name : names_in(app.file("out"))) {
      CHECK_MESSAGE(!contains(name, "tmp"), name);
      CHECK_MESSAGE(!contains(name, "checkpoint"), name);
    }
  }
  const AppResult fresh = app.train("fresh", "--max_steps 1", "ulimit -f 10");
  CHECK(fresh.status == 1);
  CHECK(names_in(app.file("fresh")).empty());
}

TEST_CASE("rote train: a run that diverges ends with exit code 1 and saves no model") {
  const AppFolder app;
  const AppResult result = app.train("out", "--learning_rate 1e38 --warmup_steps 0");
  CHECK(result.status == 1);
  const std::string said = sentence(result);
  CHECK_MESSAGE(contains(said, "non-finite: step 1, first nan in bert.embeddings.word_embeddings.weight (optimizer, [31,12], optimizer); the update itself overflowed"), said);
  CHECK(names_in(app.file("out")) == std::vector<std::string>{"manifest.json"});
}

TEST_CASE("rote: the other verbs refuse in one sentence with exit code 2") {
  const AppFolder app;
  REQUIRE(app.train("out", "--max_steps 1").status == 0);
  app.folder.file("meh.tsv", "text\tlabel\ngood\tmeh\n");
  app.folder.file("broken.safetensors", "short");
  app.folder.file("empty.csv", "");
  struct Row {
    std::string words, part;
  };
  const Row table[] = {
      {"evaluate --model_name_or_path model --validation_file test.tsv --max_length 16", "model: this model was not fine-tuned for text-classification"},
      {"evaluate --model_name_or_path out --validation_file meh.tsv --max_length 16", "meh.tsv:2: label \"meh\" is none of the model's: neg, pos."},
      {"evaluate --model_name_or_path out --validation_file empty.csv --max_length 16", "empty.csv"},
      {"evaluate --model_name_or_path out --validation_file test.tsv --max_length 41", "--max_seq_length: 41 tokens, the model takes at most 40; give that or less."},
      {"predict --model_name_or_path out --max_length 16", "give texts or --test_file, one of the two."},
      {"predict --model_name_or_path out --max_length 16 --test_file test.tsv good", "give texts or --test_file, one of the two."},
      {"predict --model_name_or_path out --max_length 16 \"$(printf 'b\\377d')\"", "the command line:1: "},
      {"predict --model_name_or_path nowhere good", "nowhere"},
      {"tokenize --model_name_or_path model", "no text; give at least one."},
      {"tokenize --model_name_or_path nowhere good", "nowhere"},
      {"hash", "0 paths; give one folder or .safetensors file."},
      {"hash nowhere", "nowhere does not exist; give a folder with model.safetensors, or such a file."},
      {"hash broken.safetensors", "broken.safetensors"},
      {"hash out --all", "out holds no optimizer.safetensors; --all needs a checkpoint with its training state."},
      {"inspect nowhere", "nowhere does not exist; give a model folder or a .safetensors file."},
      {"inspect broken.safetensors", "broken.safetensors"},
      {"env --verbos", "--verbos: no such argument"},
  };
  for (const Row& row : table) {
    CAPTURE(row.words);
    const AppResult result = app.rote(row.words);
    CHECK(result.status == 2);
    const std::string said = sentence(result);
    CHECK_MESSAGE(contains(said, row.part), said);
  }
}

TEST_CASE("rote: an unknown verb is answered with the nearest, or with where they are listed") {
  const AppFolder app;
  const AppResult near = app.rote("trian");
  CHECK(near.status == 2);
  CHECK(near.err == "rote: trian: no such verb; did you mean train?\n");
  CHECK(app.rote("xyzzy").err == "rote: xyzzy: no such verb; `rote --help` lists them.\n");
}

TEST_CASE("rote: an output that takes no more is said, with exit code 1") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: no /dev/full here");
    return;
  }
  const CommandResult result = run_command(build_folder() + "/rote env >/dev/full");
  CHECK(result.status == 1);
  CHECK(result.output == "rote env: the output cannot be written: No space left on device.\n");
}

}  // namespace rote::testing
