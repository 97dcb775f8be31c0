// tests/nn/bert_test.cpp — BERT: names, first values, and properties that hold for any weights. Values against the reference: bert_cases_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "autograd/ops.h"
#include "nn/models/bert_heads.h"
#include "tensor/generator.h"
#include "tensor/hash.h"
#include "tests/nn/small_bert.h"
#include "tests/support/compare.h"

using namespace rote;
using rote::testing::near;
using rote::testing::small_bert;

namespace {

Tensor ids(int64_t B, int64_t T, int64_t start = 1) {
  Tensor x = empty({B, T}, {.dtype = DType::i64});
  for (int64_t i = 0; i < B * T; ++i) x.data<int64_t>()[i] = 1 + (start + i * 7) % 30;
  return x;
}

// mask [B,T] with ones in [first, last).
Tensor mask(int64_t T, const std::vector<std::pair<int64_t, int64_t>>& kept) {
  const Tensor m = zeros({static_cast<int64_t>(kept.size()), T}, {.dtype = DType::i64});
  for (size_t b = 0; b < kept.size(); ++b)
    for (int64_t t = kept[b].first; t < kept[b].second; ++t) m.data<int64_t>()[static_cast<int64_t>(b) * T + t] = 1;
  return m;
}

nn::Batch batch(std::initializer_list<std::pair<std::string, Tensor>> entries) {
  nn::Batch in;
  in.entries = entries;
  return in;
}

// Weights that are far from the tiny ones of a fresh model, so that every part of it shows in the output.
template <class M>
std::unique_ptr<M> lively(uint64_t seed, const std::function<void(nn::BertConfig&)>& change = {}) {
  manual_seed(seed);
  auto config = small_bert();
  config->initializer_range = 0.4;
  if (change) change(*config);
  auto model = std::make_unique<M>(config);
  model->eval();
  return model;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() && rote::testing::first_bit_difference(x.numel(), x.data<float>(), y.data<float>()) < 0;
}

void check_near(const Tensor& a, const Tensor& b, double tolerance) {
  REQUIRE(a.shape() == b.shape());
  const Tensor x = contiguous(a), y = contiguous(b);
  for (int64_t i = 0; i < x.numel(); ++i) {
    CAPTURE(i);
    CHECK(near(x.data<float>()[i], y.data<float>()[i], tolerance, tolerance));
  }
}

Tensor row(const Tensor& x, int64_t b) { return contiguous(slice(x, 0, b, b + 1)); }

}  // namespace

TEST_CASE("bert: modules and their classes are the reference's") {
  auto config = small_bert();
  config->num_hidden_layers = 1;
  config->hidden_act = "silu";
  nn::BertForMaskedLM model(config);
  std::string tree;
  for (const nn::NamedModule& one : model.named_modules()) tree += one.name + " " + one.module->class_name() + "\n";
  // named_modules() of transformers 5.24.0 for this config.
  CHECK(tree == R"( BertForMaskedLM
bert BertModel
bert.embeddings BertEmbeddings
bert.embeddings.word_embeddings Embedding
bert.embeddings.position_embeddings Embedding
bert.embeddings.token_type_embeddings Embedding
bert.embeddings.LayerNorm LayerNorm
bert.embeddings.dropout Dropout
bert.encoder BertEncoder
bert.encoder.layer ModuleList
bert.encoder.layer.0 BertLayer
bert.encoder.layer.0.attention BertAttention
bert.encoder.layer.0.attention.self BertSelfAttention
bert.encoder.layer.0.attention.self.query Linear
bert.encoder.layer.0.attention.self.key Linear
bert.encoder.layer.0.attention.self.value Linear
bert.encoder.layer.0.attention.self.dropout Dropout
bert.encoder.layer.0.attention.output BertSelfOutput
bert.encoder.layer.0.attention.output.dense Linear
bert.encoder.layer.0.attention.output.LayerNorm LayerNorm
bert.encoder.layer.0.attention.output.dropout Dropout
bert.encoder.layer.0.intermediate BertIntermediate
bert.encoder.layer.0.intermediate.dense Linear
bert.encoder.layer.0.intermediate.intermediate_act_fn SiLUActivation
bert.encoder.layer.0.output BertOutput
bert.encoder.layer.0.output.dense Linear
bert.encoder.layer.0.output.LayerNorm LayerNorm
bert.encoder.layer.0.output.dropout Dropout
cls BertOnlyMLMHead
cls.predictions BertLMPredictionHead
cls.predictions.transform BertPredictionHeadTransform
cls.predictions.transform.dense Linear
cls.predictions.transform.transform_act_fn SiLUActivation
cls.predictions.transform.LayerNorm LayerNorm
cls.predictions.decoder Linear
)");
  CHECK(model.named_buffers()[0].first == "bert.embeddings.position_ids");
  CHECK(model.named_buffers()[1].first == "bert.embeddings.token_type_ids");
  const nn::NamedTensors named = model.named_parameters();
  CHECK(named[5].first == "bert.encoder.layer.0.attention.self.query.weight");
  CHECK(named[named.size() - 5].first == "cls.predictions.bias");
  CHECK(named.back().first == "cls.predictions.transform.LayerNorm.bias");
}

TEST_CASE("bert: first values follow from seed and name alone, and are the reference's distribution") {
  const auto wide = [](nn::BertConfig& c) { c.vocab_size = 3000, c.initializer_range = 0.02; };
  const auto a = lively<nn::BertForSequenceClassification>(11, wide);
  ids(1, 1);
  manual_seed(11);
  next_user_draw();  // another draw before it changes nothing
  auto config = small_bert();
  wide(*config);
  const nn::BertForTokenClassification b(config);
  CHECK(same_bits(a->bert.embeddings.word_embeddings.weight, b.bert.embeddings.word_embeddings.weight));
  CHECK(same_bits(a->bert.encoder.layer[1].output.dense.weight, const_cast<nn::BertForTokenClassification&>(b).bert.encoder.layer[1].output.dense.weight));
  const auto c = lively<nn::BertForSequenceClassification>(12, wide);
  CHECK_FALSE(same_bits(a->classifier.weight, c->classifier.weight));
  const Tensor w = a->bert.embeddings.word_embeddings.weight;
  double sum = 0, square = 0;
  for (int64_t i = 12; i < w.numel(); ++i) sum += w.data<float>()[i], square += std::pow(w.data<float>()[i], 2);
  const double n = static_cast<double>(w.numel() - 12);
  CHECK(std::abs(sum / n) < 5 * 0.02 / std::sqrt(n));       // five deviations of a mean
  CHECK(near(square / n, 0.0004, 5 * std::sqrt(2 / n)));    // and of a variance
  for (int64_t i = 0; i < 12; ++i) CHECK(w.data<float>()[i] == 0);
  CHECK(same_bits(a->classifier.bias, zeros({2})));
  CHECK(same_bits(a->bert.embeddings.norm.weight, full({12}, 1)));
  CHECK(same_bits(a->bert.embeddings.norm.bias, zeros({12})));
}

TEST_CASE("bert: attention with and without its probabilities agrees, gradients too") {
  const auto model = lively<nn::BertForTokenClassification>(1);
  nn::Batch in = batch({{"input_ids", ids(3, 9)},
                        {"attention_mask", mask(9, {{0, 9}, {0, 4}, {3, 9}})},
                        {"token_type_ids", mask(9, {{4, 9}, {2, 9}, {0, 1}})},
                        {"labels", mask(9, {{0, 5}, {1, 3}, {3, 4}})}});
  const nn::ModelOutput fused = model->forward(in);
  CHECK(fused.attentions.empty());
  backward(fused.loss);
  std::vector<Tensor> grads;
  for (const Tensor& p : model->parameters()) grads.push_back(p.grad());
  model->zero_grad();
  in.output_attentions = true;
  const nn::ModelOutput plain = (*model)(in);
  backward(plain.loss);
  // Two orders of the same sums: a few hundred roundings of 2^-24 at values around 1.
  check_near(fused.logits, plain.logits, 2e-5);
  const std::vector<Tensor> parameters = model->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) check_near(grads[i], parameters[i].grad(), 2e-5);
  REQUIRE(plain.attentions.size() == 2);
  const Tensor p = plain.attentions[1];  // [3,3,9,9]
  for (int64_t i = 0; i < 3 * 3 * 9; ++i) {
    const int64_t b = i / 27;
    double sum = 0;
    for (int64_t s = 0; s < 9; ++s) {
      const float value = p.data<float>()[i * 9 + s];
      const bool kept = in["attention_mask"].data<int64_t>()[b * 9 + s] != 0;
      CHECK((kept || value == 0));
      sum += value;
    }
    CHECK(near(sum, 1, 1e-6));
  }
}

TEST_CASE("bert: a row gives the same bits alone, in a batch, and with padding at its right") {
  const auto model = lively<nn::BertForSequenceClassification>(2);
  const Tensor x = ids(3, 12), m = mask(12, {{0, 12}, {0, 5}, {0, 8}});
  const Tensor all = (*model)(batch({{"input_ids", x}, {"attention_mask", m}})).logits;
  for (int64_t b = 0; b < 3; ++b) {
    CAPTURE(b);
    const int64_t n = b == 0 ? 12 : b == 1 ? 5 : 8;
    const Tensor alone = (*model)(batch({{"input_ids", contiguous(slice(row(x, b), 1, 0, n))}})).logits;
    CHECK(same_bits(alone, row(all, b)));
  }
}

TEST_CASE("bert: left padding with position_ids that start after it changes no bit of a token") {
  const auto model = lively<nn::BertForTokenClassification>(2);
  const Tensor x = ids(1, 5);
  const Tensor short_row = (*model)(batch({{"input_ids", x}})).logits;
  const Tensor padded = zeros({1, 9}, {.dtype = DType::i64}), places = zeros({1, 9}, {.dtype = DType::i64});
  for (int64_t t = 0; t < 5; ++t) padded.data<int64_t>()[4 + t] = x.data<int64_t>()[t], places.data<int64_t>()[4 + t] = t;
  const Tensor long_row = (*model)(batch({{"input_ids", padded}, {"attention_mask", mask(9, {{4, 9}})}, {"position_ids", places}})).logits;
  CHECK(same_bits(slice(long_row, 1, 4, 9), short_row));
}

TEST_CASE("bert: a row without any key is finite and harms no neighbour") {
  const auto model = lively<nn::BertForTokenClassification>(3);
  const Tensor x = ids(2, 6);
  for (const bool with : {false, true}) {
    nn::Batch in = batch({{"input_ids", x}, {"attention_mask", mask(6, {{0, 6}, {0, 0}})}});
    in.output_attentions = with;
    const Tensor logits = (*model)(in).logits;
    for (int64_t i = 0; i < logits.numel(); ++i) CHECK(std::isfinite(logits.data<float>()[i]));
    nn::Batch alone = batch({{"input_ids", row(x, 0)}});
    alone.output_attentions = with;
    CHECK(same_bits(row(logits, 0), (*model)(alone).logits));
  }
}

TEST_CASE("bert: the feed-forward part in chunks gives the bits of the whole") {
  const auto whole = lively<nn::BertModel>(4);
  const auto cut = lively<nn::BertModel>(4, [](nn::BertConfig& c) { c.chunk_size_feed_forward = 3; });
  const nn::Batch in = batch({{"input_ids", ids(2, 9)}});
  CHECK(same_bits((*whole)(in).last_hidden_state, (*cut)(in).last_hidden_state));
  CHECK_THROWS_AS((*cut)(batch({{"input_ids", ids(2, 8)}})), ShapeError);
}

TEST_CASE("bert: dropout is off in eval, and in training follows from the run's seed and samples") {
  const auto model = lively<nn::BertForSequenceClassification>(5);
  const nn::Batch in = batch({{"input_ids", ids(4, 6)}});
  const Tensor calm = (*model)(in).logits;
  model->train();
  const auto drawn = [&](uint64_t seed, uint64_t first, const nn::Batch& rows, int64_t n) {
    const RunScopeGuard scope({.seed = seed, .first_sample = first, .samples = n});
    return (*model)(rows).logits;
  };
  const Tensor once = drawn(1, 0, in, 4);
  CHECK_FALSE(same_bits(once, calm));
  CHECK(same_bits(drawn(1, 0, in, 4), once));
  CHECK_FALSE(same_bits(drawn(2, 0, in, 4), once));
  // The third sample drops the same elements in a micro-batch of its own.
  CHECK(same_bits(drawn(1, 2, batch({{"input_ids", row(in["input_ids"], 2)}}), 1), row(once, 2)));
}

TEST_CASE("bert: for every head micro-batches of a window add up to the full batch") {
  const Tensor x = ids(4, 6), m = mask(6, {{0, 6}, {0, 4}, {0, 6}, {0, 3}});
  const auto check = [&](nn::Model& model, const std::vector<std::pair<std::string, Tensor>>& inputs) {
    nn::Batch all;
    all.entries = inputs;
    const double whole = model(all).loss.item();
    const nn::TargetCounts window = nn::count_targets(model.signature(), all);
    double sum = 0;
    for (int64_t b = 0; b < 4; ++b) {
      nn::Batch part;
      for (const auto& [name, tensor] : inputs) part.set(name, row(tensor, b));
      part.num_items = window;
      sum += model(part).loss.item();
    }
    CHECK(near(sum, whole, 1e-6));
  };
  const Tensor rows = from_values({4}, std::vector<int64_t>{1, 0, -100, 1}), tokens = mask(6, {{0, 1}, {2, 4}, {1, 6}, {0, 0}});
  Tensor some = clone(tokens);
  for (int64_t i = 0; i < some.numel(); i += 2) some.data<int64_t>()[i] = -100;
  const Tensor floats = from_values({4, 2}, std::vector<float>{0, 1, 1, 1, 0.5f, 0, 0, 1});
  check(*lively<nn::BertForSequenceClassification>(6), {{"input_ids", x}, {"attention_mask", m}, {"labels", rows}});
  check(*lively<nn::BertForSequenceClassification>(6), {{"input_ids", x}, {"attention_mask", m}, {"labels", floats}});
  check(*lively<nn::BertForSequenceClassification>(6, [](nn::BertConfig& c) { c.problem_type = "regression"; }), {{"input_ids", x}, {"labels", floats}});
  check(*lively<nn::BertForTokenClassification>(6), {{"input_ids", x}, {"attention_mask", m}, {"labels", some}});
  check(*lively<nn::BertForMaskedLM>(6), {{"input_ids", x}, {"attention_mask", m}, {"labels", some}});
  check(*lively<nn::BertForNextSentencePrediction>(6), {{"input_ids", x}, {"attention_mask", m}, {"labels", rows}});
  check(*lively<nn::BertForMultipleChoice>(6), {{"input_ids", reshape(ids(8, 6), {4, 2, 6})}, {"labels", rows}});
  check(*lively<nn::BertForQuestionAnswering>(6), {{"input_ids", x},
                                                   {"start_positions", from_values({4}, std::vector<int64_t>{0, 9, 2, 3})},
                                                   {"end_positions", from_values({4}, std::vector<int64_t>{3, 1, 6, 5})}});
}

TEST_CASE("bert: outputs come in the order that the signature declares") {
  const auto check = [](nn::Model& model, nn::Batch in) {
    in.output_attentions = in.output_hidden_states = true;
    std::vector<std::string> given;
    for (const nn::ModelOutput::Field& field : model(in).fields()) given.push_back(field.name);
    CHECK(given == model.signature().output_names());
  };
  const Tensor x = ids(2, 4), rows = from_values({2}, std::vector<int64_t>{1, 0});
  check(*lively<nn::BertModel>(1), batch({{"input_ids", x}}));
  check(*lively<nn::BertForSequenceClassification>(1), batch({{"input_ids", x}, {"labels", rows}}));
  check(*lively<nn::BertForTokenClassification>(1), batch({{"input_ids", x}, {"labels", zeros({2, 4}, {.dtype = DType::i64})}}));
  check(*lively<nn::BertForMaskedLM>(1), batch({{"input_ids", x}, {"labels", x}}));
  check(*lively<nn::BertForNextSentencePrediction>(1), batch({{"input_ids", x}, {"labels", rows}}));
  check(*lively<nn::BertForMultipleChoice>(1), batch({{"input_ids", reshape(ids(4, 4), {2, 2, 4})}, {"labels", rows}}));
  check(*lively<nn::BertForQuestionAnswering>(1), batch({{"input_ids", x}, {"start_positions", rows}, {"end_positions", rows}}));
}

TEST_CASE("bert: inputs that do not fit are refused with both shapes") {
  const auto model = lively<nn::BertForSequenceClassification>(1);
  const auto text_of = [&](const nn::Batch& in) {
    try {
      (*model)(in);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(text_of(batch({{"input_ids", ids(2, 4)}, {"attention_mask", mask(3, {{0, 3}, {0, 3}})}})) ==
        "BertForSequenceClassification: attention_mask is i64[2,3] but input_ids is i64[2,4]; attention_mask must be [2,4].");
  CHECK(text_of(batch({{"attention_mask", mask(3, {{0, 3}})}})) == "BertForSequenceClassification: input_ids is none; it must be a tensor.");
  CHECK(text_of(batch({{"input_ids", ids(1, 41)}})) ==
        "BertEmbeddings: input_ids is i64[1,41] but max_position_embeddings is 40; shorten the rows to 40.");
  CHECK(text_of(batch({{"input_ids", ids(2, 4)}, {"labels", from_values({2}, std::vector<int64_t>{0, 2})}})).find("label 2 at element 1") != std::string::npos);
  CHECK(text_of(batch({{"input_ids", ids(2, 4)}, {"labels", from_values({3}, std::vector<int64_t>{0, 1, 1})}})) ==
        "loss: labels are i64[3] but the logits score 2 targets, [2]; one label each is needed.");
  CHECK_THROWS_AS(lively<nn::BertForQuestionAnswering>(1, [](nn::BertConfig& c) { c.labels = {"a", "b", "c"}; }), ArgumentError);
}

// Three users of a tensor add up its gradient in the order of their calls, which no compiler may choose: arguments of one call have none.
// The golden value is this test's own output on code whose training runs kept their hashes; only a new contract may change it.
TEST_CASE("bert: the bits of a gradient") {
  const auto model = lively<nn::BertForSequenceClassification>(3);
  backward((*model)(batch({{"input_ids", ids(3, 9)}, {"labels", from_values({3}, std::vector<int64_t>{0, 1, 1})}})).loss);
  std::vector<std::pair<std::string, Tensor>> gradients;
  for (const auto& entry : model->named_parameters()) gradients.emplace_back(entry.first, entry.second.grad());
  CHECK(hash_tensors(gradients) == "65c6c9ab26fc1c79429a2e42b56c5e82ba1023db220a8904ed1ea7aa2413a4f6");
}
