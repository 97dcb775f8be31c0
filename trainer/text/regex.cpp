// trainer/text/regex.cpp — the machine that runs a compiled pattern; regex_compile.cpp makes the program.
#include "trainer/text/regex.h"

#include <algorithm>
#include <utility>

#include "kernels/check.h"

namespace rote::text {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr uint64_t kMaxSteps = uint64_t{1} << 31;
constexpr uint64_t kMaxMarks = uint64_t{1} << 30;  // bits

}  // namespace

// What one search needs. A frame stands for the states (pc, at), (pc, at - 1) … (pc, low), to be tried in this order.
struct Regex::Machine {
  struct Frame {
    uint32_t pc = 0, at = 0, low = 0;
  };
  std::u32string_view chars;
  std::vector<Frame> stack;
  // A search that takes long marks the states it has tried; to come to one again is to fail again. So it ends after at most as many steps as
  // there are states. Lookaround, which may succeed more than once in one place, marks nothing.
  std::vector<uint64_t> marks;
  uint32_t start = 0;
  uint64_t steps = 0, patience = 0;
  int depth = 0;
};

bool Regex::contains(uint32_t index, char32_t c) const {
  const RegexSet& set = sets_[index];
  return c < 128 ? (set.ascii[c >> 6] >> (c & 63)) & 1 : contains_slowly(set, c);
}

bool Regex::contains_slowly(const RegexSet& set, char32_t c) const {
  const auto holds = [&](char32_t x) {
    bool in = std::any_of(set.ranges.begin(), set.ranges.end(), [&](const auto& r) { return r.first <= x && x <= r.second; });
    in = in || (set.categories != 0 && (set.categories & category_of(x)) != 0);
    in = in || std::any_of(set.members.begin(), set.members.end(), [&](uint32_t m) { return contains(m, x); });
    return in && std::all_of(set.required.begin(), set.required.end(), [&](uint32_t m) { return contains(m, x); });
  };
  bool in = holds(c);
  if (!in && set.any_case) {
    in = holds(fold_case(c)) || holds(uppercase(c));
  }
  return in != set.negated;
}

bool Regex::at_boundary(const Machine& m, uint32_t at) const {
  const auto word = [&](uint32_t i) { return i < m.chars.size() && contains(0, m.chars[i]); };
  return (at > 0 && word(at - 1)) != word(at);
}

bool Regex::run(Machine& m, uint32_t pc, uint32_t at, uint32_t& end) const {
  const size_t base = m.stack.size();
  const auto n = static_cast<uint32_t>(m.chars.size());
  m.stack.push_back({pc, at, at});
  while (m.stack.size() > base) {
    Machine::Frame& top = m.stack.back();
    pc = top.pc;
    at = top.at;
    if (top.at > top.low) {
      --top.at;
    } else {
      m.stack.pop_back();
    }
    for (bool alive = true; alive;) {
      if (++m.steps > m.patience && m.depth == 0) {
        const uint64_t places = uint64_t{n} + 1 - m.start;
        if (m.marks.empty()) {
          ROTE_CHECK(places * program_.size() <= kMaxMarks, ArgumentError, where_, ": the pattern ", pattern_, " takes too long on a text of ",
                     n, " characters; use one without nested repetitions.");
          m.marks.assign(places * program_.size() / 64 + 1, 0);
        }
        const uint64_t state = places * pc + (at - m.start);
        uint64_t& word = m.marks[state / 64];
        const uint64_t bit = uint64_t{1} << (state % 64);
        if (word & bit) break;
        word |= bit;
      }
      ROTE_CHECK(m.steps < kMaxSteps, ArgumentError, where_, ": the pattern ", pattern_, " takes too long; use one without nested repetitions.");
      const RegexInstruction& i = program_[pc];
      switch (i.op) {
        case RegexOp::character:
          alive = at < n && m.chars[at] == i.a;
          ++at, ++pc;
          break;
        case RegexOp::set:
          alive = at < n && contains(i.a, m.chars[at]);
          ++at, ++pc;
          break;
        case RegexOp::split:
          m.stack.push_back({i.b, at, at});
          pc = i.a;
          break;
        case RegexOp::jump:
          pc = i.a;
          break;
        case RegexOp::run: {
          const uint32_t limit = i.most > n - at ? n : at + i.most;
          uint32_t to = at;
          while (to < limit && contains(i.a, m.chars[to])) ++to;
          ++pc;
          alive = to - at >= i.least;
          if (alive && i.gives_back && to - at > i.least) m.stack.push_back({pc, to - 1, at + i.least});
          at = to;
          break;
        }
        case RegexOp::begin_text: alive = at == 0; ++pc; break;
        case RegexOp::end_text: alive = at == n; ++pc; break;
        case RegexOp::end_or_newline: alive = at == n || (at + 1 == n && m.chars[at] == U'\n'); ++pc; break;
        case RegexOp::begin_line: alive = at == 0 || (m.chars[at - 1] == U'\n' && at < n); ++pc; break;
        case RegexOp::end_line: alive = at == n || m.chars[at] == U'\n'; ++pc; break;
        case RegexOp::boundary: alive = at_boundary(m, at); ++pc; break;
        case RegexOp::no_boundary: alive = !at_boundary(m, at); ++pc; break;
        case RegexOp::look:
        case RegexOp::no_look:
        case RegexOp::atomic: {
          uint32_t stop = 0;
          ++m.depth;
          const bool found = at >= i.least && run(m, pc + 1, at - i.least, stop);
          --m.depth;
          alive = found != (i.op == RegexOp::no_look);
          if (i.op == RegexOp::atomic) at = stop;
          pc = i.b;
          break;
        }
        case RegexOp::match:
          end = at;
          m.stack.resize(base);
          return true;
      }
    }
  }
  return false;
}

void Regex::split(std::u32string_view chars, std::vector<Match>& matches) const {
  matches.clear();
  const auto n = static_cast<uint32_t>(chars.size());
  Machine machine;
  machine.chars = chars;
  uint32_t done = 0, last = kNone;
  for (uint32_t at = 0; at <= n;) {
    uint32_t end = 0;
    bool found = false;
    if (at == n || chars[at] >= 128 || first_[chars[at]]) {
      machine.start = at;
      machine.marks.clear();
      machine.steps = 0;
      machine.patience = 1024 + 16 * uint64_t{n - at};
      found = run(machine, 0, at, end);
    }
    if (!found || (end == at && last == at)) {  // no empty match right after a match
      ++at;
      continue;
    }
    if (done < at) matches.push_back({{done, at}, false});
    matches.push_back({{at, end}, true});
    done = last = at = end;
  }
  if (done < n) matches.push_back({{done, n}, false});
}

// Marks the characters that can begin a match; all of them where that cannot be told.
void Regex::note_first() {
  std::vector<uint8_t> seen(program_.size(), 0);
  std::vector<uint32_t> pending{0};
  const auto all = [&] { std::fill(std::begin(first_), std::end(first_), true); };
  while (!pending.empty()) {
    const uint32_t pc = pending.back();
    pending.pop_back();
    if (seen[pc]++) continue;
    const RegexInstruction& i = program_[pc];
    switch (i.op) {
      case RegexOp::character:
        if (i.a < 128) first_[i.a] = true;
        break;
      case RegexOp::set:
      case RegexOp::run:
        for (char32_t c = 0; c < 128; ++c) first_[c] = first_[c] || contains(i.a, c);
        if (i.op == RegexOp::run && i.least == 0) pending.push_back(pc + 1);
        break;
      case RegexOp::split:
        pending.push_back(i.b);
        [[fallthrough]];
      case RegexOp::jump: pending.push_back(i.a); break;
      case RegexOp::atomic: pending.push_back(pc + 1); break;
      case RegexOp::match: all(); break;  // the end of the pattern, or of a group whose follower is not known here
      default: pending.push_back(i.op == RegexOp::look || i.op == RegexOp::no_look ? i.b : pc + 1);
    }
  }
}

Regex::Regex(RegexProgram program) : sets_(std::move(program.sets)), program_(std::move(program.instructions)) {
  for (RegexSet& set : sets_) {
    for (char32_t c = 0; c < 128; ++c) {
      if (contains_slowly(set, c)) set.ascii[c >> 6] |= uint64_t{1} << (c & 63);
    }
  }
  note_first();
}

Regex::Regex(std::string_view pattern, const std::string& where) : Regex(compile_regex(pattern, where)) {
  pattern_ = pattern.substr(0, 200);
  where_ = where;
}

Regex Regex::literal(std::u32string_view text) {
  RegexProgram program;
  for (const char32_t c : text) program.instructions.push_back({RegexOp::character, false, c});
  program.instructions.push_back({});
  return Regex(std::move(program));
}

}  // namespace rote::text
