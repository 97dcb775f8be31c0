// trainer/parser.h — command lines into argument structs, and --help out of their rows. Holds no argument of its own.
//
// The rules are argparse's: `--name value`, `--name=value`, dashes for underscores, unambiguous beginnings of a name, the last repetition wins,
// a lone `--flag` is true, `--no_flag` is false where the default is true, a list takes all values that follow, `--` ends flags.
// Every fault of a line is reported at once.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trainer/fields.h"

namespace rote {

struct Usage {
  std::string program;          // "rote train"
  std::string about;            // one sentence
  std::string positional = "";  // what words without a name are: "PATH..."; empty: such words are faults
};

// Thrown for -h and --help; what() is the text to print before leaving with exit code 0.
class HelpRequested : public std::exception {
 public:
  explicit HelpRequested(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

struct RowGroup {
  std::string title;
  std::vector<ArgumentRow> rows;
};

// What a command line says about rows, before it meets a struct.
struct Reading {
  std::vector<std::vector<std::optional<Value>>> values;  // [group][row], empty where not given
  std::vector<std::string> remaining;                     // words that belong to no argument, in order
  std::vector<std::string> faults;
  std::vector<std::string> faulty_names;  // names that a fault concerns: what they were to say is not known
  std::vector<std::string> warnings;
  bool help = false;
};

// Throws ArgumentError when two rows share a name.
Reading read_words(const std::vector<std::string>& words, const std::vector<RowGroup>& groups);
std::string help_text(const Usage& usage, const std::vector<RowGroup>& groups);

// Python's int() and float() of a text.
std::optional<int64_t> parse_int(const std::string& text);
std::optional<double> parse_float(const std::string& text);

template <class... A>
struct Parsed {
  std::tuple<A...> values;
  std::vector<std::string> positional;
  std::vector<std::string> warnings;
};

namespace detail {

template <class A>
void assign(A& args, const std::vector<std::optional<Value>>& values) {
  const std::vector<Field<A>>& fields = A::table().fields;
  for (size_t i = 0; i < fields.size(); ++i)
    if (values[i]) fields[i].set(args, *values[i]);
}

// Without the faults that speak of a name whose value was not understood: they would mislead.
void add_resolved(Reading& reading, const std::vector<std::string>& faults);
// Faults for words that no argument takes.
void refuse_remaining(Reading& reading);

}  // namespace detail

// Parses `words` into all structs together, starting from `defaults`, and resolves them.
// Throws ArgumentError with every fault, HelpRequested for --help.
template <class... A>
Parsed<A...> parse_words(const std::vector<std::string>& words, const Usage& usage, A... defaults) {
  const std::vector<RowGroup> groups = {RowGroup{A::table().title, rows_of(defaults)}...};
  Reading reading = read_words(words, groups);
  if (reading.help) throw HelpRequested(help_text(usage, groups));
  size_t group = 0;
  (detail::assign(defaults, reading.values[group++]), ...);
  (detail::add_resolved(reading, resolve(defaults)), ...);
  if (usage.positional.empty()) detail::refuse_remaining(reading);
  throw_faults(reading.faults);
  return {{std::move(defaults)...}, std::move(reading.remaining), std::move(reading.warnings)};
}

// The same for the words of main, the program's name left out.
template <class... A>
Parsed<A...> parse_command(int argc, const char* const* argv, const Usage& usage, A... defaults) {
  return parse_words(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), usage, std::move(defaults)...);
}

// For programs with one struct: auto args = parse<TrainingArguments>(argc, argv, {.output_dir = "out"});
// Warnings go to the error stream.
void print_warnings(const std::vector<std::string>& warnings);
template <class A>
A parse(int argc, const char* const* argv, A defaults = {}) {
  Parsed<A> parsed = parse_command(argc, argv, Usage{argc > 0 ? argv[0] : "", ""}, std::move(defaults));
  print_warnings(parsed.warnings);
  return std::move(std::get<0>(parsed.values));
}

// Runs `body` and prints what it throws: help to the output (exit code 0), faults of arguments to the error stream (2), any other (1).
int run_program(const std::function<int()>& body);

}  // namespace rote
