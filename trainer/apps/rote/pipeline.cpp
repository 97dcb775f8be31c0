// trainer/apps/rote/pipeline.cpp — `rote pipeline`: what a model makes of texts, one line of JSON a text.
#include "trainer/pipelines/pipeline.h"

#include <cstdio>
#include <fstream>

#include "kernels/pool.h"
#include "tensor/file.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/json_text.h"
#include "trainer/parser.h"
#include "trainer/text/unicode.h"

namespace rote::app {

namespace {

struct RunArguments {
  int64_t num_threads = 0;

  static const ArgumentTable<RunArguments>& table();
};

const ArgumentTable<RunArguments>& RunArguments::table() {
  static const ArgumentTable<RunArguments> rows = {
      "run", {field(&RunArguments::num_threads, {.name = "num_threads", .help = "threads, 0 for all cores; results are the same with any", .at_least = 0, .below = 1025})}};
  return rows;
}

std::string about() {
  std::string text = "What a model makes of texts, one line of JSON a text: the records of transformers' pipelines. A TEXT that names a file stands for its lines. Tasks:";
  for (const PipelineTask& task : pipeline_tasks()) text += str("\n  ", task.name, ": ", task.about);
  return text;
}

// Prints the records of texts, some at a time so that a long file is never held whole.
class Printer {
 public:
  Printer(const Pipeline& pipe, int64_t batch_size) : pipe_(pipe), held_(16 * static_cast<size_t>(batch_size)) {}

  // `place`: where the text was given, for what is not UTF-8.
  void add(std::string text, const std::string& place) {
    if (!pipe_.task().of_files) check_utf8(text, place);
    texts_.push_back(std::move(text));
    if (texts_.size() == held_) flush();
  }
  static void check_utf8(const std::string& text, const std::string& place) {
    const size_t malformed = text::find_malformed(text);
    ROTE_CHECK(malformed == text::kWellFormed, ArgumentError, place, ": the text is not UTF-8 at byte ", malformed, "; texts must be encoded as UTF-8.");
  }
  void flush() {
    for (const Records& records : pipe_(texts_)) std::printf("%s\n", json_text(pipe_.value(records), {.indent = -1}).c_str());
    texts_.clear();
  }

 private:
  const Pipeline& pipe_;
  const size_t held_;
  std::vector<std::string> texts_;
};

void add_lines(const std::string& path, Printer& printer) {
  std::ifstream in(path, std::ios::binary);
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    printer.add(line, str(path, ":", ++number));
  }
  ROTE_CHECK(in.eof(), IoError, path, ": it cannot be read; give a file of texts, one a line.");
}

}  // namespace

int pipeline(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote pipeline", about(), "TASK TEXT..."}, PipelineOptions{}, RunArguments{});
  print_warnings(parsed.warnings);
  const PipelineOptions& options = std::get<0>(parsed.values);
  ROTE_CHECK(parsed.positional.size() >= 2, ArgumentError, "give a task and at least one text or file of texts; --help lists the tasks.");
  set_num_threads(static_cast<int>(std::get<1>(parsed.values).num_threads));
  const Pipeline pipe = rote::pipeline(parsed.positional[0], options);
  try {
    Printer printer(pipe, options.batch_size);
    for (size_t i = 1; i < parsed.positional.size(); ++i) {
      const std::string& given = parsed.positional[i];
      if (!pipe.task().of_files && is_file(given)) add_lines(given, printer);
      else printer.add(given, str("text ", i));
    }
    printer.flush();
  } catch (const NonFiniteError& fault) {
    throw RunFailure(fault);
  }
  return 0;
}

}  // namespace rote::app
