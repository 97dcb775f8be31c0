// trainer/callback.cpp — the handler: order, flag resets, states.
#include "trainer/callback.h"

#include <algorithm>
#include <cstdio>
#include <typeinfo>

#include "kernels/check.h"
#include "kernels/pool.h"

namespace rote {

namespace {

using Method = void (TrainerCallback::*)(const CallbackContext&, TrainerControl&);
using C = TrainerCallback;

struct EventRow {
  Event event;
  const char* word;
  Method method;
  bool TrainerControl::*answered[3];  // flags that are false again before the callbacks are called
};

const EventRow kEvents[] = {
    {Event::init_end, "init_end", &C::on_init_end, {}},
    {Event::train_begin, "train_begin", &C::on_train_begin, {&TrainerControl::should_training_stop}},
    {Event::train_end, "train_end", &C::on_train_end, {}},
    {Event::epoch_begin, "epoch_begin", &C::on_epoch_begin, {&TrainerControl::should_epoch_stop}},
    {Event::epoch_end, "epoch_end", &C::on_epoch_end, {}},
    {Event::step_begin,
     "step_begin",
     &C::on_step_begin,
     {&TrainerControl::should_log, &TrainerControl::should_evaluate, &TrainerControl::should_save}},
    {Event::pre_optimizer_step, "pre_optimizer_step", &C::on_pre_optimizer_step, {}},
    {Event::optimizer_step, "optimizer_step", &C::on_optimizer_step, {}},
    {Event::substep_end, "substep_end", &C::on_substep_end, {}},
    {Event::step_end, "step_end", &C::on_step_end, {}},
    {Event::evaluate, "evaluate", &C::on_evaluate, {&TrainerControl::should_evaluate}},
    {Event::predict, "predict", &C::on_predict, {}},
    {Event::save, "save", &C::on_save, {&TrainerControl::should_save}},
    {Event::log, "log", &C::on_log, {&TrainerControl::should_log}},
    {Event::prediction_step, "prediction_step", &C::on_prediction_step, {}},
    {Event::push_begin, "push_begin", &C::on_push_begin, {}},
};

const EventRow& row_of(Event event) {
  const EventRow& row = kEvents[static_cast<size_t>(event)];
  ROTE_ASSERT(row.event == event, "the rows of events stand in the order of the enum");
  return row;
}

Value value_of_state(const CallbackState& state) { return ValueMap{{"args", state.args}, {"attributes", state.attributes}}; }

CallbackState state_of_value(const Value& value) {
  CallbackState state;
  if (const ValueMap* map = value.as_map()) {
    if (const Value* args = map->find("args"); args && args->as_map()) state.args = *args->as_map();
    if (const Value* attributes = map->find("attributes"); attributes && attributes->as_map()) state.attributes = *attributes->as_map();
  }
  return state;
}

}  // namespace

std::string TrainerCallback::name() const { return nn::short_type_name(typeid(*this)); }

WordList words_of(Event) {
  WordList words;
  for (const EventRow& row : kEvents) words.push_back(row.word);
  return words;
}

void CallbackHandler::add(std::shared_ptr<TrainerCallback> callback) {
  for (const Entry& entry : entries_)
    if (entry.callback && entry.callback->name() == callback->name())
      std::fprintf(stderr, "callbacks: a second %s is added; both will run.\n", callback->name().c_str());
  entries_.push_back({std::move(callback), {}, nullptr, false});
}

void CallbackHandler::on(Event event, ContextFunction function) { entries_.push_back({nullptr, event, std::move(function), false}); }

void CallbackHandler::on(Event event, StateFunction function) {
  on(event, ContextFunction(
                [function = std::move(function)](const CallbackContext& context, TrainerControl& control) { function(context.state, control); }));
}

void CallbackHandler::remove(const TrainerCallback* callback) {
  const auto gone = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.callback.get() == callback; });
  ROTE_CHECK(callback && gone != entries_.end(), ArgumentError, "remove: this callback is not in the list; it holds ", entries_.size(), " others.");
  entries_.erase(gone);
}

void CallbackHandler::fire(Event event, const CallbackContext& context, TrainerControl& control) {
  const EventRow& row = row_of(event);
  for (bool TrainerControl::*flag : row.answered)
    if (flag) control.*flag = false;
  for (size_t i = 0; i < entries_.size(); ++i) {  // by index: a callback may add another
    const bool sets_up = event == Event::train_begin && !entries_[i].is_set_up;
    if (sets_up) entries_[i].is_set_up = true;
    const Entry entry = entries_[i];
    with_default_control([&] {
      if (entry.callback && sets_up) entry.callback->setup(context);
      if (entry.callback) ((*entry.callback).*row.method)(context, control);
      else if (entry.event == event) entry.function(context, control);
    });
  }
}

std::string CallbackHandler::callback_list() const {
  std::string names;
  for (const Entry& entry : entries_)
    names += (names.empty() ? "" : "\n") + (entry.callback ? entry.callback->name() : std::string("on_") + row_of(entry.event).word);
  return names;
}

ValueMap CallbackHandler::exported(const TrainerControl& control) const {
  ValueMap out{{"TrainerControl", value_of_state({to_map(control), {}})}};
  for (const Entry& entry : entries_) {
    const std::optional<CallbackState> state = entry.callback ? entry.callback->exported() : std::nullopt;
    if (!state) continue;
    const std::string name = entry.callback->name();
    const Value* earlier = out.find(name);
    if (!earlier) {
      out.set(name, value_of_state(*state));
      continue;
    }
    ValueList several = earlier->as_list() ? *earlier->as_list() : ValueList{*earlier};
    several.push_back(value_of_state(*state));
    out.set(name, several);
  }
  return out;
}

std::vector<std::string> CallbackHandler::restore(const ValueMap& stateful_callbacks, TrainerControl& control, Restore options) {
  std::vector<std::string> unmatched;
  for (const auto& [name, value] : stateful_callbacks) {
    if (name == "TrainerControl") {
      control = from_map<TrainerControl>(state_of_value(value).args, {.allow_extra_keys = true});
      continue;
    }
    const ValueList states = value.as_list() ? *value.as_list() : ValueList{value};
    size_t given = 0;
    for (const Entry& entry : entries_) {
      if (!entry.callback || entry.callback->name() != name || given == states.size()) continue;
      CallbackState state = state_of_value(states[given++]);
      if (!options.made_as_saved) state.args = {};
      entry.callback->restore(state);
    }
    if (given < states.size()) unmatched.push_back(name);
  }
  return unmatched;
}

}  // namespace rote
