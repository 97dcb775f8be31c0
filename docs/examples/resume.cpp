// docs/examples/resume.cpp — training goes on from a checkpoint, to the bit: `resume MODEL_FOLDER ROWS.tsv`.
#include <cstdio>
#include <filesystem>

#include "nn/auto.h"
#include "tensor/hash.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/parser.h"
#include "trainer/trainer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 3, ArgumentError, "resume: give a model folder and a TSV file with the columns text and label.");
    const auto tokenizer = text::Tokenizer::from_folder(argv[1]);
    const data::Table table = data::read_table(argv[2]);
    const auto rows = data::tokenized(table, {.label = "label"}, data::label_set(table, "label"), tokenizer, 32);
    const TrainingArguments args{.output_dir = "resume", .max_steps = 6, .logging_strategy = IntervalStrategy::no, .disable_tqdm = true, .save_steps = 4};
    // Trains a model from the folder, from a checkpoint on where one is given, and returns the hash of its weights.
    const auto train = [&](const std::string& checkpoint) {
      const ModelInit model_init = [&] { return std::move(nn::AutoModelForSequenceClassification::from_pretrained(argv[1]).model); };
      Trainer trainer(model_init, args, {.train_dataset = rows.get(), .processing_class = ProcessingClass(tokenizer)});
      trainer.train({.resume_from_checkpoint = checkpoint});
      return hash_tensors(nn::state_dict(trainer.model()));
    };

    const std::string whole = train("");
    // What hub_strategy "checkpoint" leaves in the hub: the newest checkpoint under this name.
    std::filesystem::copy("resume/checkpoint-4", "last-checkpoint", std::filesystem::copy_options::recursive);
    const std::string resumed = train("last-checkpoint");
    std::printf("%s\n", whole == resumed ? "the same weights" : "other weights");
    std::filesystem::remove("last-checkpoint/trainer_state.json");
    train("last-checkpoint");  // throws: a checkpoint without its state is none
    return 0;
  });
}

// prints, and ends with an error that names the file:
//   {'train_runtime': …}
//   {'train_runtime': …}
//   the same weights
