// trainer/apps/conformance/collators.cpp — collator cases: features into a batch, or a refusal. A collator that this build lacks is skipped by its name.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "tensor/file.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/data/language_collate.h"
#include "trainer/data/reshape_collate.h"
#include "trainer/data/seq2seq_collate.h"
#include "trainer/data/token_collate.h"

namespace rote::conformance {

namespace {

using nlohmann::json;
using data::Example;
using data::Feature;

// None for what collators leave out: null, texts.
std::optional<Feature> feature_of(const json& value) {
  if (value.is_boolean()) return Feature::single(int64_t{value.get<bool>()});
  if (value.is_number_integer()) return Feature::single(value.get<int64_t>());
  if (value.is_number()) return Feature::single(value.get<float>());
  if (!value.is_array()) return std::nullopt;
  if (!value.empty() && value[0].is_array()) return Feature::lists(value.get<std::vector<std::vector<int64_t>>>());
  if (!value.empty() && value[0].is_number_float()) return Feature::list(value.get<std::vector<float>>());
  return Feature::list(value.get<std::vector<int64_t>>());
}

// A dictionary, in the order of the file, or a bare list of ids.
std::vector<Example> examples_of(const nlohmann::ordered_json& features) {
  std::vector<Example> examples;
  for (const auto& one : features) {
    Example& example = examples.emplace_back();
    if (one.is_array()) example.emplace_back("input_ids", *feature_of(one));
    else
      for (const auto& [name, value] : one.items())
        if (std::optional<Feature> feature = feature_of(value)) example.emplace_back(name, std::move(*feature));
  }
  return examples;
}

data::PadTo padding_of(const json& word) {
  if (word == true || word == "longest") return data::PadTo::longest;
  if (word == "max_length") return data::PadTo::max_length;
  ROTE_CHECK(word == false || word == "do_not_pad", ArgumentError, "padding: is ", word.dump(), "; it must be true, longest, max_length, false or do_not_pad.");
  return data::PadTo::do_not_pad;
}

template <class T>
std::optional<T> given(const json& of, const char* name) {
  return of.contains(name) && !of.at(name).is_null() ? std::optional<T>(of.at(name).get<T>()) : std::nullopt;
}

data::PadOptions pad_of(const json& one) {
  const json& kwargs = one.at("kwargs");
  const json names = one.value("model_input_names", json::array({"attention_mask"}));
  return {.pad_token_id = one.at("pad_token_id"),
          .pad_token_type_id = one.at("pad_token_type_id"),
          .side = one.at("padding_side") == "left" ? text::Side::left : text::Side::right,
          .pad_to_multiple_of = given<int64_t>(kwargs, "pad_to_multiple_of"),
          .padding = padding_of(kwargs.value("padding", json(true))),
          .max_length = given<int64_t>(kwargs, "max_length"),
          .model_max_length = given<int64_t>(one, "model_max_length"),
          .attention_mask = std::find(names.begin(), names.end(), "attention_mask") != names.end()};
}

data::Collator seq2seq(const json& one) {
  data::Seq2SeqOptions options{.label_pad_token_id = one.at("kwargs").value("label_pad_token_id", int64_t{-100})};
  if (one.contains("decoder_shift")) options.decoder = {one.at("decoder_shift").at("decoder_start_token_id"), one.at("decoder_shift").at("pad_token_id")};
  return data::Seq2SeqCollator(pad_of(one), options);
}

data::Collator language_modeling(const json& one) {
  const json& kwargs = one.at("kwargs");
  data::LanguageModelingOptions options;
  options.mlm = kwargs.value("mlm", options.mlm);
  options.whole_word_mask = kwargs.value("whole_word_mask", options.whole_word_mask);
  options.mlm_probability = kwargs.value("mlm_probability", options.mlm_probability);
  options.mask_replace_prob = kwargs.value("mask_replace_prob", options.mask_replace_prob);
  options.random_replace_prob = kwargs.value("random_replace_prob", options.random_replace_prob);
  options.pad_to_multiple_of = given<int64_t>(kwargs, "pad_to_multiple_of");
  options.seed = given<uint64_t>(kwargs, "seed");
  const data::MaskTokens tokens{given<int64_t>(one, "mask_token_id"), one.value("vocab_size", int64_t{0}), one.value("special_token_ids", std::vector<int64_t>())};
  data::PadOptions pad = pad_of(one);
  if (!one.at("features").empty() && one.at("features")[0].is_array()) pad.attention_mask = false;  // of bare lists nothing is made but input_ids
  return data::LanguageModelingCollator(pad, tokens, options);
}

data::Collator flattening(const json& one) {
  const json& kwargs = one.at("kwargs");
  const data::FlatteningOptions usual;
  return data::FlatteningCollator({.return_position_ids = kwargs.value("return_position_ids", usual.return_position_ids),
                                   .position_ids_start = kwargs.value("position_ids_start", usual.position_ids_start),
                                   .separator_id = kwargs.value("separator_id", usual.separator_id),
                                   .return_flash_attn_kwargs = kwargs.value("return_flash_attn_kwargs", usual.return_flash_attn_kwargs),
                                   .return_seq_idx = kwargs.value("return_seq_idx", usual.return_seq_idx)});
}

struct Maker {
  const char* name;
  data::Collator (*make)(const json& one);
};

constexpr Maker kMakers[] = {
    {"DefaultDataCollator", [](const json&) -> data::Collator { return data::default_collate; }},
    {"DataCollatorWithPadding", [](const json& one) -> data::Collator { return data::PadCollator(pad_of(one)); }},
    {"DataCollatorForTokenClassification",
     [](const json& one) -> data::Collator { return data::TokenCollator(pad_of(one), one.at("kwargs").value("label_pad_token_id", int64_t{-100})); }},
    {"DataCollatorForSeq2Seq", seq2seq},
    {"DataCollatorForLanguageModeling", language_modeling},
    {"DataCollatorForMultipleChoice", [](const json& one) -> data::Collator { return data::MultipleChoiceCollator(pad_of(one)); }},
    {"DataCollatorWithFlattening", flattening},
};

// The values of x as nested lists, from element `at` on.
json values_of(const Tensor& x, int axis, int64_t& at) {
  if (axis == x.axes()) {
    if (x.dtype() == DType::f32) return x.data<float>()[at++];
    return converted(x, DType::i64).data<int64_t>()[at++];
  }
  json list = json::array();
  for (int64_t i = 0; i < x.size(axis); ++i) list.push_back(values_of(x, axis + 1, at));
  return list;
}

// The numbers as f32 holds them.
json rounded(const json& value) {
  if (!value.is_array()) return value.get<float>();
  json list = json::array();
  for (const json& one : value) list.push_back(rounded(one));
  return list;
}

std::string dtype_word(DType dtype) { return dtype == DType::f32 ? "float32" : dtype == DType::i32 ? "int32" : "int64"; }

// What is wrong with the batch, in one line; empty where nothing is.
std::string compare(const nn::Batch& batch, const json& expect) {
  for (const auto& [name, x] : batch.entries)
    if (!expect.contains(name)) return str(name, ": the batch has it and must not");
  for (const auto& [name, expected] : expect.items()) {
    const Tensor x = batch.find(name);
    if (expected.is_null() || expected.at("value").is_null()) {
      if (x.defined()) return str(name, ": expected none, got ", describe(x));
      continue;
    }
    const json dtype = expected.at("dtype"), value = expected.at("value");
    if (!x.defined()) return str(name, ": the batch lacks it");
    // Plain numbers of the reference are i64 here.
    if (dtype.is_string() && dtype != dtype_word(x.dtype())) return str(name, ": expected ", dtype.dump(), ", got ", describe(x));
    int64_t at = 0;
    const json got = values_of(contiguous(x), 0, at);
    if (got != (x.dtype() == DType::f32 ? rounded(value) : value)) return str(name, ": expected ", value.dump(), ", got ", got.dump());
  }
  return "";
}

std::string run_case(const Maker& maker, const json& one, const nlohmann::ordered_json& features) {
  nn::Batch batch;
  try {
    batch = maker.make(one)(examples_of(features));
  } catch (const Error& refused) {
    return one.contains("expect_error") ? "" : str("refused: ", refused.what());
  }
  if (one.contains("expect_error")) return "accepted, but must be refused";
  return compare(batch, one.at("expect"));
}

}  // namespace

void run_collators(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "collators.json")) {
    const auto content = nlohmann::ordered_json::parse(read_file(file.string()), nullptr, /*allow_exceptions=*/false);
    ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, file.string(), " is no file of cases.");
    for (const auto& ordered : content.at("cases")) {
      const json one = json::parse(ordered.dump());
      const std::string id = one.at("id"), name = one.at("collator");
      if (!report.wants("collators", id)) continue;
      const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers), [&](const Maker& known) { return known.name == name; });
      if (maker == std::end(kMakers)) {
        report.skip(id, str("no ", name));
        continue;
      }
      std::string wrong;
      try {
        wrong = run_case(*maker, one, ordered.at("features"));
      } catch (const std::exception& e) {
        wrong = e.what();
      }
      if (wrong.empty()) report.pass(id);
      else report.fail(id, wrong);
    }
  }
}

}  // namespace rote::conformance
