// trainer/parser_map.cpp — maps of arguments row by row, and joining what a map and a line say. Words of a line: parser.cpp.
#include <algorithm>

#include "kernels/check.h"
#include "trainer/parser.h"

namespace rote {

namespace {

Reading empty_reading(const std::vector<RowGroup>& groups) {
  Reading reading;
  for (const RowGroup& group : groups) reading.values.emplace_back(group.rows.size());
  return reading;
}

// One key of a map against one row of that name, or against the row that its older name stands for.
void read_key(Reading& out, const std::vector<RowGroup>& groups, size_t group, size_t r, const Value& value, const std::string& who) {
  const ArgumentRow* row = &groups[group].rows[r];
  if (row->action == FieldAction::map) {
    out.warnings.push_back(said_of_map("--" + row->name + ": is the older name of " + row->maps_to + ".", who));
    if (row->kind == FieldKind::any) {
      const std::vector<ArgumentRow>& rows = groups[group].rows;
      const auto target = std::find_if(rows.begin(), rows.end(), [&](const ArgumentRow& one) { return one.name == row->maps_to; });
      ROTE_ASSERT(target != rows.end(), "an older name maps to a field of its struct");
      r = static_cast<size_t>(target - rows.begin());
      if (out.values[group][r]) return;  // the present name wins
      row = &*target;
    }
  }
  std::optional<Value> fit = fitted(*row, value);
  const std::string fault = fit ? detail::reading_fault(*row, *fit) : type_fault(*row, value);
  if (!fault.empty()) {
    out.faults.push_back(said_of_map(fault, who));
    out.faulty_names.push_back(row->name);
    return;
  }
  out.values[group][r] = std::move(fit);
  if (!who.empty()) out.sources.push_back({group, r, row->name, who});
}

}  // namespace

Reading read_map(const ValueMap& map, const std::vector<RowGroup>& groups, const FromMap& options) {
  Reading out = empty_reading(groups);
  std::vector<const ArgumentRow*> all_rows;
  for (const RowGroup& group : groups)
    for (const ArgumentRow& row : group.rows) all_rows.push_back(&row);
  ValueMap sorted = map;
  sorted.sort_by_name();
  for (const bool older : {false, true}) {
    for (const auto& [name, value] : sorted) {
      bool known = false;
      for (size_t g = 0; g < groups.size(); ++g) {
        for (size_t r = 0; r < groups[g].rows.size(); ++r) {
          const ArgumentRow& row = groups[g].rows[r];
          if (row.name != name) continue;
          known = true;
          if ((row.action == FieldAction::map) == older) read_key(out, groups, g, r, value, options.who);
        }
      }
      if (known || older || options.allow_extra_keys) continue;
      if (const ArgumentRow* meant = nearest_row(name, all_rows)) out.faulty_names.push_back(meant->name);
      out.faults.push_back(said_of_map("--" + unknown_name("--" + name, all_rows).substr(2), options.who));
    }
  }
  return out;
}

Reading merged(Reading first, Reading second) {
  std::erase_if(first.sources, [&](const Source& one) { return second.values[one.group][one.row].has_value(); });
  for (size_t g = 0; g < first.values.size(); ++g)
    for (size_t r = 0; r < first.values[g].size(); ++r)
      if (!second.values[g][r]) second.values[g][r] = std::move(first.values[g][r]);
  const auto join = [](auto& into, auto& from) { into.insert(into.begin(), from.begin(), from.end()); };
  join(second.remaining, first.remaining);
  join(second.faults, first.faults);
  join(second.faulty_names, first.faulty_names);
  join(second.warnings, first.warnings);
  join(second.sources, first.sources);
  second.help = first.help || second.help;
  return second;
}

}  // namespace rote
