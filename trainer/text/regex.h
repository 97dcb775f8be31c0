// trainer/text/regex.h — the regular expressions that tokenizer.json files use, over code points. Captures nothing.
//
// The dialect is Oniguruma's Ruby one, as the reference compiles them: leftmost match, first alternative first. Known are literals, ., classes
// with nested ones and &&, \s \w \d \h \p{L} \p{Han} and their like, groups, (?i) (?m) (?x), alternation, greedy, lazy and possessive
// repetition, lookahead, lookbehind of fixed length, (?>…), ^ $ \A \z \Z \b. Others, back references first of all, are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/text/normalized_text.h"
#include "trainer/text/unicode.h"

namespace rote::text {

// A stretch of a text that a pattern matched, or one between two matches.
struct Match {
  Span span;
  bool matched = false;
};

// A set of code points: ranges, categories and other sets.
struct RegexSet {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  Categories categories = 0;
  std::vector<uint32_t> members;   // sets that belong to it
  std::vector<uint32_t> required;  // sets outside of which nothing does
  bool negated = false;
  bool any_case = false;
  uint64_t ascii[2] = {0, 0};  // the answers for c < 128
};

enum class RegexOp : uint8_t { character, set, split, jump, run, begin_text, end_text, end_or_newline, begin_line, end_line, boundary,
                               no_boundary, look, no_look, atomic, match };

// `split` goes on at a and, should that fail, at b. `run` takes least … most characters of set a, as many as it can, and gives them back one
// by one if `gives_back`. `look`, `no_look` and `atomic` run the instructions after them up to their `match`, a lookbehind from `least`
// characters before, then go on at b.
struct RegexInstruction {
  RegexOp op = RegexOp::match;
  bool gives_back = false;
  uint32_t a = 0, b = 0;
  uint32_t least = 0, most = 0;
};

struct RegexProgram {
  std::vector<RegexSet> sets;  // the first is \w, the second \w within a class; members come before the sets that name them
  std::vector<RegexInstruction> instructions;
};

// Throws ArgumentError, with `where` and the pattern, at what is not known.
RegexProgram compile_regex(std::string_view pattern, const std::string& where);

// Immutable once built; any thread may call it.
class Regex {
 public:
  // Throws what compile_regex() throws.
  Regex(std::string_view pattern, const std::string& where);
  // Matches `text` and nothing else.
  static Regex literal(std::u32string_view text);

  // All of `chars` as stretches in order, matches (which may be empty) and what lies between them. Replaces `matches`. Throws ArgumentError
  // where the pattern needs more steps than any use could (nested repetitions that fail in exponentially many ways).
  void split(std::u32string_view chars, std::vector<Match>& matches) const;

 private:
  struct Machine;

  explicit Regex(RegexProgram program);
  bool contains(uint32_t set, char32_t c) const;
  bool contains_slowly(const RegexSet& set, char32_t c) const;
  bool at_boundary(const Machine& machine, uint32_t at) const;
  bool run(Machine& machine, uint32_t pc, uint32_t at, uint32_t& end) const;
  void note_first();

  std::string pattern_, where_;  // for messages
  std::vector<RegexSet> sets_;
  std::vector<RegexInstruction> program_;
  bool first_[128] = {};  // whether a match can begin with this character
};

}  // namespace rote::text
