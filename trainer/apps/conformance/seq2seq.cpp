// trainer/apps/conformance/seq2seq.cpp — seq2seq cases: what a Seq2SeqTrainer's evaluate() and predict() write, pad and report.
#include <algorithm>
#include <cmath>

#include "nn/auto.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/runs.h"
#include "trainer/callbacks.h"
#include "trainer/data/seq2seq_collate.h"
#include "trainer/json_text.h"
#include "trainer/progress.h"
#include "trainer/seq2seq.h"

namespace rote::conformance {

namespace fs = std::filesystem;

namespace {

const Value& at(const Value& map, const std::string& name) {
  static const Value none;
  const Value* found = map.as_map() ? map.as_map()->find(name) : nullptr;
  return found != nullptr ? *found : none;
}

// input_ids and labels as any collator does it, decoder_input_ids with the pad id too.
nn::Batch collate(std::vector<data::Example> rows, int64_t pad_token_id) {
  size_t longest = 0;
  for (data::Example& row : rows)
    for (auto& [name, feature] : row)
      if (name == "decoder_input_ids") longest = std::max(longest, feature.whole.size());
  for (data::Example& row : rows)
    for (auto& [name, feature] : row)
      if (name == "decoder_input_ids") data::pad_list(feature, static_cast<int64_t>(longest), pad_token_id, text::Side::right);
  return data::Seq2SeqCollator(data::PadOptions{.pad_token_id = pad_token_id})(rows);
}

// Rows of ids of one length, against a list of lists; null: none.
std::string difference_of(const char* what, const Tensor& got, const Value& expected) {
  if (expected.is_null()) return got.defined() ? str(what, ": are ", describe(got), ", expected none") : "";
  if (!got.defined()) return str(what, ": there are none");
  ValueList rows;
  for (int64_t row = 0; row < got.size(0); ++row) {
    ValueList ids;
    for (int64_t i = 0; i < got.size(1); ++i) ids.push_back(contiguous(got).data<int64_t>()[row * got.size(1) + i]);
    rows.push_back(std::move(ids));
  }
  const std::string y = json_text(rows, {.indent = -1}), wanted = json_text(expected, {.indent = -1});
  return y == wanted ? "" : str(what, ": are ", y, ", expected ", wanted);
}

std::string check_metrics(const Metrics& metrics, const Value& expected) {
  for (const auto& [name, value] : *expected.as_map()) {
    double y = 0, reference = 0, rtol = 0;
    const Value* found = metrics.find(name);
    if (found == nullptr || !found->number(y)) return str(name, ": there is none");
    if (!value.number(reference)) {
      at(value, "ref").number(reference);
      at(value, "rtol").number(rtol);
    }
    if (!(std::abs(y - reference) <= rtol * std::abs(reference))) return str(name, ": is ", y, ", expected ", reference);
  }
  return "";
}

std::string run_case(const Value& one, const fs::path& models) {
  const Scratch scratch;
  const nn::Loaded<nn::Model> loaded = nn::load_model("", (models / *at(one, "checkpoint").as_text()).string());
  Seq2SeqTrainingArguments args = from_map<Seq2SeqTrainingArguments>(*at(one, "args").as_map());
  args.output_dir = scratch.path.string();
  args.disable_tqdm = true;
  const data::ListDataset rows = rows_of(at(one, "rows"));
  const int64_t pad = nn::generation_config_of(*loaded.model->config()).pad_token_id.value_or(0);
  TrainerOptions options{.eval_dataset = &rows, .data_collator = [pad](const std::vector<data::Example>& examples) { return collate(examples, pad); }};
  if (at(one, "compute_metrics") == Value(true))
    options.compute_metrics = [](const EvalPrediction& p) { return Metrics{{"rows", p.predictions.at(0).size(0)}}; };
  Seq2SeqTrainer trainer(*loaded.model, args, std::move(options));
  trainer.remove_callback<PrinterCallback>();
  const ValueMap& call = *at(one, "call_kwargs").as_map();
  const Value& expected = at(one, "expect");
  if (*at(one, "call").as_text() == "evaluate") return check_metrics(trainer.evaluate(call), at(expected, "metrics"));
  const PredictionOutput output = trainer.predict(rows, call);
  std::string wrong = difference_of("predictions", output.predictions.empty() ? Tensor() : output.predictions[0], at(expected, "predictions"));
  if (wrong.empty()) wrong = difference_of("label_ids", output.label_ids, at(expected, "label_ids"));
  if (wrong.empty()) wrong = check_metrics(output.metrics, at(expected, "metrics"));
  return wrong;
}

}  // namespace

void run_seq2seq(const fs::path& path, Report& report) {
  for (const fs::path& file : case_files(path, "seq2seq.json")) {
    const Value content = parse_json(read_file(file.string()), file.string());
    for (const Value& one : *at(content, "cases").as_list()) {
      const std::string id = *at(one, "id").as_text();
      if (!report.wants("seq2seq", id)) continue;
      std::string wrong;
      try {
        wrong = run_case(one, file.parent_path().parent_path() / "models");
      } catch (const Error& fault) {
        wrong = str("refused: ", fault.what());
      }
      if (wrong.empty()) report.pass(id);
      else report.fail(id, wrong);
    }
  }
}

}  // namespace rote::conformance
