// trainer/argument_text.cpp — masking, Python's spelling of enums, and training_args.json.
#include "trainer/argument_text.h"

#include <algorithm>
#include <cctype>

#include "kernels/check.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"
#include "trainer/rote_arguments.h"

namespace rote {

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_secret(const std::string& name) { return name.ends_with("_token"); }
std::string masked(const std::string& name) { return "<" + upper(name) + ">"; }

// Python's name of an enum's word, which mostly is the word in capitals.
std::string member_name(const std::string& word) {
  static constexpr std::pair<const char*, const char*> kNames[] = {
      {"lion_32bit", "LION"},           {"paged_adamw_32bit", "PAGED_ADAMW"},   {"paged_ademamix_32bit", "PAGED_ADEMAMIX"},
      {"paged_lion_32bit", "PAGED_LION"}, {"rmsprop_bnb_32bit", "RMSPROP_32BIT"}, {"reduce_lr_on_plateau", "REDUCE_ON_PLATEAU"}};
  for (const auto& [of, name] : kNames)
    if (word == of) return name;
  return upper(word);
}

std::string display(const ArgumentRow& row) {
  const Value& value = row.default_value;
  if (is_secret(row.name)) return masked(row.name);
  if (row.enum_name.empty() || value.is_null()) return python_str(value);
  if (const std::string* word = value.as_text()) return row.enum_name + "." + member_name(*word);
  std::string out;
  for (const Value& item : *value.as_list())
    out += str(out.empty() ? "" : ", ", "<", row.enum_name, ".", member_name(python_str(item)), ": ", python_repr(item), ">");
  return "[" + out + "]";
}

}  // namespace

ValueMap detail::dict_of(const std::vector<ArgumentRow>& rows) {
  ValueMap dict;
  for (const ArgumentRow& row : rows) {
    if (row.beside) continue;
    Value value = is_secret(row.name) ? Value(masked(row.name)) : row.default_value;
    if (row.name == "accelerator_config" && value.as_map()) {
      ValueMap config = *value.as_map();
      config.erase("use_configured_state");  // the reference's own to_dict leaves it out
      value = config;
    }
    dict.set(row.name, value);
  }
  return dict;
}

std::string detail::json_of(const ValueMap& dict) { return json_text(dict); }

ValueMap detail::sanitized(ValueMap dict, const TrainingArguments& args) {
  dict.set("train_batch_size", args.train_batch_size());
  dict.set("eval_batch_size", args.eval_batch_size());
  for (const auto& [name, value] : ValueMap(dict)) {
    double number = 0;
    if (!value.as_bool() && !value.number(number) && !value.as_text()) dict.set(name, python_str(value));
  }
  return dict;
}

std::string detail::display_of(const std::string& name, std::vector<ArgumentRow> rows) {
  std::erase_if(rows, [](const ArgumentRow& row) { return row.beside; });
  std::sort(rows.begin(), rows.end(), [](const ArgumentRow& a, const ArgumentRow& b) { return a.name < b.name; });
  std::string out = name + "(\n";
  for (const ArgumentRow& row : rows) out += row.name + "=" + display(row) + ",\n";
  return out + ")";
}

std::string training_args_file(const TrainingArguments& args, const RoteArguments& rote) {
  ValueMap map = to_map(args);
  for (const auto& [name, value] : to_map(args))
    if (is_secret(name) && !value.is_null()) map.set(name, masked(name));
  map.set("rote", to_map(rote));
  return json_text(map) + "\n";
}

std::pair<TrainingArguments, RoteArguments> parse_training_args_file(const std::string& text, const std::string& who) {
  const Value read = parse_json(text, who);
  const ValueMap* map = read.as_map();
  ROTE_CHECK(map, ArgumentError, who, ": holds no map of arguments; it must be a training_args.json that Rote wrote.");
  const FromMap options{.allow_extra_keys = true, .who = who};
  std::pair<TrainingArguments, RoteArguments> out{from_map<TrainingArguments>(*map, options), {}};
  if (const Value* rote = map->find("rote"); rote && rote->as_map()) out.second = from_map<RoteArguments>(*rote->as_map(), options);
  return out;
}

}  // namespace rote
