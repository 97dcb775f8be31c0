// trainer/apps/conformance/generation.cpp — generation cases: what models write, with a cache and without, and what single settings do to scores.
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "nn/auto.h"
#include "nn/generate.h"
#include "nn/logits_process.h"
#include "tensor/file.h"
#include "tensor/safetensors.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/apps/conformance/tensors.h"

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

// As tokens and, of beams, scores; with a cache and without.
std::string run_case(nn::Model& model, const json& one) {
  nn::GenerationConfig config = nn::overlaid({}, one.at("config").dump(), "config");
  nn::Batch prompt;
  prompt.set("input_ids", matrix(one.at("input_ids")));
  if (one.contains("attention_mask")) prompt.set("attention_mask", matrix(one.at("attention_mask")));
  const Tensor expected = matrix(one.at("sequences"));
  for (const bool use_cache : {true, false}) {
    config.use_cache = use_cache;
    const nn::Generated given = nn::generate(model, prompt, config);
    const Tensor& ids = given.sequences;
    const char* how = use_cache ? "" : "without cache: ";
    if (!(ids.shape() == expected.shape())) return str(how, "gives ", describe(ids), ", expected ", describe(expected));
    for (int64_t i = 0; i < ids.numel(); ++i)
      if (ids.data<int64_t>()[i] != expected.data<int64_t>()[i])
        return str(how, "row ", i / ids.size(1), " place ", i % ids.size(1), ": ", ids.data<int64_t>()[i], ", expected ", expected.data<int64_t>()[i]);
    if (!one.contains("sequences_scores")) continue;
    const std::vector<float> scores = one.at("sequences_scores");
    const Expected wanted{.t = from_values({ids.size(0)}, scores), .ref = {}, .rtol = one.at("rtol"), .atol = one.at("atol")};
    if (const std::string wrong = difference(given.sequences_scores, wanted); !wrong.empty()) return str(how, "scores: ", wrong);
  }
  return "";
}

// --- processors.json: what single settings do to scores ---

// The settings that a class of the reference stands for; none for those of sampling.
std::optional<nn::GenerationConfig> settings_of(const std::string& processor, const json& kwargs) {
  nn::GenerationConfig c;
  const auto give = [&](const char* name, const json& value) { c = nn::overlaid(c, json{{name, value}}.dump(), processor); };
  const auto given = [&](const char* name) { give(name, kwargs.at(name)); };
  if (kwargs.contains("eos_token_id")) given("eos_token_id");
  if (processor == "RepetitionPenaltyLogitsProcessor") give("repetition_penalty", kwargs.at("penalty"));
  else if (processor == "EncoderRepetitionPenaltyLogitsProcessor") give("encoder_repetition_penalty", kwargs.at("penalty"));
  else if (processor == "NoRepeatNGramLogitsProcessor") give("no_repeat_ngram_size", kwargs.at("ngram_size"));
  else if (processor == "EncoderNoRepeatNGramLogitsProcessor") give("encoder_no_repeat_ngram_size", kwargs.at("encoder_ngram_size"));
  else if (processor == "SequenceBiasLogitsProcessor") given("sequence_bias");
  else if (processor == "NoBadWordsLogitsProcessor") given("bad_words_ids");
  else if (processor == "MinLengthLogitsProcessor") given("min_length");
  else if (processor == "MinNewTokensLengthLogitsProcessor") given("min_new_tokens");
  else if (processor == "ForcedBOSTokenLogitsProcessor") give("forced_bos_token_id", kwargs.at("bos_token_id"));
  else if (processor == "ForcedEOSTokenLogitsProcessor") give("forced_eos_token_id", kwargs.at("eos_token_id"));
  else if (processor == "InfNanRemoveLogitsProcessor") c.remove_invalid_values = true;
  else if (processor == "ExponentialDecayLengthPenalty") given("exponential_decay_length_penalty");
  else if (processor == "LogitNormalization") c.renormalize_logits = true;
  else if (processor == "SuppressTokensLogitsProcessor") given("suppress_tokens");
  else if (processor == "SuppressTokensAtBeginLogitsProcessor") given("begin_suppress_tokens");
  else return std::nullopt;
  return c;
}

std::string run_processor(const nn::GenerationConfig& config, const json& one, const std::map<std::string, Tensor>& tensors) {
  const json& kwargs = one.at("kwargs");
  const Tensor ids = matrix(one.at("input_ids")), scores = contiguous(tensors.at(one.at("scores"))), result = empty(scores.shape());
  copy_elements(result, scores);
  const Tensor encoded = kwargs.contains("encoder_input_ids") ? matrix(kwargs.at("encoder_input_ids")) : ids;
  const int64_t L = ids.size(1), V = scores.size(1), ignored = kwargs.value("prompt_ignore_length", 0);
  const int64_t prompt = kwargs.value("begin_index", kwargs.value("input_ids_seq_length", kwargs.value("prompt_length_to_skip", int64_t{1})));
  const auto row_of = [](const Tensor& x, int64_t row) { return std::span<const int64_t>(x.data<int64_t>() + row * x.size(1), static_cast<size_t>(x.size(1))); };
  for (const nn::LogitsProcessor& process : nn::logits_processors(config, prompt, kwargs.value("max_length", int64_t{0}), V))
    for (int64_t row = 0; row < ids.size(0); ++row)
      process({.ids = row_of(ids, row).subspan(static_cast<size_t>(ignored)),
               .encoded = row_of(encoded, row),
               .length = L,
               .scores = std::span<float>(result.data<float>() + row * V, static_cast<size_t>(V))});
  const json& expect = one.at("expect");
  return difference(result, {.t = tensors.at(expect.at("t")), .ref = {}, .rtol = expect.at("rtol"), .atol = expect.at("atol")});
}

json cases_of(const std::filesystem::path& file) {
  const json content = json::parse(read_file(file.string()), nullptr, /*allow_exceptions=*/false);
  ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, "read ", file.string(), ": it holds no cases.");
  return content.at("cases");
}

// `run` gives what is wrong with a case, nothing where all is right.
void judge(const std::string& id, Report& report, const std::function<std::string()>& run) {
  std::string wrong;
  try {
    wrong = run();
  } catch (const Error& e) {
    wrong = str("refused: ", e.what());
  }
  if (wrong.empty()) report.pass(id);
  else report.fail(id, wrong);
}

}  // namespace

void run_generation(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "generation.json")) {
    std::map<std::string, nn::Loaded<nn::Model>> models;
    for (const json& one : cases_of(file)) {
      const std::string id = one.at("id"), checkpoint = one.at("checkpoint");
      if (!report.wants("generation", id)) continue;
      if (one.at("config").value("do_sample", false)) {
        report.skip(id, "this build does not sample");
        continue;
      }
      judge(id, report, [&] {
        if (models.count(checkpoint) == 0) models.emplace(checkpoint, nn::load_model("", (file.parent_path() / checkpoint).string()));
        return run_case(*models.at(checkpoint).model, one);
      });
    }
  }
  for (const std::filesystem::path& file : case_files(path, "processors.json")) {
    const std::string beside = (file.parent_path() / "processors.safetensors").string();
    std::map<std::string, Tensor> tensors;
    for (auto& [name, tensor] : load_safetensors(beside)) tensors[name] = tensor;
    for (const json& one : cases_of(file)) {
      const std::string id = one.at("id");
      if (!report.wants("processors", id)) continue;
      const std::optional<nn::GenerationConfig> config = settings_of(one.at("processor"), one.at("kwargs"));
      if (config) judge(id, report, [&] { return run_processor(*config, one, tensors); });
      else report.skip(id, "this build does not sample");
    }
  }
}

}  // namespace rote::conformance
