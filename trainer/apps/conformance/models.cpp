// trainer/apps/conformance/models.cpp — model cases: a checkpoint, inputs, outputs and gradients. A class that this build lacks is skipped.
#include <map>
#include <nlohmann/json.hpp>

#include "nn/auto.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/tensors.h"

namespace rote::conformance {

namespace {

using nlohmann::json;
using Tensors = std::map<std::string, Tensor>;

Expected expected_of(const json& one, const Tensors& tensors) {
  const std::string ref = one.at("ref");
  return {tensors.at(one.value("t", ref)), tensors.at(ref), one.at("rtol"), one.at("atol")};
}

// Which elements count: with "rows" only those of real positions, on axes 0 and 1, or of real queries, on axes 0 and 2.
std::function<bool(const Shape&)> rows_of(const json& one, const nn::Batch& batch) {
  if (!one.contains("rows")) return {};
  const int axis = one.at("rows") == "query" ? 2 : 1;
  const Tensor mask = contiguous(converted(batch.at("attention_mask"), DType::i64));
  return [mask, axis](const Shape& index) { return mask.data<int64_t>()[index[0] * mask.size(1) + index[axis]] != 0; };
}

// What is wrong with the gradients after backward, in one line; empty where nothing is.
std::string check_grads(nn::Model& model, const json& grads, const Tensors& tensors) {
  std::map<std::string, Tensor> parameters;
  for (const auto& [name, tensor] : model.named_parameters()) parameters[name] = tensor;
  for (const auto& [name, one] : grads.items()) {
    const auto found = parameters.find(model.config() ? model.config()->stored_name(name) : name);
    if (found == parameters.end()) return str("grad of ", name, ": the model has no such parameter");
    Tensor grad = found->second.grad();
    if (one.is_null()) {
      if (!grad.defined()) continue;
      const std::string wrong = difference(grad, {zeros(grad.shape(), {.dtype = grad.dtype()}), {}, 0, 0});
      if (!wrong.empty()) return str("grad of ", name, ": expected none: ", wrong);
      continue;
    }
    const std::string wrong = difference(grad, expected_of(one, tensors));
    if (!wrong.empty()) return str("grad of ", name, ": ", wrong);
  }
  return "";
}

std::string run_case(const std::string& folder, const json& one, const Tensors& tensors) {
  const nn::Loaded<nn::Model> loaded = nn::load_model(one.at("class"), folder);
  if (const std::string wrong = loaded.report.text(); !wrong.empty()) return str("checkpoint: ", wrong);
  nn::Model& model = *loaded.model;
  nn::Batch batch;
  for (const auto& [name, key] : one.at("inputs").items()) batch.set(name, tensors.at(key));
  const json& outputs = one.at("outputs");
  for (const auto& [name, expected] : outputs.items()) {
    if (name.find("hidden_states") != std::string::npos) batch.output_hidden_states = true;
    if (name.find("attentions") != std::string::npos) batch.output_attentions = true;
  }

  const nn::ModelOutput out = model(batch);
  for (const auto& [name, expected] : outputs.items()) {
    const std::string wrong = difference(out[name], expected_of(expected, tensors), rows_of(expected, batch));
    if (!wrong.empty()) return str(name, ": ", wrong);
  }
  const json& grads = one.at("grads");
  if (grads.empty()) return "";
  model.zero_grad();
  backward(out.loss);
  return check_grads(model, grads, tensors);
}

}  // namespace

void run_models(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "expected.json")) {
    const std::string folder = file.parent_path().string();
    const json content = json::parse(read_file(file.string()), nullptr, /*allow_exceptions=*/false);
    ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, "read ", file.string(), ": it holds no cases.");
    const Tensors tensors = load_safetensors(folder + "/expected.safetensors");
    for (const json& one : content.at("cases")) {
      const std::string id = one.at("id"), wanted = one.at("class");
      if (!report.wants(file.parent_path().filename().string(), id)) continue;
      if (!nn::has_model(wanted)) {
        report.skip(id, str("this build has no ", wanted));
        continue;
      }
      std::string wrong;
      try {
        wrong = run_case(folder, one, tensors);
      } catch (const Error& e) {
        wrong = str("refused: ", e.what());
      }
      if (wrong.empty()) report.pass(id);
      else report.fail(id, wrong);
    }
  }
}

}  // namespace rote::conformance
