// tests/trainer/callbacks_test.cpp — the handler's order and resets, default flow, early stopping, log lines, the progress bar.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "kernels/check.h"
#include "tests/trainer/cases.h"
#include "trainer/arguments.h"
#include "trainer/callbacks.h"
#include "trainer/progress.h"

using namespace rote;
using namespace rote::testing;

namespace {

// Writes `name:event` for the events it overrides.
struct Recorder : TrainerCallback {
  Recorder(std::string label, std::string* trace) : label(std::move(label)), trace(trace) {}
  std::string name() const override { return "Recorder"; }
  void on_step_begin(const CallbackContext&, TrainerControl& control) override {
    *trace += label + ":step_begin ";
    control.should_log = true;
  }
  void on_log(const CallbackContext& context, TrainerControl&) override {
    *trace += label + ":log ";
    context.logs->set(label, 1);
  }
  std::string label;
  std::string* trace;
};

struct Other : TrainerCallback {
  std::string name() const override { return "Other"; }
};

// A run of `total` updates, `per_epoch` an epoch, that only asks the default flow: what it wants after each step and epoch end.
std::string flow(const TrainingArguments& given, int64_t total, int64_t per_epoch) {
  const TrainingArguments args = resolved(given);
  TrainerState state{.max_steps = total};
  state.compute_steps(args, total);
  TrainerControl control;
  CallbackHandler handler;
  handler.add(std::make_shared<DefaultFlowCallback>());
  std::string trace;
  const auto wants = [&](const std::string& when) {
    if (control.should_log) trace += when + "l ";
    if (control.should_evaluate) trace += when + "e ";
    if (control.should_save) trace += when + "s ";
    control.should_log = control.should_evaluate = control.should_save = false;
  };
  for (int64_t step = 1; step <= total && !control.should_training_stop; ++step) {
    handler.fire(Event::step_begin, {args, state}, control);
    state.global_step = step;
    state.epoch = static_cast<double>(step) / static_cast<double>(per_epoch);
    handler.fire(Event::step_end, {args, state}, control);
    wants(std::to_string(step));
    if (step % per_epoch != 0 && !control.should_training_stop) continue;
    handler.fire(Event::epoch_end, {args, state}, control);
    wants("E");
  }
  return trace + (control.should_training_stop ? "stop" : "");
}

}  // namespace

TEST_CASE("handler: callbacks run in order, and see what earlier ones changed") {
  const TrainingArguments args;
  const TrainerState state{.global_step = 4};
  std::string trace;
  CallbackHandler handler;
  handler.add(std::make_shared<Recorder>("a", &trace));
  handler.on(Event::log, [&](const TrainerState& s, TrainerControl& control) {
    trace += "function@" + std::to_string(s.global_step) + " ";
    control.should_training_stop = true;
  });
  handler.on(Event::log, [&](const CallbackContext& context, TrainerControl&) { trace += std::to_string(context.logs->size()) + " "; });
  handler.add(std::make_shared<Other>());
  TrainerControl control;
  Logs logs{{"loss", 0.5}};
  handler.fire(Event::step_begin, {args, state}, control);
  CHECK(control.should_log);
  handler.fire(Event::log, {args, state, &logs}, control);
  CHECK(trace == "a:step_begin a:log function@4 2 ");
  CHECK(logs.find("a"));
  CHECK(control.should_training_stop);
  CHECK(handler.callback_list() == "Recorder\non_log\non_log\nOther");
}

TEST_CASE("handler: each event first resets the flags that it answers") {
  const TrainingArguments args;
  const TrainerState state;
  const auto flags_after = [&](Event event) {
    TrainerControl control{.should_training_stop = true, .should_epoch_stop = true, .should_save = true, .should_evaluate = true, .should_log = true};
    CallbackHandler().fire(event, {args, state}, control);
    std::string left;
    for (const auto& [name, value] : to_map(control)) left += value == Value(true) ? name.substr(7) + " " : "";
    return left;
  };
  const std::string all = "training_stop epoch_stop save evaluate log ";
  CHECK(flags_after(Event::train_begin) == "epoch_stop save evaluate log ");
  CHECK(flags_after(Event::epoch_begin) == "training_stop save evaluate log ");
  CHECK(flags_after(Event::step_begin) == "training_stop epoch_stop ");
  CHECK(flags_after(Event::log) == "training_stop epoch_stop save evaluate ");
  CHECK(flags_after(Event::evaluate) == "training_stop epoch_stop save log ");
  CHECK(flags_after(Event::save) == "training_stop epoch_stop evaluate log ");
  for (const Event event : {Event::init_end, Event::train_end, Event::epoch_end, Event::pre_optimizer_step, Event::optimizer_step, Event::substep_end,
                            Event::step_end, Event::predict, Event::prediction_step, Event::push_begin})
    CHECK(flags_after(event) == all);
  CHECK(word_of(Event::pre_optimizer_step) == "pre_optimizer_step");
}

TEST_CASE("handler: callbacks are taken out by class or by object") {
  std::string trace;
  CallbackHandler handler;
  const auto first = std::make_shared<Recorder>("a", &trace);
  const auto second = std::make_shared<Recorder>("b", &trace);
  handler.add(first);
  handler.add(second);
  CHECK(handler.has<Recorder>());
  CHECK(handler.pop<Recorder>() == first);
  handler.remove(second.get());
  CHECK(handler.pop<Recorder>() == nullptr);
  handler.remove<Recorder>();
  CHECK_THROWS_WITH_AS(handler.remove(second.get()), "remove: this callback is not in the list; it holds 0 others.", ArgumentError);
}

TEST_CASE("handler: states go out by class and come back to the same class, in order") {
  CallbackHandler handler;
  handler.add(std::make_shared<EarlyStoppingCallback>(EarlyStopping{.patience = 3}));
  handler.add(std::make_shared<EarlyStoppingCallback>(EarlyStopping{.patience = 4, .threshold = 0.5}));
  const ValueMap saved = handler.exported({.should_save = true});
  CHECK(saved.find("EarlyStoppingCallback")->as_list()->size() == 2);

  CallbackHandler fresh;
  TrainerControl control;
  fresh.add(std::make_shared<EarlyStoppingCallback>());
  fresh.add(std::make_shared<EarlyStoppingCallback>());
  CHECK(fresh.restore(saved, control, {.made_as_saved = true}).empty());
  CHECK(control.should_save);
  CHECK(fresh.exported(control) == saved);
  CHECK(CallbackHandler().restore(saved, control) == std::vector<std::string>{"EarlyStoppingCallback"});
}

TEST_CASE("default flow: by steps, by epochs, the last step") {
  using T = TrainingArguments;
  const auto no = IntervalStrategy::no, steps = IntervalStrategy::steps, epoch = IntervalStrategy::epoch;
  CHECK(flow(T{.logging_steps = 2, .save_strategy = SaveStrategy::no}, 5, 5) == "2l 4l stop");
  CHECK(flow(T{.logging_steps = 4, .logging_first_step = true, .save_strategy = SaveStrategy::no}, 5, 5) == "1l 4l stop");
  CHECK(flow(T{.logging_strategy = no, .eval_strategy = steps, .eval_steps = 2, .save_steps = 4}, 5, 5) == "2e 4e 4s 5e 5s stop");
  CHECK(flow(T{.logging_strategy = no, .save_steps = 0}, 3, 3) == "3s stop");
  CHECK(flow(T{.logging_strategy = no, .eval_strategy = steps, .eval_steps = 1, .eval_delay = 3, .save_strategy = SaveStrategy::no}, 4, 4) ==
        "3e 4e stop");
  CHECK(flow(T{.logging_strategy = epoch, .eval_strategy = epoch, .eval_delay = 2, .save_strategy = SaveStrategy::epoch}, 5, 2) ==
        "El Es El Ee Es El Ee Es stop");
  CHECK(flow(T{.logging_steps = 0.3, .save_strategy = SaveStrategy::no}, 15, 5) == "5l 10l 15l stop");
}

TEST_CASE("early stopping: no improvement beyond the threshold for `patience` evaluations") {
  const TrainingArguments args =
      resolved(TrainingArguments{.eval_strategy = IntervalStrategy::steps, .load_best_model_at_end = true, .metric_for_best_model = "accuracy"});
  EarlyStoppingCallback stopping({.patience = 2, .threshold = 0.1});
  TrainerState state;
  const auto stops = [&](Value value) {
    TrainerControl control;
    Metrics metrics{{"eval_accuracy", value}};
    stopping.on_evaluate({args, state, nullptr, &metrics}, control);
    double number = 0;
    value.number(number);
    if (!state.best_metric || number > *state.best_metric) state.best_metric = number;  // the loop does this after the event
    return control.should_training_stop;
  };
  CHECK_FALSE(stops(0.5));
  CHECK_FALSE(stops(0.7));   // better by 0.2
  CHECK_FALSE(stops(0.75));  // better, but by no more than the threshold: one failure
  CHECK_FALSE(stops(0.9));   // better by 0.15 than the best, which has moved
  CHECK_FALSE(stops(NAN));
  CHECK(stops(0.8));

  TrainerControl control;
  Metrics without{{"eval_loss", 1.0}};
  stopping.on_evaluate({args, state, nullptr, &without}, control);
  CHECK_FALSE(control.should_training_stop);
}

TEST_CASE("early stopping: smaller is better for a loss, and it needs a metric and evaluations") {
  const TrainingArguments args = resolved(TrainingArguments{.eval_strategy = IntervalStrategy::epoch, .metric_for_best_model = "eval_loss"});
  EarlyStoppingCallback stopping;
  const TrainerState state{.best_metric = 1.0};
  TrainerControl control;
  Metrics better{{"eval_loss", 0.5}}, worse{{"eval_loss", 1.5}};
  stopping.on_evaluate({args, state, nullptr, &better}, control);
  CHECK_FALSE(control.should_training_stop);
  stopping.on_evaluate({args, state, nullptr, &worse}, control);
  CHECK(control.should_training_stop);
  CHECK_THROWS_WITH_AS(stopping.on_train_begin({TrainingArguments{}, state}, control),
                       "early stopping: has no metric to watch; set --metric_for_best_model, loss for example.", ArgumentError);
  CHECK_THROWS_AS(stopping.on_train_begin({TrainingArguments{.metric_for_best_model = "loss"}, state}, control), ArgumentError);
}

TEST_CASE("log_line: as Python prints it, the shared cases too") {
  const Logs logs{{"loss", 0.31718}, {"grad_norm", 1.25}, {"learning_rate", 5e-5}, {"total_flos", 1e9}, {"epoch", 0.5}, {"step", 3}};
  CHECK(log_line(logs) == "{'loss': '0.3172', 'grad_norm': '1.25', 'learning_rate': '5e-05', 'epoch': '0.5', 'step': 3}");
  CHECK(log_line({{"s", "中文字符"}}, 3) == "{'s': '[String too long to display, length: 4 > 3. Consider increasing `max_str_len` if needed.]'}");

  const ValueMap file = shared_cases("text/text.json");
  if (file.empty()) return;  // skipped
  int64_t compared = 0;
  for (const Value& c : *file.find("cases")->as_list()) {
    if (text_at(c, "kind") != "log_line") continue;
    CAPTURE(text_at(c, "id"));
    const bool progress = text_at(c, "callback") == "ProgressCallback";
    const int64_t* longest = at(c, "max_str_len").as_int();
    CHECK(log_line(*at(c, "logs").as_map(), progress ? (longest ? *longest : 100) : -1) == text_at(at(c, "expect"), "line"));
    ++compared;
  }
  CHECK(compared == 24);
}

TEST_CASE("printer: one line a log entry, the entry untouched") {
  std::ostringstream out;
  PrinterCallback printer(out);
  const TrainingArguments args;
  const TrainerState state;
  TrainerControl control;
  Logs logs{{"train_loss", 0.25}, {"total_flos", 1.0}};
  printer.on_log({args, state, &logs}, control);
  CHECK(out.str() == "{'train_loss': '0.25'}\n");
  CHECK(logs.find("total_flos"));
}

TEST_CASE("progress: rate is of this process, time left follows from it") {
  CHECK(progress_text({.done = 50, .total = 506, .seconds = 15.5, .loss = 0.43212}) == "50/506 [00:15<02:21, 3.23it/s, loss=0.4321]");
  CHECK(progress_text({.done = 110, .total = 200, .since = 100, .seconds = 20}) == "110/200 [00:20<03:00, 2.00s/it]");
  CHECK(progress_text({.done = 0, .total = 200}) == "0/200 [00:00]");
  CHECK(progress_text({.done = 1, .total = 3, .seconds = 3661}) == "1/3 [1:01:01<2:02:02, 3661.00s/it]");
  CHECK(progress_bar({.done = 5, .total = 10, .seconds = 1}) == " 50%|█████     | 5/10 [00:01<00:01, 5.00it/s]");
  CHECK(progress_bar({.done = 10, .total = 10, .seconds = 1}) == "100%|██████████| 10/10 [00:01<00:00, 10.00it/s]");
}

TEST_CASE("progress: a bar on a terminal, lines elsewhere") {
  for (const bool terminal : {true, false}) {
    CAPTURE(terminal);
    std::ostringstream bars, lines;
    double now = 100;
    ProgressCallback progress({.bars = &bars, .lines = &lines, .terminal = terminal, .seconds = [&] { return now; }});
    const TrainingArguments args;
    TrainerState state{.max_steps = 2};
    TrainerControl control;
    Logs logs{{"loss", 0.5}, {"epoch", 1.0}};

    progress.on_log({args, state, &logs}, control);  // before training: not its business
    progress.on_train_begin({args, state}, control);
    now += 1;
    state.global_step = 1;
    progress.on_step_end({args, state}, control);
    progress.on_log({args, state, &logs}, control);
    for (int i = 0; i < 2; ++i) progress.on_prediction_step({.args = args, .state = state, .eval_batches = 2}, control);
    progress.on_evaluate({args, state}, control);
    now += 1;
    state.global_step = 2;
    progress.on_step_end({args, state}, control);
    progress.on_train_end({args, state}, control);

    CHECK(lines.str() == "{'loss': '0.5', 'epoch': '1'}\n");
    if (!terminal) {
      CHECK(bars.str() == "1/2 [00:01<00:01, 1.00it/s, loss=0.5]\n");
      continue;
    }
    CHECK(bars.str().find("\r  0%|          | 0/2 [00:00]\x1b[K") == 0);
    CHECK(bars.str().find("\r100%|██████████| 2/2 [00:00]\x1b[K") != std::string::npos);
    CHECK(bars.str().ends_with("\r100%|██████████| 2/2 [00:02<00:00, 1.00it/s, loss=0.5]\x1b[K\n"));
  }
}
