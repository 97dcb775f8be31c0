// tests/trainer/tiny_pipelines.h — folders of small models with heads and the tiny tokenizer, for pipelines.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nn/pretrained.h"
#include "tensor/file.h"
#include "tensor/generator.h"
#include "tests/nn/small_bert.h"
#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"
#include "trainer/text/tokenizer.h"

namespace rote::testing {

// The small BERT with weights so large that its answers differ from text to text.
inline std::shared_ptr<nn::BertConfig> bold_bert() {
  auto config = small_bert();
  config->initializer_range = 0.5;
  return config;
}

// The tiny tokenizer with [MASK] in place of its last piece, "star".
inline std::string masking_tokenizer_json() {
  std::string json = tiny_tokenizer_json();
  const std::string piece = "\"star\": 30", last = R"("content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})";
  json.replace(json.find(piece), piece.size(), "\"[MASK]\": 30");
  json.insert(json.find(last) + last.size(),
              R"(, {"id": 30, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})");
  return json;
}

// The tiny tokenizer without [CLS] and [SEP] around a text.
inline std::string bare_tokenizer_json() {
  std::string json = tiny_tokenizer_json();
  const size_t begin = json.find("\"post_processor\""), end = json.find("\"decoder\"");
  return json.replace(begin, end - begin, "\"post_processor\": null, ");
}

// `change` may set weights by hand before they are saved.
template <class M>
void write_pipeline_model(const std::string& folder, std::shared_ptr<typename M::ConfigType> config, const std::string& tokenizer_json,
                          const std::function<void(M&)>& change = {}) {
  manual_seed(3);
  M model(std::move(config));
  if (change) change(model);
  nn::save_pretrained(model, folder);
  write_file(folder + "/tokenizer.json", tokenizer_json);
}

}  // namespace rote::testing
