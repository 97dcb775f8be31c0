#include "kernels/check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace rote {

std::string detail::written(const Printed* parts, size_t count) {
  std::ostringstream out;
  for (size_t i = 0; i < count; ++i) parts[i].write(out, parts[i].value);
  return out.str();
}

namespace {

int64_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string one_line(const std::string& text) {
  static const char kHex[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) line += c;
    else if (c == '\n') line += "\\n";
    else line += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
  constexpr size_t kBefore = 3000, kAfter = 900;
  if (line.size() <= kBefore + kAfter) return line;
  const auto begins = [&](size_t i) { return (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80; };  // a character of UTF-8
  size_t before = kBefore, after = line.size() - kAfter;
  while (before > 0 && !begins(before)) --before;
  while (after < line.size() && !begins(after)) ++after;
  return line.substr(0, before) + " … " + line.substr(after);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + one_line(line);
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& text) : kind(kind), text(one_line(text)) {}
Error::Error(ErrorKind kind, const std::vector<std::string>& lines) : kind(kind), text(joined(lines)) {}

std::string nearest(const std::string& word, const std::string* known, int64_t count) {
  std::string best;
  int64_t best_distance = static_cast<int64_t>(std::max<size_t>(word.size() / 3, 2)) + 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t distance = edit_distance(word, known[i]);
    if (distance < best_distance) {
      best_distance = distance;
      best = known[i];
    }
  }
  return best;
}

void detail::assertion_failed(const char* file, int line, const char* condition, const char* reason) {
  std::fprintf(stderr, "%s:%d: %s does not hold: %s. This is a fault of Rote, please report it.\n", file, line, condition, reason);
  std::abort();
}

}  // namespace rote
