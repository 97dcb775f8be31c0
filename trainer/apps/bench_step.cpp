// trainer/apps/bench_step.cpp — times full training steps on random ids: forward, backward, AdamW. MiniLM's classifier, or GPT-2. One JSON line.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "autograd/backward.h"
#include "autograd/mode.h"
#include "kernels/pool.h"
#include "kernels/table.h"
#include "nn/models/bert_heads.h"
#include "nn/models/gpt2.h"
#include "optim/registry.h"
#include "tensor/alloc.h"
#include "tensor/generator.h"
#include "trainer/parser.h"

using namespace rote;
using Clock = std::chrono::steady_clock;

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = {"minilm", "gpt2"};
  return names;
}

struct BenchArguments {
  int64_t num_threads = 2, batch_size = 32, length = 64, steps = 6;
  std::string model = "minilm", optim_args;
  bool bf16 = false;
  static const ArgumentTable<BenchArguments>& table() {
    using A = BenchArguments;
    static const ArgumentTable<A> rows = {"arguments",
                                          {field(&A::num_threads, {.name = "num_threads", .help = "threads", .at_least = 1}),
                                           field(&A::batch_size, {.name = "batch_size", .help = "rows", .at_least = 1}),
                                           field(&A::length, {.name = "length", .help = "tokens of a row", .at_least = 1}),
                                           field(&A::model, {.name = "model", .help = "minilm or gpt2", .words = model_names}),
                                           field(&A::bf16, {.name = "bf16", .help = "matrix products and attention in bfloat16"}),
                                           field(&A::optim_args, {.name = "optim_args", .help = "of adamw_torch, as moments_dtype=bfloat16,split_master=true"}),
                                           field(&A::steps, {.name = "steps", .help = "timed steps after the first two", .at_least = 1})}};
    return rows;
  }
};

std::shared_ptr<nn::BertConfig> minilm() {
  auto config = std::make_shared<nn::BertConfig>();
  config->model_type = "bert";
  config->num_hidden_layers = 6;
  config->hidden_size = 384;
  config->num_attention_heads = 12;
  config->intermediate_size = 1536;
  config->problem_type = "single_label_classification";
  return config;
}

int main(int argc, char** argv) {
  return run_program([&] {
    const Clock::time_point begun = Clock::now();
    const auto seconds_since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
    const auto args = parse<BenchArguments>(argc, argv);
    set_num_threads(static_cast<int>(args.num_threads));
    manual_seed(0);
    const bool is_gpt2 = args.model == "gpt2";
    std::unique_ptr<nn::Model> made;
    if (is_gpt2) made = std::make_unique<nn::GPT2LMHeadModel>(std::make_shared<nn::GPT2Config>());
    else made = std::make_unique<nn::BertForSequenceClassification>(minilm());
    nn::Model& model = *made;
    const auto adamw = optim::make_optimizer("adamw_torch", {{.params = model.named_parameters(), .lr = 1e-4, .weight_decay = 0.01}}, {}, optim::parse_optim_args(args.optim_args));
    const int64_t B = args.batch_size, T = args.length;
    nn::Batch batch;
    batch.set("input_ids", arange(B * T));
    for (int64_t i = 0; i < B * T; ++i) batch.at("input_ids").data<int64_t>()[i] = i * 7919 % 30522;
    batch.set("input_ids", alias(batch.at("input_ids"), {B, T}, {T, 1}, 0));
    batch.set("attention_mask", full({B, T}, 1, {.dtype = DType::i64}));
    batch.set("labels", is_gpt2 ? batch.at("input_ids") : full({B}, 1, {.dtype = DType::i64}));
    model.train();
    const double start = seconds_since(begun);
    std::vector<double> times;
    double first = 0;
    for (int64_t step = 0; step < args.steps + 2; ++step) {
      const Clock::time_point at = Clock::now();
      adamw->zero_grad();
      {
        const RunScopeGuard scope({.seed = 0, .first_sample = static_cast<uint64_t>(step * B), .samples = B});
        Tensor loss;
        {
          const AutocastGuard precision(args.bf16 ? std::optional(DType::bf16) : std::nullopt);
          loss = model(batch).loss;
        }
        backward(loss);
      }
      fold_gradients(adamw->params());
      adamw->step();
      if (step == 0) first = seconds_since(begun);
      if (step >= 2) times.push_back(seconds_since(at));
    }
    std::sort(times.begin(), times.end());
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double tokens = static_cast<double>(B * T);
    std::printf("{\"bench\": \"train_step\", \"workload\": \"%s\", \"impl\": \"rote\", \"isa\": \"%s\", \"threads\": %lld, \"best_ms\": %.2f, \"median_ms\": %.2f, "
                "\"tok_s\": %.1f, \"start_s\": %.3f, \"first_step_s\": %.3f, \"peak_rss_mb\": %.1f, \"peak_tensors_mb\": %.1f}\n",
                args.model.c_str(), kernels<float>().isa, static_cast<long long>(args.num_threads), times.front() * 1e3, times[times.size() / 2] * 1e3, tokens / times.front(),
                start, first, static_cast<double>(usage.ru_maxrss) / 1024, static_cast<double>(memory_figures().peak) / (1 << 20));
    return 0;
  });
}
