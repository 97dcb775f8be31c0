#include "trainer/pipelines/text_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/auto.h"
#include "trainer/text/json_view.h"
#include "trainer/text/unicode.h"

namespace rote::pipelines {

namespace {

void check_row(const TextModel& m, const text::Encoding& row, const std::string& text) {
  ROTE_CHECK(!row.ids.empty(), ArgumentError, "pipeline: ", beginning(text), " has no tokens; give a text that has some.");
  const nn::InputLimits limits = m.config().limits();
  const int64_t T = static_cast<int64_t>(row.ids.size());
  ROTE_CHECK(T <= limits.length.value_or(T), ArgumentError, "pipeline: ", beginning(text), " has ", T, " tokens, the model takes at most ", limits.length.value_or(0),
             "; give shorter texts, or --truncation where the task has it.");
  const int64_t highest = *std::max_element(row.ids.begin(), row.ids.end());
  ROTE_CHECK(highest < limits.vocabulary.value_or(highest + 1), ArgumentError, "pipeline: ", beginning(text), " has the token ", highest,
             " but the model a vocabulary of ", limits.vocabulary.value_or(0), "; model and tokenizer do not belong together.");
  for (const text::Encoding& rest : row.overflowing) check_row(m, rest, text);
}

Tensor stacked(const std::vector<text::Encoding>& rows, const std::vector<size_t>& which, std::vector<int64_t> text::Encoding::*list) {
  std::vector<int64_t> values;
  for (const size_t row : which) values.insert(values.end(), (rows[row].*list).begin(), (rows[row].*list).end());
  const int64_t B = static_cast<int64_t>(which.size());
  return from_values({B, static_cast<int64_t>(values.size()) / B}, values);
}

}  // namespace

std::optional<int64_t> TextModel::limit() const {
  const std::optional<int64_t> own = config().limits().length, files = tokenizer.model_max_length();
  return own && files ? std::min(*own, *files) : own ? own : files;
}

std::shared_ptr<const TextModel> load_text_model(const std::string& task, const PipelineOptions& options) {
  nn::PretrainedOptions where;
  where.revision = options.revision;
  where.cache_dir = options.cache_dir;
  const std::string& tokenizer = options.tokenizer.empty() ? options.model : options.tokenizer;
  nn::Loaded<nn::Model> loaded = nn::load_finetuned(task, options.model, where);
  return std::make_shared<TextModel>(TextModel{options.model, std::move(loaded.model), text::Tokenizer::from_folder(nn::model_place(tokenizer, where)), options.batch_size});
}

std::vector<text::Encoding> rows_of(const TextModel& m, const std::vector<std::string>& texts, const RowOptions& options) {
  text::EncodeOptions how;
  how.fields = options.fields;
  if (const auto limit = m.limit(); options.truncation && limit)
    how.truncation = text::Truncation{.max_length = *limit, .stride = options.stride.value_or(0), .direction = m.tokenizer.truncation_side()};
  std::vector<text::EncodeInput> inputs;
  for (const std::string& text : texts) inputs.push_back({text, std::nullopt});
  std::vector<text::Encoding> rows = m.tokenizer.encode_batch(inputs, how);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].ids.empty()) rows[i].ids = options.when_empty;
    check_row(m, rows[i], texts[i]);
  }
  return rows;
}

std::vector<std::vector<size_t>> batches_of(const std::vector<text::Encoding>& rows, int64_t batch_size) {
  std::map<size_t, std::vector<size_t>> by_length;
  for (size_t row = 0; row < rows.size(); ++row) by_length[rows[row].ids.size()].push_back(row);
  std::vector<std::vector<size_t>> batches;
  const size_t most = static_cast<size_t>(batch_size);
  for (const auto& [length, same] : by_length)
    for (size_t at = 0; at < same.size(); at += most)
      batches.emplace_back(same.begin() + static_cast<std::ptrdiff_t>(at), same.begin() + static_cast<std::ptrdiff_t>(std::min(at + most, same.size())));
  return batches;
}

nn::Batch batch_of(const TextModel& m, const std::vector<text::Encoding>& rows, const std::vector<size_t>& which) {
  nn::Batch batch;
  batch.set("input_ids", stacked(rows, which, &text::Encoding::ids));
  const std::vector<std::string> inputs = m.model->signature().input_names();
  if (std::find(inputs.begin(), inputs.end(), "token_type_ids") != inputs.end()) batch.set("token_type_ids", stacked(rows, which, &text::Encoding::type_ids));
  return batch;
}

void for_each_output(const TextModel& m, const std::vector<text::Encoding>& rows, const std::function<void(size_t row, const Tensor& output)>& take) {
  const NoGrad guard;
  for (const std::vector<size_t>& which : batches_of(rows, m.batch_size)) {
    const nn::Batch batch = batch_of(m, rows, which);
    with_default_control([&] {
      const Tensor all = (*m.model)(batch)[0];
      for (size_t i = 0; i < which.size(); ++i) {
        const Tensor output = contiguous(select(all, 0, static_cast<int64_t>(i)));
        const float* x = output.data<float>();
        ROTE_CHECK(std::all_of(x, x + output.numel(), [](float v) { return std::isfinite(v); }), NonFiniteError, "non-finite: the output for ",
                   beginning(m.tokenizer.decode(rows[which[i]].ids)), " holds Inf or NaN; the weights of ", m.name, " are damaged.");
        take(which[i], output);
      }
    });
  }
}

std::string beginning(const std::string& text) {
  constexpr size_t kShown = 40;  // code points
  const std::u32string chars = text::decode_text(text, "pipeline");
  return text::quoted(text::to_utf8(std::u32string_view(chars).substr(0, kShown)) + (chars.size() > kShown ? "…" : ""));
}

}  // namespace rote::pipelines
