#include "nn/generation_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/check.h"
#include "tensor/file.h"

namespace rote::nn {

using nlohmann::json;

namespace {

// Each setting with its name in the file.
template <class F>
void each_setting(F&& f) {
  using G = GenerationConfig;
  f("max_length", &G::max_length);
  f("max_new_tokens", &G::max_new_tokens);
  f("min_length", &G::min_length);
  f("min_new_tokens", &G::min_new_tokens);
  f("num_beams", &G::num_beams);
  f("early_stopping", &G::early_stopping);
  f("length_penalty", &G::length_penalty);
  f("num_return_sequences", &G::num_return_sequences);
  f("use_cache", &G::use_cache);
  f("sequence_bias", &G::sequence_bias);
  f("encoder_repetition_penalty", &G::encoder_repetition_penalty);
  f("repetition_penalty", &G::repetition_penalty);
  f("no_repeat_ngram_size", &G::no_repeat_ngram_size);
  f("encoder_no_repeat_ngram_size", &G::encoder_no_repeat_ngram_size);
  f("bad_words_ids", &G::bad_words_ids);
  f("forced_bos_token_id", &G::forced_bos_token_id);
  f("forced_eos_token_id", &G::forced_eos_token_id);
  f("remove_invalid_values", &G::remove_invalid_values);
  f("exponential_decay_length_penalty", &G::exponential_decay_length_penalty);
  f("suppress_tokens", &G::suppress_tokens);
  f("begin_suppress_tokens", &G::begin_suppress_tokens);
  f("renormalize_logits", &G::renormalize_logits);
  f("pad_token_id", &G::pad_token_id);
  f("bos_token_id", &G::bos_token_id);
  f("eos_token_id", &G::eos_token_id);
  f("decoder_start_token_id", &G::decoder_start_token_id);
  f("do_sample", &G::do_sample);
}

// --- A value from JSON: what it must be, where it is not; else empty ---

using Fault = std::string;

Fault take(const json& j, int64_t& to) {
  if (!j.is_number_integer()) return "a whole number";
  to = j.get<int64_t>();
  return "";
}
Fault take(const json& j, double& to) {
  if (!j.is_number()) return "a number";
  to = j.get<double>();
  return "";
}
Fault take(const json& j, bool& to) {
  if (!j.is_boolean()) return "true or false";
  to = j.get<bool>();
  return "";
}
Fault take(const json& j, EarlyStopping& to) {
  if (j == "never") to = EarlyStopping::never;
  else if (j.is_boolean()) to = j.get<bool>() ? EarlyStopping::yes : EarlyStopping::no;
  else return "true, false or \"never\"";
  return "";
}
Fault take(const json& j, std::vector<int64_t>& to) {
  std::vector<int64_t> ids;
  for (const json& one : j.is_array() ? j : json::array({j}))
    if (!take(one, ids.emplace_back()).empty()) return "an id or a list of ids";
  to = std::move(ids);
  return "";
}
Fault take(const json& j, std::vector<std::vector<int64_t>>& to) {
  std::vector<std::vector<int64_t>> words;
  if (!j.is_array()) return "a list of lists of ids";
  for (const json& one : j)
    if (!one.is_array() || !take(one, words.emplace_back()).empty()) return "a list of lists of ids";
  to = std::move(words);
  return "";
}
Fault take(const json& j, std::pair<int64_t, double>& to) {
  std::pair<int64_t, double> both;
  if (!j.is_array() || j.size() != 2 || !take(j[0], both.first).empty() || !take(j[1], both.second).empty()) return "[start, factor]";
  to = both;
  return "";
}
Fault take(const json& j, std::vector<std::pair<std::vector<int64_t>, double>>& to) {
  std::vector<std::pair<std::vector<int64_t>, double>> biases;
  if (!j.is_array()) return "a list of [ids, bias]";
  for (const json& one : j) {
    auto& [ids, bias] = biases.emplace_back();
    if (!one.is_array() || one.size() != 2 || !one[0].is_array() || !take(one[0], ids).empty() || !take(one[1], bias).empty()) return "a list of [ids, bias]";
  }
  to = std::move(biases);
  return "";
}
template <class T>
Fault take(const json& j, std::optional<T>& to) {
  T value{};
  Fault fault = take(j, value);
  if (fault.empty()) to = value;
  return fault;
}

json written(EarlyStopping value) { return value == EarlyStopping::never ? json("never") : json(value == EarlyStopping::yes); }
json written(const std::vector<int64_t>& ids) { return ids.size() == 1 ? json(ids[0]) : json(ids); }
template <class T>
json written(const T& value) { return value; }
template <class T>
json written(const std::optional<T>& value) { return value ? json(*value) : json(); }

json object_of(const std::string& text, const std::string& who) {
  constexpr int kMostLevels = 200;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    ROTE_CHECK(depth <= kMostLevels, ArgumentError, who, ": it nests more than ", kMostLevels, " levels; settings have a few.");
    return true;
  };
  json parsed = json::parse(text, shallow, /*allow_exceptions=*/false);
  ROTE_CHECK(parsed.is_object(), ArgumentError, who, ": it is no JSON object; generation settings are {\"num_beams\": 4, …}.");
  return parsed;
}

// What `keys` hold of c's settings; these keys are taken away. A null gives back the default.
void take_settings(GenerationConfig& c, json& keys, const std::string& who) {
  each_setting([&](const char* name, auto member) {
    const auto found = keys.find(name);
    if (found == keys.end()) return;
    const Fault fault = found->is_null() ? "" : take(*found, c.*member);
    ROTE_CHECK(fault.empty(), ArgumentError, who, ": ", name, " is ", found->dump(), "; it must be ", fault, ".");
    if (found->is_null()) c.*member = GenerationConfig().*member;
    keys.erase(found);
  });
}

// Ways of generating that other builds have: what a key must be here.
struct OtherWay {
  const char* name;
  double plain;  // or null, false, empty
};
constexpr OtherWay kOtherWays[] = {{"guidance_scale", 1},      {"num_beam_groups", 1}, {"diversity_penalty", 0}, {"penalty_alpha", 0},
                                   {"constraints", 0},         {"force_words_ids", 0}, {"dola_layers", 0},       {"watermarking_config", 0},
                                   {"prompt_lookup_num_tokens", 0}, {"stop_strings", 0},    {"max_time", 0},          {"token_healing", 0}};

bool is_plain(const json& j, double plain) { return j.is_null() || (j.is_number() && j == plain) || j == false || (j.is_structured() && j.empty()); }

}  // namespace

void GenerationConfig::check() const {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    ROTE_CHECK(value >= least, ArgumentError, "generate: ", name, " is ", value, "; it must be at least ", least, ".");
  };
  at_least("max_new_tokens", max_new_tokens.value_or(1), 1);
  at_least("max_length", max_length.value_or(1), 1);
  at_least("min_length", min_length, 0);
  at_least("min_new_tokens", min_new_tokens.value_or(0), 0);
  at_least("num_beams", num_beams, 1);
  at_least("num_return_sequences", num_return_sequences, 1);
  at_least("no_repeat_ngram_size", no_repeat_ngram_size, 0);
  at_least("encoder_no_repeat_ngram_size", encoder_no_repeat_ngram_size, 0);
  ROTE_CHECK(num_beams < 1 << 16, ArgumentError, "generate: num_beams is ", num_beams, "; it must be below ", 1 << 16, ".");
  ROTE_CHECK(num_return_sequences <= num_beams, ArgumentError, "generate: num_return_sequences is ", num_return_sequences, " and num_beams ", num_beams,
             "; beams give at most one sequence each, raise num_beams.");
  for (const auto& [name, value] : {std::pair("repetition_penalty", repetition_penalty), std::pair("encoder_repetition_penalty", encoder_repetition_penalty)})
    ROTE_CHECK(value > 0, ArgumentError, "generate: ", name, " is ", value, "; it must be above 0, 1 leaves scores as they are.");
  ROTE_CHECK(std::isfinite(length_penalty), ArgumentError, "generate: length_penalty is ", length_penalty, "; it must be finite.");
  for (const std::vector<int64_t>& word : bad_words_ids) ROTE_CHECK(!word.empty(), ArgumentError, "generate: bad_words_ids has an empty word; each needs an id.");
  for (const auto& one : sequence_bias) ROTE_CHECK(!one.first.empty(), ArgumentError, "generate: sequence_bias has an empty sequence; each needs an id.");
  std::vector<int64_t> forced = forced_eos_token_id;
  if (forced_bos_token_id) forced.push_back(*forced_bos_token_id);
  for (const int64_t id : forced)
    ROTE_CHECK(std::find(suppress_tokens.begin(), suppress_tokens.end(), id) == suppress_tokens.end(), ArgumentError, "generate: the id ", id,
               " is forced and suppressed as well; leave it out of forced_bos_token_id and forced_eos_token_id, or out of suppress_tokens.");
  ROTE_CHECK(!do_sample, ArgumentError, "generate: do_sample is true, and this build does not sample; set it to false.");
  for (const OtherWay& way : kOtherWays) {
    const auto found = others.find(way.name);
    ROTE_CHECK(found == others.end() || is_plain(json::parse(found->second), way.plain), ArgumentError, "generate: ", way.name, " is ", found->second,
               ", which this build does not have; leave it out.");
  }
}

GenerationConfig overlaid(const GenerationConfig& base, const std::string& text, const std::string& who) {
  json keys = object_of(text, who);
  GenerationConfig c = base;
  const auto names = [&](const char* key) { return keys.contains(key) && !keys[key].is_null(); };
  if (names("max_length") || names("max_new_tokens")) c.max_length = c.max_new_tokens = std::nullopt;
  take_settings(c, keys, who);
  for (const auto& [name, value] : keys.items()) c.others[name] = value.dump();
  return c;
}

std::string generation_config_text(const GenerationConfig& config) {
  json to = json::object();
  for (const auto& [name, value] : config.others) to[name] = json::parse(value);
  each_setting([&](const char* name, auto member) {
    if (!(config.*member == GenerationConfig().*member)) to[name] = written(config.*member);
  });
  return to.dump(2, ' ', /*ensure_ascii=*/true) + "\n";
}

GenerationConfig read_generation_config(const std::string& place) {
  const std::string path = is_file(place) ? place : place + "/generation_config.json";
  ROTE_CHECK(is_file(path), IoError, "read ", place, ": it holds no generation_config.json; name that file or its folder.");
  constexpr int64_t kLongest = 16 << 20;
  ROTE_CHECK(InputFile(path).bytes() <= kLongest, IoError, "read ", path, ": it has more than ", kLongest, " bytes; the file is damaged.");
  return overlaid({}, read_file(path), "read " + path);
}

GenerationConfig generation_config_of(Config& config) {
  if (!config.generation.empty()) return overlaid({}, config.generation, "generation_config.json");
  GenerationConfig c;
  json keys = json::parse(config_text(config));
  // What older versions of the reference wrote into every config, as the defaults that they are.
  if (keys.value("max_length", json()) == 20) keys.erase("max_length");
  take_settings(c, keys, "config.json");
  return c;
}

}  // namespace rote::nn
