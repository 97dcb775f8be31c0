#include "autograd/ops.h"
#include "nn/pretrained.h"
#include "trainer/data/dataset_file.h"
#include "trainer/data/image_rows.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/metrics.h"
#include "trainer/tasks/task.h"

namespace rote::tasks {

namespace {

data::ImageProcessor load_processor(const Sources& sources) {
  const ModelArguments& model = sources.model;
  const std::string name = !model.model_name_or_path.empty() ? model.model_name_or_path : sources.train.config_name.value_or("");
  return data::ImageProcessor::from_folder(nn::model_place(name, {.revision = model.model_revision, .cache_dir = model.cache_dir.value_or("")}), sources.config);
}

// The pictures of a folder or of a table, and the labels that they have.
struct Pictures {
  std::vector<data::LabelledFile> files;
  std::vector<std::string> labels;
};

std::optional<Pictures> pictures(const std::optional<std::string>& dir, const std::optional<std::string>& file, const DataArguments& data) {
  if (dir) {
    Pictures found{data::image_folder(*dir), {}};
    for (const data::LabelledFile& one : found.files)
      if (found.labels.empty() || found.labels.back() != one.label) found.labels.push_back(one.label);
    return found;
  }
  if (!file) return std::nullopt;
  const data::Table table = data::read_table(*file);
  return Pictures{data::image_table(table, data.image_column_name, data.label_column_name), data::label_set(table, data.label_column_name)};
}

// The first picture stands for all: what the processor makes of it must be what the model takes.
void check_size(const data::Dataset& rows, const nn::Config& config) {
  const data::Example first = rows.at(0);
  const Shape shape = data::find(first, "pixel_values")->shape;
  const std::optional<int64_t> size = config.limits().image_size;
  ROTE_CHECK(!size || (shape[1] == *size && shape[2] == *size), ArgumentError, "preprocessor_config.json: makes images of ", shape[2], "x", shape[1], " pixels but the model takes ",
             *size, "x", *size, "; its size must be that.");
}

Metrics accuracy_of(const EvalPrediction& prediction) {
  const Tensor predicted = argmax(prediction.predictions.at(0), -1), labels = contiguous(prediction.label_ids);
  const auto list = [](const Tensor& x) { return Labels(x.data<int64_t>(), x.data<int64_t>() + x.numel()); };
  return {{"accuracy", accuracy(list(predicted), list(labels))}};
}

// A picture a line, numbered, with the label of the greatest logit.
std::string labels_text(const EvalPrediction& prediction, const std::vector<std::string>& labels) {
  const Tensor classes = argmax(prediction.predictions.at(0), -1);
  std::string text = "index\tprediction\n";
  for (int64_t row = 0; row < classes.numel(); ++row) text += str(row, "\t", labels.at(static_cast<size_t>(classes.data<int64_t>()[row])), "\n");
  return text;
}

}  // namespace

Prepared image_classification(const Sources& sources) {
  const DataArguments& data = sources.data;
  const data::ImageProcessor processor = load_processor(sources);
  Prepared prepared{.processing_class = ProcessingClass(processor.files()), .data_collator = data::default_collate, .compute_metrics = accuracy_of, .metrics = {"accuracy"}};
  std::vector<std::string> labels = label_names(sources.config);
  if (const std::optional<Pictures> train = pictures(sources.train.train_dir, sources.train.train_file, data)) {
    labels = train->labels;
    ROTE_CHECK(labels.size() > 1, ArgumentError, sources.train.train_dir.value_or(sources.train.train_file.value_or("")), ": every picture has the label ", labels[0],
               "; a classifier needs two labels or more.");
    prepared.train_dataset = data::images(train->files, labels, processor);
    check_size(*prepared.train_dataset, sources.config);
  }
  if (const std::optional<Pictures> validation = pictures(sources.evaluation.validation_dir, sources.evaluation.validation_file, data)) {
    prepared.eval_dataset = data::images(validation->files, labels, processor);
    check_size(*prepared.eval_dataset, sources.config);
  }
  prepared.predictions_text = [labels](const EvalPrediction& prediction) { return labels_text(prediction, labels); };
  prepared.configure = [labels](nn::Config& config) {
    config.labels = labels;
    config.problem_type = "single_label_classification";
  };
  return prepared;
}

}  // namespace rote::tasks
