#include "trainer/pipelines/pipeline.h"

#include <algorithm>

#include "trainer/pipelines/tasks.h"

namespace rote {

const std::vector<PipelineTask>& pipeline_tasks() {
  namespace p = pipelines;
  static const std::vector<PipelineTask> tasks = {
      {"text-classification", "the class of a text", {"truncation", "top_k", "function_to_apply"}, p::text_classification, p::classes_value},
      {"token-classification", "the class of each token, or of each group of them", {"aggregation_strategy", "ignore_labels", "stride"}, p::token_classification,
       p::token_classification_value},
      {"fill-mask", "words for the mask tokens of a text", {"truncation", "top_k", "targets"}, p::fill_mask, p::fill_mask_value},
      {"feature-extraction", "the last hidden state of each token", {"truncation"}, p::feature_extraction, p::feature_extraction_value},
      {"image-classification", "the classes of a picture, each TEXT its file", {"top_k", "function_to_apply"}, p::image_classification, p::classes_value, /*of_files=*/true},
      {"text-generation", "a text and what the model writes after it", {"max_new_tokens", "num_beams", "return_full_text"}, p::text_generation, p::text_generation_value},
      {"text2text-generation", "what a model of texts and targets makes of a text", {"truncation", "max_new_tokens", "num_beams"}, p::text2text_generation, p::text_generation_value},
  };
  return tasks;
}

const ArgumentTable<PipelineOptions>& PipelineOptions::table() {
  using P = PipelineOptions;
  static const ArgumentTable<P> rows = {
      "pipeline",
      {
          field(&P::model, {.name = "model", .help = "folder, .gguf file, or name in the hub's cache", .aliases = {"model_name_or_path"}, .required = true}),
          field(&P::tokenizer, {.name = "tokenizer", .help = "the same of another tokenizer than the model's"}),
          field(&P::revision, {.name = "revision", .help = "branch, tag or commit of a model of the hub's cache"}),
          field(&P::cache_dir, {.name = "cache_dir", .help = "the hub's cache; empty: as HF_HUB_CACHE or HF_HOME say"}),
          field(&P::batch_size,
                {.name = "batch_size", .help = "equally long rows that are computed together; results are the same with any", .unit = "rows", .at_least = 1, .below = 1 << 20}),
          field(&P::truncation, {.name = "truncation", .help = "cuts texts that are too long for the model; token-classification always does"}),
          field(&P::top_k, {.name = "top_k", .help = "answers of a text, 0 for all; not given: 1 of text-classification, else 5", .at_least = 0}),
          field(&P::function_to_apply, {.name = "function_to_apply", .help = "of logits to scores; default: as the model's problem_type and number of labels ask"}),
          field(&P::targets, {.name = "targets", .help = "words among which fill-mask chooses; one that is no token stands for its first piece"}),
          field(&P::aggregation_strategy, {.name = "aggregation_strategy", .help = "how tokens become groups; first, average and max: each word has one class"}),
          field(&P::ignore_labels, {.name = "ignore_labels", .help = "labels whose tokens or groups are left out"}),
          field(&P::stride, {.name = "stride", .help = "takes long texts in pieces that share so many tokens, in place of cutting them", .unit = "tokens", .at_least = 0}),
          field(&P::max_new_tokens, {.name = "max_new_tokens", .help = "what is written at most", .unit = "tokens", .at_least = 1}),
          field(&P::num_beams, {.name = "num_beams", .help = "beams that are followed at once; not given: as generation_config.json says", .at_least = 1}),
          field(&P::return_full_text, {.name = "return_full_text", .help = "puts the given text in front of what was written"}),
      },
  };
  return rows;
}

namespace {

const PipelineTask& find_task(const std::string& name) {
  std::vector<std::string> known;
  std::string all;
  for (const PipelineTask& task : pipeline_tasks()) {
    if (task.name == name) return task;
    known.emplace_back(task.name);
    all += str(all.empty() ? "" : ", ", task.name);
  }
  const std::string near = nearest(name, known.data(), static_cast<int64_t>(known.size()));
  throw ArgumentError(str("pipeline: there is no task \"", name, "\"; ", near.empty() ? "choose one of " : "did you mean " + near + "? The tasks are ", all, "."));
}

bool has(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// An option that some tasks take and this one does not must be as it is by itself.
void check_options(const PipelineTask& task, const PipelineOptions& options) {
  const ValueMap given = to_map(options), plain = to_map(PipelineOptions());
  for (const auto& [name, value] : given) {
    if (value == *plain.find(name) || has(task.options, name)) continue;
    std::string takers;
    for (const PipelineTask& other : pipeline_tasks())
      if (has(other.options, name)) takers += str(takers.empty() ? "" : ", ", other.name);
    ROTE_CHECK(takers.empty(), ArgumentError, "--", name, ": ", task.name, " does not take it; it is for ", takers, ".");
  }
}

}  // namespace

Pipeline pipeline(const std::string& task, const PipelineOptions& options) {
  const PipelineTask& found = find_task(task);
  ROTE_CHECK(!options.model.empty(), ArgumentError, "pipeline: no model; give the folder of one that was trained for ", task, ".");
  check_options(found, options);
  return Pipeline(found, resolved(options));
}

Pipeline::Pipeline(const PipelineTask& task, PipelineOptions options) : task_(&task), options_(std::move(options)), run_(task.load(options_)) {}

Records Pipeline::operator()(const std::string& text) const { return std::move(run_({text})[0]); }

Value Pipeline::value(const Records& records) const { return task_->value(records, options_); }

}  // namespace rote
