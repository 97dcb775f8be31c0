// docs/examples/early_stopping.cpp — training ends when a metric has stood still, and the best weights are taken: `early_stopping MODEL_FOLDER ROWS.tsv`.
#include <cstdio>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "trainer/callbacks.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/metrics.h"
#include "trainer/parser.h"
#include "trainer/trainer.h"

using namespace rote;

Labels labels_of(const Tensor& x) { return Labels(x.data<int64_t>(), x.data<int64_t>() + x.numel()); }

Metrics compute_metrics(const EvalPrediction& p) {
  const Labels predictions = labels_of(argmax(p.predictions[0])), labels = labels_of(p.label_ids);
  return {{"accuracy", accuracy(predictions, labels)}, {"f1", precision_recall_f1(predictions, labels).f1}};
}

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 3, ArgumentError, "early_stopping: give a model folder and a TSV file with the columns text and label.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const auto model = std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1]).model);
    const data::Table table = data::read_table(argv[2]);
    const auto rows = data::tokenized(table, {.label = "label"}, data::label_set(table, "label"), tokenizer, 32);

    TrainingArguments args{.output_dir = "early_stopping", .num_train_epochs = 20, .learning_rate = 1e-2, .lr_scheduler_type = "constant"};
    args.eval_strategy = IntervalStrategy::epoch;
    args.save_strategy = SaveStrategy::epoch;  // where evaluations are, as load_best_model_at_end wants
    args.save_total_limit = 1;
    args.load_best_model_at_end = true;
    args.metric_for_best_model = "accuracy";  // greater is better: the name does not end in "loss"
    args.disable_tqdm = true;
    Trainer trainer(*model, args, {.train_dataset = rows.get(), .eval_dataset = rows.get(), .processing_class = ProcessingClass(tokenizer),
                                   .compute_metrics = compute_metrics, .callbacks = {callback<EarlyStoppingCallback>(EarlyStopping{.patience = 5})}});
    trainer.remove_callback<PrinterCallback>();
    trainer.train();
    for (const Logs& entry : trainer.state().log_history)
      if (entry.find("eval_accuracy") != nullptr) std::puts(log_line({{"step", *entry.find("step")}, {"eval_accuracy", *entry.find("eval_accuracy")}}).c_str());
    const TrainerState& state = trainer.state();
    std::printf("best %.4f at step %ld of %ld\n", static_cast<double>(*state.best_metric), static_cast<long>(*state.best_global_step), static_cast<long>(state.global_step));
    return 0;
  });
}

// prints, of a BERT of 3424 numbers and 22 rows:
//   {'step': 3, 'eval_accuracy': '0.5'}
//   {'step': 6, 'eval_accuracy': '0.5'}
//   {'step': 9, 'eval_accuracy': '0.5'}
//   {'step': 12, 'eval_accuracy': '0.5'}
//   {'step': 15, 'eval_accuracy': '0.7273'}
//   {'step': 18, 'eval_accuracy': '1'}
//   {'step': 21, 'eval_accuracy': '1'}
//   {'step': 24, 'eval_accuracy': '1'}
//   {'step': 27, 'eval_accuracy': '1'}
//   {'step': 30, 'eval_accuracy': '1'}
//   {'step': 33, 'eval_accuracy': '1'}
//   best 1.0000 at step 18 of 33
