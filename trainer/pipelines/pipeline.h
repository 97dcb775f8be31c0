// trainer/pipelines/pipeline.h — from texts to answers in one call: a model, its tokenizer and what a task makes of the outputs, with the records
// of transformers' pipelines. One task a file beside this one; no training, and nothing is drawn.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"
#include "trainer/fields.h"

namespace rote {

enum class ScoreFunction { by_model, sigmoid, softmax, none };
inline WordList words_of(ScoreFunction) { return {"default", "sigmoid", "softmax", "none"}; }
enum class Aggregation { none, simple, first, average, max };
inline WordList words_of(Aggregation) { return {"none", "simple", "first", "average", "max"}; }

// What each means is in its row (pipeline.cpp), and which task takes it in the row of the task.
struct PipelineOptions {
  std::string model = {};      // a folder, a .gguf file, or a name in the hub's cache
  std::string tokenizer = {};  // empty: the model's
  std::string revision = "main", cache_dir = {};
  int64_t batch_size = 1;
  bool truncation = false;
  std::optional<int64_t> top_k = {};
  ScoreFunction function_to_apply = ScoreFunction::by_model;
  std::vector<std::string> targets = {};
  Aggregation aggregation_strategy = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};
  std::optional<int64_t> stride = {};
  int64_t max_new_tokens = 256;
  std::optional<int64_t> num_beams = {};
  bool return_full_text = true;

  static const ArgumentTable<PipelineOptions>& table();
};

// One answer. A task fills the fields that its records have; the names are the reference's.
struct Record {
  std::string label = {};           // text-classification, image-classification
  std::string entity = {};          // token-classification: the label of a token; of a group entity_group, which has no B- or I-
  double score = 0;                 // an f32
  int64_t index = 0;                // place in the row of tokens: of the token, or of the mask
  std::string word = {};            // token-classification
  int64_t start = 0, end = 0;       // of the word: code points [start, end) of the text
  int64_t token = 0;                // fill-mask, as the two below
  std::string token_str = {};
  std::string sequence = {};        // the text with that token in the mask's place
  std::string generated_text = {};  // text-generation, text2text-generation
  Tensor features = {};             // feature-extraction: f32 [T,C]
};
using Records = std::vector<Record>;
// Texts to the records of each, in order.
using PipelineRun = std::function<std::vector<Records>(const std::vector<std::string>& texts)>;

// A row of the list of tasks.
struct PipelineTask {
  const char* name;  // also that of its models (nn/auto.h)
  const char* about;
  std::vector<std::string> options;  // those that not every task has
  PipelineRun (*load)(const PipelineOptions& options);
  Value (*value)(const Records& records, const PipelineOptions& options);
  bool of_files = false;  // its texts are names of files
};
const std::vector<PipelineTask>& pipeline_tasks();

// auto pipe = pipeline("text-classification", {.model = "sentiment-minilm"});
// for (auto& r : pipe("This restaurant is awesome")) std::printf("%s %.16g\n", r.label.c_str(), r.score);
//
// The records of a text depend neither on the other texts of a call nor on batch_size: equally long rows share a batch, and none is padded.
class Pipeline {
 public:
  // Throws ArgumentError for a text that the model cannot take, quoting its beginning, and NonFiniteError where the model gives Inf or NaN.
  Records operator()(const std::string& text) const;
  // Of each text in order.
  std::vector<Records> operator()(const std::vector<std::string>& texts) const { return run_(texts); }
  std::vector<Records> operator()(std::initializer_list<std::string> texts) const { return run_(texts); }
  // The records of one text as the reference's pipeline returns them for it.
  Value value(const Records& records) const;
  const PipelineTask& task() const { return *task_; }

 private:
  friend Pipeline pipeline(const std::string& task, const PipelineOptions& options);
  Pipeline(const PipelineTask& task, PipelineOptions options);

  const PipelineTask* task_;
  PipelineOptions options_;
  PipelineRun run_;
};

// Throws ArgumentError for a task that is not built, for an option that the task does not take, where options.model is empty, and for a model
// that was not trained for the task; what from_pretrained and Tokenizer::from_folder throw.
Pipeline pipeline(const std::string& task, const PipelineOptions& options);

}  // namespace rote
