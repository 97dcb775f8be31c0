// trainer/apps/rote/logs.cpp — `rote logs`: what runs have logged, as tables, as curves on the terminal, as an SVG file.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tensor/file.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/parser.h"
#include "trainer/plots.h"

namespace rote::app {

namespace {

struct LogsArguments {
  bool plot = false;
  std::string svg;
  std::string keys;
  std::optional<int64_t> width;

  static const ArgumentTable<LogsArguments>& table();
};

const ArgumentTable<LogsArguments>& LogsArguments::table() {
  using A = LogsArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::plot, {.name = "plot", .help = "curves in place of the table, those of all runs in one plot"}),
          field(&A::svg, {.name = "svg", .help = "write the curves to this file, as SVG"}),
          field(&A::keys, {.name = "keys", .help = "which numbers, joined by commas; empty: the losses for curves, all but speeds for the table"}),
          field(&A::width, {.name = "width", .help = "of the plot; else the terminal's, or 80", .unit = "characters", .at_least = kLeastPlotWidth, .below = 1001}),
      },
  };
  return rows;
}

std::vector<std::string> words_in(const std::string& keys) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < keys.size();) {
    const size_t end = std::min(keys.find(',', begin), keys.size());
    if (end > begin) words.push_back(keys.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

int64_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<int64_t>(size.ws_col, kLeastPlotWidth);
}

}  // namespace

int logs(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote logs", "What runs have logged: a table for each, or their curves. RUN: a run folder, a checkpoint or its trainer_state.json.", "RUN..."},
                              LogsArguments{});
  const LogsArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(!parsed.positional.empty(), ArgumentError, "no run; give a run folder, a checkpoint or a trainer_state.json.");
  std::vector<RunLogs> runs;
  for (const std::string& place : parsed.positional) runs.push_back(read_logs(place));
  const std::vector<std::string> logged = logged_keys(runs), wanted = words_in(args.keys);
  check_keys(wanted, runs);
  if (!args.plot && args.svg.empty()) {
    for (const RunLogs& run : runs) {
      if (runs.size() > 1) std::printf("%s%s:\n", &run == &runs[0] ? "" : "\n", run.name.c_str());
      std::fputs(log_table(run, wanted.empty() ? table_keys(logged_keys({run})) : wanted).c_str(), stdout);
    }
    return 0;
  }
  const std::vector<Curve> curves = curves_of(runs, wanted.empty() ? loss_keys(logged) : wanted);
  ROTE_CHECK(!curves.empty(), ArgumentError, "no curve: ", runs[0].name, " has logged no finite loss with its step; --keys names other numbers.");
  if (!args.svg.empty()) write_file(args.svg, svg_plot(curves));
  if (args.plot) std::fputs(text_plot(curves, args.width.value_or(terminal_width())).c_str(), stdout);
  return 0;
}

}  // namespace rote::app
