// tests/nn/bert_cases_test.cpp — BERT against the shared cases of the reference: the fused attention, and everything in f64.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "nn/auto.h"
#include "tensor/file.h"
#include "tests/support/compare.h"
#include "tests/support/shared.h"

using namespace rote;
using nlohmann::json;

namespace {

struct Bound {
  double rtol, atol;
};

void check_near(const Tensor& got, const Tensor& ref, Bound bound) {
  REQUIRE(got.defined());
  REQUIRE(got.shape() == ref.shape());
  const Tensor y = contiguous(converted(got, DType::f64)), r = contiguous(converted(ref, DType::f64));
  int64_t bad = 0;
  for (int64_t i = 0; i < y.numel(); ++i) bad += !rote::testing::near(y.data<double>()[i], r.data<double>()[i], bound.rtol, bound.atol);
  CHECK(bad == 0);
}

// Calls f(folder, case, tensors) for each case of the bert folders; says so where there are none.
void each_case(const std::function<void(const std::string&, const json&, const std::map<std::string, Tensor>&)>& f) {
  if (rote::testing::shared_folder().empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  int64_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rote::testing::shared_folder() + "/conformance/models")) {
    const std::string folder = entry.path().string();
    if (entry.path().filename().string().rfind("bert_", 0) != 0) continue;
    const auto tensors = load_safetensors(folder + "/expected.safetensors");
    const json content = json::parse(read_file(folder + "/expected.json"));
    for (const json& one : content.at("cases")) {
      CAPTURE(one.at("id").get<std::string>());
      f(folder, one, tensors);
      ++cases;
    }
  }
  CHECK(cases >= 8);
}

}  // namespace

TEST_CASE("bert cases: without attentions asked for, outputs and gradients stay within the same bounds") {
  each_case([](const std::string& folder, const json& one, const std::map<std::string, Tensor>& tensors) {
    const auto loaded = nn::load_model(one.at("class"), folder);
    nn::Batch in;
    in.output_hidden_states = true;
    for (const auto& [name, key] : one.at("inputs").items()) in.set(name, tensors.at(key));
    const nn::ModelOutput out = (*loaded.model)(in);
    CHECK(out.attentions.empty());
    for (const auto& output : one.at("outputs").items()) {
      const std::string name = output.key();
      const json& expected = output.value();
      if (name.rfind("attentions", 0) == 0) continue;
      CAPTURE(name);
      check_near(out[name], tensors.at(expected.at("ref")), {expected.at("rtol"), expected.at("atol")});
    }
    backward(out.loss);
    for (const auto& parameter : loaded.model->named_parameters()) {
      CAPTURE(parameter.first);
      const json& expected = one.at("grads").at(parameter.first);
      check_near(parameter.second.grad(), tensors.at(expected.at("ref")), {expected.at("rtol"), expected.at("atol")});
    }
  });
}

TEST_CASE("bert cases: in f64 the true values come out, with and without attentions") {
  each_case([](const std::string& folder, const json& one, const std::map<std::string, Tensor>& tensors) {
    for (const bool with : {false, true}) {
      CAPTURE(with);
      const auto loaded = nn::load_model(one.at("class"), folder);
      loaded.model->to(DType::f64);
      nn::Batch in;
      in.output_hidden_states = true;
      in.output_attentions = with;
      for (const auto& [name, key] : one.at("inputs").items()) {
        const Tensor x = tensors.at(key);
        in.set(name, is_floating(x.dtype()) ? converted(x, DType::f64) : x);
      }
      const nn::ModelOutput out = (*loaded.model)(in);
      const auto largest = [](const Tensor& x) {
        const Tensor y = converted(x, DType::f64);
        double most = 0;
        for (int64_t i = 0; i < y.numel(); ++i) most = std::max(most, std::abs(y.data<double>()[i]));
        return most;
      };
      // The cases' own rule for a run in f64: 1e-12 of the largest element, 2e-7 where the true value is stored as f32. Gradients of the
      // keys' biases are 0 in exact arithmetic: what is left are roundings of sums of terms below 1, hence 1e-15.
      const auto check = [&](const Tensor& y, const Tensor& ref) {
        check_near(y, ref, {0, (ref.dtype() == DType::f64 ? 1e-12 : 2e-7) * largest(ref) + 1e-15});
      };
      for (const auto& output : one.at("outputs").items()) {
        const std::string name = output.key();
        if (!with && name.rfind("attentions", 0) == 0) continue;
        CAPTURE(name);
        check(out[name], tensors.at(output.value().at("ref")));
      }
      backward(out.loss);
      for (const auto& parameter : loaded.model->named_parameters()) {
        CAPTURE(parameter.first);
        check(parameter.second.grad(), tensors.at(one.at("grads").at(parameter.first).at("ref")));
      }
    }
  });
}
