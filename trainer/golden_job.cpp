// trainer/golden_job.cpp — the golden job: rows, model, updates. The published links: golden_links.cpp.
#include "trainer/golden_job.h"

#include <algorithm>
#include <memory>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "kernels/check.h"
#include "nn/models/gpt2.h"
#include "nn/state.h"
#include "optim/adamw.h"
#include "optim/clip.h"
#include "optim/grad_scaler.h"
#include "optim/schedule.h"
#include "tensor/generator.h"
#include "tensor/hash.h"

namespace rote {

namespace {

constexpr int64_t kVocab = 128, kPositions = 32, kRowsOfUpdate = 12, kIgnored = -100;
constexpr uint64_t kSeed = 42;
constexpr double kRate = 3e-3, kMaxNorm = 1.0;
constexpr double kScale = 0x1p16;  // of the loss in f16, but for one update, whose gradients overflow by it
constexpr double kForcedScale = 0x1p24;
constexpr int64_t kForcedStep = 7;  // among the ten that slow machines do

std::unique_ptr<nn::Model> golden_model() {
  auto config = std::make_shared<nn::GPT2Config>();
  config->vocab_size = kVocab, config->n_positions = kPositions;
  config->n_embd = 64, config->n_layer = 2, config->n_head = 4;
  config->bos_token_id = 0, config->eos_token_id = {0};
  manual_seed(kSeed);
  return std::make_unique<nn::GPT2LMHeadModel>(config);
}

// Row `row` of an endless file: 4 to 32 tokens, each three times the one before it plus one or two.
std::vector<int64_t> golden_row(int64_t row) {
  uint64_t state = static_cast<uint64_t>(row) + 1;
  const auto draw = [&state](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % below);
  };
  std::vector<int64_t> tokens(static_cast<size_t>(4 + draw(29)));
  tokens[0] = draw(kVocab);
  for (size_t i = 1; i < tokens.size(); ++i) tokens[i] = (3 * tokens[i - 1] + 1 + draw(2)) % kVocab;
  return tokens;
}

// Rows first … first+count-1, padded with 0 to the longest of them.
nn::Batch golden_batch(int64_t first, int64_t count) {
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(golden_row(first + i));
    longest = std::max(longest, rows.back().size());
  }
  std::vector<int64_t> ids, mask, labels;
  for (const std::vector<int64_t>& row : rows)
    for (size_t t = 0; t < longest; ++t) {
      const bool is_token = t < row.size();
      ids.push_back(is_token ? row[t] : 0);
      mask.push_back(is_token ? 1 : 0);
      labels.push_back(is_token ? row[t] : kIgnored);
    }
  const Shape shape{count, static_cast<int64_t>(longest)};
  nn::Batch batch;
  batch.set("input_ids", from_values(shape, ids));
  batch.set("attention_mask", from_values(shape, mask));
  batch.set("labels", from_values(shape, labels));
  return batch;
}

}  // namespace

std::vector<std::string> run_golden_job(const GoldenJob& job) {
  ROTE_CHECK(job.dtype == DType::f32 || job.dtype == DType::bf16 || job.dtype == DType::f16, ArgumentError, "golden job: ", name(job.dtype), " is not one of its dtypes; they are f32, bf16 and f16.");
  ROTE_CHECK(job.steps >= 0 && job.micro_batch > 0, ArgumentError, "golden job: ", job.steps, " steps in micro-batches of ", job.micro_batch,
             " rows; give at least 0 and 1.");
  const std::unique_ptr<nn::Model> model = golden_model();
  model->train();
  optim::AdamW optimizer(model->named_parameters(), {.lr = kRate, .weight_decay = 0.01});
  const optim::Schedule schedule = optim::Warmup(5).then(optim::linear(45));
  const std::vector<Tensor> leaves = model->parameters();
  optim::GradScaler scaler({.init_scale = kScale, .enabled = job.dtype == DType::f16});
  int64_t applied = 0;

  std::vector<std::string> links;
  for (int64_t step = 0; step < job.steps; ++step) {
    const int64_t begin = step * kRowsOfUpdate, end = begin + kRowsOfUpdate;
    nn::TargetCounts targets{0};  // of the whole update, by which each loss is divided
    for (int64_t row = begin; row < end; ++row) targets[0] += static_cast<int64_t>(golden_row(row).size()) - 1;
    if (step == kForcedStep) scaler.update(kForcedScale);
    if (step == kForcedStep + 1) scaler.update(kScale);
    for (int64_t first = begin; first < end; first += job.micro_batch) {
      const int64_t count = std::min(job.micro_batch, end - first);
      nn::Batch batch = golden_batch(first, count);
      batch.num_items = targets;
      const RunScopeGuard scope({.seed = kSeed, .first_sample = static_cast<uint64_t>(first), .samples = count});
      Tensor loss;
      {
        const AutocastGuard precision(job.dtype == DType::f32 ? std::nullopt : std::optional(job.dtype));
        loss = (*model)(batch).loss;
      }
      backward(scaler.scale(loss));
    }
    fold_gradients(leaves);
    optimizer.set_rates(schedule, applied);
    scaler.unscale_(optimizer);
    if (scaler.step(optimizer, {.max_norm = kMaxNorm, .norm = optim::global_norm(leaves)}) == optim::StepResult::applied) ++applied;
    scaler.update();
    optimizer.zero_grad();

    Sha256 link;
    if (!links.empty()) link.add(links.back());
    link.add(hash_tensors(nn::state_dict(*model)));
    links.push_back(link.hex());
  }
  return links;
}

std::optional<int64_t> first_difference(std::span<const std::string> links, std::span<const char* const> published) {
  for (size_t i = 0; i < links.size(); ++i)
    if (i >= published.size() || links[i] != published[i]) return static_cast<int64_t>(i) + 1;
  return {};
}

}  // namespace rote
