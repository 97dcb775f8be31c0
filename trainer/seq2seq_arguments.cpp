// trainer/seq2seq_arguments.cpp — the rows of TrainingArguments and the five after them.
#include "trainer/seq2seq_arguments.h"

namespace rote {

const ArgumentTable<Seq2SeqTrainingArguments>& Seq2SeqTrainingArguments::table() {
  using S = Seq2SeqTrainingArguments;
  static const ArgumentTable<S> rows = [] {
    ArgumentTable<S> table{"training", inherited<S>(TrainingArguments::table()), [](S& args) { return apply_rules(args); }};
    const std::vector<Field<S>> own = {
        field(&S::sortish_sampler, {.name = "sortish_sampler", .action = FieldAction::ignore, .reason = "since no version of the reference reads it"}),
        field(&S::predict_with_generate, {.name = "predict_with_generate", .help = "evaluation writes texts, on which its metrics are"}),
        field(&S::generation_max_length,
              {.name = "generation_max_length", .help = "longest text that evaluation writes, its start token counted", .unit = "tokens", .at_least = 2}),
        field(&S::generation_num_beams, {.name = "generation_num_beams", .help = "beams with which evaluation writes, 1 for the likeliest token each time", .at_least = 1}),
        field(&S::generation_config, {.name = "generation_config", .help = "settings of generation in place of the model's: a map, or the file or folder of one"}),
    };
    table.fields.insert(table.fields.end(), own.begin(), own.end());
    return table;
  }();
  return rows;
}

}  // namespace rote
