// trainer/apps/conformance/generation.cpp — generation cases: greedy continuations with a cache and without; what else a case asks for is skipped.
#include <map>
#include <nlohmann/json.hpp>

#include "nn/auto.h"
#include "nn/generate.h"
#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"

namespace rote::conformance {

namespace {

using nlohmann::json;

Tensor matrix(const json& rows) {
  std::vector<int64_t> all;
  for (const json& row : rows)
    for (const json& one : row) all.push_back(one);
  const int64_t B = static_cast<int64_t>(rows.size());
  const Tensor x = from_values({B, static_cast<int64_t>(all.size()) / std::max<int64_t>(B, 1)}, all);
  return x;
}

// The first setting that greedy decoding does not have; empty where there is none.
std::string lacking(const json& config) {
  for (const auto& [name, value] : config.items()) {
    if (name == "num_beams" && value == 1) continue;
    if (name == "do_sample" && value == false) continue;
    if (name == "max_new_tokens" || name == "eos_token_id" || name == "pad_token_id") continue;
    return str(name, " ", value.dump());
  }
  return "";
}

std::string run_case(nn::Model& model, const json& one) {
  const json& config = one.at("config");
  nn::GenerateOptions options{.max_new_tokens = config.at("max_new_tokens")};
  const json eos = config.value("eos_token_id", json());
  if (eos.is_array()) options.eos_token_id = eos.get<std::vector<int64_t>>();
  else if (!eos.is_null()) options.eos_token_id = {eos.get<int64_t>()};
  if (config.contains("pad_token_id")) options.pad_token_id = config.at("pad_token_id").get<int64_t>();
  nn::Batch prompt;
  prompt.set("input_ids", matrix(one.at("input_ids")));
  if (one.contains("attention_mask")) prompt.set("attention_mask", matrix(one.at("attention_mask")));
  const Tensor expected = matrix(one.at("sequences"));
  for (const bool use_cache : {true, false}) {
    options.use_cache = use_cache;
    const Tensor ids = nn::generate(model, prompt, options);
    if (!(ids.shape() == expected.shape())) return str("gives ", describe(ids), ", expected ", describe(expected));
    for (int64_t i = 0; i < ids.numel(); ++i)
      if (ids.data<int64_t>()[i] != expected.data<int64_t>()[i])
        return str(use_cache ? "" : "without cache: ", "row ", i / ids.size(1), " place ", i % ids.size(1), ": ", ids.data<int64_t>()[i], ", expected ", expected.data<int64_t>()[i]);
  }
  return "";
}

}  // namespace

void run_generation(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "generation.json")) {
    const json content = json::parse(read_file(file.string()), nullptr, /*allow_exceptions=*/false);
    ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, "read ", file.string(), ": it holds no cases.");
    std::map<std::string, nn::Loaded<nn::Model>> models;
    for (const json& one : content.at("cases")) {
      const std::string id = one.at("id"), checkpoint = one.at("checkpoint");
      if (!report.wants("generation", id)) continue;
      if (const std::string what = lacking(one.at("config")); !what.empty()) {
        report.skip(id, str("this build lacks ", what));
        continue;
      }
      std::string wrong;
      try {
        if (models.count(checkpoint) == 0) models.emplace(checkpoint, nn::load_model("", (file.parent_path() / checkpoint).string()));
        wrong = run_case(*models.at(checkpoint).model, one);
      } catch (const Error& e) {
        wrong = str("refused: ", e.what());
      }
      if (wrong.empty()) report.pass(id);
      else report.fail(id, wrong);
    }
  }
}

}  // namespace rote::conformance
