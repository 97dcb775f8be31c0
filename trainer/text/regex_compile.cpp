// trainer/text/regex_compile.cpp — from a pattern to a tree, from the tree to the program that regex.cpp runs.
#include <algorithm>
#include <optional>

#include "kernels/check.h"
#include "trainer/text/regex.h"

namespace rote::text {
namespace {

constexpr uint32_t kUnlimited = 0xFFFFFFFF;
constexpr uint32_t kMaxCount = 1000;     // of a counted repetition
constexpr size_t kMaxProgram = 1 << 15;  // instructions
constexpr int kMaxGroups = 50;           // nested
constexpr uint32_t kWord = 0, kWordInClass = 1;  // sets

struct Tree {
  enum Kind { nothing, character, set, sequence, choice, repeat, look, atomic, assertion };
  Tree(Kind what = nothing) : kind(what) {}

  Kind kind;
  char32_t c = 0;
  uint32_t set_index = 0;
  std::vector<Tree> parts;
  uint32_t least = 0, most = 0;           // repeat
  bool lazy = false;                      // repeat
  bool behind = false, negative = false;  // look
  RegexOp op = RegexOp::match;            // assertion

  bool can_be_empty() const {
    switch (kind) {
      case character:
      case set: return false;
      case sequence: return std::all_of(parts.begin(), parts.end(), [](const Tree& t) { return t.can_be_empty(); });
      case choice: return std::any_of(parts.begin(), parts.end(), [](const Tree& t) { return t.can_be_empty(); });
      case repeat: return least == 0 || parts[0].can_be_empty();
      case atomic: return parts[0].can_be_empty();
      default: return true;
    }
  }
  // Characters of every match, if they are the same number.
  std::optional<uint32_t> width() const {
    switch (kind) {
      case character:
      case set: return 1;
      case sequence: {
        uint32_t sum = 0;
        for (const Tree& part : parts) {
          const auto w = part.width();
          if (!w) return std::nullopt;
          sum += *w;
        }
        return sum;
      }
      case choice: {
        const auto w = parts[0].width();
        for (const Tree& part : parts) {
          if (part.width() != w) return std::nullopt;
        }
        return w;
      }
      case repeat: {
        const auto w = parts[0].width();
        return w && least == most ? std::optional<uint32_t>(*w * least) : std::nullopt;
      }
      case atomic: return parts[0].width();
      default: return 0;
    }
  }
};

class Compiler {
 public:
  Compiler(std::string_view pattern, const std::string& where) : where_(where), chars_(decode_text(pattern, "regex")) {
    // \w: letters, marks, numerals and what joins them; the circled letters are symbols. Superscripts and fractions of Latin-1 are
    // word characters to Oniguruma, but not within a class.
    RegexSet word;
    word.categories = categories_named("L") | categories_named("M") | categories_named("Nd") | categories_named("Nl") | categories_named("Pc");
    word.ranges = {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    out_.sets.assign(2, word);
    out_.sets[kWord].ranges.insert(out_.sets[kWord].ranges.end(), {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}});
  }

  RegexProgram run() {
    const Tree tree = choice();
    if (!done()) refuse("an unmatched )");
    emit(tree);
    push({});
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ArgumentError(str(where_, ": the pattern ", to_utf8(std::u32string_view(chars_).substr(0, 200)), " has ", what, " at character ", at_,
                            ", which is not known here; write it without."));
  }

  // ---- reading ----
  bool done() const { return at_ >= chars_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < chars_.size() ? chars_[at_ + ahead] : 0; }
  bool take(std::u32string_view text) {
    if (!std::u32string_view(chars_).substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  Tree choice() {
    if (++depth_ > kMaxGroups) refuse("more than 50 nested groups");
    const bool any_case = any_case_, dot_all = dot_all_, extended = extended_;
    Tree tree{Tree::choice};
    do {
      tree.parts.push_back(sequence());
    } while (take(U"|"));
    any_case_ = any_case, dot_all_ = dot_all, extended_ = extended;
    --depth_;
    return tree.parts.size() == 1 ? std::move(tree.parts[0]) : tree;
  }

  Tree sequence() {
    Tree tree{Tree::sequence};
    while (!done() && peek() != U'|' && peek() != U')') {
      if (extended_ && (is_whitespace(peek()) || peek() == U'#')) {
        if (peek() == U'#') {
          while (!done() && peek() != U'\n') ++at_;
        } else {
          ++at_;
        }
        continue;
      }
      Tree part = atom();
      if (part.kind == Tree::nothing) continue;
      tree.parts.push_back(repeated(std::move(part)));
    }
    return tree;
  }

  // `part` with the repetitions that follow it.
  Tree repeated(Tree part) {
    while (true) {
      uint32_t least = 0, most = kUnlimited;
      bool counted = false;
      if (take(U"*")) {
      } else if (take(U"+")) {
        least = 1;
      } else if (take(U"?")) {
        most = 1;
      } else if (peek() == U'{' && counts(least, most)) {
        counted = true;
      } else {
        return part;
      }
      if (part.kind == Tree::assertion || part.kind == Tree::look) refuse("a repeated assertion");
      const bool loops = most == kUnlimited || most > 1;
      if (loops && part.can_be_empty()) refuse("a repetition of what can match nothing");
      Tree tree{Tree::repeat};
      tree.least = least;
      tree.most = most;
      tree.parts.push_back(std::move(part));
      if (counted && least == most && take(U"?")) {  // of a fixed count: all of it or nothing
        Tree optional{Tree::repeat};
        optional.most = 1;
        optional.parts.push_back(std::move(tree));
        tree = std::move(optional);
      } else if (take(U"?")) {
        tree.lazy = true;
      } else if (!counted && take(U"+")) {
        Tree whole{Tree::atomic};
        whole.parts.push_back(std::move(tree));
        tree = std::move(whole);
      }
      part = std::move(tree);
    }
  }

  // {n}, {n,}, {,m}, {n,m}; anything else that begins with a brace is text.
  bool counts(uint32_t& least, uint32_t& most) {
    size_t i = at_ + 1;
    const auto number = [&]() -> std::optional<uint32_t> {
      uint32_t value = 0;
      const size_t begin = i;
      while (i < chars_.size() && chars_[i] >= U'0' && chars_[i] <= U'9' && i < begin + 6) value = 10 * value + (chars_[i++] - U'0');
      return i > begin ? std::optional<uint32_t>(value) : std::nullopt;
    };
    const auto first = number();
    auto second = first;
    if (i < chars_.size() && chars_[i] == U',') {
      ++i;
      second = number();
      if (!first && !second) return false;
    }
    if (i >= chars_.size() || chars_[i] != U'}' || (!first && !second)) return false;
    least = first.value_or(0);
    most = second.value_or(kUnlimited);
    if (least > kMaxCount || (most != kUnlimited && most > kMaxCount) || most < least) refuse("a count over 1000, or from more to less,");
    at_ = i + 1;
    return true;
  }

  Tree atom() {
    const char32_t c = chars_[at_++];
    switch (c) {
      case U'(': return group();
      case U'[': return of_set(set());
      case U'.': {
        RegexSet any;
        any.negated = true;
        if (!dot_all_) any.ranges = {{U'\n', U'\n'}};
        return of_set(add(std::move(any)));
      }
      case U'^': return assertion(RegexOp::begin_line);
      case U'$': return assertion(RegexOp::end_line);
      case U'*':
      case U'+':
      case U'?': refuse("a repetition of nothing");
      case U'\\': return escaped();
      default: return of_character(c);
    }
  }

  Tree group() {
    Tree tree;
    if (take(U"?")) {
      if (take(U"#")) {
        while (!done() && peek() != U')') ++at_;
      } else if (take(U":")) {
        tree = choice();
      } else if (take(U">")) {
        tree.kind = Tree::atomic;
        tree.parts.push_back(choice());
      } else if (peek() == U'=' || peek() == U'!' || (peek() == U'<' && (peek(1) == U'=' || peek(1) == U'!'))) {
        tree.kind = Tree::look;
        tree.behind = take(U"<");
        tree.negative = peek() == U'!';
        ++at_;
        tree.parts.push_back(choice());
        if (tree.behind && !tree.parts[0].width()) refuse("a lookbehind of varying length");
      } else if (take(U"<")) {  // a name; what it captures is not asked for
        while (!done() && peek() != U'>') ++at_;
        take(U">");
        tree = choice();
      } else {
        return options();
      }
    } else {
      tree = choice();
    }
    if (!take(U")")) refuse("an open group");
    if (tree.kind == Tree::nothing) tree.kind = Tree::sequence;
    return tree;
  }

  // (?i-m:…) or (?i), which holds to the end of the group around it.
  Tree options() {
    const bool any_case = any_case_, dot_all = dot_all_, extended = extended_;
    bool on = true;
    for (;; ++at_) {
      const char32_t c = peek();
      if (c == U'-') {
        on = false;
      } else if (c == U'i') {
        any_case_ = on;
      } else if (c == U'm') {
        dot_all_ = on;
      } else if (c == U'x') {
        extended_ = on;
      } else {
        break;
      }
    }
    if (take(U")")) {
      if (peek() == U'|') refuse("an option before |");
      return {};
    }
    if (!take(U":")) refuse(str("the group (?", done() ? std::string() : to_utf8(std::u32string(1, peek()))));
    Tree tree = choice();
    any_case_ = any_case, dot_all_ = dot_all, extended_ = extended;
    if (!take(U")")) refuse("an open group");
    if (tree.kind == Tree::nothing) tree.kind = Tree::sequence;
    return tree;
  }

  Tree escaped() {
    if (done()) refuse("a \\ at its end");
    const char32_t c = peek();
    RegexSet set;
    if (class_escape(set, kWord)) return of_set(add(std::move(set)));
    switch (c) {
      case U'A': ++at_; return assertion(RegexOp::begin_text);
      case U'z': ++at_; return assertion(RegexOp::end_text);
      case U'Z': ++at_; return assertion(RegexOp::end_or_newline);
      case U'b': ++at_; return assertion(RegexOp::boundary);
      case U'B': ++at_; return assertion(RegexOp::no_boundary);
      default: return of_character(character_escape());
    }
  }

  // After a backslash: the character that it stands for.
  char32_t character_escape() {
    const char32_t c = chars_[at_++];
    switch (c) {
      case U'n': return U'\n';
      case U't': return U'\t';
      case U'r': return U'\r';
      case U'f': return U'\f';
      case U'v': return U'\v';
      case U'a': return U'\a';
      case U'e': return 0x1B;
      case U'x': return take(U"{") ? hexadecimal(8, true) : hexadecimal(2, false);
      case U'u': return hexadecimal(4, false);
      default: break;
    }
    const bool known = c >= 128 || !((c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9'));
    if (!known && c == U'0') return 0;
    if (!known) refuse("\\" + to_utf8(std::u32string(1, c)));
    return c;
  }

  char32_t hexadecimal(int digits, bool braced) {
    char32_t value = 0;
    int n = 0;
    for (; n < digits && !done(); ++n, ++at_) {
      const int digit = hex_digit(peek());
      if (digit < 0) break;
      value = 16 * value + static_cast<char32_t>(digit);
    }
    if (n == 0 || value > 0x10FFFF || (braced && !take(U"}"))) refuse("an escape without a code point");
    return value;
  }

  // After a backslash: whether a class such as s or p{L} stands there; it is then added to `set`. `word` is the set for \w.
  bool class_escape(RegexSet& set, uint32_t word) {
    const char32_t c = peek();
    RegexSet named;
    switch (c) {
      case U's':
      case U'S': named.ranges = ranges_named("White_Space"); break;
      case U'd':
      case U'D': named.categories = categories_named("Nd"); break;
      case U'w':
      case U'W': named.members = {word}; break;
      case U'h':
      case U'H': named.ranges = {{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}}; break;
      case U'p':
      case U'P': {
        ++at_;
        const bool negated = c == U'P';
        if (!take(U"{")) refuse("\\p without braces");
        const bool caret = take(U"^");
        std::string name;
        while (!done() && peek() != U'}' && name.size() < 40) append_utf8(chars_[at_++], name);
        if (!take(U"}")) refuse("an open \\p{");
        property(name, named);
        return include(set, std::move(named), negated != caret);
      }
      default: return false;
    }
    ++at_;
    return include(set, std::move(named), c < U'a');
  }

  bool include(RegexSet& set, RegexSet named, bool negated) {
    if (negated || !named.members.empty()) {
      named.negated = negated;
      set.members.push_back(add(std::move(named)));
    } else {
      set.ranges.insert(set.ranges.end(), named.ranges.begin(), named.ranges.end());
      set.categories |= named.categories;
    }
    return true;
  }

  void property(const std::string& name, RegexSet& set) const {
    static constexpr std::pair<std::string_view, std::string_view> kLong[] = {
        {"Letter", "L"}, {"Mark", "M"}, {"Number", "N"}, {"Punctuation", "P"}, {"Symbol", "S"}, {"Separator", "Z"}, {"Other", "C"}, {"Punct", "P"},
        {"Uppercase_Letter", "Lu"}, {"Lowercase_Letter", "Ll"}, {"Titlecase_Letter", "Lt"}, {"Modifier_Letter", "Lm"}, {"Other_Letter", "Lo"},
        {"Decimal_Number", "Nd"}, {"Digit", "Nd"}};
    std::string_view category = name;
    for (const auto& [long_name, short_name] : kLong) {
      if (long_name == name) category = short_name;
    }
    set.categories = categories_named(category);
    if (set.categories != 0) return;
    set.ranges = ranges_named(name);
    if (!set.ranges.empty()) return;
    if (name != "Any") refuse("\\p{" + name + "}");
    set.ranges = {{0, 0x10FFFF}};
  }

  // After [: up to the bracket that closes it.
  uint32_t set() {
    if (++depth_ > kMaxGroups) refuse("more than 50 nested groups");
    RegexSet set;
    std::vector<uint32_t> required;
    const bool negated = take(U"^");
    bool first = true;
    while (true) {
      if (done()) refuse("an open [");
      if (peek() == U']' && !first) break;
      first = false;
      if (take(U"&&")) {  // what came before, and what follows
        required.push_back(add(std::move(set)));
        set = {};
        continue;
      }
      if (take(U"[:")) {
        posix(set);
        continue;
      }
      if (take(U"[")) {
        set.members.push_back(this->set());
        continue;
      }
      char32_t low = chars_[at_++];
      if (low == U'\\') {
        if (done()) refuse("a \\ at its end");
        if (class_escape(set, kWordInClass)) continue;
        low = take(U"b") ? 0x08 : character_escape();
      }
      char32_t high = low;
      if (peek() == U'-' && peek(1) != U']' && peek(1) != U'[' && peek(1) != 0) {
        const size_t dash = at_++;
        high = chars_[at_++];
        if (high == U'\\') {
          RegexSet other;
          if (class_escape(other, kWordInClass)) {  // a-\s: the dash is text
            set.ranges.emplace_back(low, low);
            set.ranges.emplace_back(U'-', U'-');
            set.members.push_back(add(std::move(other)));
            continue;
          }
          high = character_escape();
        }
        at_ = high < low ? dash : at_;
        if (high < low) refuse("a range from more to less");
      }
      set.ranges.emplace_back(low, high);
    }
    ++at_;
    --depth_;
    set.required = std::move(required);
    set.negated = negated;
    return add(std::move(set));
  }

  void posix(RegexSet& set) {
    const bool negated = take(U"^");
    std::string name;
    while (!done() && peek() != U':' && name.size() < 20) append_utf8(chars_[at_++], name);
    if (!take(U":]")) refuse("an open [:");
    RegexSet named;
    if (name == "alpha") named.categories = categories_named("L");
    if (name == "digit") named.categories = categories_named("Nd");
    if (name == "alnum") named.categories = categories_named("L") | categories_named("Nd");
    if (name == "upper") named.categories = categories_named("Lu");
    if (name == "lower") named.categories = categories_named("Ll");
    if (name == "punct") named.categories = categories_named("P") | categories_named("S");
    if (name == "space") named.ranges = ranges_named("White_Space");
    if (named.categories == 0 && named.ranges.empty()) refuse("[:" + name + ":]");
    include(set, std::move(named), negated);
  }

  uint32_t add(RegexSet set) {
    set.any_case = any_case_;
    if (out_.sets.size() >= kMaxProgram) refuse("too many classes");
    out_.sets.push_back(std::move(set));
    return static_cast<uint32_t>(out_.sets.size() - 1);
  }

  static Tree of_set(uint32_t index) {
    Tree tree{Tree::set};
    tree.set_index = index;
    return tree;
  }
  Tree of_character(char32_t c) {
    if (any_case_ && (fold_case(c) != c || uppercase(c) != c)) {
      // Every character that folds to the same: its lower and upper case, and the three signs that fold to ASCII letters.
      const char32_t low = fold_case(c);
      RegexSet set;
      set.ranges = {{c, c}, {low, low}, {uppercase(c), uppercase(c)}};
      if (low == U's') set.ranges.emplace_back(0x17F, 0x17F);
      if (low == U'k') set.ranges.emplace_back(0x212A, 0x212A);
      return of_set(add(std::move(set)));
    }
    Tree tree{Tree::character};
    tree.c = c;
    return tree;
  }
  static Tree assertion(RegexOp op) {
    Tree tree{Tree::assertion};
    tree.op = op;
    return tree;
  }

  // ---- writing ----
  uint32_t here() const { return static_cast<uint32_t>(out_.instructions.size()); }
  uint32_t push(RegexInstruction instruction) {
    if (out_.instructions.size() >= kMaxProgram) refuse("more than 32768 steps when its repetitions are written out");
    out_.instructions.push_back(instruction);
    return here() - 1;
  }

  void emit(const Tree& tree) {
    using Op = RegexOp;
    switch (tree.kind) {
      case Tree::nothing: return;
      case Tree::character: push({Op::character, false, tree.c}); return;
      case Tree::set: push({Op::set, false, tree.set_index}); return;
      case Tree::assertion: push({tree.op}); return;
      case Tree::sequence:
        for (const Tree& part : tree.parts) emit(part);
        return;
      case Tree::choice: {
        std::vector<uint32_t> jumps;
        for (size_t i = 0; i < tree.parts.size(); ++i) {
          if (i + 1 == tree.parts.size()) {
            emit(tree.parts[i]);
            break;
          }
          const uint32_t split = push({Op::split, false, here() + 1});
          emit(tree.parts[i]);
          jumps.push_back(push({Op::jump}));
          out_.instructions[split].b = here();
        }
        for (const uint32_t jump : jumps) out_.instructions[jump].a = here();
        return;
      }
      case Tree::look: {
        const uint32_t look = push({tree.negative ? Op::no_look : Op::look, false, 0, 0, tree.behind ? *tree.parts[0].width() : 0});
        emit(tree.parts[0]);
        push({});
        out_.instructions[look].b = here();
        return;
      }
      case Tree::atomic: {
        const Tree& part = tree.parts[0];
        if (part.kind == Tree::repeat && is_one(part.parts[0]) && !part.lazy) return emit_run(part, false);
        const uint32_t atomic = push({Op::atomic});
        emit(part);
        push({});
        out_.instructions[atomic].b = here();
        return;
      }
      case Tree::repeat: return emit_repeat(tree);
    }
  }

  static bool is_one(const Tree& tree) { return tree.kind == Tree::set || tree.kind == Tree::character; }

  void emit_run(const Tree& tree, bool gives_back) {
    uint32_t index = tree.parts[0].set_index;
    if (tree.parts[0].kind == Tree::character) {
      RegexSet one;
      one.ranges = {{tree.parts[0].c, tree.parts[0].c}};
      index = add(std::move(one));
      out_.sets[index].any_case = false;
    }
    push({RegexOp::run, gives_back, index, 0, tree.least, tree.most});
  }

  void emit_repeat(const Tree& tree) {
    using Op = RegexOp;
    const Tree& part = tree.parts[0];
    if (is_one(part) && !tree.lazy) return emit_run(tree, true);
    // What is preferred stands in `a` of a split: to go on, or lazily to stop.
    const auto prefer = [&](uint32_t split, uint32_t go_on, uint32_t stop) {
      out_.instructions[split].a = tree.lazy ? stop : go_on;
      out_.instructions[split].b = tree.lazy ? go_on : stop;
    };
    for (uint32_t i = 0; i < tree.least; ++i) emit(part);
    if (tree.most == kUnlimited) {
      const uint32_t split = push({Op::split});
      emit(part);
      push({Op::jump, false, split});
      prefer(split, split + 1, here());
      return;
    }
    std::vector<uint32_t> splits;
    for (uint32_t i = tree.least; i < tree.most; ++i) {
      splits.push_back(push({Op::split}));
      emit(part);
    }
    for (const uint32_t split : splits) prefer(split, split + 1, here());
  }

  const std::string& where_;
  const std::u32string chars_;
  RegexProgram out_;
  size_t at_ = 0;
  int depth_ = 0;
  bool any_case_ = false, dot_all_ = false, extended_ = false;
};

}  // namespace

RegexProgram compile_regex(std::string_view pattern, const std::string& where) { return Compiler(pattern, where).run(); }

}  // namespace rote::text
