// tests/arguments_page_test.cpp — docs/arguments.md follows from the rows: what each argument does, or why it does not.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tensor/file.h"
#include "tests/support/place.h"
#include "trainer/data_arguments.h"
#include "trainer/python_text.h"
#include "trainer/rote_arguments.h"
#include "trainer/seq2seq_arguments.h"

using namespace rote;

namespace {

std::string cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string code(const Value& value) { return "`" + cell(python_str(value)) + "`"; }

std::string with_words(const ArgumentRow& row, FieldAction action) {
  std::string out;
  for (const WordRule& rule : row.rules)
    if (rule.action == action) out += str(out.empty() ? "" : ", ", "`", rule.word, "`", action == FieldAction::map ? str(" for `", rule.text, "`") : "");
  return out;
}

// Arguments that do something.
std::string working(const std::vector<ArgumentRow>& rows) {
  std::string out = "| argument | value | default | what it says |\n| --- | --- | --- | --- |\n";
  for (const ArgumentRow& row : rows) {
    if (row.action != FieldAction::apply) continue;
    std::string names = "`" + row.name + "`";
    for (const std::string& alias : row.aliases) names += ", `" + alias + "`";
    const std::string mapped = with_words(row, FieldAction::map), refused = with_words(row, FieldAction::reject);
    out += str("| ", names, " | ", cell(expected(row)), row.unit.empty() ? "" : ", in " + row.unit, " | ", row.required ? "required" : code(row.default_value), " | ", cell(row.help),
               mapped.empty() ? "" : ". Taken too: " + mapped, refused.empty() ? "" : ". Refused, with the reason: " + refused, " |\n");
  }
  return out;
}

std::string others(const std::vector<ArgumentRow>& rows, FieldAction action, const char* head) {
  std::string out = str("| argument | default | ", head, " |\n| --- | --- | --- |\n");
  for (const ArgumentRow& row : rows) {
    if (row.action != action) continue;
    out += str("| `", row.name, "` | ", action == FieldAction::map ? "" : code(row.default_value), " | ", action == FieldAction::map ? "`" + row.maps_to + "`" : cell(row.reason), " |\n");
  }
  return out;
}

std::string page() {
  const std::vector<ArgumentRow> training = rows_of(TrainingArguments{}), seq2seq = rows_of(Seq2SeqTrainingArguments{});
  std::string out =
      "# Arguments\n\nGenerated from the rows in trainer/arguments.cpp and beside; `test-house --write-pages` writes it anew. Names and defaults of the first part are those of\n"
      "the Hugging Face Trainer (transformers 5.24), so that a script's arguments can be taken over; every value is checked before anything is written.\n"
      "`--config FILE` gives any of them from a .json or .yaml file, and the line wins.\n\n## TrainingArguments\n\n" +
      working(training) + "\n## The command's model and data\n\n";
  for (const std::vector<ArgumentRow>& rows : {rows_of(ModelArguments{}), rows_of(TrainSources{}), rows_of(EvaluationFiles{}), rows_of(DataArguments{}), rows_of(RoteArguments{})}) out += working(rows) + "\n";
  out += "## Older names\n\nTaken with a warning; the present name wins where both are given.\n\n" + others(training, FieldAction::map, "stands for") +
         "\n## Without effect\n\nAny value is taken; another than the default is told once.\n\n" + others(training, FieldAction::ignore, "why") +
         "\n## Only the default\n\nAnother value is refused, so that no run goes on without what was asked for.\n\n" + others(training, FieldAction::reject, "why");
  const std::vector<ArgumentRow> five(seq2seq.begin() + static_cast<std::ptrdiff_t>(training.size()), seq2seq.end());
  return out + "\n## Seq2SeqTrainingArguments, beside these\n\n" + working(five) + "\n" + others(five, FieldAction::ignore, "without effect, since") + "\n" + others(five, FieldAction::reject, "only the default, since");
}

}  // namespace

TEST_CASE("docs: arguments.md is what the rows say, and names every field once") {
  const std::string text = page(), path = testing::source_folder() + "/docs/arguments.md";
  for (const ArgumentRow& row : rows_of(Seq2SeqTrainingArguments{})) {
    CAPTURE(row.name);
    const std::string cell = "\n| `" + row.name + "`";
    const size_t at = text.find(cell);
    REQUIRE(at != std::string::npos);
    CHECK(text.find(cell + " ", at + 1) == std::string::npos);
  }
  if (testing::writing_pages()) write_file(path, text);
  CHECK(read_file(path) == text);
}

TEST_CASE("rows: each says what it does or why it does not, in one clause") {
  for (const ArgumentRow& row : rows_of(Seq2SeqTrainingArguments{})) {
    CAPTURE(row.name);
    if (row.action == FieldAction::apply) CHECK_FALSE(row.help.empty());
    if (row.action == FieldAction::ignore || row.action == FieldAction::reject) CHECK(row.reason.starts_with("since "));
    if (row.action == FieldAction::map) CHECK(find_field<TrainingArguments>(row.maps_to) != nullptr);
    CHECK_FALSE(row.help.ends_with("."));
    for (const WordRule& rule : row.rules)
      if (rule.action != FieldAction::map) CHECK(std::string(rule.text).starts_with("since "));
  }
}
