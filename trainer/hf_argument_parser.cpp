// trainer/hf_argument_parser.cpp — a line with its files, and a whole map, against the rows of several structs.
#include "trainer/hf_argument_parser.h"

#include "kernels/check.h"

namespace rote {

Reading read_line(const std::vector<std::string>& words, const Usage& usage, const std::vector<RowGroup>& groups, const LineOptions& options) {
  const UnknownFlags unknown = options.return_remaining_strings ? UnknownFlags::keep : UnknownFlags::refuse;
  Reading line = read_words(with_args_files(words, options.files), groups, unknown);
  if (line.help) throw HelpRequested(help_text(usage, groups, Spellings::all));
  if (!options.return_remaining_strings) detail::refuse_remaining(line);
  check_required(line, groups, Given::line);
  return line;
}

Reading read_whole_map(const ValueMap& map, const std::vector<RowGroup>& groups, const FromMap& options) {
  Reading reading = read_map(map, groups, options);
  check_required(reading, groups, Given::map, options.who);
  return reading;
}

ValueMap values_of(const RowGroup& group, const std::vector<std::optional<Value>>& values) {
  ValueMap out;
  for (size_t r = 0; r < group.rows.size(); ++r) out.set(group.rows[r].name, values[r].value_or(group.rows[r].default_value));
  return out;
}

}  // namespace rote
