// docs/examples/weighted_loss.cpp — a loss of one's own by a subclass of the Trainer: classes count 1, 2 and 3 times.
#include <cstdio>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/seed.h"
#include "trainer/trainer.h"

using namespace rote;

struct WeightedTrainer : Trainer {
  using Trainer::Trainer;
  LossOutput compute_loss(nn::Model& model, const nn::Batch& in) override {
    nn::ModelOutput out = model(in);
    const int64_t V = model.config()->num_labels();
    Tensor loss = cross_entropy(reshape(out["logits"], {-1, V}), reshape(in["labels"], {-1}), {.weight = from_values({3}, std::vector<float>{1, 2, 3})});
    return {.loss = std::move(loss), .outputs = std::move(out), .is_mean = true};  // a mean of this batch: averaged over the update's micro-batches
  }
};

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc >= 3, ArgumentError, "weighted_loss: give a model folder and a TSV file with the columns text and label.");
    const auto args = parse<TrainingArguments>(argc - 2, argv + 2, {.output_dir = "weighted", .save_strategy = SaveStrategy::no});
    const data::Table table = data::read_table(argv[2]);
    const auto labels = data::label_set(table, "label");
    ROTE_CHECK(labels.size() == 3, ArgumentError, "weighted_loss: the file has ", labels.size(), " labels; the weights are of three.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const auto rows = data::tokenized(table, {.label = "label"}, labels, tokenizer, 32);

    set_seed(args.seed);  // before the head is drawn
    const auto model = std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1], {.configure = [&](nn::Config& c) { c.labels = labels; }}).model);
    WeightedTrainer trainer(*model, args, {.train_dataset = rows.get(), .eval_dataset = rows.get(), .processing_class = ProcessingClass(tokenizer)});
    trainer.train();
    trainer.log_metrics("eval", trainer.evaluate());
    return 0;
  });
}
