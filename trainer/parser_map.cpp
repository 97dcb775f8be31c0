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

// Where the row is that an older one stands for.
size_t present_row(const std::vector<ArgumentRow>& rows, const ArgumentRow& older) {
  const auto present = std::find_if(rows.begin(), rows.end(), [&](const ArgumentRow& one) { return one.name == older.maps_to; });
  ROTE_ASSERT(present != rows.end(), "an older name maps to a field of its struct");
  return static_cast<size_t>(present - rows.begin());
}

// One key of a map against one row of that name, or against the row that its older name stands for.
void read_key(Reading& out, const std::vector<RowGroup>& groups, size_t group, size_t r, const Value& value, const std::string& who) {
  const std::vector<ArgumentRow>& rows = groups[group].rows;
  const ArgumentRow* row = &rows[r];
  if (row->action == FieldAction::map && row->kind == FieldKind::any) row = &rows[present_row(rows, *row)];
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

namespace {

constexpr size_t kMostTold = 20;  // unknown keys that are told one by one

bool is_named(const ArgumentRow& row, const std::string& key, bool or_alias) {
  if (row.name == key) return true;
  return or_alias && std::any_of(row.aliases.begin(), row.aliases.end(), [&](const std::string& alias) { return plain_name(alias) == key; });
}

}  // namespace

Reading read_map(const ValueMap& map, const std::vector<RowGroup>& groups, const FromMap& options) {
  Reading out = empty_reading(groups);
  std::vector<const ArgumentRow*> all_rows;
  for (const RowGroup& group : groups)
    for (const ArgumentRow& row : group.rows) all_rows.push_back(&row);
  ValueMap sorted = map;
  sorted.sort_by_name();
  size_t unknown = 0;
  for (const bool older : {false, true}) {
    for (const auto& [name, value] : sorted) {
      bool known = false;
      for (size_t g = 0; g < groups.size(); ++g) {
        for (size_t r = 0; r < groups[g].rows.size(); ++r) {
          const ArgumentRow& row = groups[g].rows[r];
          if (!is_named(row, name, options.allow_aliases)) continue;
          known = true;
          if ((row.action == FieldAction::map) != older) continue;
          if (row.name != name && (map.find(row.name) || out.values[g][r])) {
            out.faults.push_back(said_of_map("--" + name + ": is another name of " + row.name + ", which is given too; give one of them.", options.who));
            continue;
          }
          read_key(out, groups, g, r, value, options.who);
        }
      }
      if (known || older || options.allow_extra_keys || ++unknown > kMostTold) continue;
      if (const ArgumentRow* meant = nearest_row(name, all_rows)) out.faulty_names.push_back(meant->name);
      out.faults.push_back(said_of_map("--" + unknown_name("--" + name, all_rows).substr(2), options.who));
    }
  }
  if (unknown > kMostTold) out.faults.push_back(said_of_map(str("--", unknown - kMostTold, " more names are no arguments."), options.who));
  detail::settle_older_names(out, groups, options.who);
  return out;
}

void detail::settle_older_names(Reading& reading, const std::vector<RowGroup>& groups, const std::string& who) {
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::vector<ArgumentRow>& rows = groups[g].rows;
    for (size_t r = 0; r < rows.size(); ++r) {
      std::optional<Value>& given = reading.values[g][r];
      if (rows[r].action != FieldAction::map || !given) continue;
      const size_t p = present_row(rows, rows[r]);
      std::optional<Value>& present = reading.values[g][p];
      const bool loses = present && gives_way(rows[r], *present);
      const std::string warning = "--" + rows[r].name + ": is the older name of " + (who.empty() ? "--" : "") + rows[p].name + (loses ? ", which is given too and wins." : ".");
      reading.warnings.push_back(who.empty() ? warning : said_of_map(warning, who));
      const bool moves = !loses && rows[r].kind == FieldKind::any;
      if (moves) present = std::move(given);
      if (moves || loses) given.reset();
      std::erase_if(reading.sources, [&](const Source& one) { return loses && one.group == g && one.row == r; });
      for (Source& one : reading.sources)
        if (moves && one.group == g && one.row == r) one.row = p;
    }
  }
}

namespace {

// Whether a row says what row `r` does, under its present or its older name. That an older flag is off says nothing.
bool said_again(const std::vector<ArgumentRow>& rows, const std::vector<std::optional<Value>>& values, size_t r) {
  if (values[r]) return true;
  for (size_t q = 0; q < rows.size(); ++q) {
    if (!values[q]) continue;
    const bool older = rows[q].maps_to == rows[r].name && !rows[q].adds && !(rows[q].detached && *values[q] == rows[q].default_value);
    const bool present = rows[r].maps_to == rows[q].name && !rows[r].adds;
    if (older || present) return true;
  }
  return false;
}

}  // namespace

Reading merged(Reading first, Reading second, const std::vector<RowGroup>& groups) {
  for (size_t g = 0; g < first.values.size(); ++g)
    for (size_t r = 0; r < first.values[g].size(); ++r)
      if (said_again(groups[g].rows, second.values[g], r)) first.values[g][r].reset();
  std::erase_if(first.sources, [&](const Source& one) { return !first.values[one.group][one.row]; });
  for (size_t g = 0; g < first.values.size(); ++g)
    for (size_t r = 0; r < first.values[g].size(); ++r)
      if (first.values[g][r]) second.values[g][r] = std::move(first.values[g][r]);
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
