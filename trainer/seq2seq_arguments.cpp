// trainer/seq2seq_arguments.cpp — the rows of TrainingArguments and those after them.
#include "trainer/seq2seq_arguments.h"

namespace rote {

const ArgumentTable<Seq2SeqTrainingArguments>& Seq2SeqTrainingArguments::table() {
  using S = Seq2SeqTrainingArguments;
  static const ArgumentTable<S> rows = [] {
    ArgumentTable<S> table{"training", {}, [](S& args) { return TrainingArguments::table().resolve(args); }};
    for (const Field<TrainingArguments>& f : TrainingArguments::table().fields)
      table.fields.push_back({f.row, f.get ? std::function<Value(const S&)>(f.get) : nullptr, f.set ? std::function<bool(S&, const Value&)>(f.set) : nullptr});
    const std::vector<Field<S>> own = {
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
