#include "trainer/porter_stemmer.h"

#include <cstdint>
#include <string_view>

namespace rote {

namespace {

using View = std::string_view;

bool is_consonant(View word, size_t i) {
  if (word[i] == 'y') return i == 0 || !is_consonant(word, i - 1);
  return View("aeiou").find(word[i]) == View::npos;
}

bool has_vowel(View word) {
  for (size_t i = 0; i < word.size(); ++i)
    if (!is_consonant(word, i)) return true;
  return false;
}

// m of [C](VC)^m[V]: how often consonants follow vowels.
int measure(View word) {
  int changes = 0;
  for (size_t i = 1; i < word.size(); ++i)
    if (is_consonant(word, i) && !is_consonant(word, i - 1)) ++changes;
  return changes;
}

bool ends_in_double(View word) {
  const size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && is_consonant(word, n - 1);
}

// *o: consonant, vowel, consonant that is not w, x or y; also a vowel and a consonant alone.
bool ends_short(View word) {
  const size_t n = word.size();
  if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
  return n >= 3 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) && is_consonant(word, n - 1) && View("wxy").find(word[n - 1]) == View::npos;
}

struct Rule {
  const char *ending, *instead;
  int above = 0;  // the least measure of the rest, exclusive
};

// The first rule whose ending the word has, if its condition holds.
template <size_t N>
std::string apply(const Rule (&rules)[N], const std::string& word) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.ending)) continue;
    const std::string rest = word.substr(0, word.size() - View(rule.ending).size());
    return measure(rest) > rule.above ? rest + rule.instead : word;
  }
  return word;
}

constexpr Rule kPlurals[] = {{"sses", "ss", -1}, {"ies", "i", -1}, {"ss", "ss", -1}, {"s", "", -1}};
constexpr Rule kDouble[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"}, {"alli", "al"}, {"entli", "ent"},
                            {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"},
                            {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"fulli", "ful"}};
constexpr Rule kDerived[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}};
constexpr Rule kEndings[] = {{"al", "", 1}, {"ance", "", 1}, {"ence", "", 1}, {"er", "", 1}, {"ic", "", 1}, {"able", "", 1}, {"ible", "", 1}, {"ant", "", 1}, {"ement", "", 1},
                             {"ment", "", 1}, {"ent", "", 1}};
constexpr Rule kLateEndings[] = {{"ou", "", 1}, {"ism", "", 1}, {"ate", "", 1}, {"iti", "", 1}, {"ous", "", 1}, {"ive", "", 1}, {"ize", "", 1}};

std::string without_plural(const std::string& word) {
  if (word.size() == 4 && word.ends_with("ies")) return word.substr(0, 3);
  return apply(kPlurals, word);
}

// -ed and -ing, behind a vowel; what is left gets its e back or loses a doubled consonant.
std::string without_past(const std::string& word) {
  if (word.ends_with("ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed")) return measure(View(word).substr(0, word.size() - 3)) > 0 ? word.substr(0, word.size() - 1) : word;
  for (const View ending : {View("ed"), View("ing")}) {
    if (!word.ends_with(ending)) continue;
    const std::string rest = word.substr(0, word.size() - ending.size());
    if (!has_vowel(rest)) continue;
    for (const View e : {View("at"), View("bl"), View("iz")})
      if (rest.ends_with(e)) return rest + "e";
    if (ends_in_double(rest)) return View("lsz").find(rest.back()) == View::npos ? rest.substr(0, rest.size() - 1) : rest;
    return measure(rest) == 1 && ends_short(rest) ? rest + "e" : rest;
  }
  return word;
}

std::string with_i(const std::string& word) {
  const size_t n = word.size();
  return n > 2 && word[n - 1] == 'y' && is_consonant(word, n - 2) ? word.substr(0, n - 1) + "i" : word;
}

std::string without_double(const std::string& word) {
  if (word.ends_with("alli") && measure(View(word).substr(0, word.size() - 4)) > 0) return without_double(word.substr(0, word.size() - 2));
  for (const Rule& rule : kDouble)
    if (word.ends_with(rule.ending)) return apply(kDouble, word);
  // The l belongs to what is measured.
  return word.ends_with("logi") && measure(View(word).substr(0, word.size() - 3)) > 0 ? word.substr(0, word.size() - 1) : word;
}

std::string without_ending(const std::string& word) {
  for (const Rule& rule : kEndings)
    if (word.ends_with(rule.ending)) return apply(kEndings, word);
  if (word.ends_with("ion")) {
    const std::string rest = word.substr(0, word.size() - 3);
    return measure(rest) > 1 && (rest.back() == 's' || rest.back() == 't') ? rest : word;
  }
  return apply(kLateEndings, word);
}

std::string without_e(const std::string& word) {
  if (!word.ends_with("e")) return word;
  const std::string rest = word.substr(0, word.size() - 1);
  const int m = measure(rest);
  return m > 1 || (m == 1 && !ends_short(rest)) ? rest : word;
}

std::string without_second_l(const std::string& word) {
  return word.ends_with("ll") && measure(View(word).substr(0, word.size() - 1)) > 1 ? word.substr(0, word.size() - 1) : word;
}

// Words whose stem no rule finds.
constexpr const char* kIrregular[][2] = {{"sky", "sky"},         {"skies", "sky"},     {"dying", "die"},        {"lying", "lie"},         {"tying", "tie"},     {"news", "news"},
                                         {"innings", "inning"},  {"inning", "inning"}, {"outings", "outing"},   {"outing", "outing"},     {"cannings", "canning"}, {"canning", "canning"},
                                         {"howe", "howe"},       {"proceed", "proceed"}, {"exceed", "exceed"},  {"succeed", "succeed"}};

}  // namespace

std::string porter_stem(const std::string& word) {
  for (const auto& [form, stem] : kIrregular)
    if (word == form) return stem;
  if (word.size() <= 2) return word;
  std::string stem = word;
  for (std::string (*step)(const std::string&) : {without_plural, without_past, with_i, without_double}) stem = step(stem);
  return without_second_l(without_e(without_ending(apply(kDerived, stem))));
}

}  // namespace rote
