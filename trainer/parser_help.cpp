// trainer/parser_help.cpp — the text of --help, and how a program prints what was thrown.
#include <algorithm>
#include <cstdio>

#include "kernels/check.h"
#include "trainer/parser.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

std::string placeholder(const ArgumentRow& row) {
  if (row.kind == FieldKind::boolean && !row.list) return value_may_lack(row) ? "" : " true|false";
  const char* one = row.kind == FieldKind::integer ? " INT" : row.kind == FieldKind::real ? " NUMBER" : !row.words.empty() ? " WORD" : " TEXT";
  return row.list && !row.one_word ? std::string(one) + "..." : one;
}

// Empty where there is nothing to show: absent, an empty text or list, a flag that is off.
std::string shown_default(const Value& value) {
  if (value.is_null()) return "";
  if (const bool* flag = value.as_bool()) return *flag ? "true" : "";
  if (!value.as_list()) return python_str(value);
  std::string out;
  for (const Value& item : *value.as_list()) out += (out.empty() ? "" : " ") + python_str(item);
  return out;
}

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// A flag in each way it may be written.
std::string spelled(const std::string& name) { return "--" + name + (name.find('_') == std::string::npos ? "" : ", --" + dashed(name)); }

std::string help_line(const ArgumentRow& row, Spellings spellings) {
  std::string left = "  --" + row.name;
  if (spellings == Spellings::all) left = "  " + spelled(row.name) + (takes_no_form(row) ? ", " + spelled("no_" + row.name) : "");
  else if (takes_no_form(row)) left = "  --[no_]" + row.name;
  for (const std::string& alias : row.aliases) left += (alias.size() == 1 ? ", -" : ", --") + alias;
  left += placeholder(row);
  std::string right = row.help;
  if (!row.unit.empty()) right += ", in " + row.unit;
  if (!row.words.empty()) right += ": " + joined_words(row);
  if (row.required) right += " (required)";
  else if (const std::string shown = shown_default(row.default_value); !shown.empty()) right += " (" + shown + ")";
  constexpr size_t kColumn = 44;
  const std::string gap = left.size() + 2 <= kColumn ? std::string(kColumn - left.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return left + gap + right + "\n";
}

}  // namespace

std::string help_text(const Usage& usage, const std::vector<RowGroup>& groups, Spellings spellings) {
  const bool has_rows = std::any_of(groups.begin(), groups.end(), [](const RowGroup& group) { return !group.rows.empty(); });
  std::string out = "usage: " + usage.program + (has_rows ? " [--name value ...]" : "") + (usage.positional.empty() ? "" : " " + usage.positional) + "\n";
  if (!usage.about.empty()) out += usage.about + "\n";
  std::string example;
  for (const RowGroup& group : groups) {
    if (group.rows.empty()) continue;
    out += "\n" + group.title + (group.title.empty() ? "" : ":\n");
    for (const ArgumentRow& row : group.rows) {
      if (row.action != FieldAction::apply) continue;  // what has no effect here is not offered
      out += help_line(row, spellings);
      if (example.empty() && row.name.find('_') != std::string::npos) example = row.name;
    }
  }
  if (!example.empty()) {
    out += "\nDefaults stand in parentheses. --" + dashed(example) + " is --" + example + "; the beginning of a name will do where it fits one only.\n";
  }
  return out;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
}

int run_program(const std::function<int()>& body) {
  try {
    return body();
  } catch (const HelpRequested& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const ArgumentError& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 2;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}

}  // namespace rote
