#include "trainer/data/labelled_rows.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "kernels/check.h"
#include "tensor/sort_stably.h"
#include "trainer/data/dataset_file.h"

namespace rote::data {

namespace {

bool is_whole(const std::string& text) {
  const size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
  return text.size() > first && text.size() < 18 && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What a field of a table says as a finite f32; none where it is no number.
std::optional<float> number_in(const std::string& field) {
  float value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value)) return {};
  return value;
}

float number_at(const Table& table, size_t row, size_t column) {
  const std::string& field = table.rows[row][column];
  const std::optional<float> value = number_in(field);
  ROTE_CHECK(value.has_value(), ArgumentError, table.place(row), ": column ", table.columns[column], " holds \"", field, "\"; it must be a number.");
  return *value;
}

// The labels in `a, b`; none of an empty field.
std::vector<std::string> several_at(const Table& table, size_t row, size_t column) {
  const std::string& field = table.rows[row][column];
  std::vector<std::string> labels;
  for (size_t begin = 0; !field.empty() && begin <= field.size();) {
    const size_t end = std::min(field.find(',', begin), field.size());
    const std::string part = field.substr(begin, end - begin);
    const size_t first = part.find_first_not_of(' ');
    ROTE_CHECK(first != std::string::npos, ArgumentError, table.place(row), ": column ", table.columns[column], " holds \"", field,
               "\"; between commas stand labels.");
    labels.push_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
    begin = end + 1;
  }
  return labels;
}

Example tokens_of(const Table& table, size_t row, const std::vector<size_t>& texts, const text::Tokenizer& tokenizer, const text::EncodeOptions& options) {
  const auto& fields = table.rows[row];
  try {
    text::Encoding e = texts.size() == 1 ? tokenizer.encode(fields[texts[0]], options) : tokenizer.encode(fields[texts[0]], fields[texts[1]], options);
    return {{"input_ids", Feature::list(std::move(e.ids))}, {"token_type_ids", Feature::list(std::move(e.type_ids))}};
  } catch (const ArgumentError& fault) {
    throw ArgumentError(str(table.place(row), ": ", fault.text));
  }
}

}  // namespace

std::vector<std::string> sorted_labels(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  if (std::all_of(labels.begin(), labels.end(), is_whole))
    sort_stably(labels, [](const std::string& a, const std::string& b) { return std::stoll(a) < std::stoll(b); });
  return labels;
}

std::vector<std::string> label_set(const Table& table, const std::string& label_column) {
  const size_t column = table.column(label_column);
  std::vector<std::string> labels;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& label = table.rows[row][column];
    ROTE_CHECK(!label.empty(), ArgumentError, table.place(row), ": the label in column ", label_column, " is empty; every row needs one.");
    labels.push_back(label);
  }
  return sorted_labels(std::move(labels));
}

std::vector<std::string> several_label_set(const Table& table, const std::string& label_column) {
  const size_t column = table.column(label_column);
  std::vector<std::string> labels;
  for (size_t row = 0; row < table.rows.size(); ++row)
    for (std::string& label : several_at(table, row, column)) labels.push_back(std::move(label));
  return sorted_labels(std::move(labels));
}

bool holds_fractions(const Table& table, const std::string& name) {
  const size_t column = table.column(name);
  bool some = false;
  for (const auto& row : table.rows) {
    if (!number_in(row[column])) return false;
    some = some || !is_whole(row[column]);
  }
  return some;
}

int64_t class_of(const std::string& label, const std::vector<std::string>& labels, const std::string& place) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return found - labels.begin();
  std::string known;
  for (size_t i = 0; i < labels.size() && i < 10; ++i) known += (i ? ", " : "") + labels[i];
  throw ArgumentError(str(place, ": label \"", label, "\" is none of the model's: ", known, labels.size() > 10 ? ", …" : "", "."));
}

namespace {

Feature label_of(const Table& table, size_t row, size_t column, LabelKind kind, const std::vector<std::string>& labels) {
  if (kind == LabelKind::one) return Feature::single(class_of(table.rows[row][column], labels, table.place(row)));
  if (kind == LabelKind::number) return Feature::single(number_at(table, row, column));
  std::vector<float> chosen(labels.size(), 0.0f);
  for (const std::string& label : several_at(table, row, column)) chosen[static_cast<size_t>(class_of(label, labels, table.place(row)))] = 1;
  return Feature::list(std::move(chosen));
}

}  // namespace

std::unique_ptr<Dataset> tokenized(const Table& table, const TextColumns& columns, const std::vector<std::string>& labels, const text::Tokenizer& tokenizer,
                                   int64_t max_length) {
  ROTE_CHECK(columns.text.size() == 1 || columns.text.size() == 2, ArgumentError, "text_column_names: ", columns.text.size(),
             " columns; a row has one text or the two of a pair.");
  std::vector<size_t> texts;
  for (const std::string& name : columns.text) {
    texts.push_back(table.column(name));
    ROTE_CHECK(std::find(table.list_columns.begin(), table.list_columns.end(), name) == table.list_columns.end(), ArgumentError, table.source, ": column ",
               name, " holds lists; a text is needed.");
  }
  const size_t label_column = columns.label.empty() ? 0 : table.column(columns.label);
  text::EncodeOptions options;
  options.fields = text::Fields::ids;
  options.truncation = text::Truncation{.max_length = max_length};
  std::vector<Example> rows;
  rows.reserve(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    Example example = tokens_of(table, row, texts, tokenizer, options);
    if (!columns.label.empty()) example.emplace_back("label", label_of(table, row, label_column, columns.kind, labels));
    rows.push_back(std::move(example));
  }
  return std::make_unique<ListDataset>(std::move(rows));
}

LabelledStream::LabelledStream(std::string path, Options options, const text::Tokenizer& tokenizer)
    : path_(std::move(path)), options_(std::move(options)), tokenizer_(tokenizer), table_(open_table(path_)) {}

void LabelledStream::restart(int64_t) {
  table_ = open_table(path_);
  rows_.reset();
  at_ = 0;
}

std::optional<Example> LabelledStream::next() {
  constexpr size_t kHeldRows = 64;
  if (!rows_ || at_ == rows_->size()) {
    rows_ = tokenized(table_.next(kHeldRows), options_.columns, options_.labels, tokenizer_, options_.max_length);
    at_ = 0;
  }
  if (rows_->size() == 0) return {};
  return rows_->at(at_++);
}

std::string LabelledStream::fingerprint() const { return name_and_size(path_); }

Table distinct_values(const std::string& path, const std::string& column) {
  TableReader reader = open_table(path);
  Table out;
  std::set<std::string> seen;
  for (Table rows = reader.next(1024); !rows.rows.empty(); rows = reader.next(1024)) {
    const size_t at = rows.column(column);
    for (size_t row = 0; row < rows.rows.size(); ++row) {
      if (!seen.insert(rows.rows[row][at]).second) continue;
      out.rows.push_back({std::move(rows.rows[row][at])});
      out.lines.push_back(rows.lines[row]);
    }
    out.source = rows.source;
    const bool is_list = std::find(rows.list_columns.begin(), rows.list_columns.end(), column) != rows.list_columns.end();
    if (is_list) out.list_columns = {column};
  }
  out.columns = {column};
  return out;
}

std::unique_ptr<Dataset> numbers(const Table& table, const std::string& label_column, const std::vector<std::string>& labels) {
  const size_t label = table.column(label_column);
  std::vector<Example> rows;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<float> x;
    for (size_t column = 0; column < table.columns.size(); ++column) {
      if (column == label) continue;
      x.push_back(number_at(table, row, column));
    }
    rows.push_back({{"x", Feature::list(std::move(x))}, {"label", Feature::single(class_of(table.rows[row][label], labels, table.place(row)))}});
  }
  return std::make_unique<ListDataset>(std::move(rows));
}

}  // namespace rote::data
