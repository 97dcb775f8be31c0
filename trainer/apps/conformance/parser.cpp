// trainer/apps/conformance/parser.cpp — parser cases: words, maps and files into classes that the case describes, by the functions of HfArgumentParser.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/values.h"
#include "trainer/argument_text.h"
#include "trainer/hf_argument_parser.h"
#include "trainer/python_text.h"
#include "trainer/seq2seq_arguments.h"
#include "trainer/yaml_text.h"

namespace rote::conformance {

namespace {

namespace fs = std::filesystem;

// The folder of a case with its files, and the process in it while this lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const Value& files) : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "rote-case-XXXXXX").string();
    ROTE_CHECK(::mkdtemp(name.data()) != nullptr, IoError, name, ": cannot be made.");
    here_ = name;
    if (files.as_map())
      for (const auto& [file, text] : *files.as_map()) write_file((here_ / file).string(), *text.as_text());
    fs::current_path(here_);
  }
  ~WorkingFolder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(here_, ignored);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_, here_;
};

// `int`, `list[str]`, `bool|str`, `literal?` …
ArgumentRow row_of(const Value& field) {
  ArgumentRow row{.name = text_at(field, "name"), .help = "a field"};
  std::string type = text_at(field, "type");
  if (type.ends_with("?")) row.optional = true, type.pop_back();
  if (type.starts_with("list[")) row.list = true, type = type.substr(5, type.size() - 6);
  if (type.ends_with("|str")) row.or_text = true, type.resize(type.size() - 4);
  row.kind = type == "int" ? FieldKind::integer : type == "float" ? FieldKind::real : type == "bool" ? FieldKind::boolean : type == "dict" ? FieldKind::map : FieldKind::text;
  if (const ValueList* choices = at(field, "choices").as_list()) row.words = *choices;
  for (const std::string& alias : words_at(field, "aliases")) row.aliases.push_back(plain_name(alias));
  const Value* value = field.as_map()->find("default");
  if (value) row.default_value = *value;
  else if (row.kind == FieldKind::boolean && !row.optional) row.default_value = false;
  row.required = !value;
  return row;
}

// One class of a case: made of the file's description, or one of the two real ones.
struct Class {
  RowGroup group;
  std::function<ValueMap(Reading&, size_t)> settle;  // the real ones: values as in to_dict
};

template <class A>
Class real_class() {
  return {{"training", rows_of(A{})}, [](Reading& reading, size_t group) {
            A args;
            detail::settle(reading, group, args);
            return to_dict(args);
          }};
}

Class class_of(const ValueMap& file, const std::string& name) {
  if (name == "TrainingArguments") return real_class<TrainingArguments>();
  if (name == "Seq2SeqTrainingArguments") return real_class<Seq2SeqTrainingArguments>();
  const Value& described = at(*file.find("classes"), name);
  ROTE_CHECK(described.as_map(), ArgumentError, "classes: there is no ", name, ".");
  Class made{{text_at(described, "group"), {}}, nullptr};
  for (const Value& field : *at(described, "fields").as_list()) made.group.rows.push_back(row_of(field));
  return made;
}

ArgumentRow extra_flag(const Value& flag) {
  ArgumentRow row = row_of(ValueMap{{"name", plain_name(text_at(flag, "flag"))}, {"type", text_at(flag, "type")}, {"default", at(flag, "default")}});
  row.optional = true;
  return row;
}

Reading read_case(const Value& one, const std::vector<RowGroup>& groups) {
  const Value& options = at(one, "options");
  const auto is_on = [&](const char* name, bool otherwise) { return at(options, name).is_null() ? otherwise : at(options, name) == Value(true); };
  const std::string call = text_at(one, "call"), path = text_at(one, "file");
  if (call == "args") {
    LineOptions line{.return_remaining_strings = is_on("return_remaining_strings", false),
                     .files = {.program = text_at(one, "program"), .look_for_args_file = is_on("look_for_args_file", true), .args_file_flag = text_at(options, "args_file_flag")}};
    if (at(options, "args_filename").as_text()) line.files.args_filename = text_at(options, "args_filename");
    return read_line(words_at(one, "argv"), {"case", ""}, groups, line);
  }
  const FromMap map{.allow_extra_keys = is_on("allow_extra_keys", false), .who = path};
  if (call == "dict") return read_whole_map(*at(one, "dict").as_map(), groups, map);
  if (call != "json" && !has_yaml()) throw Waiting{"this build reads no YAML"};
  return read_whole_map(call == "json" ? read_json_map(path) : read_yaml_map(path), groups, map);
}

// 3 and 3.0 are the same where `is_real`; a NaN is a NaN.
bool same(const Value& ours, const Value& theirs, bool is_real) {
  double a = 0, b = 0;
  if (ours.number(a) && theirs.number(b) && (is_real || ours.held.index() == theirs.held.index())) return a == b || (std::isnan(a) && std::isnan(b));
  const ValueList *list = ours.as_list(), *their_list = theirs.as_list();
  if (!list || !their_list) return ours == theirs;
  if (list->size() != their_list->size()) return false;
  for (size_t i = 0; i < list->size(); ++i)
    if (!same((*list)[i], (*their_list)[i], is_real)) return false;
  return true;
}

std::string compare(const std::vector<ArgumentRow>& rows, const ValueMap& ours, const ValueMap& theirs) {
  for (const auto& [name, value] : theirs)
    if (!ours.find(name)) return name + " is " + python_repr(value) + ", we have no such field";
  for (const auto& [name, value] : ours) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&, &wanted = name](const ArgumentRow& one) { return one.name == wanted; });
    const Value* expected = theirs.find(name);
    if (!expected || !same(value, *expected, row != rows.end() && row->kind == FieldKind::real))
      return str(name, " is ", python_repr(value), ", expected ", expected ? python_repr(*expected) : "its default");
  }
  return "";
}

ValueMap changed(const ValueMap& ours, const ValueMap& untouched) {
  ValueMap out;
  for (const auto& [name, value] : ours)
    if (!same(value, *untouched.find(name), /*is_real=*/true)) out.set(name, value);
  return out;
}

std::string compare_values(const Value& expect, const std::vector<Class>& classes, const std::vector<RowGroup>& groups, const Reading& reading, const std::vector<ValueMap>& real) {
  const ValueList& values = *at(expect, "values").as_list();
  for (size_t g = 0; g < classes.size(); ++g) {
    std::string wrong;
    if (!classes[g].settle) {
      wrong = compare(groups[g].rows, values_of(groups[g], reading.values[g]), *values[g].as_map());
    } else {
      Reading nothing;
      nothing.values = std::vector<std::vector<std::optional<Value>>>(g + 1, std::vector<std::optional<Value>>(groups[g].rows.size()));
      wrong = compare(groups[g].rows, changed(real[g], classes[g].settle(nothing, g)), *at(values[g], "changed").as_map());
    }
    if (!wrong.empty()) return wrong;
  }
  if (at(expect, "namespace").as_map()) {
    const std::string wrong = compare(groups.back().rows, values_of(groups.back(), reading.values.back()), *at(expect, "namespace").as_map());
    if (!wrong.empty()) return wrong;
  }
  if (at(expect, "remaining").as_list() && reading.remaining != words_at(expect, "remaining")) return "other words remain";
  return "";
}

std::string run_case(const ValueMap& file, const Value& one) {
  const Value& expect = at(one, "expect");
  const bool wants_values = at(expect, "values").as_list();
  const WorkingFolder folder(at(one, "files"));
  std::string refusal;
  try {
    std::vector<Class> classes;
    std::vector<RowGroup> groups;
    for (const std::string& name : words_at(one, "classes")) {
      classes.push_back(class_of(file, name));
      groups.push_back(classes.back().group);
    }
    groups.emplace_back();
    if (const ValueList* flags = at(one, "extra_flags").as_list())
      for (const Value& flag : *flags) groups.back().rows.push_back(extra_flag(flag));
    read_words({}, groups);  // refuses what cannot be one parser
    Reading reading = read_case(one, groups);
    std::vector<ValueMap> real(classes.size());
    for (size_t g = 0; g < classes.size(); ++g)
      if (classes[g].settle) real[g] = classes[g].settle(reading, g);
    throw_faults(reading.faults);
    if (!wants_values) return "is accepted, expected a refusal";
    return compare_values(expect, classes, groups, reading, real);
  } catch (const HelpRequested& help) {
    if (at(expect, "exit") != Value(0)) return "shows the help";
    const std::string missing = missing_name(help.what(), words_at(expect, "flags"));
    return missing.empty() ? "" : "the help lacks " + missing;
  } catch (const Error& fault) {
    refusal = fault.text;
  }
  if (wants_values) {
    if (const std::string reason = waits_for(refusal); !reason.empty()) throw Waiting{reason};
    return "is refused: " + refusal;
  }
  if (at(expect, "exit") == Value(0)) return "shows no help: " + refusal;
  const std::string missing = missing_name(refusal, words_at(expect, "names"));
  return missing.empty() ? "" : missing + " does not occur in: " + refusal;
}

}  // namespace

void run_parser(const std::filesystem::path& path, Report& report) { run_cases(path, report, run_case); }

}  // namespace rote::conformance
