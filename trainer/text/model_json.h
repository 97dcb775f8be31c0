// trainer/text/model_json.h — the `model` of a tokenizer.json: its vocabulary, merges and options.
#pragma once

#include "trainer/text/json_view.h"
#include "trainer/text/model.h"

namespace rote::text {

// Throws IoError where a part is missing or another than it must be, ArgumentError where the model is not known.
Model read_model(const JsonNode& node);

// The tokens and ids of a JSON object.
Vocabulary read_vocabulary(const JsonNode& node);

}  // namespace rote::text
