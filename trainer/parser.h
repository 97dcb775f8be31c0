// trainer/parser.h — command lines and maps into argument structs, and --help out of their rows. Holds no argument of its own.
//
// The rules are argparse's: `--name value`, `--name=value`, dashes for underscores, unambiguous beginnings of a name, the last repetition wins,
// a lone `--flag` is true, `--no_flag` is false where the default is true, a list takes all values that follow, `--` ends flags.
// Every fault of a line is reported at once. Files of arguments: argument_files.h; the parser of Python scripts under its own name: hf_argument_parser.h.
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

// A value that came from a file, which its faults then name.
struct Source {
  size_t group = 0, row = 0;
  std::string name;
  std::string file;
};

// What a command line or a map says about rows, before it meets a struct.
struct Reading {
  std::vector<std::vector<std::optional<Value>>> values;  // [group][row], empty where not given; in the type of the row
  std::vector<std::string> remaining;  // words that belong to no argument, in order
  std::vector<std::string> faults;
  std::vector<std::string> faulty_names;  // names that a fault concerns: what they were to say is not known
  std::vector<std::string> warnings;
  std::vector<Source> sources;  // values that a file gave
  bool help = false;
};

struct Usage {
  std::string program;          // "rote train"
  std::string about;            // one sentence
  std::string positional = "";  // what words without a name are: "PATH...", which a bool's flag leaves alone; empty: such words are faults
  // Where it is set, there is a --config FILE, and this reads it below what the line says (line_over_file of argument_files.h).
  Reading (*config)(const std::string& path, const std::vector<RowGroup>& groups, Reading line) = nullptr;
};

enum class UnknownFlags { refuse, keep };  // keep: among the remaining words
enum class BareFlags { take_next, take_truth };  // take_truth: a bool's flag takes the next word only where it says true or false: --plot RUN

// Neither looks for what is missing: check_required does. read_words throws ArgumentError when two rows share a name.
Reading read_words(const std::vector<std::string>& words, const std::vector<RowGroup>& groups, UnknownFlags unknown = UnknownFlags::refuse,
                   BareFlags bare = BareFlags::take_next);
// Names are names of fields, not flags. FromMap::who, where given, begins each fault in place of the dashes.
Reading read_map(const ValueMap& map, const std::vector<RowGroup>& groups, const FromMap& options = {});
// `first` where `second` says nothing, be it under an older name; faults of both. `second` may have more groups at its end.
Reading merged(Reading first, Reading second, const std::vector<RowGroup>& groups);
// Adds a fault for each field without a default that was not given. On a line a flag is never missing, it is false.
enum class Given { line, map };
void check_required(Reading& reading, const std::vector<RowGroup>& groups, Given given, const std::string& who = "");

// There is a --no_name that sets false.
bool takes_no_form(const ArgumentRow& row);
// A bare --name is complete.
bool value_may_lack(const ArgumentRow& row);

enum class Spellings { one, all };  // all: with dashes for underscores too, and --no_name written out, as argparse has them
std::string help_text(const Usage& usage, const std::vector<RowGroup>& groups, Spellings spellings = Spellings::one);

// Python's int() and float() of a text.
std::optional<int64_t> parse_int(const std::string& text);
std::optional<double> parse_float(const std::string& text);

template <class... A>
struct Parsed {
  std::tuple<A...> values;
  std::vector<std::string> positional;  // words that belong to no argument
  std::vector<std::string> warnings;
  ValueMap extra = {};                  // what flags that were added by hand were given
};

namespace detail {

// The fault of a value as it is read: of its words alone, the rest is judged once with the whole struct, which a detached row is no part of.
std::string reading_fault(ArgumentRow row, const Value& value);
// Without the faults that speak of a name whose value was not understood: they would mislead. A fault of what a file gave begins with the file.
void add_resolved(Reading& reading, const std::vector<std::string>& faults);
// What one source says under older names, with a warning for each: one that is another spelling goes to the present name, which wins.
void settle_older_names(Reading& reading, const std::vector<RowGroup>& groups, const std::string& who = "");
// What is to be said of the values given.
void add_warnings(Reading& reading, const std::vector<RowGroup>& groups);
// Faults for words that no argument takes.
void refuse_remaining(Reading& reading);
// The line over the file of --config. Throws HelpRequested.
Reading read_command(const std::vector<std::string>& words, const Usage& usage, const std::vector<RowGroup>& groups);
// The groups with that of --config after them, where there is one.
std::vector<RowGroup> with_config(const Usage& usage, std::vector<RowGroup> groups);

// The values of one group into its struct, which is then resolved. An older name of its own type comes after all others.
template <class A>
void settle(Reading& reading, size_t group, A& args) {
  const std::vector<Field<A>>& fields = A::table().fields;
  for (const bool older : {false, true})
    for (size_t i = 0; i < fields.size(); ++i)
      if (reading.values[group][i] && !fields[i].get == older) fields[i].set(args, *reading.values[group][i]);
  add_resolved(reading, resolve(args));
}

}  // namespace detail

// Takes what was read into all structs together and resolves them. Throws ArgumentError with every fault.
template <class... A>
Parsed<A...> settled(Reading reading, const std::vector<RowGroup>& groups, A... args) {
  size_t group = 0;
  (detail::settle(reading, group++, args), ...);
  detail::add_warnings(reading, groups);
  throw_faults(reading.faults);
  return {{std::move(args)...}, std::move(reading.remaining), std::move(reading.warnings)};
}

// Parses `words` into all structs together, starting from `defaults`, and resolves them.
// Throws ArgumentError with every fault, HelpRequested for --help.
template <class... A>
Parsed<A...> parse_words(const std::vector<std::string>& words, const Usage& usage, A... defaults) {
  const std::vector<RowGroup> groups = detail::with_config(usage, {RowGroup{A::table().title, rows_of(defaults)}...});
  return settled(detail::read_command(words, usage, groups), groups, std::move(defaults)...);
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
