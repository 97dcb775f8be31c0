// trainer/apps/train_mlp.cpp — trains a two-layer network on a TSV file of numbers: `train_mlp rows.tsv LABEL_COLUMN [--max_steps 200 …]`.
#include <cstdio>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "tensor/generator.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/trainer.h"

using namespace rote;

struct Mlp : nn::Model {
  nn::Linear hidden, head;
  Mlp(int64_t I, int64_t O) : hidden(I, 32), head(32, O) { add_modules({{"hidden", hidden}, {"head", head}}); }
  nn::Signature signature() const override { return {.inputs = "x[B,I] f32, labels[B]? i64", .main = "x", .scored = nn::Scored::rows}; }
  nn::ModelOutput forward(const nn::Batch& in) override {
    const Tensor logits = head(gelu(hidden(in["x"])));  // [B,O]
    return {.loss = nn::class_loss(logits, in.find("labels"), nn::divisor(signature(), in)), .logits = logits};
  }
};

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc >= 3, ArgumentError, "train_mlp: give a TSV file and the name of its label column.");
    const auto args = parse<TrainingArguments>(argc - 2, argv + 2, {.output_dir = "mlp", .learning_rate = 1e-2, .save_strategy = SaveStrategy::no});
    const data::Table table = data::read_table(argv[1]);
    const auto labels = data::label_set(table, argv[2]);
    const auto rows = data::numbers(table, argv[2], labels);  // x: every other column
    manual_seed(static_cast<uint64_t>(args.seed));  // before any weight is drawn
    Mlp model(static_cast<int64_t>(table.columns.size()) - 1, static_cast<int64_t>(labels.size()));
    Trainer trainer(model, args, {.train_dataset = rows.get(), .eval_dataset = rows.get()});
    trainer.train();
    std::printf("loss %.4f\n", trainer.state().last("train_loss"));
    return 0;
  });
}
