// tests/examples_test.cpp — the programs of docs/examples: each prints what the comment at its foot says, and README.md there lists them all.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tensor/file.h"
#include "tests/app.h"

namespace rote::testing {

namespace fs = std::filesystem;

namespace {

std::string source_of(const std::string& program) { return read_file(source_folder() + "/docs/examples/" + program + ".cpp"); }

// The lines under `// prints`, without the mark of the comment.
std::vector<std::string> foot_of(const std::string& program) {
  std::vector<std::string> lines;
  bool at_foot = false;
  for (const std::string& line : lines_of(source_of(program))) {
    if (at_foot) lines.push_back(line.size() > 5 ? line.substr(5) : "");
    at_foot = at_foot || line.rfind("// prints", 0) == 0;
  }
  return lines;
}

// Whether a line is as it was told; … in what was told stands for anything.
bool is_told(const std::string& line, const std::string& told) {
  size_t at = 0, from = 0;
  for (bool first = true;; first = false) {
    const size_t gap = told.find("…", from);
    const std::string part = told.substr(from, gap == std::string::npos ? gap : gap - from);
    if (gap == std::string::npos && !first) return line.size() >= at + part.size() && line.ends_with(part);
    const size_t found = line.find(part, at);
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + part.size();
    if (gap == std::string::npos) return at == line.size();
    from = gap + std::string("…").size();
  }
}

struct ExampleFolder : AppFolder {
  // The program, run here.
  AppResult run(const std::string& program, const std::string& arguments = "") const {
    const int status =
        run_command("(cd '" + folder.path() + "' && exec '" + build_folder() + "/examples/" + program + "' " + arguments + " >'" + file("stdout") + "' 2>'" + file("stderr") + "')").status;
    return {status, read_text(file("stdout")), read_text(file("stderr"))};
  }
  // Checks the lines that it prints, and gives what it says on the error stream.
  std::string prints(const std::string& program, const std::string& arguments, const std::vector<std::string>& told, int status = 0) const {
    const AppResult result = run(program, arguments);
    CHECK_MESSAGE(result.status == status, result.err);
    const std::vector<std::string> lines = lines_of(result.out);
    CHECK(told.size() > 0);
    CHECK_MESSAGE(lines.size() == told.size(), result.out);
    for (size_t i = 0; i < std::min(lines.size(), told.size()); ++i) CHECK_MESSAGE(is_told(lines[i], told[i]), lines[i] << "\n  is not\n" << told[i]);
    return result.err;
  }
  std::string prints(const std::string& program, const std::string& arguments) const { return prints(program, arguments, foot_of(program)); }
};

// A vocab.txt that has `pieces` on their lines and placeholders on all others.
std::string vocabulary_with(const std::vector<std::pair<size_t, std::string>>& pieces) {
  std::vector<std::string> lines;
  for (const auto& [id, piece] : pieces) {
    while (lines.size() <= id) lines.push_back("[unused" + std::to_string(lines.size()) + "]");
    lines[id] = piece;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The vocabulary of bert-base-uncased with the settings that its folder has; false where the shared cases are not there.
bool has_uncased(const std::string& folder) {
  const std::string from = shared_folder() + "/conformance/tokenizers/minilm/tokenizer.json";
  if (shared_folder().empty() || !fs::exists(from)) {
    MESSAGE("skipped: no shared folder with conformance/tokenizers/minilm");
    return false;
  }
  fs::create_directories(folder);
  fs::copy_file(from, folder + "/tokenizer.json");
  write_file(folder + "/tokenizer_config.json", R"({"model_max_length": 512, "tokenizer_class": "BertTokenizer"})");
  return true;
}

// A small BERT with that vocabulary.
void write_base(const std::string& folder, int64_t width) {
  auto config = small_bert();
  config->vocab_size = 30522;
  config->hidden_size = width;
  manual_seed(5);
  nn::BertModel model(config);
  nn::save_pretrained(model, folder);
}

}  // namespace

TEST_CASE("examples: a line may have gaps") {
  CHECK(is_told("loss 0.5 at 3", "loss … at 3"));
  CHECK(is_told("ab", "ab"));
  CHECK(is_told("ab", "a…"));
  CHECK_FALSE(is_told("abc", "ab"));
  CHECK_FALSE(is_told("xab", "ab"));
  CHECK_FALSE(is_told("loss 0.5 at 34", "loss … at 3"));
}

TEST_CASE("examples: every program is in README.md, and has a test here or one of its name") {
  const std::string page = read_file(source_folder() + "/docs/examples/README.md"), tests = read_file(source_folder() + "/tests/examples_test.cpp");
  for (const auto& entry : fs::directory_iterator(source_folder() + "/docs/examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    CHECK(contains(page, "[" + name + ".cpp](" + name + ".cpp)"));
    CHECK((contains(tests, "\"" + name + "\"") || fs::exists(source_folder() + "/tests/" + name + "_test.cpp")));
  }
}

TEST_CASE("examples: callbacks") {
  const ExampleFolder here;
  const std::string warned = here.prints("callbacks", "model train.tsv");
  CHECK(contains(warned, "MyCallback"));
}

TEST_CASE("examples: data_collator") { ExampleFolder().prints("data_collator", "model train.tsv"); }

TEST_CASE("examples: resume") {
  const ExampleFolder here;
  const std::string refused = here.prints("resume", "model train.tsv", foot_of("resume"), 1);  // its last folder is no checkpoint any more
  CHECK(contains(refused, "last-checkpoint holds no trainer_state.json; give a folder checkpoint-<step>."));
}

TEST_CASE("examples: early_stopping") { ExampleFolder().prints("early_stopping", "model train.tsv"); }

TEST_CASE("examples: optimizer_and_schedule") { ExampleFolder().prints("optimizer_and_schedule", "model train.tsv"); }

TEST_CASE("examples: argument_parser, from a line, JSON and YAML; faults are told together") {
  const ExampleFolder here;
  here.prints("argument_parser", "--model_name_or_path bert --split test --columns a b --no_use_cache_file --max-seq-length 64 --learning_rate 1e-4",
              {"bert, cache of the environment", "test, 64 tokens, 2 columns, cache file off", "learning rate 0.0001, 3 epochs"});
  here.folder.file("a.json", R"({"model_name_or_path": "bert", "cache_dir": "here", "num_train_epochs": 1})");
  here.prints("argument_parser", "a.json", {"bert, cache here", "train, 128 tokens, 1 columns, cache file on", "learning rate 5e-05, 1 epochs"});
  here.folder.file("a.yaml", "model_name_or_path: bert\nsplit: validation\nlearning_rate: 1.0e-3\n");
  here.prints("argument_parser", "a.yaml", {"bert, cache of the environment", "validation, 128 tokens, 1 columns, cache file on", "learning rate 0.001, 3 epochs"});
  const AppResult wrong = here.run("argument_parser", "--split dev --max_seq_length 0 --learning_rat 1");
  CHECK(wrong.status == 2);
  for (const char* part : {"--split: there is no dev", "--max_seq_length", "--model_name_or_path: is required"}) CHECK_MESSAGE(contains(wrong.err, part), wrong.err);
  here.folder.file("b.json", R"({"model_name": "bert"})");
  CHECK(here.run("argument_parser", "b.json").status == 2);
  CHECK(contains(here.run("argument_parser", "--help").out, "--max_seq_length"));
}

TEST_CASE("examples: optimizers") { ExampleFolder().prints("optimizers", ""); }

TEST_CASE("examples: auto_config") {
  const ExampleFolder here;
  fs::create_directories(here.file("base"));
  // The file as the documents print it; what it leaves out are defaults.
  std::string json;
  for (const std::string& line : foot_of("auto_config"))
    if (!contains(line, "chunk_size_feed_forward") && !contains(line, "tie_word_embeddings")) json += line + "\n";
  CHECK(lines_of(json).size() == 24);
  write_file(here.file("base/config.json"), json);
  here.prints("auto_config", "base");
  fs::create_directories(here.file("again"));
  write_file(here.file("again/config.json"), here.run("auto_config", "base").out);
  here.prints("auto_config", "again");
}

TEST_CASE("examples: auto_model") { ExampleFolder().prints("auto_model", "model"); }

TEST_CASE("examples: hub_cache") {
  const ExampleFolder here;
  const std::string model = here.file("hub/models--julien-c--EsperBERTo-small"), a = "2439f60e" + std::string(32, '0'), b = "bbc77c81" + std::string(32, '0');
  for (const char* name : {"blobs", "refs", "snapshots"}) fs::create_directories(model + "/" + name);
  write_file(model + "/blobs/403450e2", "weights\n");
  write_file(model + "/blobs/d7edf6bd", "the first page\n");
  write_file(model + "/blobs/7cb18dc9", "the second page\n");
  for (const auto& [commit, page] : {std::pair{a, "d7edf6bd"}, std::pair{b, "7cb18dc9"}}) {
    fs::create_directories(model + "/snapshots/" + commit);
    fs::create_symlink(std::string("../../blobs/") + page, model + "/snapshots/" + commit + "/README.md");
    fs::create_symlink("../../blobs/403450e2", model + "/snapshots/" + commit + "/pytorch_model.bin");
  }
  const std::string snapshots = "/models--julien-c--EsperBERTo-small/snapshots/";
  write_file(model + "/refs/main", a);
  here.prints("hub_cache", "hub", {snapshots + a, "the first page"});
  write_file(model + "/refs/main", b);
  here.prints("hub_cache", "hub", {snapshots + b, "the second page"});
  here.prints("hub_cache", "hub " + a, {snapshots + a, "the first page"});
}

TEST_CASE("examples: tokenizers, of the vocabulary of bert-base-uncased") {
  const ExampleFolder here;
  if (has_uncased(here.file("uncased"))) here.prints("tokenizers", "uncased");
}

TEST_CASE("examples: tokenizers, of the pieces that the documents print of bert-base-cased") {
  const ExampleFolder here;
  fs::create_directories(here.file("cased"));
  write_file(here.file("cased/tokenizer_config.json"), R"({"do_lower_case": false, "model_max_length": 512, "tokenizer_class": "BertTokenizer"})");
  write_file(here.file("cased/vocab.txt"),
             vocabulary_with({{0, "[PAD]"}, {100, "[UNK]"}, {101, "[CLS]"}, {102, "[SEP]"}, {103, "[MASK]"}, {119, "."}, {136, "?"}, {138, "A"}, {155, "R"}, {159, "V"},
                              {170, "a"}, {1103, "the"}, {1104, "of"}, {1110, "is"}, {1120, "at"}, {1135, "It"}, {1144, "has"}, {1188, "This"}, {1190, "than"}, {1263, "long"},
                              {1107, "in"}, {1359, "based"}, {1572, "24"}, {1603, "short"}, {1655, "least"}, {1897, "rather"}, {1942, "##T"}, {2039, "longer"}, {2107, "##M"},
                              {2777, "Where"}, {3190, "##X"}, {4954, "sequence"}, {9664, "##RA"}, {13745, "##GB"}, {16517, "NYC"}, {18696, "Titan"}, {20164, "Hu"},
                              {10932, "##gging"}, {2271, "##F"}, {7954, "##ace"}}));
  here.prints("tokenizers", "cased",
              {"BertTokenizer(vocab_size=20165, model_max_length=512, padding_side='right', truncation_side='right', special_tokens={…}, added_tokens_decoder={", "\t0: …", "\t100: …",
               "\t101: …", "\t102: …", "\t103: …", "})", "tokens [CLS] A Titan R ##T ##X has 24 ##GB of V ##RA ##M [SEP]",
               "ids 101 138 18696 155 1942 3190 1144 1572 13745 1104 159 9664 2107 102", "[CLS] A Titan RTX has 24GB of VRAM [SEP]", "A Titan RTX has 24GB of VRAM",
               "8 and 19 tokens", "padded 101 1188 1110 170 1603 4954 119 102 0 0 0 0 0 0 0 0 0 0 0",
               "padded 101 1188 1110 170 1897 1263 4954 119 1135 1110 1120 1655 2039 1190 1103 4954 138 119 102", "mask 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0",
               "mask 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "i64[2,19]", "[CLS] HuggingFace is based in NYC [SEP] Where is HuggingFace based? [SEP]",
               "types 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1"});
}

TEST_CASE("examples: vocabulary") {
  const ExampleFolder here;
  if (has_uncased(here.file("uncased"))) here.prints("vocabulary", "uncased");
}

TEST_CASE("examples: prefix_space") {
  const ExampleFolder here;
  const std::string from = shared_folder() + "/conformance/tokenizers/bytebpe_roberta";
  if (shared_folder().empty() || !fs::exists(from)) {
    MESSAGE("skipped: no shared folder with conformance/tokenizers/bytebpe_roberta");
    return;
  }
  const std::vector<std::string> lines = lines_of(here.run("prefix_space", "'" + from + "'").out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] != lines[1]);
  CHECK(lines[1] == lines[2]);
}

TEST_CASE("examples: sentiment_pipeline") {
  const ExampleFolder here;
  if (!has_uncased(here.file("base"))) return;
  write_base(here.file("base"), 12);
  std::string rows = "text\tlabel\n";
  for (int i = 0; i < 4; ++i)
    rows += "This restaurant is awesome\tPOSITIVE\nA waste of a good cast.\tNEGATIVE\nA warm, funny film.\tPOSITIVE\nThis hotel is awful\tNEGATIVE\n";
  here.folder.file("rows.tsv", rows);
  const AppResult trained = here.rote(
      "train --model_name_or_path base --train_file rows.tsv --max_seq_length 16 --num_train_epochs 30 --learning_rate 1e-2 --lr_scheduler_type constant "
      "--save_strategy no --disable_tqdm true --output_dir sentiment");
  REQUIRE_MESSAGE(trained.status == 0, trained.err);
  here.prints("sentiment_pipeline", "sentiment", {"POSITIVE 0.9…", "NEGATIVE 0.9…", "POSITIVE 0.9…"});
  const AppResult none = here.run("sentiment_pipeline");
  CHECK(none.status == 2);
  CHECK(contains(none.err, "model"));
}

TEST_CASE("examples: classifier_output") { ExampleFolder().prints("classifier_output", "model"); }

TEST_CASE("examples: fill_mask, by a model that has learnt three sentences by heart") {
  const ExampleFolder here;
  if (!has_uncased(here.file("capitals"))) return;
  write_base(here.file("capitals"), 24);
  std::string texts;
  for (int i = 0; i < 8; ++i) texts += "The capital of France is Paris.\nThe capital of Spain is Madrid.\nThe capital of Italy is Rome.\n";
  here.folder.file("capitals.txt", texts);
  const AppResult trained = here.rote(
      "train --task masked-lm --model_name_or_path capitals --train_file capitals.txt --line_by_line --max_seq_length 16 --mlm_probability 0.25 --max_steps 150 "
      "--learning_rate 1e-2 --save_strategy no --disable_tqdm true --output_dir learnt");
  REQUIRE_MESSAGE(trained.status == 0, trained.err);
  here.prints("fill_mask", "learnt");
}

}  // namespace rote::testing
