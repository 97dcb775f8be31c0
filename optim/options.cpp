#include "optim/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "kernels/check.h"

namespace rote::optim {

OptionError::OptionError(const std::string& about, std::vector<std::string> told)
    : ArgumentError(std::accumulate(told.begin(), told.end(), about + ":", [](const std::string& text, const std::string& one) { return text + " " + one; })), faults(std::move(told)) {}

Options parse_optim_args(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) plain += c;
  Options options;
  for (size_t begin = 0; !plain.empty() && begin <= plain.size();) {
    size_t end = begin;
    for (bool in_pair = false; end < plain.size() && (in_pair || plain[end] != ','); ++end) in_pair = plain[end] == '(' || (in_pair && plain[end] != ')');
    const std::string piece = plain.substr(begin, end - begin);
    const size_t sign = piece.find('=');
    if (sign == std::string::npos || sign == 0 || piece.find('=', sign + 1) != std::string::npos)
      throw OptionError("optim_args", {"\"" + piece + "\" is no name=value; write them with commas between, as momentum=0.9,nesterov=true."});
    if (!options.emplace(piece.substr(0, sign), piece.substr(sign + 1)).second) throw OptionError("optim_args", {piece.substr(0, sign) + " comes twice; give it once."});
    begin = end + 1;
  }
  return options;
}

std::optional<std::string> OptionReader::word(const char* name) {
  known_.push_back(name);
  const auto found = left_.find(name);
  if (found == left_.end()) return std::nullopt;
  const std::string word = found->second;
  left_.erase(found);
  return word;
}

void OptionReader::fault(const std::string& told) {
  faults_.push_back(told);
  if (!waits_) throw OptionError(who_, faults_);
}

template <class T>
void OptionReader::read(const char* name, const std::string& word, const char* kind, T& value) {
  T parsed{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), parsed);
  if (error == std::errc() && end == word.data() + word.size()) value = parsed;
  else fault(str(name, " is \"", word, "\"; it must be ", kind, "."));
}

void OptionReader::take(const char* name, double& value) {
  if (const auto given = word(name)) read(name, *given, given->starts_with('(') ? "one number; a pair is what adafactor's eps takes" : "a number", value);
}

void OptionReader::take_pair(const char* name, double& first, double& second) {
  const auto given = word(name);
  if (!given) return;
  constexpr const char* kKind = "a pair of numbers, (1e-30,1e-3)";
  const size_t comma = given->find(',');
  if (!given->starts_with('(') || !given->ends_with(')') || comma == std::string::npos) return fault(str(name, " is \"", *given, "\"; it must be ", kKind, "."));
  read(name, given->substr(1, comma - 1), kKind, first);
  read(name, given->substr(comma + 1, given->size() - comma - 2), kKind, second);
}

void OptionReader::take(const char* name, int64_t& value) {
  if (const auto given = word(name)) read(name, *given, "a whole number", value);
}

void OptionReader::take(const char* name, bool& value) {
  const auto given = word(name);
  if (!given) return;
  std::string lower = *given;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  value = lower == "true" || lower == "1" || lower == "yes";
  if (!value && lower != "false" && lower != "0" && lower != "no") fault(str(name, " is \"", *given, "\"; it must be true or false."));
}

void OptionReader::take(const char* name, std::string& value) {
  if (const auto given = word(name)) value = *given;
}

void OptionReader::take(const char* name, std::optional<double>& value) {
  const auto given = word(name);
  if (given && *given != "none" && *given != "None") read(name, *given, "a number", value.emplace());
}

void OptionReader::take(const char* name, DType& value) {
  const auto given = word(name);
  if (!given) return;
  value = *given == info(DType::bf16).torch ? DType::bf16 : DType::f32;
  if (*given != info(value).torch) fault(str(name, " is \"", *given, "\"; it must be float32 or bfloat16."));
}

template <class T>
void OptionReader::read_list(const char* name, const char* kind, std::vector<T>& value) {
  auto given = word(name);
  if (!given) return;
  if (given->starts_with('[') && given->ends_with(']')) given = given->substr(1, given->size() - 2);
  value.clear();
  for (size_t begin = 0; begin <= given->size();) {
    begin = std::min(given->find_first_not_of(' ', begin), given->size());
    const size_t end = std::min(given->find_first_of(":,", begin), given->size());
    read(name, given->substr(begin, end - begin), kind, value.emplace_back());
    begin = end + 1;
  }
}

void OptionReader::take(const char* name, std::vector<int64_t>& value) { read_list(name, "whole numbers with : between", value); }

void OptionReader::take(const char* name, std::vector<double>& value) { read_list(name, "a number, or several with : between", value); }

void OptionReader::finish() {
  std::string all;
  for (const std::string& one : known_) all += (all.empty() ? "" : ", ") + one;
  for (const auto& [name, value] : left_) {
    const std::string near = nearest(name, known_.data(), static_cast<int64_t>(known_.size()));
    faults_.push_back(str("there is no ", name, near.empty() ? "" : ", did you mean " + near + "?", near.empty() ? "; it takes " : " It takes ", all.empty() ? "none" : all, "."));
  }
  if (!faults_.empty()) throw OptionError(who_, faults_);
}

}  // namespace rote::optim
