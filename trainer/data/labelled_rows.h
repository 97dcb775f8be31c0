// trainer/data/labelled_rows.h — tables of labelled rows, of texts or of numbers, into features and class numbers. No model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/stream.h"
#include "trainer/data/table.h"
#include "trainer/text/tokenizer.h"

namespace rote::data {

// Labels each once, by value where all are whole numbers, else by bytes. The place in the list is the class.
std::vector<std::string> sorted_labels(std::vector<std::string> labels);

// The labels of a column, sorted.
std::vector<std::string> label_set(const Table& table, const std::string& label_column);

// The labels of a column of several each, `a,b`, sorted.
std::vector<std::string> several_label_set(const Table& table, const std::string& label_column);
// Whether a column holds numbers and some that are not whole: what is measured, not classes.
bool holds_fractions(const Table& table, const std::string& column);

enum class LabelKind {
  one,      // a class: the label's place in the list
  several,  // of `a,b`: for each label of the list 1 or 0, f32
  number,   // the f32 itself
};

struct TextColumns {
  std::vector<std::string> text = {"text"};  // one text, or the two of a pair
  std::string label;                         // empty: rows without labels
  LabelKind kind = LabelKind::one;
};

// Rows of input_ids, token_type_ids and label, truncated to max_length tokens (the longer of two texts first).
// Throws ArgumentError for a label that `labels` lacks or that is no number, naming the row, and for a text that is not UTF-8.
std::unique_ptr<Dataset> tokenized(const Table& table, const TextColumns& columns, const std::vector<std::string>& labels, const text::Tokenizer& tokenizer,
                                   int64_t max_length);

// The same rows of a .csv, .tsv or .jsonl file, few of which are held. Throws where the file cannot be opened; of its content at the row at fault.
class LabelledStream : public Stream {
 public:
  struct Options {
    TextColumns columns;
    std::vector<std::string> labels;
    int64_t max_length = 0;
  };
  LabelledStream(std::string path, Options options, const text::Tokenizer& tokenizer);
  void restart(int64_t epoch) override;
  std::optional<Example> next() override;
  std::string fingerprint() const override;

 private:
  std::string path_;
  Options options_;
  text::Tokenizer tokenizer_;
  TableReader table_;
  std::unique_ptr<Dataset> rows_;
  int64_t at_ = 0;  // of rows_
};

// A column of such a file, each value where it stands first: what label_set() and its like need to know of a file that is not held.
Table distinct_values(const std::string& path, const std::string& column);

// Rows of `x`, every other column as an f32, and label. Throws ArgumentError for what is no number, naming row and column.
std::unique_ptr<Dataset> numbers(const Table& table, const std::string& label_column, const std::vector<std::string>& labels);

// The class of a label. Throws ArgumentError for one that `labels` lacks; `place` begins its text.
int64_t class_of(const std::string& label, const std::vector<std::string>& labels, const std::string& place);

}  // namespace rote::data
