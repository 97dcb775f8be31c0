#include "trainer/answer_scores.h"

#include <algorithm>
#include <map>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote {

namespace {

bool is_ascii_punctuation(char32_t c) { return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~'); }

// What str.split() and \w of Python's re take a character for; marks are no part of a word there.
bool is_blank(char32_t c) { return text::is_whitespace(c) || (c >= 0x1C && c <= 0x1F); }
bool is_letter_or_number(char32_t c) {
  static const text::Categories wanted = text::categories_named("L") | text::categories_named("N");
  return (text::category_of(c) & wanted) != 0;
}

bool is_article(std::u32string_view word) { return word == U"a" || word == U"an" || word == U"the"; }

std::vector<std::u32string> words_of(const std::string& answer) {
  std::u32string lower;
  for (const char32_t c : text::decode_text(answer, "answer")) {
    char32_t small[text::kMaxLowercase];
    const int n = text::lowercase(c, small);
    for (int i = 0; i < n; ++i)
      if (!is_ascii_punctuation(small[i])) lower += small[i];
  }
  std::vector<std::u32string> words;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (size_t i = 0; i < lower.size();) {
    if (!is_letter_or_number(lower[i])) {
      if (is_blank(lower[i])) end_word();
      else word += lower[i];
      ++i;
      continue;
    }
    size_t end = i;
    while (end < lower.size() && is_letter_or_number(lower[end])) ++end;
    const std::u32string_view run = std::u32string_view(lower).substr(i, end - i);
    if (is_article(run)) end_word();  // a blank stands in its place
    else word += run;
    i = end;
  }
  end_word();
  return words;
}

AnswerScore score_of(const std::vector<std::u32string>& given, const std::vector<std::u32string>& wanted) {
  const double exact = given == wanted ? 1 : 0;
  if (given.empty() || wanted.empty()) return {exact, exact};
  std::map<std::u32string, int64_t> left;
  for (const std::u32string& word : wanted) ++left[word];
  double same = 0;
  for (const std::u32string& word : given)
    if (const auto found = left.find(word); found != left.end() && found->second-- > 0) same += 1;
  if (same == 0) return {exact, 0};
  const double precision = same / static_cast<double>(given.size()), recall = same / static_cast<double>(wanted.size());
  return {exact, 2 * precision * recall / (precision + recall)};
}

struct Sum {
  double exact = 0, f1 = 0;
  int64_t total = 0;
  void add(const AnswerScore& score) { exact += score.exact, f1 += score.f1, ++total; }
  double percent(double part) const { return 100.0 * part / static_cast<double>(total); }
};

void check_sizes(const std::vector<std::string>& given, const std::vector<std::vector<std::string>>& wanted) {
  ROTE_CHECK(given.size() == wanted.size() && !given.empty(), ArgumentError, "squad: got ", given.size(), " answers for ", wanted.size(),
             " questions; each needs one, and there is at least one.");
}

}  // namespace

std::string normalized_answer(const std::string& text) {
  std::string out;
  for (const std::u32string& word : words_of(text)) out += (out.empty() ? "" : " ") + text::to_utf8(word);
  return out;
}

AnswerScore answer_score(const std::string& given, const std::vector<std::string>& wanted) {
  AnswerScore best;
  const std::vector<std::u32string> words = words_of(given);
  for (const std::string& answer : wanted) {
    const AnswerScore score = score_of(words, words_of(answer));
    best = {std::max(best.exact, score.exact), std::max(best.f1, score.f1)};
  }
  return best;
}

Metrics squad_metrics(const std::vector<std::string>& given, const std::vector<std::vector<std::string>>& wanted) {
  check_sizes(given, wanted);
  Sum all;
  for (size_t i = 0; i < given.size(); ++i) {
    ROTE_CHECK(!wanted[i].empty(), ArgumentError, "squad: question ", i, " has no answer; --version_2_with_negative takes such questions.");
    all.add(answer_score(given[i], wanted[i]));
  }
  return {{"exact_match", all.percent(all.exact)}, {"f1", all.percent(all.f1)}};
}

Metrics squad_v2_metrics(const std::vector<std::string>& given, const std::vector<std::vector<std::string>>& wanted) {
  check_sizes(given, wanted);
  Sum all, answered, unanswered;
  for (size_t i = 0; i < given.size(); ++i) {
    std::vector<std::string> answers;
    for (const std::string& answer : wanted[i])
      if (!words_of(answer).empty()) answers.push_back(answer);
    if (answers.empty()) answers = {""};
    const AnswerScore score = answer_score(given[i], answers);
    all.add(score);
    (wanted[i].empty() ? unanswered : answered).add(score);
  }
  Metrics metrics = {{"exact", all.percent(all.exact)}, {"f1", all.percent(all.f1)}, {"total", all.total}};
  const auto add = [&](const std::string& prefix, const Sum& sum) {
    if (sum.total == 0) return;
    metrics.set(prefix + "_exact", sum.percent(sum.exact));
    metrics.set(prefix + "_f1", sum.percent(sum.f1));
    metrics.set(prefix + "_total", sum.total);
  };
  add("HasAns", answered);
  add("NoAns", unanswered);
  return metrics;
}

}  // namespace rote
