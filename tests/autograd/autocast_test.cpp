// tests/autograd/autocast_test.cpp — mixed precision: what each kind of op computes in, what its gradients are, and that no bit hangs on the split.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "autograd/backward.h"
#include "autograd/checkpoint.h"
#include "autograd/lowered.h"
#include "autograd/mode.h"
#include "autograd/ops.h"
#include "autograd/status.h"

using namespace rote;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.dtype() == y.dtype() && x.shape() == y.shape() && std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel() * size_of(x.dtype()))) == 0;
}

Tensor drawn(const Shape& shape, uint32_t op) {
  const Tensor x = empty(shape);
  kernels<float>().normal(5, op, 0, x.numel(), x.data<float>());
  return x;
}

Tensor leaf(const Shape& shape, uint32_t op) {
  Tensor x = drawn(shape, op);
  return requires_grad(x);
}

Tensor rounded(const Tensor& x, DType to) { return converted(converted(x, to), DType::f32); }

struct Gradients {
  Tensor w, v, table;
};

// Embedding, norm, two products, loss over 8 samples in micro-batches of `rows`.
Gradients train_step(int64_t rows, bool recomputed, DType lower) {
  Tensor table = leaf({5, 8}, 1), scale = full({8}, 1.0), w = leaf({16, 8}, 2), v = leaf({3, 16}, 3);
  const Tensor ids = from_values({8, 4}, std::vector<int64_t>{0, 1, 2, 3, 4, 3, 2, 1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 1, 2, 4, 1, 3, 0, 2, 4, 1, 3, 0, 2, 4});
  const Tensor labels = from_values({8, 4}, std::vector<int64_t>(32, 1));
  for (int64_t first = 0; first < 8; first += rows) {
    const RunScopeGuard scope({.seed = 1, .first_sample = static_cast<uint64_t>(first), .samples = rows});
    Tensor loss;
    {
      const AutocastGuard precision(lower);
      const Tensor x = layer_norm(embedding(narrow(ids, 0, first, rows), table), scale, Tensor());
      const auto head = [&](const Tensor& h) { return linear(gelu(linear(h, w, Tensor())), v, Tensor()); };
      const Tensor logits = recomputed ? checkpoint(head, x) : head(x);
      CHECK(logits.dtype() == lower);
      loss = div(cross_entropy(logits, narrow(labels, 0, first, rows), {}, Reduction::sum), 32.0);
    }
    CHECK(loss.dtype() == DType::f32);
    backward(loss);
  }
  fold_gradients({table, w, v});
  return {w.grad(), v.grad(), table.grad()};
}

}  // namespace

TEST_CASE("autocast: a product rounds its inputs and its result; the gradient of an f32 weight is f32 and not rounded") {
  for (const DType lower : {DType::bf16, DType::f16}) {
    const Tensor x = leaf({3, 7}, 1), w = leaf({5, 7}, 2);
    Tensor y;
    {
      const AutocastGuard precision(lower);
      y = linear(x, w, Tensor());
    }
    CHECK(y.dtype() == lower);
    const Tensor rx = rounded(x, lower), rw = rounded(w, lower);
    CHECK(same_bits(y, converted(linear(rx, rw, Tensor()), lower)));
    const Tensor dy = converted(drawn({3, 5}, 3), lower);
    backward({y}, {dy});
    CHECK(same_bits(w.grad(), matmul(transpose(converted(dy, DType::f32), 0, 1), rx)));
    CHECK(same_bits(x.grad(), matmul(converted(dy, DType::f32), rw)));
    CHECK_FALSE(same_bits(w.grad(), rounded(w.grad(), lower)));
  }
}

TEST_CASE("autocast: ops by their row: norms and losses in f32, formulas promote, joins take the widest, f64 stays") {
  const AutocastGuard precision(DType::bf16);
  const Tensor x = drawn({2, 4}, 1), low = converted(x, DType::bf16);
  CHECK(linear(x, drawn({3, 4}, 2), Tensor()).dtype() == DType::bf16);
  CHECK(gelu(x).dtype() == DType::bf16);
  CHECK(layer_norm(low, full({4}, 1.0), Tensor()).dtype() == DType::f32);
  CHECK(softmax(low).dtype() == DType::f32);
  CHECK(add(x, low).dtype() == DType::f32);
  CHECK(mul(low, low).dtype() == DType::bf16);
  CHECK(cat({x, low}, 0).dtype() == DType::f32);
  CHECK(cat({low, low}, 0).dtype() == DType::bf16);
  const Tensor wide = converted(x, DType::f64);
  CHECK(matmul(wide, transpose(wide, 0, 1)).dtype() == DType::f64);
  {
    const AutocastGuard off(std::nullopt);
    CHECK(matmul(x, transpose(x, 0, 1)).dtype() == DType::f32);
  }
  CHECK(autocast_dtype() == DType::bf16);
  CHECK_THROWS_WITH_AS(AutocastGuard{DType::f32}, "autocast: f32 is not a dtype to compute in; it must be bf16 or f16.", DTypeError);
}

TEST_CASE("autocast: gradients have one set of bits for any split into micro-batches, recomputed or not") {
  for (const DType lower : {DType::bf16, DType::f16}) {
    const Gradients whole = train_step(8, false, lower);
    for (const int64_t rows : {4, 2, 1})
      for (const bool recomputed : {false, true}) {
        CAPTURE(rows);
        const Gradients part = train_step(rows, recomputed, lower);
        CHECK(same_bits(whole.w, part.w));
        CHECK(same_bits(whole.v, part.v));
        CHECK(same_bits(whole.table, part.table));
      }
  }
}

TEST_CASE("autocast: what backward computes is not lowered, and a weight is read as it was rounded in the forward") {
  const Tensor x = leaf({4, 6}, 1), w = leaf({6, 6}, 2);
  const AutocastGuard precision(DType::bf16);
  const Tensor once = linear(x, w, Tensor()), twice = linear(once, w, Tensor());
  backward(sum(converted(twice, DType::bf16)));
  CHECK(w.grad().dtype() == DType::f32);
  CHECK(x.grad().dtype() == DType::f32);
  CHECK_FALSE(same_bits(x.grad(), rounded(x.grad(), DType::bf16)));
}

TEST_CASE("autocast: a second derivative goes through the rounded values") {
  const Tensor x = leaf({2, 3}, 1), w = leaf({4, 3}, 2), v = leaf({1, 4}, 3);
  Tensor y;
  {
    const AutocastGuard precision(DType::bf16);
    y = sum(linear(linear(x, w, Tensor()), v, Tensor()));
  }
  const Tensor dx = grad({y}, {x}, {.create_graph = true})[0];
  backward(sum(dx));
  // y = Σ x·wᵀ·vᵀ: dx = v·w in each of two rows, so dv = 2·Σ_i w.
  const Tensor expected = mul(sum(rounded(w, DType::bf16), {1}), 2.0);
  for (int64_t i = 0; i < 4; ++i) CHECK(v.grad().data<float>()[i] == doctest::Approx(expected.data<float>()[i]).epsilon(0.02));
}

TEST_CASE("autocast: what overflows when it is stored is found, and an f32 gradient beyond 65504 is none of it") {
  const Tensor x = full({1, 2}, 200.0);
  Tensor w = full({3, 2}, 163.5);
  requires_grad(w);
  clear_status();
  {
    const AutocastGuard precision(DType::f16);
    const Tensor y = linear(x, w, Tensor());  // 65400
    CHECK_FALSE(first_non_finite().has_value());
    backward({y}, {full({1, 3}, 1000.0, {.dtype = DType::f16})});
    CHECK(w.grad().data<float>()[0] == 200000.0f);
    CHECK_FALSE(first_non_finite().has_value());
    linear(x, full({3, 2}, 163.875), Tensor());  // 65550 rounds to infinity
  }
  REQUIRE(first_non_finite().has_value());
  CHECK(std::string(first_non_finite()->op) == "linear");
  CHECK(first_non_finite()->amax == kInfBits);
  clear_status();
}

TEST_CASE("autocast: ops that read one f32 result share its 16-bit copy, until it is written") {
  const Tensor x = leaf({4, 6}, 1), w = leaf({6, 6}, 2);
  const Tensor h = mul(x, 2.0);
  const Tensor once = lowered(h, DType::bf16);
  CHECK(same_bits(once, converted(h, DType::bf16)));
  CHECK(lowered(h, DType::bf16).impl() == once.impl());
  CHECK(lowered(h, DType::f16).dtype() == DType::f16);
  CHECK(lowered(h, DType::f32).impl() == h.impl());
  fill(h, 3.0);
  CHECK(lowered(h, DType::bf16).impl() != once.impl());
  CHECK(same_bits(lowered(h, DType::bf16), full({4, 6}, 3.0, {.dtype = DType::bf16})));
  fill(once, 5.0);  // nor does a copy that was written come back
  CHECK(same_bits(lowered(h, DType::bf16), full({4, 6}, 3.0, {.dtype = DType::bf16})));
}

TEST_CASE("autocast: products of strided, broadcast and 16-bit factors round as those of converted ones do, in both directions") {
  for (const DType lower : {DType::bf16, DType::f16}) {
    const Tensor x = leaf({2, 1, 3, 5}, 1), y = leaf({4, 7, 5}, 2);
    Tensor z;
    {
      const AutocastGuard precision(lower);
      z = matmul(x, transpose(y, 1, 2));
    }
    const Tensor rx = rounded(x, lower), ry = rounded(y, lower);
    CHECK(same_bits(z, converted(matmul(rx, transpose(ry, 1, 2)), lower)));
    const Tensor dz = converted(drawn({2, 4, 3, 7}, 3), lower), wide = converted(dz, DType::f32);
    backward({z}, {dz});
    Tensor lx = detach(rx), ly = detach(ry);
    requires_grad(lx);
    requires_grad(ly);
    backward({matmul(lx, transpose(ly, 1, 2))}, {wide});
    CHECK(same_bits(x.grad(), lx.grad()));
    CHECK(same_bits(y.grad(), ly.grad()));
    // All in 16 bits, without autocast.
    const Tensor a = converted(drawn({6, 5}, 4), lower), b = converted(drawn({3, 5}, 5), lower), bias = converted(drawn({3}, 6), lower);
    CHECK(same_bits(linear(a, b, bias), converted(linear(converted(a, DType::f32), converted(b, DType::f32), converted(bias, DType::f32)), lower)));
    CHECK_THROWS_AS(linear(drawn({6, 5}, 4), b, Tensor()), DTypeError);
    const AutocastGuard precision(lower);
    CHECK(same_bits(linear(drawn({6, 5}, 4), b, Tensor()), linear(a, b, Tensor())));
    CHECK_THROWS_AS(linear(drawn({6, 5}, 4), drawn({3, 1}, 5), Tensor()), ShapeError);
    CHECK_THROWS_AS(matmul(a, full({5, 3}, 1.0, {.dtype = DType::i16})), DTypeError);
  }
}

TEST_CASE("cross_entropy: 16-bit logits are read as they lie; the loss is f32, their gradient of their dtype, rounded once") {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const int64_t V : {3, 300, 70000}) {  // whole blocks of rows, parts of one, and a row longer than a block
      CAPTURE(V);
      const Tensor labels = from_values({2, 3}, std::vector<int64_t>{0, V - 1, -100, 1, 2, 1});
      const Tensor logits = transpose(converted(mul(drawn({V, 2, 3}, 1), 4), dtype), 0, 2), weight = converted(full({V}, 0.7), dtype);
      const Tensor dloss = drawn({3, 2}, 2), wide = detach(converted(logits, DType::f32));
      const CrossEntropyOptions options{.weight = weight, .label_smoothing = 0.1}, in_f32{.weight = converted(weight, DType::f32), .label_smoothing = 0.1};
      const Tensor turned = contiguous(transpose(labels, 0, 1));
      Tensor x = detach(logits), y = wide;
      requires_grad(x);
      requires_grad(y);
      const Tensor loss = cross_entropy_each(x, turned, options), want = cross_entropy_each(y, turned, in_f32);
      CHECK(loss.dtype() == DType::f32);
      CHECK(same_bits(loss, want));
      backward({loss}, {dloss});
      backward({want}, {dloss});
      CHECK(x.grad().dtype() == dtype);
      CHECK(same_bits(x.grad(), converted(y.grad(), dtype)));
      const AutocastGuard precision(dtype);
      CHECK(same_bits(cross_entropy_each(x, turned), cross_entropy_each(y, turned)));
      CHECK(cross_entropy_each(x, turned, in_f32).dtype() == DType::f32);  // logits of 16 bits beside weights of 32
    }
}
