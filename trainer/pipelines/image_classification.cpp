// trainer/pipelines/image_classification.cpp — the classes of a picture, with their scores.
#include <algorithm>
#include <cmath>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "kernels/pool.h"
#include "nn/auto.h"
#include "trainer/data/collate.h"
#include "trainer/data/image_processor.h"
#include "trainer/pipelines/ranked_classes.h"
#include "trainer/pipelines/tasks.h"

namespace rote::pipelines {

namespace {

struct ImageModel {
  std::unique_ptr<nn::Model> model;
  data::ImageProcessor processor;
};

std::shared_ptr<const ImageModel> load_image_model(const PipelineOptions& options) {
  nn::PretrainedOptions where;
  where.revision = options.revision;
  where.cache_dir = options.cache_dir;
  nn::Loaded<nn::Model> loaded = nn::load_finetuned("image-classification", options.model, where);
  data::ImageProcessor processor = data::ImageProcessor::from_folder(nn::model_place(options.model, where), *loaded.model->config());
  return std::make_shared<ImageModel>(ImageModel{std::move(loaded.model), std::move(processor)});
}

data::Feature pixel_values(const ImageModel& m, const std::string& path) {
  const data::Image image = data::read_image(path, m.processor.colors());
  try {
    return m.processor.pixel_values(image);
  } catch (const ArgumentError& fault) {
    throw ArgumentError(str(path, ": ", fault.text));
  }
}

// The pictures from `first` on that share a batch: at most batch_size, all of one shape.
std::vector<data::Example> next_batch(const ImageModel& m, const std::vector<std::string>& paths, size_t first, int64_t batch_size) {
  std::vector<data::Example> batch;
  for (size_t at = first; at < paths.size() && static_cast<int64_t>(batch.size()) < batch_size; ++at) {
    data::Feature values = pixel_values(m, paths[at]);
    if (!batch.empty() && values.shape != batch[0][0].second.shape) break;
    batch.push_back({{"pixel_values", std::move(values)}});
  }
  return batch;
}

std::vector<Records> classify(const ImageModel& m, const PipelineOptions& options, const std::vector<std::string>& paths) {
  const NoGrad guard;
  std::vector<Records> all;
  while (all.size() < paths.size()) {
    const nn::Batch batch = data::default_collate(next_batch(m, paths, all.size(), options.batch_size));
    with_default_control([&] {
      const Tensor logits = (*m.model)(batch)["logits"];  // [B,L]
      for (int64_t row = 0; row < logits.size(0); ++row) {
        const Tensor one = contiguous(select(logits, 0, row));
        const float* x = one.data<float>();
        ROTE_CHECK(std::all_of(x, x + one.numel(), [](float v) { return std::isfinite(v); }), NonFiniteError, "non-finite: the output for ", paths[all.size()],
                   " holds Inf or NaN; the weights of ", options.model, " are damaged.");
        all.push_back(ranked_classes(one, *m.model->config(), options, /*otherwise=*/5));
      }
    });
  }
  return all;
}

}  // namespace

PipelineRun image_classification(const PipelineOptions& options) {
  return [options, m = load_image_model(options)](const std::vector<std::string>& paths) { return classify(*m, options, paths); };
}

}  // namespace rote::pipelines
