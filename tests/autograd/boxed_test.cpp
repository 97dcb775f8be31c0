// tests/autograd/boxed_test.cpp — calls by ATen name: argument order, numbers for tensors, what is lacking and what is at fault.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "autograd/boxed.h"
#include "autograd/ops.h"

using namespace rote;

namespace {

Tensor one(const std::string& name, const std::map<std::string, Value>& arguments) { return std::get<Tensor>(call_aten(name, arguments)); }

std::vector<double> values(const Tensor& x) {
  const Tensor y = contiguous(converted(x, DType::f64));
  return {y.data<double>(), y.data<double>() + y.numel()};
}

Tensor row(const std::vector<double>& v, DType t = DType::f32) { return converted(from_values({static_cast<int64_t>(v.size())}, v), t); }

std::string lacking(const std::string& name, const std::map<std::string, Value>& arguments) {
  try {
    call_aten(name, arguments);
  } catch (const Lacking& e) {
    return e.what;
  }
  return "nothing";
}

}  // namespace

TEST_CASE("boxed: a Row takes its arguments by name, inputs then attributes") {
  const Tensor y = one("leaky_relu", {{"negative_slope", 0.5}, {"self", row({-2, 4})}});
  CHECK(values(y) == std::vector<double>{-1, 4});
  CHECK(values(one("amax", {{"self", row({3, 5})}, {"dim", std::vector<int64_t>{0}}, {"keepdim", true}})) == std::vector<double>{5});
}

TEST_CASE("boxed: every ATen name of a Row names as many arguments as it can take, and no name is listed twice") {
  for (const OpEntry* op : all_ops()) {
    const std::string aten = op->row.aten;
    if (aten.empty()) continue;
    CAPTURE(aten);
    CHECK(has_aten(aten.substr(0, aten.find('('))));  // building the table asserts the rest
  }
  CHECK(!has_aten("no_such_op"));
}

TEST_CASE("boxed: a number for a tensor promotes by category only") {
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i8, DType::u8, DType::boolean})
    for (const bool scalar_tensor : {false, true}) {
      const Tensor x = scalar_tensor ? scalar(1, t) : row({1, 0}, t);
      CAPTURE(name(t));
      CAPTURE(scalar_tensor);
      CHECK(one("mul.Tensor", {{"self", x}, {"other", int64_t{2}}}).dtype() == (t == DType::boolean ? DType::i64 : t));
      CHECK(one("mul.Tensor", {{"self", x}, {"other", 2.5}}).dtype() == (is_floating(t) ? t : DType::f32));
      CHECK(one("mul.Tensor", {{"self", x}, {"other", true}}).dtype() == t);
    }
  // Exact beside a narrower tensor: 300 is no u8, and 1/3 is not rounded to bf16 first.
  CHECK(values(one("eq.Scalar", {{"self", row({44, 255}, DType::u8)}, {"other", int64_t{300}}})) == std::vector<double>{0, 0});
  CHECK(values(one("mul.Tensor", {{"self", row({3}, DType::bf16)}, {"other", 1.0 / 3}})) == std::vector<double>{1});
  CHECK(one("add.Tensor", {{"self", scalar(0, DType::i64)}, {"other", int64_t{9007199254740993}}, {"alpha", int64_t{1}}}).item_i64() == 9007199254740993);
}

TEST_CASE("boxed: what the library lacks is told apart from a call at fault") {
  CHECK(lacking("fold", {}) == "the op fold");
  CHECK(lacking("embedding", {{"indices", from_values({1}, std::vector<int64_t>{0})}, {"weight", zeros({2, 3})}, {"padding_idx", int64_t{-1}},
                              {"scale_grad_by_freq", false}, {"sparse", true}}) == "the argument sparse of embedding");
  CHECK(lacking("t", {{"self", row({1})}, {"other", row({1})}}) == "the argument other of t");
  CHECK(lacking("to.dtype", {{"self", row({1})}, {"dtype", std::string("complex64")}}) == "the dtype complex64");
}

TEST_CASE("boxed: wrong arguments are refused with their name") {
  const Tensor x = row({1, 2});
  CHECK_THROWS_WITH_AS(call_aten("softmax.int", {{"self", x}}), "softmax.int: dim is missing; it has no default.", ArgumentError);
  CHECK_THROWS_WITH_AS(call_aten("softmax.int", {{"self", x}, {"dim", 0.5}}), "softmax.int: dim is a float; it must be an integer.", ArgumentError);
  CHECK_THROWS_WITH_AS(call_aten("tanh", {{"self", Value()}}), "tanh: self is none; it must be a tensor.", ArgumentError);
  CHECK_THROWS_WITH_AS(call_aten("amax", {{"self", x}, {"dim", std::string("x")}, {"keepdim", false}}), "amax: axes is x; it must be a list of integers.", ArgumentError);
  CHECK_THROWS_AS(call_aten("sub.Tensor", {{"self", row({1}, DType::boolean)}, {"other", row({1}, DType::boolean)}}), DTypeError);
  CHECK_THROWS_AS(call_aten("pow.Tensor_Scalar", {{"self", row({2}, DType::i64)}, {"exponent", int64_t{-1}}}), ArgumentError);
  CHECK_THROWS_AS(call_aten("mm", {{"self", x}, {"mat2", x}}), ShapeError);
  CHECK_THROWS_AS(call_aten("softmax.int", {{"self", row({1}, DType::i64)}, {"dim", int64_t{0}}}), UncomputedDType);
}

TEST_CASE("boxed: compositions give gradients through their ops") {
  Tensor x = row({3, 4}, DType::f64), zero = row({0, 0}, DType::f64);
  requires_grad(x), requires_grad(zero);
  for (const Tensor& v : {x, zero}) backward(one("linalg_vector_norm", {{"self", v}, {"ord", 2.0}, {"dim", Value()}, {"keepdim", false}}));
  CHECK(values(x.grad())[0] == doctest::Approx(0.6));
  CHECK(values(x.grad())[1] == doctest::Approx(0.8));
  CHECK(values(zero.grad()) == std::vector<double>{0, 0});  // where the root has no derivative
}

TEST_CASE("pointwise: integer powers wrap, and a negative power of all but 1 and -1 is 0") {
  const Tensor base = from_values({6}, std::vector<int64_t>{2, 3, 0, 1, -1, 5}), exponent = from_values({6}, std::vector<int64_t>{64, 5, 0, -7, -3, -1});
  CHECK(values(pow(base, exponent)) == std::vector<double>{0, 243, 1, 1, -1, 0});
}

TEST_CASE("pointwise: clamp takes integers; its gradient is 0 on the bounds") {
  CHECK(clamp(row({-5, 0, 7}, DType::i32), -1, 2).dtype() == DType::i32);
  CHECK(values(clamp(row({-5, 0, 7}, DType::i32), -1, 2)) == std::vector<double>{-1, 0, 2});
  CHECK(values(clamp(row({-5, 0, 7}, DType::i32), -1.5, 2)) == std::vector<double>{-1.5, 0, 2});
  Tensor x = row({0, 1, 2});
  requires_grad(x);
  backward(sum(clamp(x, 0, 2)));
  CHECK(values(x.grad()) == std::vector<double>{0, 1, 0});
}

TEST_CASE("pointwise: clamp to one bound shows NaN and passes the gradient at the infinity beyond") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Tensor x = row({NAN, -kInf, 0, kInf});
  requires_grad(x);
  const Tensor y = clamp_max(x, 1);
  backward({y}, {full({4}, 1)});
  CHECK(std::isnan(values(y)[0]));
  CHECK(values(x.grad()) == std::vector<double>{0, 1, 1, 0});
}

TEST_CASE("reduce: sums, extremes and truths of integers are exact") {
  const Tensor x = from_values({2, 2}, std::vector<int64_t>{9007199254740993, 1, std::numeric_limits<int64_t>::min(), -3});
  CHECK(contiguous(sum(x, {1})).data<int64_t>()[0] == 9007199254740994);
  CHECK(contiguous(amin(x, {1})).data<int64_t>()[1] == std::numeric_limits<int64_t>::min());
  CHECK(contiguous(amax(x, {1})).data<int64_t>()[0] == 9007199254740993);
  CHECK(sum(row({200, 100}, DType::u8)).item_i64() == 300);
  CHECK(values(any(row({0, NAN}))) == std::vector<double>{1});
  CHECK(values(all(row({}))) == std::vector<double>{1});
  CHECK(values(argmin(row({2, 1, 1}, DType::u8), 0)) == std::vector<double>{1});
}

TEST_CASE("reduce: logsumexp keeps infinities and needs no exponent beyond range") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(values(logsumexp(row({1000, 1000}, DType::f64)))[0] == doctest::Approx(1000 + std::log(2.0)));
  CHECK(values(logsumexp(row({-kInf, -kInf}, DType::f64)))[0] == -kInf);
  CHECK(values(logsumexp(row({1, kInf}, DType::f64)))[0] == kInf);
}

TEST_CASE("softmax: a row of -inf throughout has none") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x = alias(row({-kInf, -kInf, 0, -kInf}), {2, 2}, {2, 1}, 0);
  const std::vector<double> y = values(softmax(x)), z = values(log_softmax(x));
  CHECK((std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(z[0]) && std::isnan(z[1])));
  CHECK((y[2] == 1 && y[3] == 0 && z[2] == 0 && z[3] == -kInf));
}

TEST_CASE("softmax: a mask gives weight 0 and no gradient, in a row that keeps nothing too") {
  Tensor x = alias(row({1, 2, 3, 1, 2, 3}, DType::f64), {2, 3}, {3, 1}, 0);
  x = detach(x);
  requires_grad(x);
  const Tensor mask = alias(row({1, 1, 0, 0, 0, 0}, DType::boolean), {2, 3}, {3, 1}, 0);
  const Tensor y = masked_softmax(x, mask);
  CHECK(values(y)[0] == doctest::Approx(1 / (1 + std::exp(1.0))));
  CHECK((values(y)[2] == 0 && values(y)[3] == 0 && values(y)[4] == 0 && values(y)[5] == 0));
  backward({y}, {alias(row({1, 2, 3, 4, 5, 6}, DType::f64), {2, 3}, {3, 1}, 0)});
  for (size_t i = 2; i < 6; ++i) CHECK(values(x.grad())[i] == 0);
}

TEST_CASE("join: cat promotes, and a tensor of shape [0] adds nothing but a gradient of its shape") {
  CHECK(cat({row({1}, DType::i64), row({2.5})}).dtype() == DType::f32);
  Tensor nothing = row({}), x = zeros({2, 3});
  requires_grad(nothing);
  const Tensor y = cat({nothing, x}, 1);
  CHECK(y.shape() == Shape{2, 3});
  backward(sum(y));
  CHECK(nothing.grad().shape() == Shape{0});
}

TEST_CASE("view: where strides cannot say it, view refuses and reshape copies") {
  const Tensor x = transpose(reshape(arange(6), {2, 3}), 0, 1);
  CHECK_THROWS_AS(view(x, {6}), ShapeError);
  CHECK(values(reshape(x, {6})) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(values(movedim(reshape(arange(6), {1, 2, 3}), {2}, {0})) == std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("boxed: a list of numbers takes whole ones too") {
  const Value x = from_values({1, 1, 2}, std::vector<float>{3, 5});
  for (const Value& scale : {Value(std::vector<double>{2.0}), Value(std::vector<int64_t>{2})})
    CHECK(values(one("upsample_nearest1d.vec", {{"input", x}, {"output_size", {}}, {"scale_factors", scale}})) == std::vector<double>{3, 3, 5, 5});
}

TEST_CASE("boxed: a reduction has the dtype that is asked for") {
  const auto reduced = [](const char* op, const Tensor& x, const char* dtype) { return one(op, {{"self", x}, {"dtype", std::string(dtype)}}); };
  CHECK(reduced("sum", row({300, 2}, DType::i64), "uint8").dtype() == DType::u8);
  CHECK(values(reduced("sum", row({300, 2}, DType::i64), "uint8")) == std::vector<double>{46});
  CHECK(values(reduced("sum", row({1.5, 2.5}), "int32")) == std::vector<double>{3});
  CHECK(reduced("prod", row({2, 3}, DType::i8), "int16").dtype() == DType::i16);
  CHECK(reduced("prod", row({2, 3}), "bool").dtype() == DType::boolean);
  CHECK(one("nansum", {{"self", row({1, 2}, DType::i8)}, {"dim", {}}, {"keepdim", false}, {"dtype", std::string("int8")}}).dtype() == DType::i8);
  for (const char* dtype : {"float16", "bfloat16", "int64"})
    CHECK_THROWS_AS(one("linalg_vector_norm", {{"self", row({3, 4})}, {"ord", 2.0}, {"dim", {}}, {"keepdim", false}, {"dtype", std::string(dtype)}}), DTypeError);
}

TEST_CASE("boxed: integers stay integers where borders are cut to whole numbers, and become f32 beside a margin") {
  const Tensor x = row({-5, 2, 9}, DType::i16);
  const Tensor bounded = one("hardtanh", {{"self", x}, {"min_val", -0.5}, {"max_val", 3.7}});
  CHECK(bounded.dtype() == DType::i16);
  CHECK(values(bounded) == std::vector<double>{0, 2, 3});
  CHECK(values(one("relu6", {{"self", row({5, 2, 9}, DType::u8)}})) == std::vector<double>{5, 2, 6});
  CHECK_THROWS_AS(one("hardtanh", {{"self", row({1}, DType::boolean)}, {"min_val", 0.0}, {"max_val", 1.0}}), DTypeError);
  const Tensor above = one("threshold", {{"self", x}, {"threshold", 2.5}, {"value", -3.7}});
  CHECK(above.dtype() == DType::i16);
  CHECK(values(above) == std::vector<double>{-3, -3, 9});
  CHECK(values(one("threshold", {{"self", row({-7}, DType::i64)}, {"threshold", -7.8}, {"value", 1.0}})) == std::vector<double>{1});
  const Tensor ranking = one("margin_ranking_loss", {{"input1", row({3, 4}, DType::i64)}, {"input2", row({5, 1}, DType::i64)}, {"target", row({1, -1}, DType::i64)},
                                                     {"margin", 1.0}, {"reduction", int64_t{1}}});
  CHECK(ranking.dtype() == DType::f32);
  CHECK(values(ranking) == std::vector<double>{3.5});
}

TEST_CASE("boxed: dtypes that are promoted") {
  const Tensor line = row({1, 2, 3}, DType::i64);
  CHECK(values(one("searchsorted.Tensor", {{"sorted_sequence", line}, {"self", row({2.5})}, {"out_int32", false}, {"right", false}})) == std::vector<double>{2});
  CHECK(values(one("bucketize.Tensor", {{"self", row({2}, DType::f64)}, {"boundaries", row({1, 2, 3})}, {"out_int32", false}, {"right", true}})) == std::vector<double>{2});
  CHECK(equal(row({1}, DType::u8), row({1}, DType::bf16)));
  CHECK(!equal(row({1}, DType::i32), row({1.5})));
  CHECK(values(one("cosine_similarity", {{"x1", row({3, 4})}, {"x2", row({3, 4}, DType::i16)}, {"dim", int64_t{0}}, {"eps", 1e-8}})) == std::vector<double>{1});
  const std::map<std::string, Value> losses{{"self", row({1, 2, 5})}, {"weight", {}}, {"reduction", int64_t{2}}, {"ignore_index", int64_t{-100}}};
  auto bytes = losses;
  bytes["target"] = reshape(row({2}, DType::u8), {});
  CHECK(values(one("nll_loss_nd", bytes)) == std::vector<double>{-5});
  const auto sum_with = [](const Tensor& x, const Tensor& y, Value alpha) { return one("add.Tensor", {{"self", x}, {"other", y}, {"alpha", alpha}}); };
  CHECK(values(sum_with(row({1}), row({127}, DType::i8), int64_t{2})) == std::vector<double>{255});  // alpha counts in the dtype of the sum
  CHECK(values(sum_with(row({1}), row({3}, DType::i32), 0.5)) == std::vector<double>{2.5});
  CHECK(values(sum_with(row({0}), row({1.0078125}, DType::bf16), int64_t{100})) == std::vector<double>{100.78125});
  CHECK(sum_with(row({1, 0}, DType::boolean), row({1, 0}, DType::boolean), int64_t{2}).dtype() == DType::boolean);
  CHECK(sum_with(reshape(row({1, 2}, DType::bf16), {1, 2}), reshape(row({1, 2}, DType::i16), {1, 2}), int64_t{-1}).dtype() == DType::bf16);
  const double third = 0.3333333432674407958984375;  // of f32
  const Tensor product = one("addcmul", {{"self", row({0}, DType::f64)}, {"tensor1", scalar(third)}, {"tensor2", scalar(third)}, {"value", int64_t{1}}});
  CHECK(values(product) == std::vector<double>{third * third});
  const Tensor areas = one("trapezoid.x", {{"y", row({1, 2}, DType::u8)}, {"x", row({3, 0}, DType::u8)}, {"dim", int64_t{-1}}});
  CHECK(values(areas) == std::vector<double>{123.5});  // 3·253 wraps to 247
  CHECK(one("tril_indices", {{"row", int64_t{2}}, {"col", int64_t{2}}, {"offset", int64_t{0}}, {"dtype", int64_t{3}}}).dtype() == DType::i32);
}

TEST_CASE("boxed: what PyTorch refuses beside what it takes") {
  CHECK_THROWS_AS(movedim(scalar(1), {-6}, {0}), ShapeError);
  CHECK_THROWS_AS(one_hot(row({1, 2}, DType::i32)), DTypeError);
  CHECK_THROWS_AS(one("binary_cross_entropy", {{"self", row({0.5})}, {"target", row({2})}, {"weight", {}}, {"reduction", int64_t{1}}}), ArgumentError);
  CHECK_THROWS_AS(one("cosine_similarity", {{"x1", row({3, 4})}, {"x2", row({3, 4})}, {"dim", int64_t{0}}, {"eps", -1.0}}), ArgumentError);
  CHECK_THROWS_AS(one("index_copy", {{"self", row({3})}, {"dim", int64_t{0}}, {"index", row({0}, DType::i32)}, {"source", row({1})}}), DTypeError);
  CHECK_THROWS_AS(one("index_fill.int_Scalar", {{"self", row({3})}, {"dim", int64_t{0}}, {"index", row({0}, DType::i32)}, {"value", 1.0}}), DTypeError);
  CHECK_THROWS_AS(one("arange.start_step", {{"start", int64_t{0}}, {"end", 1.0}, {"step", std::numeric_limits<double>::infinity()}}), ArgumentError);
}

TEST_CASE("boxed: what is contiguous, and what has nothing to flatten, is given back itself") {
  const Tensor x = row({1, 2, 3}), turned = transpose(reshape(row({1, 2, 3, 4}), {2, 2}), 0, 1);
  const std::string plain = "contiguous_format";
  CHECK(one("contiguous", {{"self", x}, {"memory_format", plain}}).impl() == x.impl());
  CHECK(one("contiguous", {{"self", turned}, {"memory_format", plain}}).storage() != turned.storage());
  CHECK(one("clone", {{"self", x}, {"memory_format", {}}}).storage() != x.storage());
  CHECK(one("flatten.using_ints", {{"self", x}, {"start_dim", int64_t{0}}, {"end_dim", int64_t{-1}}}).impl() == x.impl());
  CHECK(one("ravel", {{"self", turned}}).size(0) == 4);
}
