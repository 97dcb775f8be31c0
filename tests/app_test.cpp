// tests/app_test.cpp — the command `rote` from the shell: every verb does its work and says how. What it refuses: app_faults_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/app.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace fs = std::filesystem;

TEST_CASE("rote: --help lists the verbs, and each verb its arguments") {
  const AppFolder app;
  const AppResult all = app.rote("--help");
  CHECK(all.status == 0);
  CHECK(app.rote("").status == 2);
  struct Row {
    std::string verb, part;
  };
  const Row table[] = {{"train", "--output_dir"},    {"evaluate", "--validation_file"}, {"predict", "--test_file"}, {"pipeline", "--aggregation_strategy"}, {"tokenize", "--max_seq_length"},
                                                       {"logs", "--svg"}, {"hash", "--per_tensor"},     {"inspect", "usage: rote inspect PATH\n"}, {"convert", "--max_shard_size"},
                                                       {"env", "usage: rote env\n"}};
  for (const Row& row : table) {
    CAPTURE(row.verb);
    CHECK(contains(all.out, "\n  " + row.verb + " "));
    const AppResult help = app.rote(row.verb + " --help");
    CHECK(help.status == 0);
    CHECK(help.err == "");
    CHECK(contains(help.out, "rote " + row.verb));
    CHECK(contains(help.out, row.part));
  }
}

TEST_CASE("rote env: names contract, instructions and threads") {
  const AppFolder app;
  const AppResult env = app.rote("env", "export ROTE_ISA=scalar");
  CHECK(env.status == 0);
  CHECK(contains(env.out, "contract      AC-1\n"));
  CHECK(contains(env.out, "instructions  scalar (built: "));
  CHECK(contains(env.out, "threads       "));
}

TEST_CASE("rote tokenize: pieces and ids") {
  const AppFolder app;
  CHECK(app.rote("tokenize --model_name_or_path model 'Good films.' bad").out == "2\t[CLS]\n4\tgood\n8\tfilm\n19\t##s\n24\t.\n3\t[SEP]\n\n2\t[CLS]\n5\tbad\n3\t[SEP]\n");
  CHECK(app.rote("tokenize --model_name_or_path model --max_length 3 --no_add_special_tokens --output_format json 'good bad film plot'").out ==
        "{\"input_ids\": [4, 5, 8], \"tokens\": [\"good\", \"bad\", \"film\"]}\n");
}

TEST_CASE("rote evaluate and predict: 16 bits as a run with the same flag evaluates, or the whole model") {
  const AppFolder app;
  const auto line = [](const std::string& text, const std::string& name) {
    for (const std::string& one : lines_of(text))
      if (contains(one, name)) return one;
    return std::string();
  };
  const std::string rows = " --validation_file test.tsv --max_seq_length 16 --per_device_eval_batch_size 8";
  for (const std::string flag : {"", " --bf16", " --fp16"}) {
    const std::string name = flag.empty() ? "" : flag.substr(3);
    const AppResult train = app.train("out" + name, "--validation_file test.tsv --disable_tqdm true --per_device_eval_batch_size 8" + flag);
    REQUIRE_MESSAGE(train.status == 0, train.err);
    const AppResult evaluate = app.rote("evaluate --model_name_or_path out" + name + rows + flag);
    REQUIRE_MESSAGE(evaluate.status == 0, evaluate.err);
    CHECK(line(evaluate.out, "eval_loss   ") != "");
    CHECK(line(evaluate.out, "eval_loss   ") == line(train.out, "eval_loss   "));
  }
  const auto score = [&](const std::string& flags) { return app.rote("predict --model_name_or_path out --max_seq_length 16 --output_format json 'good film'" + flags).out; };
  const std::string wide = score("");
  for (const char* flag : {" --bf16", " --fp16", " --bf16_full_eval", " --fp16_full_eval"}) {
    CAPTURE(flag);
    CHECK(line(score(flag), "\"label\"") != "");
    CHECK(score(flag) != wide);
  }
  const AppResult both = app.rote("evaluate --model_name_or_path out --bf16 --fp16 --bf16_full_eval --fp16_full_eval" + rows);
  CHECK(both.status == 2);
  CHECK(contains(both.err, "--fp16: is given with --bf16; give one of them."));
  CHECK(contains(both.err, "--fp16_full_eval: is given with --bf16_full_eval; give one of them."));
}

TEST_CASE("rote: train, evaluate, predict, inspect and hash agree on one model") {
  const AppFolder app;
  const AppResult train = app.train("out", "--validation_file test.tsv --disable_tqdm true --seed 5");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(contains(train.out, "***** train metrics *****"));
  CHECK(contains(train.out, "***** eval metrics *****"));
  CHECK(contains(train.out, "***** summary *****\n"));
  CHECK(contains(train.out, "\n  BertForSequenceClassification, "));
  CHECK(contains(train.out, " trained parameters, 12 updates, saved in out\n"));
  CHECK(contains(app.train("plan", "--max_steps 1 --log_level info").err, "***** Running training *****\n  Num examples = 22\n  Num Epochs = 1\n  Num update steps per epoch = 6\n"));
  CHECK_FALSE(contains(train.err, "Running training"));
  CHECK(contains(train.err, "classifier.weight"));  // the new head is reported
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(app.file("out"))) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"all_results.json", "config.json", "eval_results.json", "manifest.json", "model.safetensors", "tokenizer.json", "train_results.json", "trainer_state.json"});
  CHECK(read_text(app.file("out/tokenizer.json")) == tiny_tokenizer_json());

  const AppResult evaluate = app.rote("evaluate --model_name_or_path out --validation_file test.tsv --max_seq_length 16");
  REQUIRE_MESSAGE(evaluate.status == 0, evaluate.err);
  const Value results = parse_json(read_text(app.file("out/eval_results.json")), "eval");
  double accuracy = -1, loss = -1;
  REQUIRE(results.as_map()->find("eval_accuracy")->number(accuracy));
  REQUIRE(results.as_map()->find("eval_loss")->number(loss));
  CHECK(accuracy >= 5.0 / 9);  // the larger class alone gives that
  char text[64];
  std::snprintf(text, sizeof text, "eval_accuracy           =     %.4f", accuracy);
  CHECK_MESSAGE(contains(evaluate.out, text), evaluate.out);

  const AppResult one = app.rote("predict --model_name_or_path out --max_seq_length 16 'good film' 'bad plot'");
  REQUIRE_MESSAGE(one.status == 0, one.err);
  REQUIRE(lines_of(one.out).size() == 2);
  CHECK(contains(lines_of(one.out)[0], "\tgood film"));
  const AppResult file = app.rote("predict --model_name_or_path out --max_seq_length 16 --test_file test.tsv --output_format json");
  REQUIRE(lines_of(file.out).size() == 9);
  const std::string labels[] = {"pos", "neg"};
  int64_t hits = 0;
  for (size_t row = 0; row < 9; ++row) {
    const Value record = parse_json(lines_of(file.out)[row], "predict");
    double score = 0;
    REQUIRE(record.as_map()->find("score")->number(score));
    CHECK(score >= 0.5);
    CHECK(record.as_map()->find("logits")->as_list()->size() == 2);
    hits += *record.as_map()->find("label")->as_text() == labels[row % 2];
  }
  CHECK(static_cast<double>(hits) / 9 == doctest::Approx(accuracy).epsilon(1e-12));

  CHECK(app.rote("predict --model_name_or_path out --max_seq_length 16 --test_file test.tsv --output_dir said").status == 0);
  const std::vector<std::string> said = lines_of(read_text(app.file("said/predict_results.txt")));
  REQUIRE(said.size() == 10);
  CHECK(said[0] == "index\tprediction");
  for (size_t row = 0; row < 9; ++row) CHECK(said[row + 1] == str(row, "\t", *parse_json(lines_of(file.out)[row], "predict").as_map()->find("label")->as_text()));
  CHECK(contains(app.rote("predict --task causal-lm --model_name_or_path out --test_file test.tsv").err,
                 "--task: causal-lm has no prediction for a row; `rote pipeline text-generation` shows what its model makes of a text."));

  const AppResult inspect = app.rote("inspect out");
  CHECK(contains(inspect.out, "classifier.weight                                                f32[2,12]\n"));
  CHECK(contains(inspect.out, "\"id2label\""));
  const AppResult hash = app.rote("hash out --per_tensor");
  CHECK(hash.out.find_first_not_of("0123456789abcdef") == 64);
  CHECK(contains(hash.out, "  classifier.bias f32[2]\n"));
  CHECK(app.hash("out/model.safetensors") == app.hash("out"));
  CHECK(app.hash("model") != app.hash("out"));
}

TEST_CASE("rote train: the final weights are the same for any threads and instructions, after a resume too") {
  const AppFolder app;
  REQUIRE(app.train("whole", "--save_strategy steps --save_steps 4").status == 0);
  const std::string hash = app.hash("whole");
  CHECK(hash.size() == 64);
  for (const char* more : {"--num_threads 1", "--num_threads 2", "--num_threads 5"}) {
    REQUIRE(app.train("again", more).status == 0);
    CHECK(app.hash("again") == hash);
  }
  for (const char* isa : {"scalar", "avx2"}) {
    CAPTURE(std::string(isa));
    if (contains(app.rote("env").out, isa)) {
      const AppResult resumed = app.train("resumed", "--resume_from_checkpoint whole/checkpoint-4", std::string("export ROTE_ISA=") + isa);
      REQUIRE_MESSAGE(resumed.status == 0, resumed.err);
      CHECK(app.hash("resumed") == hash);
    }
  }
  const std::string all = app.rote("hash whole/checkpoint-12 --all").out;
  REQUIRE(lines_of(all).size() == 6);
  CHECK(all.substr(0, 64) == hash);
  REQUIRE(app.train("whole", "--save_strategy steps --save_steps 4 --resume_from_checkpoint true").status == 0);
  CHECK(app.hash("whole") == hash);
}

TEST_CASE("rote train: a run that watched a metric goes on without one") {
  const AppFolder app;
  REQUIRE(app.train("out", "--validation_file test.tsv --eval_strategy epoch --save_strategy epoch --metric_for_best_model accuracy").status == 0);
  const AppResult resumed = app.train("out", "--save_strategy epoch --resume_from_checkpoint out/checkpoint-6");
  CHECK_MESSAGE(resumed.status == 0, resumed.err);
  CHECK_FALSE(contains(resumed.out, "  best "));
}

TEST_CASE("rote train: the seed decides the new head, and labels are sorted into the config") {
  const AppFolder app;
  REQUIRE(app.train("a", "--seed 1 --max_steps 1 --learning_rate 0").status == 0);
  REQUIRE(app.train("b", "--seed 2 --max_steps 1 --learning_rate 0").status == 0);
  CHECK(app.hash("a") != app.hash("b"));
  const Value config = parse_json(read_text(app.file("a/config.json")), "config");
  const ValueMap labels = *config.as_map()->find("id2label")->as_map();
  CHECK(labels == ValueMap{{"0", "neg"}, {"1", "pos"}});
}

TEST_CASE("rote: files as CSV, TSV and JSONL, unambiguous beginnings of flags and --max_length") {
  const AppFolder app;
  app.folder.file("train.csv", tiny_rows(22, ","));
  CHECK(app.train("csv", "--train_f train.csv --max_length 12 --max_st 1").status == 2);  // --max_st is --max_steps; a comma in a text makes the row ragged
  std::string jsonl;
  const std::vector<std::string> rows = lines_of(tiny_rows(22));
  for (size_t i = 1; i < rows.size(); ++i) {
    const size_t tab = rows[i].find('\t');
    jsonl += "{\"text\": \"" + rows[i].substr(0, tab) + "\", \"label\": \"" + rows[i].substr(tab + 1) + "\"}\n";
  }
  app.folder.file("train.jsonl", jsonl);
  REQUIRE(app.train("tsv", "--max_length 12 --max_st 3").status == 0);
  const AppResult result = app.train("jsonl", "--train_f train.jsonl --max_length 12 --max_st 3");
  REQUIRE_MESSAGE(result.status == 0, result.err);
  CHECK(app.hash("jsonl") == app.hash("tsv"));
}

}  // namespace rote::testing
