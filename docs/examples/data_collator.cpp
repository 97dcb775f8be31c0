// docs/examples/data_collator.cpp — a collator of one's own makes the batches of training, evaluation and prediction: `data_collator MODEL_FOLDER ROWS.tsv`.
#include <iostream>

#include "nn/auto.h"
#include "trainer/callbacks.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/trainer.h"

using namespace rote;

// Pads each batch to a multiple of eight tokens and shows it.
struct MyCollator {
  data::PadOptions padding;

  explicit MyCollator(const text::Tokenizer& tokenizer) : padding(data::pad_options(tokenizer)) { padding.pad_to_multiple_of = 8; }
  nn::Batch operator()(const std::vector<data::Example>& examples) const {
    nn::Batch batch = data::default_collate(data::padded(examples, padding));
    for (size_t i = 0; i < batch.entries.size(); ++i) std::cout << (i ? ", " : "") << batch.entries[i].first << " " << describe(batch.entries[i].second);
    std::cout << "\n";
    return batch;
  }
};

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 3, ArgumentError, "data_collator: give a model folder and a TSV file with the columns text and label.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const auto model = std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1]).model);
    const data::Table table = data::read_table(argv[2]);
    const auto rows = data::tokenized(table, {.label = "label"}, data::label_set(table, "label"), tokenizer, 32);

    const TrainingArguments args{.output_dir = "data_collator",
                                 .per_device_train_batch_size = 8,
                                 .max_steps = 2,
                                 .disable_tqdm = true,
                                 .per_device_eval_batch_size = 16,
                                 .save_strategy = SaveStrategy::no};
    Trainer trainer(*model, args, {.train_dataset = rows.get(), .eval_dataset = rows.get(), .data_collator = MyCollator(tokenizer)});
    trainer.remove_callback<PrinterCallback>();
    std::cout << "train\n";
    trainer.train();
    std::cout << "evaluate\n";
    trainer.evaluate();
    std::cout << "predict\n";
    trainer.predict(*rows);
    return 0;
  });
}

// prints, of a BERT of 3424 numbers and 22 rows:
//   train
//   input_ids i64[8,16], token_type_ids i64[8,16], labels i64[8], attention_mask i64[8,16]
//   input_ids i64[8,8], token_type_ids i64[8,8], labels i64[8], attention_mask i64[8,8]
//   evaluate
//   input_ids i64[16,16], token_type_ids i64[16,16], labels i64[16], attention_mask i64[16,16]
//   input_ids i64[6,16], token_type_ids i64[6,16], labels i64[6], attention_mask i64[6,16]
//   predict
//   input_ids i64[16,16], token_type_ids i64[16,16], labels i64[16], attention_mask i64[16,16]
//   input_ids i64[6,16], token_type_ids i64[6,16], labels i64[6], attention_mask i64[6,16]
