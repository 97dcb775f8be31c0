// trainer/parser_settle.cpp — from what was read to structs: what is missing, which faults and warnings are told, --config.
#include <algorithm>
#include <cctype>

#include "kernels/check.h"
#include "trainer/parser.h"

namespace rote {

namespace {

bool is_faulty(const Reading& reading, const std::string& name) {
  return std::find(reading.faulty_names.begin(), reading.faulty_names.end(), name) != reading.faulty_names.end();
}

}  // namespace

void check_required(Reading& reading, const std::vector<RowGroup>& groups, Given given, const std::string& who) {
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t r = 0; r < groups[g].rows.size(); ++r) {
      const ArgumentRow& row = groups[g].rows[r];
      const bool is_flag = given == Given::line && row.kind == FieldKind::boolean && !row.list;
      if (!row.required || is_flag || reading.values[g][r] || is_faulty(reading, row.name)) continue;
      const std::string missing = "--" + row.name + ": is required; it must be " + expected(row) + ".";
      reading.faulty_names.push_back(row.name);
      reading.faults.push_back(given == Given::map ? said_of_map(missing, who) : missing);
    }
  }
}

void detail::add_resolved(Reading& reading, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) {
    const bool misleading = std::any_of(reading.faulty_names.begin(), reading.faulty_names.end(), [&](const std::string& name) {
      const size_t at = fault.find("--" + name);
      const size_t after = at + 2 + name.size();
      return at != std::string::npos && (after >= fault.size() || !(std::isalnum(static_cast<unsigned char>(fault[after])) || fault[after] == '_'));
    });
    if (misleading) continue;
    const std::string name = fault.starts_with("--") ? fault.substr(2, fault.find(':') - 2) : "";
    const auto source = std::find_if(reading.sources.begin(), reading.sources.end(), [&](const auto& one) { return one.name == name; });
    reading.faults.push_back(source == reading.sources.end() ? fault : said_of_map(fault, source->file));
  }
}

void detail::add_warnings(Reading& reading, const std::vector<RowGroup>& groups) {
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t r = 0; r < groups[g].rows.size(); ++r)
      if (reading.values[g][r])
        if (const std::string warning = warning_of(groups[g].rows[r], *reading.values[g][r]); !warning.empty()) reading.warnings.push_back(warning);
}

void detail::refuse_remaining(Reading& reading) {
  for (const std::string& word : reading.remaining) reading.faults.push_back(word + ": belongs to no argument; a value follows its --name.");
}

std::vector<RowGroup> detail::with_config(const Usage& usage, std::vector<RowGroup> groups) {
  if (!usage.config) return groups;
  RowGroup& file = groups.emplace_back();
  file.title = "file";
  file.rows.push_back({.name = "config", .help = "a .json or .yaml file that gives any of these; the line wins"});
  file.rows[0].kind = FieldKind::text;
  file.rows[0].optional = true;
  return groups;
}

Reading detail::read_command(const std::vector<std::string>& words, const Usage& usage, const std::vector<RowGroup>& groups) {
  Reading line = read_words(words, groups, UnknownFlags::refuse, usage.positional.empty() ? BareFlags::take_next : BareFlags::take_truth);
  if (line.help) throw HelpRequested(help_text(usage, groups));
  if (usage.positional.empty()) refuse_remaining(line);
  if (usage.config && line.values.back()[0]) {
    const std::string path = *line.values.back()[0]->as_text();
    line = usage.config(path, {groups.begin(), groups.end() - 1}, std::move(line));
  }
  check_required(line, groups, Given::line);
  return line;
}

}  // namespace rote
