// trainer/gaudi_arguments.cpp — the rows that optimum-habana has beside TrainingArguments, and its config.
#include "trainer/gaudi_arguments.h"

#include <filesystem>

#include "trainer/argument_files.h"
#include "trainer/argument_reasons.h"

namespace rote {

namespace {

constexpr FieldAction kIgnore = FieldAction::ignore, kReject = FieldAction::reject;
constexpr const char* kEager = "since every step runs as it is written";
constexpr const char* kOneAttention = "since attention is one function with one result";

constexpr WordRule kDeviceRules[] = {{"True", kReject, kNoDevice}};
constexpr const char* kEndToken = "since generation ends at the end token";
constexpr WordRule kEndRules[] = {{"True", kReject, kEndToken}};
constexpr WordRule kDistributionRules[] = {{"fast_ddp", kReject, kNoDevice}};
constexpr WordRule kAttentionRules[] = {{"gaudi_fused_sdpa", kReject, kNoDevice}};

const std::vector<std::string>& distribution_words() {
  static const std::vector<std::string> words = {"ddp"};
  return words;
}

const std::vector<std::string>& attention_words() {
  static const std::vector<std::string> words = {"eager", "sdpa"};
  return words;
}

std::vector<Field<GaudiTrainingArguments>> make_fields() {
  using G = GaudiTrainingArguments;
  std::vector<Field<G>> fields = inherited<G>(TrainingArguments::table());
  const std::vector<Field<G>> own = {
      memberless<G>({.name = "use_habana", .rules = kDeviceRules, .action = kIgnore, .reason = kNoDevice}, false),
      field(&G::gaudi_config_name, {.name = "gaudi_config_name", .help = "file or folder of a gaudi_config.json"}),
      memberless<G>({.name = "use_lazy_mode", .action = kIgnore, .reason = kEager}, true),
      memberless<G>({.name = "use_hpu_graphs", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "use_hpu_graphs_for_inference", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "use_hpu_graphs_for_training", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "use_compiled_autograd", .action = kReject, .reason = kNoCapture}, false),
      memberless<G>({.name = "compile_from_sec_iteration", .action = kReject, .reason = kNoCapture}, false),
      memberless<G>({.name = "compile_dynamic", .action = kReject, .reason = kNoCapture}, std::optional<bool>()),
      memberless<G>({.name = "use_zero3_leaf_promotion", .action = kReject, .reason = kOneProcess}, false),
      memberless<G>({.name = "cache_size_limit", .action = kReject, .reason = kNoCapture}, std::optional<int64_t>()),
      memberless<G>({.name = "use_regional_compilation", .action = kReject, .reason = kNoCapture}, false),
      memberless<G>({.name = "inline_inbuilt_nn_modules", .action = kReject, .reason = kNoCapture}, std::optional<bool>()),
      memberless<G>({.name = "allow_unspec_int_on_nn_module", .action = kReject, .reason = kNoCapture}, std::optional<bool>()),
      memberless<G>({.name = "disable_tensor_cache_hpu_graphs", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "max_hpu_graphs", .action = kReject, .reason = kNoDevice}, std::optional<int64_t>()),
      memberless<G>({.name = "distribution_strategy", .words = distribution_words, .rules = kDistributionRules, .action = kIgnore, .reason = kOneProcess}, std::string("ddp")),
      memberless<G>({.name = "context_parallel_size", .action = kReject, .reason = kOneProcess}, int64_t{1}),
      memberless<G>({.name = "minimize_memory", .action = kReject, .reason = kOneProcess}, false),
      memberless<G>({.name = "pipelining_fwd_bwd", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "ignore_eos", .rules = kEndRules, .action = kIgnore, .reason = kEndToken, .beside = true}, true),
      memberless<G>({.name = "non_blocking_data_copy", .action = kIgnore, .reason = "since data is where it is needed"}, false),
      memberless<G>({.name = "attn_implementation", .words = attention_words, .rules = kAttentionRules, .action = kIgnore, .reason = kOneAttention}, std::string("eager")),
      memberless<G>({.name = "flash_attention_recompute", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "flash_attention_fast_softmax", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "flash_attention_causal_mask", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "flash_attention_fp8", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "sdp_on_bf16", .action = kReject, .reason = kNoDevice}, false),
      memberless<G>({.name = "fp8", .action = kReject, .reason = kNoDevice}, false),
  };
  fields.insert(fields.end(), own.begin(), own.end());
  return fields;
}

}  // namespace

GaudiTrainingArguments::GaudiTrainingArguments() {
  optim = "adamw_torch";
  adam_epsilon = 1e-6;
  logging_nan_inf_filter = false;
  average_tokens_across_devices = false;
  ddp_bucket_cap_mb = 230;
  ddp_find_unused_parameters = false;
}

const ArgumentTable<GaudiTrainingArguments>& GaudiTrainingArguments::table() {
  static const ArgumentTable<GaudiTrainingArguments> rows{"training", make_fields(), [](GaudiTrainingArguments& args) { return apply_rules(args); }};
  return rows;
}

const ArgumentTable<GaudiConfig>& GaudiConfig::table() {
  using C = GaudiConfig;
  static const ArgumentTable<C> rows = {
      "gaudi",
      {
          field(&C::use_torch_autocast, {.name = "use_torch_autocast", .help = "mixed precision by lists of ops"}),
          field(&C::autocast_bf16_ops, {.name = "autocast_bf16_ops", .help = "ops that lower"}),
          field(&C::autocast_fp32_ops, {.name = "autocast_fp32_ops", .help = "ops that do not"}),
          field(&C::use_dynamic_shapes, {.name = "use_dynamic_shapes", .help = "shapes may change"}),
          field(&C::use_fused_adam, {.name = "use_fused_adam", .help = "AdamW, here as ever"}),
          field(&C::use_fused_clip_norm, {.name = "use_fused_clip_norm", .help = "the clip by norm, here as ever"}),
      },
  };
  return rows;
}

GaudiConfig read_gaudi_config(const std::string& place) {
  const std::filesystem::path path = std::filesystem::is_directory(place) ? std::filesystem::path(place) / "gaudi_config.json" : std::filesystem::path(place);
  return from_map<GaudiConfig>(read_json_map(path.string()), {.allow_extra_keys = true, .who = path.string()});
}

}  // namespace rote
