#include "trainer/data/tagged_words.h"

#include "kernels/check.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/json_row.h"
#include "trainer/data/table.h"

namespace rote::data {

namespace {

constexpr std::string_view kBlanks = " \t\r";

// Between tabs each column as it stands; between blanks the runs of other characters.
std::vector<std::string_view> columns_of(std::string_view line, char separator) {
  std::vector<std::string_view> columns;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    if (separator == '\t' || end > begin) columns.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

bool is_comment(std::string_view line) { return line.starts_with("# ") || line == "#"; }

}  // namespace

std::string TaggedText::place(size_t sentence) const { return str(source, ":", sentences[sentence].line); }

TaggedText parse_conll(std::string_view text, const std::string& source) {
  TaggedText tagged{.source = source, .sentences = {}};
  char separator = 0;
  size_t count = 0;  // columns, as the first line of a token has them
  bool inside = false;
  for_each_line(checked_text(text, source), [&](std::string_view line, int64_t number) {
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    if (line.empty() || line.starts_with("-DOCSTART-")) inside = false;
    if (line.empty() || line.starts_with("-DOCSTART-") || is_comment(line)) return;
    if (separator == 0) separator = line.find('\t') != std::string_view::npos ? '\t' : ' ';
    const std::vector<std::string_view> columns = columns_of(line, separator);
    ROTE_CHECK(columns.size() > 1, ArgumentError, source, ":", number,
               ": has one column; a line is a token with its form first and its tag last, between tabs or blanks.");
    if (count == 0) count = columns.size();
    ROTE_CHECK(columns.size() == count, ArgumentError, source, ":", number, ": has ", columns.size(), " columns where the first token has ", count,
               "; each line needs as many.");
    ROTE_CHECK(!columns.front().empty() && !columns.back().empty(), ArgumentError, source, ":", number, ": the ",
               columns.front().empty() ? "form" : "tag", " is empty; a token has both.");
    if (!inside) tagged.sentences.push_back({.line = number, .words = {}, .tags = {}});
    inside = true;
    tagged.sentences.back().words.emplace_back(columns.front());
    tagged.sentences.back().tags.emplace_back(columns.back());
  });
  ROTE_CHECK(!tagged.sentences.empty(), ArgumentError, source, ": holds no token; a line is a form and a tag between tabs or blanks.");
  return tagged;
}

TaggedText parse_tagged_lines(std::string_view text, const std::string& source, const WordColumns& columns) {
  TaggedText tagged{.source = source, .sentences = {}};
  int64_t numbers = 0, names = 0;
  for_each_json_line(checked_text(text, source), source, [&](const JsonRow& row, int64_t line) {
    TaggedSentence sentence{.line = line, .words = {}, .tags = {}};
    row.list(columns.words).for_each_item([&](const text::JsonView& word) {
      ROTE_CHECK(word.is_string(), ArgumentError, row.place(), ": ", columns.words, " holds ", word.type_name(), "; each word must be a text.");
      sentence.words.push_back(word.string());
    });
    row.list(columns.tags).for_each_item([&](const text::JsonView& tag) {
      const std::optional<int64_t> number = tag.integer();
      ROTE_CHECK(number || tag.is_string(), ArgumentError, row.place(), ": ", columns.tags, " holds ", tag.text().substr(0, 40),
                 "; each tag must be a text or a class number.");
      (number ? numbers : names) += 1;
      sentence.tags.push_back(number ? std::to_string(*number) : tag.string());
      ROTE_CHECK(!sentence.tags.back().empty(), ArgumentError, row.place(), ": ", columns.tags, " holds an empty tag; each word needs one.");
    });
    ROTE_CHECK(sentence.words.size() == sentence.tags.size(), ArgumentError, row.place(), ": has ", sentence.words.size(), " ", columns.words, " and ",
               sentence.tags.size(), " ", columns.tags, "; each word needs its tag.");
    tagged.sentences.push_back(std::move(sentence));
  });
  ROTE_CHECK(!tagged.sentences.empty(), ArgumentError, source, ": is empty; each line is an object with ", columns.words, " and ", columns.tags, ".");
  tagged.numbered = numbers > 0 && names == 0;
  return tagged;
}

TaggedText read_tagged(const std::string& path, const WordColumns& columns) {
  const std::string text = read_rows(path, {".tsv", ".conll", ".txt", ".jsonl"});
  return path.ends_with(".jsonl") ? parse_tagged_lines(text, path, columns) : parse_conll(text, path);
}

}  // namespace rote::data
