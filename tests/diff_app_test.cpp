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

TEST_CASE("rote diff: two run folders with traces are compared by them, update by update") {
  const AppFolder app;
  REQUIRE(app.train("a", "--trace_hashes steps --num_threads 1").status == 0);
  REQUIRE(app.train("b", "--trace_hashes ops --num_threads 2").status == 0);
  REQUIRE(app.train("c", "--trace_hashes steps --weight_decay 0.5").status == 0);
  const AppResult equal = app.rote("diff a b"), files = app.rote("diff a/trace.bin b/trace.bin"), differ = app.rote("diff a c"), weights = app.rote("diff a/model.safetensors c/model.safetensors");
  CHECK(equal.status == 0);
  CHECK(equal.out == "equal: 12 steps, by hashes of level steps\n");
  CHECK(files.out == equal.out);
  CHECK(differ.status == 1);
  CHECK(differ.out ==
        "11 of 12 steps differ, the first is step 2\nparameter bert.embeddings.word_embeddings.weight; all gradients are equal: the update did it, by its rate, its decay or its "
        "moments\n");
  CHECK(weights.status == 1);
  CHECK(contains(weights.out, " tensors differ\n"));
  app.folder.file("c/trace.bin", "rote trace 1 AC-1 steps\n");
  const AppResult none = app.rote("diff a c");
  CHECK(none.status == 2);
  CHECK(none.err == "rote diff: a/trace.bin and c/trace.bin have no step in common; give the traces of two runs of the same steps.\n");
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
