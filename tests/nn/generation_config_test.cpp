// tests/nn/generation_config_test.cpp — settings to and from JSON, lengths that replace each other, what is refused, and where a model's come from.
#include "nn/generation_config.h"

#include <doctest/doctest.h>

#include "nn/auto.h"
#include "nn/models/t5.h"
#include "tensor/file.h"
#include "tests/support/place.h"

using namespace rote;
using nn::GenerationConfig;
using rote::testing::TempFolder;

namespace {

GenerationConfig from(const std::string& json) { return nn::overlaid({}, json, "read g.json"); }

std::string refusal(const std::string& json) {
  try {
    from(json).check();
  } catch (const ArgumentError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("generation config: what is read is written again, sorted, and defaults are not") {
  const std::string text = R"({
  "bad_words_ids": [
    [
      7
    ],
    [
      9,
      11
    ]
  ],
  "early_stopping": "never",
  "eos_token_id": [
    1,
    2
  ],
  "exponential_decay_length_penalty": [
    3,
    1.5
  ],
  "num_beams": 4,
  "pad_token_id": 0,
  "sequence_bias": [
    [
      [
        5
      ],
      -1.5
    ]
  ],
  "temperature": 0.6
}
)";
  CHECK(nn::generation_config_text(from(text)) == text);
  CHECK(nn::generation_config_text({}) == "{}\n");
  CHECK(nn::generation_config_text(from(R"({"num_beams": 1, "eos_token_id": [3], "max_length": null})")) == "{\n  \"eos_token_id\": 3\n}\n");
  CHECK(from(R"({"early_stopping": true})").early_stopping == nn::EarlyStopping::yes);
  CHECK(from(R"({"length_penalty": 2})").length_penalty == 2.0);
}

TEST_CASE("generation config: a length that is named replaces both that were there") {
  const GenerationConfig base = from(R"({"max_new_tokens": 6, "num_beams": 2})");
  const GenerationConfig longer = nn::overlaid(base, R"({"max_length": 9})", "call");
  CHECK(longer.max_length == 9);
  CHECK(!longer.max_new_tokens.has_value());
  CHECK(longer.num_beams == 2);
  CHECK(nn::overlaid(base, R"({"num_beams": 3})", "call").max_new_tokens == 6);
  CHECK(nn::overlaid(base, R"({"num_beams": null})", "call").num_beams == 1);
}

TEST_CASE("generation config: values that cannot be are refused with what they must be") {
  CHECK(refusal("[]") == "read g.json: it is no JSON object; generation settings are {\"num_beams\": 4, …}.");
  CHECK(refusal(std::string(300, '[')) == "read g.json: it nests more than 200 levels; settings have a few.");
  CHECK(refusal(R"({"num_beams": 2.5})") == "read g.json: num_beams is 2.5; it must be a whole number.");
  CHECK(refusal(R"({"early_stopping": "always"})") == "read g.json: early_stopping is \"always\"; it must be true, false or \"never\".");
  CHECK(refusal(R"({"eos_token_id": ["a"]})") == "read g.json: eos_token_id is [\"a\"]; it must be an id or a list of ids.");
  CHECK(refusal(R"({"bad_words_ids": [7]})") == "read g.json: bad_words_ids is [7]; it must be a list of lists of ids.");
  CHECK(refusal(R"({"sequence_bias": [[7, 1.0]]})") == "read g.json: sequence_bias is [[7,1.0]]; it must be a list of [ids, bias].");
  CHECK(refusal(R"({"exponential_decay_length_penalty": 3})") == "read g.json: exponential_decay_length_penalty is 3; it must be [start, factor].");
  CHECK(refusal(R"({"num_return_sequences": 3})") ==
        "generate: num_return_sequences is 3 and num_beams 1; beams give at most one sequence each, raise num_beams.");
  CHECK(refusal(R"({"max_new_tokens": 0})") == "generate: max_new_tokens is 0; it must be at least 1.");
  CHECK(refusal(R"({"repetition_penalty": 0})") == "generate: repetition_penalty is 0; it must be above 0, 1 leaves scores as they are.");
  CHECK(refusal(R"({"bad_words_ids": [[]]})") == "generate: bad_words_ids has an empty word; each needs an id.");
}

TEST_CASE("generation config: ways of generating that are not built are refused, settings of sampling without it are not") {
  CHECK(refusal(R"({"do_sample": true})") == "generate: do_sample is true, and this build does not sample; set it to false.");
  CHECK(refusal(R"({"guidance_scale": 1.5})") == "generate: guidance_scale is 1.5, which this build does not have; leave it out.");
  CHECK(refusal(R"({"num_beam_groups": 2})") == "generate: num_beam_groups is 2, which this build does not have; leave it out.");
  CHECK(refusal(R"({"guidance_scale": null, "num_beam_groups": 1, "diversity_penalty": 0.0, "temperature": 0.7, "top_k": 50, "transformers_version": "5"})") == "");
}

TEST_CASE("generation config: a model's are of its folder, else of its config, and are saved with it") {
  const TempFolder folder;
  auto config = std::make_shared<nn::T5Config>();
  config->vocab_size = 20;
  config->d_model = config->d_ff = 8;
  config->d_kv = 4;
  config->num_layers = 1;
  config->num_heads = 2;
  config->others["num_beams"] = "3";
  config->others["max_length"] = "20";  // what every older config has
  const GenerationConfig own = nn::generation_config_of(*config);
  CHECK(own.num_beams == 3);
  CHECK(!own.max_length.has_value());
  CHECK(own.eos_token_id == std::vector<int64_t>{1});
  CHECK(own.decoder_start_token_id == 0);
  nn::T5ForConditionalGeneration model(config);
  nn::save_pretrained(model, folder.path());
  CHECK(!is_file(folder.file("generation_config.json")));
  CHECK_THROWS_AS(nn::read_generation_config(folder.path()), IoError);
  const std::string text = "{\"num_beams\": 5, \"forced_eos_token_id\": 1}";
  write_file(folder.file("generation_config.json"), text);
  const auto loaded = nn::load_model("", folder.path());
  CHECK(nn::generation_config_of(*loaded.model->config()).num_beams == 5);
  CHECK(nn::read_generation_config(folder.file("generation_config.json")).forced_eos_token_id == std::vector<int64_t>{1});
  nn::save_pretrained(*loaded.model, folder.file("again"));
  CHECK(read_file(folder.file("again/generation_config.json")) == text);
}
