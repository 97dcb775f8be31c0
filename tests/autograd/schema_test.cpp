// tests/autograd/schema_test.cpp — the grammar of Rows, binding, and the texts of wrong shapes and dtypes.
#include <doctest/doctest.h>

#include "autograd/ops.h"

using namespace rote;

TEST_CASE("schema: inputs, optional ones, dtypes, attributes and outputs are read") {
  const Schema s = Schema::parse("f(x[*,C], i64 ids[*]?, any m[...]?, eps=1e-5, axes=[1,-2], flag=true, word=\"a\", needed) -> y[*,C], bool z");
  REQUIRE(s.inputs.size() == 3);
  CHECK(s.inputs[1].optional);
  CHECK(s.inputs[1].dtype == DType::i64);
  CHECK(s.inputs[2].any_shape);
  CHECK(std::get<double>(s.attrs[0].fallback) == 1e-5);
  CHECK(std::get<std::vector<int64_t>>(s.attrs[1].fallback) == std::vector<int64_t>{1, -2});
  CHECK(std::get<bool>(s.attrs[2].fallback));
  CHECK(std::get<std::string>(s.attrs[3].fallback) == "a");
  CHECK(s.attrs[4].required);
  CHECK(s.outputs[0].shaped);
  CHECK(!s.outputs[1].shaped);
}

TEST_CASE("schema: a wrong shape is told with what it was bound to") {
  CHECK_THROWS_WITH_AS(layer_norm(zeros({4, 128, 768}), zeros({512})), "layer_norm: w is f32[512] but x is f32[4,128,768]; w must be [768].", ShapeError);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), zeros({5, 4})), "linear: w is f32[5,4] but x is f32[2,3]; w must be [O,3].", ShapeError);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), zeros({5, 3}), zeros({4})), "linear: b is f32[4] but x is f32[2,3]; b must be [5].", ShapeError);
  CHECK_THROWS_WITH_AS(matmul(zeros({8, 64}), zeros({32, 64})), "matmul: inner sizes differ, x f32[8,64] and y f32[32,64]; y needs 64 rows.", ShapeError);
}

TEST_CASE("schema: a wrong dtype and a missing input are told") {
  const Tensor f64 = zeros({3}, {.dtype = DType::f64});
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), zeros({5, 3}), f64), "linear: b is f64[3] but another input is f32[2,3]; the dtypes must be equal.", DTypeError);
  CHECK_THROWS_WITH_AS(embedding(zeros({2}), zeros({5, 3})), "embedding: ids is f32[2]; it must be i64.", DTypeError);
  CHECK_THROWS_WITH_AS(softmax(arange(3)), "softmax: x is i64[3]; it must have a floating dtype (to() converts).", DTypeError);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), {}), "linear: w is none; it must be a tensor.", ArgumentError);
}

TEST_CASE("embedding and cross_entropy: an index out of range is told with its place") {
  CHECK_THROWS_WITH_AS(embedding(from_values({2}, std::vector<int64_t>{1, 5}), zeros({5, 3})),
                       "embedding: index 5 at element 1 but axis 0 of f32[5,3] has size 5; indices lie in 0…4.", ArgumentError);
  CHECK_THROWS_WITH_AS(cross_entropy(zeros({2, 3}), from_values({2}, std::vector<int64_t>{0, 3})),
                       "cross_entropy: label 3 at element 1 but there are 3 classes; labels lie in 0…2 or are -100 (not scored).", ArgumentError);
}

TEST_CASE("promotion: tensors with axes decide, scalars only by category") {
  const Tensor f = zeros({2}), d = scalar(1.5, DType::f64), i = arange(2), b = eq(i, 0.0);
  CHECK((f + d).dtype() == DType::f32);
  CHECK((i + 1.0).dtype() == DType::i64);
  CHECK((i + 1.5).dtype() == DType::f32);
  CHECK((b + i).dtype() == DType::i64);
  CHECK((i / i).dtype() == DType::f32);
  CHECK(b.dtype() == DType::boolean);
  const Tensor large = full({1}, 9007199254740993.0, {.dtype = DType::i64});
  large.data<int64_t>()[0] = 9007199254740993;
  CHECK((large + 1.0).item_i64() == 9007199254740994);
}
