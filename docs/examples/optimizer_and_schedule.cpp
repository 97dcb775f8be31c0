// docs/examples/optimizer_and_schedule.cpp — an optimizer and a schedule of one's own in the Trainer: `optimizer_and_schedule MODEL_FOLDER ROWS.tsv`.
#include <cstdio>

#include "nn/auto.h"
#include "optim/adafactor.h"
#include "trainer/callbacks.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/trainer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 3, ArgumentError, "optimizer_and_schedule: give a model folder and a TSV file with the columns text and label.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const auto model = std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1]).model);
    const data::Table table = data::read_table(argv[2]);
    const auto rows = data::tokenized(table, {.label = "label"}, data::label_set(table, "label"), tokenizer, 32);

    const TrainingArguments args{.output_dir = "optimizer_and_schedule", .max_steps = 5, .logging_steps = 1, .disable_tqdm = true, .save_strategy = SaveStrategy::no};
    const auto adafactor = std::make_shared<optim::Adafactor>(decay_groups(*model, 1e-2, 0.1), optim::AdafactorOptions{.scale_parameter = false, .relative_step = false});
    const auto schedule = optim::warmup(2).then(optim::cosine(3));
    Trainer trainer(*model, args, {.train_dataset = rows.get(), .processing_class = ProcessingClass(tokenizer), .optimizer = adafactor, .lr_scheduler = schedule});
    trainer.remove_callback<PrinterCallback>();
    trainer.train();
    for (const Logs& entry : trainer.state().log_history)
      if (entry.find("loss") != nullptr) std::puts(log_line({{"loss", *entry.find("loss")}, {"learning_rate", *entry.find("learning_rate")}}).c_str());
    return 0;
  });
}

// prints, of a BERT of 3424 numbers and 22 rows:
//   {'loss': '0.6931', 'learning_rate': '0'}
//   {'loss': '0.6936', 'learning_rate': '0.005'}
//   {'loss': '0.6926', 'learning_rate': '0.01'}
//   {'loss': '0.6974', 'learning_rate': '0.0075'}
//   {'loss': '0.7015', 'learning_rate': '0.0025'}
