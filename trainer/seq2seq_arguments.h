// trainer/seq2seq_arguments.h — Seq2SeqTrainingArguments: TrainingArguments and five fields of generation in evaluation. No rows (seq2seq_arguments.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "trainer/arguments.h"

namespace rote {

struct Seq2SeqTrainingArguments : TrainingArguments {
  static constexpr const char* kName = "Seq2SeqTrainingArguments";

  bool sortish_sampler = false;
  bool predict_with_generate = false;
  std::optional<int64_t> generation_max_length = {};  // tokens
  std::optional<int64_t> generation_num_beams = {};
  Value generation_config = {};  // a map, or a folder or file of it

  static const ArgumentTable<Seq2SeqTrainingArguments>& table();
};

}  // namespace rote
