// trainer/data_arguments.h — DataArguments: the model and the files that `rote train` and its relatives work on. No rows (data_arguments.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/fields.h"

namespace rote {

enum class Task { text_classification };
inline WordList words_of(Task) { return {"text-classification"}; }

struct DataArguments {
  Task task = Task::text_classification;
  std::string model_name_or_path = "";
  std::string train_file = "";
  std::optional<std::string> validation_file = {};
  std::vector<std::string> text_column_names = {"text"};  // one text, or the two of a pair
  std::string label_column_name = "label";
  int64_t max_seq_length = 128;  // tokens, special ones included

  static const ArgumentTable<DataArguments>& table();
};

// Makes two names of `a,b` in one word, as scripts for the Hugging Face Trainer write it; the faults of what then are not one or two columns.
std::vector<std::string> split_columns(std::vector<std::string>& text_column_names);

}  // namespace rote
