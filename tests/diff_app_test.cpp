// tests/diff_app_test.cpp — `rote diff` names the tensor, the element and the distance, and its exit code says whether there is any.
#include <doctest/doctest.h>

#include <cmath>

#include "tensor/safetensors.h"
#include "tests/app.h"

namespace rote::testing {

namespace {

Tensor floats(const std::vector<float>& values) { return from_values({static_cast<int64_t>(values.size())}, values); }

}  // namespace

TEST_CASE("rote diff: equal files are equal, whatever the order of their tensors") {
  const AppFolder app;
  save_safetensors(app.file("a.safetensors"), {{"x", floats({1, 2})}, {"w", floats({3})}});
  save_safetensors(app.file("b.safetensors"), {{"w", floats({3})}, {"x", floats({1, 2})}});
  const AppResult result = app.rote("diff a.safetensors b.safetensors");
  CHECK(result.status == 0);
  CHECK(result.out == "equal: 2 tensors\n");
  CHECK(app.rote("diff model model").status == 0);
}

TEST_CASE("rote diff: a planted ulp is named by tensor and element") {
  const AppFolder app;
  save_safetensors(app.file("a.safetensors"), {{"w", floats({3})}, {"x", floats({1, 2})}, {"y", floats({5})}, {"a", floats({0})}});
  save_safetensors(app.file("b.safetensors"), {{"w", floats({3})}, {"x", floats({1, std::nextafter(2.0f, 3.0f)})}, {"y", floats({5, 6})}, {"z", floats({0})}});
  const AppResult first = app.rote("diff a.safetensors b.safetensors");
  CHECK(first.status == 1);
  CHECK(first.out == "4 of 5 tensors differ\na is in a.safetensors alone\n… and 3 more; --all lists them\n");
  const AppResult all = app.rote("diff a.safetensors b.safetensors --all");
  CHECK(all.status == 1);
  CHECK(lines_of(all.out).size() == 5);
  CHECK(contains(all.out, "\nx f32[2]: 1 of 2 elements differ, first at [1]: 2 and 2.00000024, 1 ulp apart\ny is f32[1] and f32[2]\nz is in b.safetensors alone\n"));
}

TEST_CASE("rote diff: what cannot be read is exit code 2") {
  const AppFolder app;
  const AppResult none = app.rote("diff model"), missing = app.rote("diff model nowhere");
  CHECK(none.status == 2);
  CHECK(none.err == "rote diff: 1 paths; give two folders or .safetensors files.\n");
  CHECK(missing.status == 2);
  CHECK(missing.err == "rote diff: nowhere does not exist; give a folder with model.safetensors, or such a file.\n");
}

}  // namespace rote::testing
