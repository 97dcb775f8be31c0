// trainer/callback.h — events of a run, TrainerCallback and the handler that calls them in order. The built-in ones: callbacks.h, progress.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/model.h"
#include "optim/optimizer.h"
#include "trainer/data/collate.h"
#include "trainer/data/stream.h"
#include "trainer/state.h"

namespace rote {

struct TrainingArguments;

// What a callback sees. logs is there on_log, metrics on_evaluate and on_predict; what one callback changes in them, later ones see. The rest
// is the Trainer's, nullptr where it has none (yet).
struct CallbackContext {
  const TrainingArguments& args;
  const TrainerState& state;
  Logs* logs = nullptr;
  Metrics* metrics = nullptr;
  std::optional<int64_t> eval_batches = {};  // on_prediction_step: batches of the whole evaluation, where that is known
  nn::Model* model = nullptr;
  const ProcessingClass* processing_class = nullptr;
  optim::Optimizer* optimizer = nullptr;
  const optim::Schedule* lr_scheduler = nullptr;
  data::AnyDataset train_dataset = {};
  data::AnyDataset eval_dataset = {};
};

enum class Event {
  init_end, train_begin, train_end, epoch_begin, epoch_end, step_begin, pre_optimizer_step, optimizer_step,
  substep_end, step_end, evaluate, predict, save, log, prediction_step, push_begin,
};
WordList words_of(Event);

// What a callback keeps in trainer_state.json: how it was made and what it has counted since.
struct CallbackState {
  ValueMap args;
  ValueMap attributes;
};

// A callback overrides the events it cares for. It asks for something by setting flags of the control.
class TrainerCallback {
 public:
  virtual ~TrainerCallback() = default;

  // The class name, under which its state is saved.
  virtual std::string name() const;

  // Once, before the first on_train_begin: what needs the run to be there, a tracker's connection for example.
  virtual void setup(const CallbackContext&) {}
  virtual void on_init_end(const CallbackContext&, TrainerControl&) {}
  virtual void on_train_begin(const CallbackContext&, TrainerControl&) {}
  virtual void on_train_end(const CallbackContext&, TrainerControl&) {}
  virtual void on_epoch_begin(const CallbackContext&, TrainerControl&) {}
  virtual void on_epoch_end(const CallbackContext&, TrainerControl&) {}
  virtual void on_step_begin(const CallbackContext&, TrainerControl&) {}
  virtual void on_pre_optimizer_step(const CallbackContext&, TrainerControl&) {}
  virtual void on_optimizer_step(const CallbackContext&, TrainerControl&) {}
  virtual void on_substep_end(const CallbackContext&, TrainerControl&) {}
  virtual void on_step_end(const CallbackContext&, TrainerControl&) {}
  virtual void on_evaluate(const CallbackContext&, TrainerControl&) {}
  virtual void on_predict(const CallbackContext&, TrainerControl&) {}
  virtual void on_save(const CallbackContext&, TrainerControl&) {}
  virtual void on_log(const CallbackContext&, TrainerControl&) {}
  virtual void on_prediction_step(const CallbackContext&, TrainerControl&) {}
  virtual void on_push_begin(const CallbackContext&, TrainerControl&) {}

  // State to save in a checkpoint; absent for callbacks without one. restore() takes what exported() gave, perhaps without its args.
  virtual std::optional<CallbackState> exported() const { return {}; }
  virtual void restore(const CallbackState&) {}
};

// For TrainerOptions::callbacks: {callback<MyCallback>(), callback<EarlyStoppingCallback>(EarlyStopping{.patience = 3})}.
template <class C, class... Arguments>
std::shared_ptr<TrainerCallback> callback(Arguments&&... arguments) {
  return std::make_shared<C>(std::forward<Arguments>(arguments)...);
}

// Calls callbacks in the order in which they were added.
class CallbackHandler {
 public:
  using StateFunction = std::function<void(const TrainerState&, TrainerControl&)>;
  using ContextFunction = std::function<void(const CallbackContext&, TrainerControl&)>;

  // A second one of a class is added with a warning.
  void add(std::shared_ptr<TrainerCallback> callback);
  void on(Event event, StateFunction function);
  void on(Event event, ContextFunction function);

  // Takes the first callback of class C out; nullptr where there is none.
  template <class C>
  std::shared_ptr<C> pop() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (auto found = std::dynamic_pointer_cast<C>(entries_[i].callback)) {
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        return found;
      }
    }
    return nullptr;
  }
  // Takes the first callback of class C out, if there is one.
  template <class C>
  void remove() { pop<C>(); }
  // Takes this very callback out. Throws ArgumentError where it is not in the list.
  void remove(const TrainerCallback* callback);
  template <class C>
  bool has() const {
    for (const Entry& entry : entries_)
      if (std::dynamic_pointer_cast<C>(entry.callback)) return true;
    return false;
  }

  // Resets the flags that the event answers, then calls every callback in order.
  void fire(Event event, const CallbackContext& context, TrainerControl& control);

  // Class names joined by line feeds.
  std::string callback_list() const;

  // For TrainerState::stateful_callbacks: the control and all exported states by class; several of one class are a list.
  ValueMap exported(const TrainerControl& control) const;
  // Gives stored states back to present callbacks of the same class, in order and in place, and the control: what they had counted, and with
  // made_as_saved also how they had been made, whatever this run made them with. Returns the names that nothing here matches.
  struct Restore {
    bool made_as_saved = false;
  };
  std::vector<std::string> restore(const ValueMap& stateful_callbacks, TrainerControl& control, Restore options = {false});

 private:
  struct Entry {
    std::shared_ptr<TrainerCallback> callback;  // or, when empty:
    Event event{};
    ContextFunction function;
    bool is_set_up = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace rote
