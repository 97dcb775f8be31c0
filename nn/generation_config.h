// nn/generation_config.h — GenerationConfig: what generate() is told, under the names of generation_config.json. JSON only in generation_config.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/config.h"

namespace rote::nn {

// When a beam search ends (beam_search.h): `true`, `false` and `"never"` in the file.
enum class EarlyStopping { no, yes, never };

struct GenerationConfig {
  // Lengths in tokens, of a row as it is returned: the prompt of a decoder-only model counts, its padding too. max_new_tokens stands where both are
  // given; neither: 20 after the prompt, at most what the model takes.
  std::optional<int64_t> max_length = {}, max_new_tokens = {};
  int64_t min_length = 0;
  std::optional<int64_t> min_new_tokens = {};  // given: in place of min_length

  int64_t num_beams = 1;
  EarlyStopping early_stopping = EarlyStopping::no;
  double length_penalty = 1;         // of beams: the sum of log probabilities is divided by length^length_penalty
  int64_t num_return_sequences = 1;  // the best of num_beams
  bool use_cache = true;             // the same tokens without, more slowly

  // Scores (logits_process.h).
  std::vector<std::pair<std::vector<int64_t>, double>> sequence_bias = {};
  double encoder_repetition_penalty = 1, repetition_penalty = 1;
  int64_t no_repeat_ngram_size = 0, encoder_no_repeat_ngram_size = 0;
  std::vector<std::vector<int64_t>> bad_words_ids = {};
  std::optional<int64_t> forced_bos_token_id = {};
  std::vector<int64_t> forced_eos_token_id = {};
  bool remove_invalid_values = false;
  std::optional<std::pair<int64_t, double>> exponential_decay_length_penalty = {};
  std::vector<int64_t> suppress_tokens = {}, begin_suppress_tokens = {};
  bool renormalize_logits = false;

  std::optional<int64_t> pad_token_id = {};  // fills rows that ended; none: the first end id, or 0
  std::vector<int64_t> bos_token_id = {};
  std::vector<int64_t> eos_token_id = {};    // any of them ends a row
  std::optional<int64_t> decoder_start_token_id = {};  // none: as the model's config says

  bool do_sample = false;                       // generate() refuses true
  std::map<std::string, std::string> others = {};  // further keys with their JSON: kept, written back, refused by generate() where they would matter

  // Throws ArgumentError for values that cannot be, and for ways of generating that are not built.
  void check() const;
};

// The keys of a JSON object in place of those of `base`; a length that it names replaces both of the base. `who` begins error texts. Throws
// ArgumentError for a value of the wrong kind.
GenerationConfig overlaid(const GenerationConfig& base, const std::string& json, const std::string& who);
// The settings that differ from the defaults, and the keys that were kept.
std::string generation_config_text(const GenerationConfig& config);
// Of a generation_config.json, or of the folder that holds one. Throws IoError where there is none.
GenerationConfig read_generation_config(const std::string& place);
// That of the folder from which the model came, else what its config.json says of generation.
GenerationConfig generation_config_of(Config& config);

}  // namespace rote::nn
