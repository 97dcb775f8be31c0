// tests/app_word_tasks_test.cpp — `rote train` and `rote evaluate` on tagged words and on questions: learnt, scored, the same bits however the run is cut.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/app.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

// Sentences whose words are tagged by what they are; `entities`: in IOB2, a name is `the` and the word after.
std::string tagged(int64_t sentences, bool entities = false) {
  const char* plain[][2] = {{"good", "ADJ"}, {"film", "NOUN"}, {"was", "VERB"}, {"plays", "NOUN"}, {"very", "ADV"}, {"dull", "ADJ"}, {".", "PUNCT"}};
  const char* named[][2] = {{"the", "B-ART"}, {"film", "I-ART"}, {"was", "O"}, {"the", "B-ART"}, {"cast", "I-ART"}, {"fine", "O"}, {"and", "O"}};
  const auto& words = entities ? named : plain;
  std::string out = "# made by rule\n";
  for (int64_t i = 0; i < sentences; ++i) {
    for (int64_t j = 0; j < 3 + i % 5; ++j) out += str(words[(i + j) % 7][0], "\t", words[(i + j) % 7][1], "\n");
    out += "\n";
  }
  return out;
}

std::string squad(int64_t questions) {
  const char* words[] = {"good", "bad", "fine", "dull"};
  std::string rows;
  for (int64_t i = 0; i < questions; ++i) {
    const std::string word = words[i % 4], before = i % 3 ? "a film, a play was " : "it was ";
    rows += str(i ? ", " : "", "{\"context\": \"", before, word, " , very.\", \"qas\": [{\"id\": \"", i, "\", \"question\": \"was it ", word,
                " ?\", \"answers\": [{\"text\": \"", word, "\", \"answer_start\": ", before.size(), "}]}]}");
  }
  return "{\"data\": [{\"title\": \"t\", \"paragraphs\": [" + rows + "]}]}\n";
}

double metric(const AppFolder& app, const std::string& folder, const std::string& name) {
  const Value results = parse_json(read_text(app.file(folder + "/all_results.json")), folder);
  const Value* found = results.as_map()->find(name);
  double value = -1;
  REQUIRE_MESSAGE((found && found->number(value)), name);
  return value;
}

// What `rote evaluate` printed under a name.
double printed(const AppResult& result, const std::string& name) {
  for (const std::string& line : lines_of(result.out))
    if (contains(line, "  " + name + " ")) return std::stod(line.substr(line.find('=') + 1));
  FAIL(name << " is not in " << result.out);
  return -1;
}

}  // namespace

TEST_CASE("rote train token-classification: tags are learnt, saved by name, and evaluate prints what train printed") {
  const AppFolder app;
  app.folder.file("train.tsv", tagged(30));
  app.folder.file("test.tsv", tagged(11));
  const AppResult train = app.train("out", "--task token-classification --validation_file test.tsv --num_train_epochs 25 --learning_rate 2e-2 --disable_tqdm true");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(metric(app, "out", "eval_accuracy") > 0.95);  // each word has one tag
  CHECK(metric(app, "out", "eval_f1") > 0.9);
  CHECK_FALSE(contains(train.out, "eval_precision"));
  const Value config = parse_json(read_text(app.file("out/config.json")), "config");
  CHECK(*config.as_map()->find("id2label")->as_map() == ValueMap{{"0", "ADJ"}, {"1", "ADV"}, {"2", "NOUN"}, {"3", "PUNCT"}, {"4", "VERB"}});
  CHECK(contains(read_text(app.file("out/config.json")), "BertForTokenClassification"));
  // A sentence a line, a tag for each word; whole batches or single rows.
  const std::string predict = "predict --task token-classification --model_name_or_path out --test_file test.tsv --max_length 16 ";
  const AppResult tags = app.rote(predict);
  REQUIRE_MESSAGE(tags.status == 0, tags.err);
  REQUIRE(lines_of(tags.out).size() == 11);
  CHECK(std::count(tags.out.begin(), tags.out.end(), ' ') == 53 - 11);  // words of all sentences
  CHECK(app.rote(predict + "--per_device_eval_batch_size 3 --output_dir said").status == 0);
  CHECK(read_text(app.file("said/predictions.txt")) == tags.out);
  CHECK(contains(read_text(app.file("said/predict_results.json")), "\"predict_accuracy\""));
  CHECK(contains(app.rote("predict --task token-classification --model_name_or_path out 'good film'").err, "good film: texts on the line are for text-classification; give --test_file"));
  for (const char* rows : {"1", "4", "32"}) {
    const AppResult again = app.rote(std::string("evaluate --task token-classification --model_name_or_path out --validation_file test.tsv --max_length 16 --per_device_eval_batch_size ") + rows);
    REQUIRE_MESSAGE(again.status == 0, again.err);
    CHECK(printed(again, "eval_accuracy") == doctest::Approx(metric(app, "out", "eval_accuracy")).epsilon(1e-4));  // four decimals are printed
  }
}

TEST_CASE("rote train token-classification: entities are scored whole, and by type where asked") {
  const AppFolder app;
  app.folder.file("train.conll", tagged(30, true));
  const std::string more = "--task token-classification --train_file train.conll --validation_file train.conll --num_train_epochs 25 --learning_rate 2e-2 --disable_tqdm true ";
  const AppResult train = app.train("out", more + "--return_entity_level_metrics --label_all_tokens");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  for (const char* name : {"eval_precision", "eval_recall", "eval_f1", "eval_ART_precision", "eval_ART_recall", "eval_ART_f1"}) CHECK(metric(app, "out", name) > 0.9);
  CHECK(metric(app, "out", "eval_ART_number") > 10);
}

TEST_CASE("rote train token-classification: the same bits for any batch split and threads, after a resume, and from JSON lines") {
  const AppFolder app;
  app.folder.file("train.tsv", tagged(22));
  const std::string task = "--task token-classification --num_train_epochs 1 ";
  REQUIRE(app.train("whole", task + "--save_strategy steps --save_steps 2 --per_device_train_batch_size 8").status == 0);
  const std::string hash = app.hash("whole");
  for (const char* more : {"--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --num_threads 1", "--per_device_train_batch_size 2 --gradient_accumulation_steps 4",
                           "--per_device_train_batch_size 1 --gradient_accumulation_steps 8 --num_threads 5", "--per_device_train_batch_size 8 --resume_from_checkpoint whole/checkpoint-2"}) {
    CAPTURE(std::string(more));
    const AppResult again = app.train("again", task + more);
    REQUIRE_MESSAGE(again.status == 0, again.err);
    CHECK(app.hash("again") == hash);
  }
  std::string lines;
  std::string words, tags;
  for (const std::string& line : lines_of(tagged(22))) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) {
      words += (words.empty() ? "\"" : ", \"") + line.substr(0, tab) + "\"";
      tags += (tags.empty() ? "\"" : ", \"") + line.substr(tab + 1) + "\"";
    } else if (!words.empty()) {
      lines += "{\"tokens\": [" + words + "], \"ner_tags\": [" + tags + "]}\n";
      words.clear(), tags.clear();
    }
  }
  app.folder.file("train.jsonl", lines);
  REQUIRE(app.train("jsonl", task + "--per_device_train_batch_size 8 --train_file train.jsonl").status == 0);
  CHECK(app.hash("jsonl") == hash);
}

TEST_CASE("rote train question-answering: answers are learnt over windows of the context; evaluate prints the same scores") {
  const AppFolder app;
  app.folder.file("train.json", squad(24));
  const std::string more = "--task question-answering --train_file train.json --validation_file train.json --doc_stride 2 --disable_tqdm true ";
  const AppResult train = app.train("out", more + "--num_train_epochs 20 --learning_rate 1e-2");
  REQUIRE_MESSAGE(train.status == 0, train.err);
  CHECK(metric(app, "out", "eval_exact_match") > 90);
  CHECK(metric(app, "out", "eval_f1") >= metric(app, "out", "eval_exact_match"));
  const AppResult again = app.rote("evaluate --task question-answering --model_name_or_path out --validation_file train.json --doc_stride 2 --max_length 16 --per_device_eval_batch_size 3");
  REQUIRE_MESSAGE(again.status == 0, again.err);
  CHECK(printed(again, "eval_exact_match") == doctest::Approx(metric(app, "out", "eval_exact_match")).epsilon(1e-4));
  CHECK(printed(again, "eval_loss") == doctest::Approx(metric(app, "out", "eval_loss")).epsilon(1e-3));
  const std::string predict = "predict --task question-answering --model_name_or_path out --doc_stride 2 --max_length 16 ";
  const AppResult answers = app.rote(predict + "--test_file train.json");
  REQUIRE_MESSAGE(answers.status == 0, answers.err);
  const Value by_id = parse_json(answers.out, "answers");
  REQUIRE(by_id.as_map()->size() == 24);
  int64_t right = 0;
  for (const auto& [id, answer] : *by_id.as_map()) right += answer == Value(std::vector<const char*>{"good", "bad", "fine", "dull"}[std::stoul(id) % 4]);
  CHECK(100.0 * static_cast<double>(right) / 24 == doctest::Approx(metric(app, "out", "eval_exact_match")));
  app.folder.file("asked.jsonl", "{\"id\": \"q\", \"question\": \"was it good ?\", \"context\": \"it was good , very.\"}\n");
  const AppResult asked = app.rote(predict + "--test_file asked.jsonl --output_dir said");  // nobody knows the answer
  REQUIRE_MESSAGE(asked.status == 0, asked.err);
  CHECK(parse_json(read_text(app.file("said/predict_predictions.json")), "said").as_map()->size() == 1);
  CHECK_FALSE(contains(asked.out, "exact_match"));
  // A threshold that nothing passes: no answer is ever given.
  const AppResult none = app.rote("evaluate --task question-answering --model_name_or_path out --validation_file train.json --doc_stride 2 --max_length 16 "
                                  "--version_2_with_negative --null_score_diff_threshold -1000000");
  REQUIRE_MESSAGE(none.status == 0, none.err);
  CHECK(printed(none, "eval_HasAns_exact") == 0);
  CHECK(printed(none, "eval_HasAns_total") == 24);
  REQUIRE(app.train("split", more + "--num_train_epochs 1 --per_device_train_batch_size 2 --gradient_accumulation_steps 2").status == 0);
  REQUIRE(app.train("one", more + "--num_train_epochs 1 --num_threads 1").status == 0);
  CHECK(app.hash("split") == app.hash("one"));
}

TEST_CASE("rote train text-classification: numbers are met and several labels a row are found; evaluate knows the saved head's kind") {
  const AppFolder app;
  std::string measured = "text\tlabel\n", several = "text\tlabel\n", listed;
  for (const std::string& line : lines_of(tiny_rows(22))) {
    const std::string text = line.substr(0, line.find('\t'));
    if (text == "text") continue;
    // The first word decides: good is pos and new, fine is pos, bad is new, dull is neither.
    const bool is_pos = contains(line, "pos"), is_new = text.starts_with("good") || text.starts_with("bad");
    measured += text + (is_pos ? "\t2.5\n" : "\t-1\n");
    several += text + "\t" + (is_pos ? "pos" : "") + (is_pos && is_new ? "," : "") + (is_new ? "new" : "") + "\n";
    listed += "{\"text\": \"" + text + "\", \"label\": [" + (is_pos ? "\"pos\"" : "") + (is_pos && is_new ? ", " : "") + (is_new ? "\"new\"" : "") + "]}\n";
  }
  app.folder.file("measured.tsv", measured);
  app.folder.file("several.tsv", several);
  app.folder.file("listed.jsonl", listed);
  const std::string more = "--num_train_epochs 40 --learning_rate 1e-2 --disable_tqdm true ";
  REQUIRE(app.train("number", more + "--train_file measured.tsv --validation_file measured.tsv").status == 0);
  CHECK(metric(app, "number", "eval_mse") < 0.5);  // 3.06 for the mean alone
  CHECK(contains(read_text(app.file("number/config.json")), "\"problem_type\": \"regression\""));
  const AppResult number = app.rote("evaluate --model_name_or_path number --validation_file measured.tsv --max_length 16 --per_device_eval_batch_size 5");
  CHECK(printed(number, "eval_mse") == doctest::Approx(metric(app, "number", "eval_mse")).epsilon(0.01));
  REQUIRE(app.train("tsv", more + "--train_file several.tsv --validation_file several.tsv --multi_label").status == 0);
  CHECK(metric(app, "tsv", "eval_f1") > 0.9);
  REQUIRE(app.train("jsonl", more + "--train_file listed.jsonl").status == 0);
  CHECK(app.hash("jsonl") == app.hash("tsv"));
  const AppResult again = app.rote("evaluate --model_name_or_path tsv --validation_file listed.jsonl --max_length 16");
  CHECK(printed(again, "eval_f1") == doctest::Approx(metric(app, "tsv", "eval_f1")).epsilon(1e-4));
  REQUIRE(app.train("classes", "--max_steps 1 --train_file measured.tsv --do_regression false").status == 0);
  CHECK(contains(read_text(app.file("classes/config.json")), "single_label_classification"));
  CHECK(app.train("out", "--train_file train.tsv --do_regression true").status == 2);
}

TEST_CASE("rote: faults of tagged words and questions are one sentence, before output_dir is made") {
  const AppFolder app;
  app.folder.file("ragged.tsv", "a\tX\n\nb\tY\tZ\n");
  app.folder.file("other.tsv", "good\tNOUN\nbad\tMEH\n");
  app.folder.file("unanswered.jsonl", "{\"id\": \"q\", \"question\": \"what\", \"context\": \"good\", \"answers\": []}\n");
  app.folder.file("train.tsv", tagged(4));
  app.folder.file("train.json", squad(4));
  struct Row {
    std::string more, said;
  };
  const Row table[] = {
      {"--task token-classification --train_file ragged.tsv", "ragged.tsv:3: has 3 columns where the first token has 2; each line needs as many."},
      {"--task token-classification --validation_file other.tsv", "other.tsv:1: label \"MEH\" is none of the model's: ADJ, ADV, NOUN, PUNCT, VERB."},
      {"--task token-classification --text_column_names a,b", "--text_column_names: a and b; --task token-classification takes one text."},
      {"--task token-classification --train_file train.json", "train.json: ends in .json; .tsv, .conll, .txt and .jsonl can be read."},
      {"--task question-answering", "train.tsv: ends in .tsv; .json and .jsonl can be read."},
      {"--task question-answering --train_file train.json --doc_stride 16", "stride is 16"},
      {"--task question-answering --train_file train.json --doc_stride 2 --validation_file unanswered.jsonl",
       "unanswered.jsonl: question q: has no answer; --version_2_with_negative takes such questions."},
      {"--task question-answering --train_file train.json --n_best_size 0", "--n_best_size: "},
  };
  for (const Row& row : table) {
    CAPTURE(row.more);
    const AppResult result = app.train("out", row.more);
    CHECK(result.status == 2);
    CHECK_MESSAGE(contains(result.err, row.said), result.err);
    CHECK_FALSE(std::filesystem::exists(app.file("out")));
  }
  const AppResult wrong = app.rote("evaluate --task token-classification --model_name_or_path model --validation_file train.tsv --max_length 16");
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "model: this model was not fine-tuned for token-classification"));
}

}  // namespace rote::testing
