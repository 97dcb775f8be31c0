// docs/examples/callbacks.cpp — callbacks of one's own, given as classes and as objects: `callbacks MODEL_FOLDER ROWS.tsv`.
#include <cstdio>

#include "nn/auto.h"
#include "trainer/callbacks.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/progress.h"
#include "trainer/trainer.h"

using namespace rote;

struct MyCallback : TrainerCallback {
  void on_train_begin(const CallbackContext&, TrainerControl&) override { std::puts("Starting training"); }
};

// Prints what is logged. It takes total_flos out of a copy: callbacks share the entry with each other and with the result of train().
struct MyPrinter : TrainerCallback {
  void on_log(const CallbackContext& event, TrainerControl&) override {
    Logs logs = *event.logs;
    logs.erase("total_flos");
    if (event.state.is_local_process_zero) std::puts(log_line(logs).c_str());
  }
};

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 3, ArgumentError, "callbacks: give a model folder and a TSV file with the columns text and label.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const auto model = std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1]).model);
    const data::Table table = data::read_table(argv[2]);
    const auto rows = data::tokenized(table, {.label = "label"}, data::label_set(table, "label"), tokenizer, 32);

    TrainingArguments args{.output_dir = "callbacks", .max_steps = 2, .logging_steps = 1, .save_strategy = SaveStrategy::no};
    Trainer trainer(*model, args, {.train_dataset = rows.get(), .processing_class = ProcessingClass(tokenizer), .callbacks = {callback<MyCallback>()}});
    trainer.remove_callback<ProgressCallback>();
    trainer.add_callback<MyPrinter>();   // a class
    trainer.add_callback(MyCallback{});  // an object: the second of its class, which is warned of and added
    std::puts(trainer.callbacks().callback_list().c_str());
    const TrainOutput result = trainer.train();
    std::printf("total_flos is there: %s\n", result.metrics.find("total_flos") != nullptr ? "yes" : "no");

    trainer.remove_callback<MyPrinter>();
    trainer.pop_callback<MyCallback>();
    trainer.train();
    return 0;
  });
}

// prints, of a BERT of 3424 numbers and 22 rows:
//   DefaultFlowCallback
//   MyCallback
//   MyPrinter
//   MyCallback
//   Starting training
//   Starting training
//   {'loss': '0.6931', 'grad_norm': '0.03891', 'learning_rate': '5e-05', 'epoch': '0.3333'}
//   {'loss': '0.6936', 'grad_norm': '0.04802', 'learning_rate': '2.5e-05', 'epoch': '0.6667'}
//   {'train_runtime': …, 'train_samples_per_second': …, 'train_steps_per_second': …, 'train_loss': '0.6934', 'epoch': '0.6667'}
//   total_flos is there: yes
//   Starting training
