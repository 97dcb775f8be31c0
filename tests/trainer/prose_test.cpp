// tests/trainer/prose_test.cpp — what the documents of the reference say in words only, and users forget. What they say of arguments, of early
// stopping, of checkpoints, of outputs and of single heads is tested where these are.
#include <doctest/doctest.h>

#include <set>

#include "autograd/backward.h"
#include "autograd/ops.h"
#include "nn/loss.h"
#include "optim/schedule.h"
#include "tests/nn/small_families.h"
#include "tests/trainer/small_run.h"

namespace rote::testing {

namespace {

// BERT's classifier on one row of ids; `more` are further inputs.
std::string logits_hash(const std::vector<std::pair<std::string, Tensor>>& more) {
  const auto model = small_classifier();
  model->eval();
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 4}, std::vector<int64_t>{3, 7, 9, 2}));
  for (const auto& [name, tensor] : more) batch.set(name, tensor);
  return hash_tensor("logits", (*model)(batch).logits);
}

}  // namespace

TEST_CASE("prose: input_ids alone will do; absent positions count from 0, an absent mask is all ones, absent types are 0") {
  const std::string plain = logits_hash({});
  CHECK(logits_hash({{"position_ids", reshape(arange(4), {1, 4})}}) == plain);
  CHECK(logits_hash({{"attention_mask", full({1, 4}, 1, {.dtype = DType::i64})}}) == plain);
  CHECK(logits_hash({{"token_type_ids", full({1, 4}, 0, {.dtype = DType::i64})}}) == plain);
  CHECK(logits_hash({{"position_ids", reshape(arange(4) + 1, {1, 4})}}) != plain);
  CHECK(logits_hash({{"token_type_ids", full({1, 4}, 1, {.dtype = DType::i64})}}) != plain);
  CHECK_THROWS_AS(logits_hash({{"position_ids", reshape(arange(4) + 37, {1, 4})}}), Error);  // 40 positions: 0 to 39
}

TEST_CASE("prose: bare models take no labels; with labels the loss comes first, without them the logits") {
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 4}, std::vector<int64_t>{3, 7, 9, 2}));
  batch.set("labels", from_values({1}, std::vector<int64_t>{2}));
  manual_seed(1);
  nn::BertModel bare(small_bert());
  CHECK(bare.signature().label_names().empty());
  CHECK(bare(batch).fields()[0].name == "last_hidden_state");
  const auto model = small_classifier();
  model->eval();
  CHECK((*model)(batch).fields()[0].name == "loss");
  CHECK((*model)(batch).fields()[1].name == "logits");
  const double loss = (*model)(batch).loss.item();
  batch.set("labels", from_values({1, 1}, std::vector<int64_t>{2}));  // an axis of one more
  CHECK((*model)(batch).loss.item() == loss);
  std::erase_if(batch.entries, [](const auto& entry) { return entry.first == "labels"; });
  CHECK((*model)(batch).fields()[0].name == "logits");
}

TEST_CASE("prose: the printed loss is the cross entropy of the printed logits, the printed score the softmax of a gap of 8.982") {
  const Tensor logits = from_values({1, 2}, std::vector<double>{-0.0658, 0.5650});
  CHECK(cross_entropy(logits, from_values({1}, std::vector<int64_t>{1})).item() == doctest::Approx(0.4267).epsilon(1e-4));
  CHECK(contiguous(softmax(from_values({2}, std::vector<double>{8.982, 0}))).data<double>()[0] == doctest::Approx(0.9998743534).epsilon(1e-7));
}

TEST_CASE("prose: the argument resume_from_checkpoint is for scripts, train() goes by its own") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.resume_from_checkpoint = "nowhere";
  SmallRun run(args, {.rows = 4});
  CHECK(run.train().global_step == 2);
  CHECK_THROWS_AS(run.train("nowhere"), Error);
}

struct WithText : TrainerCallback {
  explicit WithText(std::string) {}
};
template <class C>
concept AddedAsClass = requires(Trainer& trainer) { trainer.add_callback<C>(); };

TEST_CASE("prose: a callback is given as its class only where it is made of nothing") {
  CHECK(AddedAsClass<EarlyStoppingCallback>);
  CHECK_FALSE(AddedAsClass<WithText>);
}

TEST_CASE("prose: logs are there on_log alone, metrics on_evaluate and on_predict alone; state and arguments can be read only") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.logging_strategy = args.eval_strategy = IntervalStrategy::epoch;
  args.save_strategy = SaveStrategy::epoch;
  SmallRun run(args);
  std::set<std::string> with_logs, with_metrics;
  const std::vector<std::string> names = words_of(Event{});
  for (size_t i = 0; i < names.size(); ++i)
    run.trainer->on(static_cast<Event>(i), [&, name = names[i]](const CallbackContext& context, TrainerControl&) {
      static_assert(std::is_const_v<std::remove_reference_t<decltype(context.state)>> && std::is_const_v<std::remove_reference_t<decltype(context.args)>>);
      if (context.logs) with_logs.insert(name);
      if (context.metrics) with_metrics.insert(name);
    });
  run.train();
  run.trainer->predict(run.eval_rows);
  CHECK(with_logs == std::set<std::string>{"log"});
  CHECK(with_metrics == std::set<std::string>{"evaluate", "predict"});
}

TEST_CASE("prose: on_pre_optimizer_step sees old weights, on_optimizer_step new ones with their gradients, on_step_end none") {
  const TempFolder folder;
  SmallRun run(quiet_args(folder.path()), {.rows = 2});
  std::string trace;
  const std::string before = run.hash();
  for (const Event event : {Event::pre_optimizer_step, Event::optimizer_step, Event::step_end})
    run.trainer->on(event, [&](const CallbackContext& context, TrainerControl&) {
      const Tensor grad = context.model->parameters()[0].grad();
      trace += str(run.hash() == before ? "old" : "new", grad.defined() ? " with gradients; " : " without; ");
    });
  run.train();
  CHECK(trace == "old with gradients; new with gradients; new without; ");
}

TEST_CASE("prose: a fractional epoch stops inside the last one, and saves at its end") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.num_train_epochs = 1.5;
  args.save_strategy = SaveStrategy::epoch;
  SmallRun run(args, {.rows = 8});
  run.train();
  CHECK(run.trainer->state().global_step == 6);
  CHECK(run.trainer->state().epoch == 1.5);
  CHECK(std::filesystem::exists(folder.file("checkpoint-4")));
  CHECK(std::filesystem::exists(folder.file("checkpoint-6")));
}

TEST_CASE("prose: five folders of a limit are the last four and the best") {
  const TempFolder folder;
  TrainingArguments args = quiet_args(folder.path());
  args.max_steps = 8;
  args.eval_strategy = IntervalStrategy::steps;
  args.save_strategy = SaveStrategy::steps;
  args.eval_steps = 1;
  args.save_steps = 1;
  args.save_total_limit = 5;
  args.load_best_model_at_end = true;
  args.metric_for_best_model = "score";
  TrainerOptions options;
  options.compute_metrics = [n = 0.0](const EvalPrediction&) mutable { return Metrics{{"score", n++ == 1 ? 9.0 : n}}; };  // the second is the best but for none
  SmallRunOptions small;
  small.trainer = std::move(options);
  SmallRun run(args, std::move(small));
  run.train();
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.insert(entry.path().filename().string());
  CHECK(names == std::set<std::string>{"checkpoint-2", "checkpoint-5", "checkpoint-6", "checkpoint-7", "checkpoint-8"});
  CHECK(run.trainer->state().best_global_step == 2);
}

TEST_CASE("prose: an annealed rate only falls, one with warm-up or restarts rises again") {
  const auto rises = [](const optim::Schedule& schedule) {
    bool rose = false;
    for (int64_t step = 1; step <= 20; ++step) rose = rose || schedule.factor(step) > schedule.factor(step - 1);
    return rose;
  };
  CHECK_FALSE(rises(optim::linear(20)));
  CHECK_FALSE(rises(optim::cosine(20)));
  CHECK_FALSE(rises(optim::polynomial(20, {.power = 2})));
  CHECK_FALSE(rises(optim::inverse_sqrt(5)));
  CHECK(rises(optim::warmup(5).then(optim::linear(15))));
  CHECK(rises(optim::cosine_with_restarts(20, 2)));
}

TEST_CASE("prose: the parameters of real families that do not decay") {
  struct Row {
    const char* family;
    std::vector<std::string> decay, no_decay;
  };
  const Row rows[] = {
      {"bert", {"bert.embeddings.word_embeddings.weight", "bert.embeddings.position_embeddings.weight", "bert.encoder.layer.0.attention.self.query.weight"},
       {"bert.embeddings.LayerNorm.weight", "bert.encoder.layer.0.attention.self.query.bias", "cls.predictions.bias"}},
      {"gpt2", {"transformer.wte.weight", "transformer.h.0.attn.c_attn.weight"}, {"transformer.h.0.ln_1.weight", "transformer.ln_f.weight", "transformer.h.0.ln_2.bias"}},
      {"t5", {"shared.weight", "encoder.block.0.layer.0.SelfAttention.q.weight"},
       {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "encoder.block.0.layer.0.layer_norm.weight", "encoder.final_layer_norm.weight"}},
      {"llama", {"model.embed_tokens.weight", "lm_head.weight"}, {"model.layers.0.input_layernorm.weight", "model.norm.weight"}},
      {"qwen3", {"model.layers.0.self_attn.q_proj.weight"}, {"model.layers.0.self_attn.q_norm.weight", "model.layers.0.self_attn.k_norm.weight"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.family);
    const auto family = std::find_if(small_families().begin(), small_families().end(), [&](const SmallFamily& one) { return one.name == row.family; });
    REQUIRE(family != small_families().end());
    const auto model = small_model(*family, 1);
    const std::vector<optim::Group> groups = decay_groups(*model, 1, 0.1);
    std::set<std::string> names[2];
    for (size_t i = 0; i < 2; ++i)
      for (const auto& [name, param] : groups[i].params) names[i].insert(name);
    for (const std::string& name : row.decay) CHECK_MESSAGE(names[0].count(name) == 1, name);
    for (const std::string& name : row.no_decay) CHECK_MESSAGE(names[1].count(name) == 1, name);
    CHECK(names[0].size() + names[1].size() == model->named_parameters().size());
  }
}

}  // namespace rote::testing
