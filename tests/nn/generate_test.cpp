// tests/nn/generate_test.cpp — greedy decoding of every family: the same bits with a cache and without, in a batch and alone.
#include "nn/generate.h"

#include <doctest/doctest.h>

#include <set>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "nn/attention.h"
#include "tests/nn/small_families.h"
#include "tests/support/compare.h"

using namespace rote;
using rote::testing::small_families;
using rote::testing::small_model;
using rote::testing::SmallFamily;

namespace {

bool decodes(const SmallFamily& family) {
  const std::string& name = family.class_name;
  return name.find("CausalLM") != std::string::npos || name.find("LMHead") != std::string::npos || name.find("Conditional") != std::string::npos;
}
bool has_encoder(const SmallFamily& family) { return family.class_name.find("Conditional") != std::string::npos; }

Tensor i64(const Shape& shape, const std::vector<int64_t>& values) { return from_values(shape, values); }

// B rows of up to T tokens in 3…45: row b is T - b long, padded with 0 at the left or the right.
nn::Batch prompts(int64_t B, int64_t T, bool left) {
  std::vector<int64_t> ids, mask;
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t) {
      const bool padding = left ? t < b : t >= T - b;
      ids.push_back(padding ? 0 : 3 + (b * 131 + (left ? t - b : t) * 17 + b * t) % 43);
      mask.push_back(!padding);
    }
  nn::Batch batch;
  batch.set("input_ids", i64({B, T}, ids));
  batch.set("attention_mask", i64({B, T}, mask));
  return batch;
}

// Row b without its padding.
nn::Batch alone(const nn::Batch& all, int64_t b, bool left) {
  const int64_t T = all["input_ids"].size(1), from = left ? b : 0;
  nn::Batch one;
  for (const char* name : {"input_ids", "attention_mask"}) one.set(name, contiguous(slice(slice(all[name], 0, b, b + 1), 1, from, from + T - b)));
  return one;
}

std::vector<int64_t> tail(const Tensor& ids, int64_t row, int64_t n) {
  const int64_t* end = ids.data<int64_t>() + (row + 1) * ids.size(1);
  return {end - n, end};
}

// The logits of the last place, [V].
Tensor last_logits(nn::Model& model, const nn::Batch& in, int64_t row) {
  const Tensor logits = model(in).logits;
  return contiguous(select(select(logits, 0, row), 0, logits.size(1) - 1));
}

bool same_bits(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && rote::testing::first_bit_difference(a.numel(), a.data<float>(), b.data<float>()) < 0; }

}  // namespace

TEST_CASE("generate: with a cache each step has the bits of the whole text without") {
  const NoGrad no_grad;
  for (const SmallFamily& family : small_families()) {
    if (!decodes(family)) continue;
    CAPTURE(family.name);
    const auto model = small_model(family, 7);
    const nn::Batch prompt = alone(prompts(1, 11, true), 0, true);
    const Tensor with = nn::generate(*model, prompt, {.max_new_tokens = 24}).sequences, without = nn::generate(*model, prompt, {.max_new_tokens = 24, .use_cache = false}).sequences;
    CHECK(tail(with, 0, with.size(1)) == tail(without, 0, without.size(1)));
    const std::vector<int64_t> text = tail(with, 0, with.size(1));
    CHECK(std::set<int64_t>(text.begin(), text.end()).size() > 1);

    const bool encoder = has_encoder(family);
    nn::KeyValueCache cache;
    for (int64_t n = encoder ? 1 : 11, seen = 0; n < with.size(1); seen = n++) {
      const auto input = [&](int64_t from) {
        nn::Batch in;
        if (encoder) in = prompt;
        in.set(encoder ? "decoder_input_ids" : "input_ids", contiguous(slice(with, 1, from, n)));
        return in;
      };
      nn::Batch step = input(seen);
      step.cache = &cache;
      const Tensor a = last_logits(*model, step, 0), b = last_logits(*model, input(0), 0);
      CAPTURE(n);
      CHECK(same_bits(a, b));
    }
  }
}

TEST_CASE("generate: eight padded prompts together give what each gives alone") {
  const NoGrad no_grad;
  for (const SmallFamily& family : small_families()) {
    if (!decodes(family)) continue;
    const auto model = small_model(family, 8);
    const bool left = !has_encoder(family);  // encoders are padded at the right, as positions begin at the left
    const nn::Batch all = prompts(8, 14, left);
    for (const bool use_cache : {true, false}) {
      const Tensor together = nn::generate(*model, all, {.max_new_tokens = 16, .use_cache = use_cache}).sequences;
      for (int64_t b = 0; b < 8; ++b) {
        CAPTURE(family.name);
        CAPTURE(b);
        const Tensor single = nn::generate(*model, alone(all, b, left), {.max_new_tokens = 16, .use_cache = use_cache}).sequences;
        CHECK(tail(together, b, 16) == tail(single, 0, 16));
      }
    }
  }
}

TEST_CASE("generate: rows end by themselves, and what is asked for wrongly is refused") {
  const auto model = small_model(small_families()[3], 8);
  const nn::Batch all = prompts(3, 9, true);
  const Tensor free = nn::generate(*model, all, {.max_new_tokens = 12}).sequences;
  const int64_t stop = tail(free, 1, 12)[4];
  const Tensor ended = nn::generate(*model, all, {.max_new_tokens = 12, .pad_token_id = 46, .eos_token_id = {stop}}).sequences;
  for (int64_t row = 0; row < 3; ++row) {
    bool over = false;
    for (int64_t i = 9; i < ended.size(1); ++i) {
      const int64_t got = ended.data<int64_t>()[row * ended.size(1) + i];
      CHECK(got == (over ? 46 : free.data<int64_t>()[row * free.size(1) + i]));
      over = over || got == stop;
    }
  }
  CHECK_THROWS_AS(nn::generate(*model, all, {.max_new_tokens = 0}), ArgumentError);
}
