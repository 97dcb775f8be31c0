// trainer/apps/conformance/text.cpp — text cases: arguments, state, metrics and log lines, byte for byte.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/values.h"
#include "trainer/argument_text.h"
#include "trainer/callbacks.h"
#include "trainer/hf_argument_parser.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"
#include "trainer/seq2seq_arguments.h"
#include "trainer/text_forms.h"

namespace rote::conformance {

namespace {

namespace fs = std::filesystem;

std::string differs(const char* what, const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return "";
  size_t i = 0;
  while (i < ours.size() && i < theirs.size() && ours[i] == theirs[i]) ++i;
  const size_t from = ours.rfind('\n', i) == std::string::npos || i == 0 ? 0 : ours.rfind('\n', i - 1) + 1;
  const auto line = [&](const std::string& text) { return python_repr(text.substr(from, text.find('\n', i) - from)); };
  return str(what, " differs at byte ", i, ": ", line(ours), ", expected ", line(theirs));
}

template <class A>
std::string run_arguments_of(const Value& one) {
  const Value& expect = at(one, "expect");
  const bool wants_text = at(expect, "json").as_text();
  std::string refusal;
  try {
    const std::vector<RowGroup> groups = {{"", rows_of(A{})}};
    const A args = std::get<0>(settled(read_whole_map(*at(one, "kwargs").as_map(), groups), groups, A{}).values);
    if (!wants_text) return "is accepted, expected a refusal";
    std::string wrong = differs("json", to_json_string(args), text_at(expect, "json"));
    if (wrong.empty()) wrong = differs("display", display_text(args), text_at(expect, "display"));
    if (wrong.empty() && at(expect, "sanitized").as_map()) wrong = differs("sanitized", json_text(to_sanitized_dict(args)), json_text(at(expect, "sanitized")));
    return wrong;
  } catch (const Error& fault) {
    refusal = fault.text;
  }
  if (wants_text) {
    if (const std::string reason = waits_for(refusal); !reason.empty()) throw Waiting{reason};
    return "is refused: " + refusal;
  }
  const std::string missing = missing_name(refusal, words_at(expect, "names"));
  return missing.empty() ? "" : missing + " does not occur in: " + refusal;
}

std::string run_arguments(const Value& one) {
  return text_at(one, "class") == "Seq2SeqTrainingArguments" ? run_arguments_of<Seq2SeqTrainingArguments>(one) : run_arguments_of<TrainingArguments>(one);
}

// The stateful callbacks of a case, by the handler that a run has.
ValueMap exported(const ValueList& callbacks) {
  CallbackHandler handler;
  TrainerControl control;
  bool has_control = false;
  std::vector<CallbackState> early;
  for (const Value& one : callbacks) {
    const auto map_at = [&](const char* name) { return at(one, name).as_map() ? *at(one, name).as_map() : ValueMap(); };
    if (text_at(one, "class") == "TrainerControl") {
      control = from_map<TrainerControl>(map_at("args"));
      has_control = true;
      continue;
    }
    ROTE_CHECK(text_at(one, "class") == "EarlyStoppingCallback", ArgumentError, "callbacks: there is no ", text_at(one, "class"), " with a state here.");
    auto callback = std::make_shared<EarlyStoppingCallback>();
    callback->restore({map_at("args"), map_at("attributes")});
    handler.add(std::move(callback));
  }
  ValueMap states = handler.exported(control);
  if (!has_control) states.erase("TrainerControl");
  return states;
}

std::string run_state(const Value& one) {
  TrainerState state = from_map<TrainerState>(*at(one, "state").as_map());
  if (const ValueList* callbacks = at(one, "callbacks").as_list()) state.stateful_callbacks = exported(*callbacks);
  return differs("the file", state.to_json(), text_at(at(one, "expect"), "file"));
}

std::string run_log_metrics(const Value& one) {
  return differs("what is printed", metrics_text(text_at(one, "split"), *at(one, "metrics").as_map()), text_at(at(one, "expect"), "printed"));
}

std::string run_save_metrics(const Value& one) {
  std::string folder = (fs::temp_directory_path() / "rote-case-XXXXXX").string();
  ROTE_CHECK(::mkdtemp(folder.data()) != nullptr, IoError, folder, ": cannot be made.");
  for (const Value& call : *at(one, "calls").as_list())
    save_metrics(folder, text_at(call, "split"), *at(call, "metrics").as_map(), {.combined = at(call, "combined") == Value(true)});
  const ValueMap& files = *at(at(one, "expect"), "files").as_map();
  std::string wrong;
  size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    ++found;
    if (!files.find(name)) wrong = name + " is written, which is not expected";
    else if (wrong.empty()) wrong = differs(name.c_str(), read_file(entry.path().string()), *files.find(name)->as_text());
  }
  if (wrong.empty() && found < files.size()) wrong = "a file is not written";
  fs::remove_all(folder);
  return wrong;
}

std::string run_log_line(const Value& one) {
  const int64_t* longest = at(one, "max_str_len").as_int();
  const bool is_progress = text_at(one, "callback") == "ProgressCallback";
  const std::string line = log_line(*at(one, "logs").as_map(), is_progress ? longest ? *longest : 100 : -1);
  return differs("the line", line, text_at(at(one, "expect"), "line"));
}

std::string run_case(const ValueMap&, const Value& one) {
  static const std::pair<const char*, std::string (*)(const Value&)> kinds[] = {{"training_arguments", run_arguments}, {"trainer_state", run_state},
                                                                               {"log_metrics", run_log_metrics},       {"save_metrics", run_save_metrics},
                                                                               {"log_line", run_log_line}};
  for (const auto& [kind, run] : kinds)
    if (text_at(one, "kind") == kind) return run(one);
  return "the kind " + text_at(one, "kind") + " is not known";
}

}  // namespace

void run_text(const std::filesystem::path& path, Report& report) { run_cases(path, report, run_case); }

}  // namespace rote::conformance
