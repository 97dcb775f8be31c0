#include "trainer/data/questions.h"

#include <functional>
#include <unordered_set>

#include "kernels/check.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/json_row.h"
#include "trainer/data/table.h"
#include "trainer/text/unicode.h"

namespace rote::data {

namespace {

int64_t start_of(const text::JsonView& value, const std::string& place) {
  const std::optional<int64_t> start = value.integer();
  ROTE_CHECK(start && *start >= 0, ArgumentError, place, ": answer_start is ", value.text().substr(0, 40), "; it must be a whole number of characters, 0 or more.");
  return *start;
}

std::vector<Answer> answers_of(const JsonRow& row) {
  const std::optional<text::JsonView> impossible = row.find("is_impossible");
  const std::optional<text::JsonView> given = row.find("answers");
  std::vector<Answer> answers;
  if (!given || (impossible && impossible->is_boolean() && impossible->boolean())) return answers;
  if (given->is_array()) {
    given->for_each_item([&](const text::JsonView& item) {
      const JsonRow answer(item, row.place());
      answers.push_back({answer.text("text"), start_of(answer.at("answer_start"), row.place())});
    });
    return answers;
  }
  const JsonRow lists(*given, row.place());
  std::vector<int64_t> starts;
  lists.list("answer_start").for_each_item([&](const text::JsonView& item) { starts.push_back(start_of(item, row.place())); });
  lists.list("text").for_each_item([&](const text::JsonView& item) {
    ROTE_CHECK(item.is_string(), ArgumentError, row.place(), ": an answer's text is ", item.type_name(), "; it must be a text.");
    ROTE_CHECK(answers.size() < starts.size(), ArgumentError, row.place(), ": has more answers than places of answers; each text needs its answer_start.");
    answers.push_back({item.string(), starts[answers.size()]});
  });
  ROTE_CHECK(answers.size() == starts.size(), ArgumentError, row.place(), ": has ", answers.size(), " answers and ", starts.size(),
             " places of answers; each text needs its answer_start.");
  return answers;
}

// The objects of a list, in places such as `x.json: data[0].paragraphs[2]`.
void each_object(const JsonRow& parent, const std::string& name, const std::function<void(const JsonRow&)>& f) {
  int64_t i = 0;
  const std::string begin = parent.place() + (parent.place().ends_with(']') ? "." : ": ") + name;
  parent.list(name).for_each_item([&](const text::JsonView& item) { f(JsonRow(item, str(begin, "[", i++, "]"))); });
}

// Adds questions one by one to what was read.
class Reader {
 public:
  explicit Reader(const std::string& source) { read_.source = source; }

  size_t add_context(std::string context) {
    chars_ = text::decode_text(context, "context");
    read_.contexts.push_back(std::move(context));
    return read_.contexts.size() - 1;
  }

  // A question on the context that was added last.
  void add_question(const JsonRow& row) {
    const text::JsonView id = row.at("id");
    ROTE_CHECK(id.is_string() || id.integer(), ArgumentError, row.place(), ": id is ", id.type_name(), "; it must be a text.");
    Question question{.id = id.is_string() ? id.string() : std::string(id.text()), .text = row.text("question"), .context = read_.contexts.size() - 1, .answers = answers_of(row)};
    ROTE_CHECK(ids_.insert(question.id).second, ArgumentError, row.place(), ": the id ", question.id, " comes twice; each question needs its own.");
    read_.rows.push_back(std::move(question));
    for (const Answer& answer : read_.rows.back().answers) check_place(answer);
  }

  void add_flat(const JsonRow& row) {
    add_context(row.text("context"));
    add_question(row);
  }

  Questions done() {
    ROTE_CHECK(!read_.rows.empty(), ArgumentError, read_.source, ": holds no question; it needs one with an id, a context and answers.");
    return std::move(read_);
  }

 private:
  void check_place(const Answer& answer) const {
    const std::u32string wanted = text::decode_text(answer.text, "answer");
    const size_t start = static_cast<size_t>(answer.start);
    ROTE_CHECK(start <= chars_.size() && chars_.compare(start, wanted.size(), wanted) == 0, ArgumentError, read_.place(read_.rows.size() - 1), ": the answer \"",
               answer.text.substr(0, 60), "\" does not stand at character ", answer.start, " of the context, which has ", chars_.size(),
               "; answer_start counts code points.");
  }

  Questions read_;
  std::u32string chars_;  // of the context that was added last
  std::unordered_set<std::string> ids_;
};

}  // namespace

std::string Questions::place(size_t row) const { return str(source, ": question ", rows[row].id); }

Questions parse_squad(std::string_view text, const std::string& source) {
  const std::string_view content = checked_text(text, source);
  const std::optional<text::JsonView> whole = text::JsonView::parse(content);
  ROTE_CHECK(whole.has_value(), ArgumentError, source, ": is not JSON; SQuAD's form is {\"data\": [{\"paragraphs\": [{\"context\": \"…\", \"qas\": […]}]}]}.");
  Reader reader(source);
  each_object(JsonRow(*whole, source), "data", [&](const JsonRow& article) {
    if (!article.find("paragraphs")) return reader.add_flat(article);
    each_object(article, "paragraphs", [&](const JsonRow& paragraph) {
      reader.add_context(paragraph.text("context"));
      each_object(paragraph, "qas", [&](const JsonRow& question) { reader.add_question(question); });
    });
  });
  return reader.done();
}

Questions parse_question_lines(std::string_view text, const std::string& source) {
  Reader reader(source);
  for_each_json_line(checked_text(text, source), source, [&](const JsonRow& row, int64_t) { reader.add_flat(row); });
  return reader.done();
}

Questions read_questions(const std::string& path) {
  const std::string text = read_rows(path, {".json", ".jsonl"});
  return path.ends_with(".jsonl") ? parse_question_lines(text, path) : parse_squad(text, path);
}

}  // namespace rote::data
