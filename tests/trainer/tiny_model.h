// tests/trainer/tiny_model.h — a model folder of a few kilobytes and files of labelled texts for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/models/bert.h"
#include "nn/pretrained.h"
#include "tensor/generator.h"
#include "tests/nn/small_bert.h"
#include "tests/support/place.h"

namespace rote::testing {

// 31 pieces: the special tokens are 0 to 3, "good" is 4.
inline std::string tiny_tokenizer_json() {
  const char* pieces[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad",  "fine", "dull", "film", "plot", "cast", "the",  "a",   "is",  "was", "and",
                          "not",   "very",  "end",   "##s",   "##ly", "##ing", "play", "act",  ".",    ",",    "it",   "no",   "one", "two", "star"};
  std::string vocab, added;
  for (size_t id = 0; id < std::size(pieces); ++id) {
    vocab += (id ? ", \"" : "\"") + std::string(pieces[id]) + "\": " + std::to_string(id);
    if (id < 4)
      added += (id ? ", " : "") + std::string("{\"id\": ") + std::to_string(id) + ", \"content\": \"" + pieces[id] +
               R"(", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})";
  }
  const auto token = [](const char* name, int type) { return std::string(R"({"SpecialToken": {"id": ")") + name + R"(", "type_id": )" + std::to_string(type) + "}}"; };
  const auto sequence = [](const char* name, int type) { return std::string(R"({"Sequence": {"id": ")") + name + R"(", "type_id": )" + std::to_string(type) + "}}"; };
  const std::string single = token("[CLS]", 0) + ", " + sequence("A", 0) + ", " + token("[SEP]", 0);
  return R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [)" + added +
         R"(], "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
"pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "TemplateProcessing", "single": [)" + single + R"(], "pair": [)" + single + ", " +
         sequence("B", 1) + ", " + token("[SEP]", 1) +
         R"(], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
"max_input_chars_per_word": 100, "vocab": {)" + vocab + "}}}\n";
}

// config.json, model.safetensors and tokenizer.json of a BERT without a head.
inline void write_tiny_model(const std::string& folder) {
  manual_seed(3);
  nn::BertModel model(small_bert());
  nn::save_pretrained(model, folder);
  std::FILE* file = std::fopen((folder + "/tokenizer.json").c_str(), "wb");
  const std::string json = tiny_tokenizer_json();
  std::fwrite(json.data(), 1, json.size(), file);
  std::fclose(file);
}

// `rows` texts whose first word decides their label.
inline std::string tiny_rows(int64_t rows, const std::string& separator = "\t") {
  const char* first[] = {"good", "bad", "fine", "dull"};
  const char* rest[] = {"film", "plot and cast", "the end was very good , not bad .", "a play", "it is acting"};
  std::string out = "text" + separator + "label\n";
  for (int64_t row = 0; row < rows; ++row)
    out += std::string(first[row % 4]) + " " + rest[(row * 3) % 5] + separator + (row % 2 ? "neg" : "pos") + "\n";
  return out;
}

}  // namespace rote::testing
