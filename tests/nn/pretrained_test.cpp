// tests/nn/pretrained_test.cpp — weights by name between folders and models: prefixes, old names, tied ones, reports and refusals.
#include "nn/pretrained.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "nn/auto.h"
#include "nn/models/bert_heads.h"
#include "tensor/file.h"
#include "tensor/generator.h"
#include "tests/nn/small_bert.h"
#include "tests/support/compare.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::small_bert;
using rote::testing::TempFolder;

namespace {

template <class M>
std::unique_ptr<M> made(uint64_t seed, const std::function<void(nn::BertConfig&)>& change = {}) {
  manual_seed(seed);
  auto config = small_bert();
  if (change) change(*config);
  return std::make_unique<M>(config);
}

bool same_weights(const nn::Module& a, const nn::Module& b) {
  const nn::NamedTensors x = a.named_parameters(), y = b.named_parameters();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].first != y[i].first || !(x[i].second.shape() == y[i].second.shape())) return false;
    if (rote::testing::first_bit_difference(x[i].second.numel(), x[i].second.data<float>(), y[i].second.data<float>()) >= 0) return false;
  }
  return true;
}

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

using Classifier = nn::BertForSequenceClassification;

}  // namespace

TEST_CASE("pretrained: every class comes back from its folder, by its own name and by its task") {
  for (const char* name : {"BertModel", "BertForSequenceClassification", "BertForTokenClassification", "BertForMaskedLM", "BertForQuestionAnswering",
                           "BertForNextSentencePrediction", "BertForMultipleChoice"}) {
    CAPTURE(name);
    const TempFolder from, to;
    from.file("config.json", nn::config_text(*small_bert()));
    manual_seed(5);
    const auto model = nn::make_model(name, from.path());
    CHECK(model->class_name() == name);
    nn::save_pretrained(*model, to.path());
    CHECK(read_file(to.file("config.json")).find(std::string("\"architectures\": [\n    \"") + name + "\"\n  ]") != std::string::npos);
    manual_seed(6);
    const nn::Loaded<nn::Model> again = nn::load_model("", to.path());
    CHECK(again.model->class_name() == name);
    CHECK(again.report.text() == "");
    CHECK_FALSE(again.model->training());
    CHECK(same_weights(*model, *again.model));
  }
  const TempFolder folder;
  folder.file("config.json", nn::config_text(*small_bert()));
  CHECK(nn::model_class("fill-mask", folder.path()) == "BertForMaskedLM");
  CHECK(text_of([&] { nn::model_class("translation", folder.path()); }).find("is a bert, of which no \"translation\" is built; built are BertModel (feature-extraction)") !=
        std::string::npos);
}

TEST_CASE("pretrained: a base checkpoint fills a head's encoder; only the head is new, and is drawn by its name") {
  const TempFolder folder;
  const auto base = made<nn::BertModel>(1);
  nn::save_pretrained(*base, folder.path());
  manual_seed(9);
  const auto loaded = nn::from_pretrained<Classifier>(folder.path());
  CHECK(loaded.report.missing == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  CHECK(loaded.report.unexpected.empty());
  CHECK(loaded.report.text() == "2 keys missing, drawn anew (classifier.weight, classifier.bias)");
  CHECK(same_weights(loaded.model->bert, *base));
  const auto fresh = made<Classifier>(9);
  CHECK(same_weights(loaded.model->classifier, fresh->classifier));
}

TEST_CASE("pretrained: a head's checkpoint fills the base model, its head is left over") {
  const TempFolder folder;
  const auto head = made<Classifier>(2);
  nn::save_pretrained(*head, folder.path());
  const auto loaded = nn::from_pretrained<nn::BertModel>(folder.path());
  CHECK(loaded.report.missing.empty());
  CHECK(loaded.report.unexpected == std::vector<std::string>{"classifier.bias", "classifier.weight"});
  CHECK(same_weights(*loaded.model, head->bert));
}

TEST_CASE("pretrained: LayerNorm's gamma and beta, position_ids and a stored copy of tied weights are understood") {
  const TempFolder folder;
  const auto model = made<nn::BertForMaskedLM>(3);
  write_file(folder.file("config.json"), nn::config_text(*small_bert()));
  std::vector<std::pair<std::string, Tensor>> stored = {{"bert.embeddings.position_ids", arange(4)},
                                                        {"cls.predictions.decoder.weight", zeros({31, 12})},
                                                        {"cls.predictions.decoder.bias", model->cls.predictions.bias}};
  for (const auto& [name, tensor] : model->named_parameters()) {
    std::string old = name;
    if (const size_t at = old.find("LayerNorm.weight"); at != std::string::npos) old.replace(at, std::string::npos, "LayerNorm.gamma");
    if (const size_t at = old.find("LayerNorm.bias"); at != std::string::npos) old.replace(at, std::string::npos, "LayerNorm.beta");
    if (name != "cls.predictions.bias") stored.emplace_back(old, tensor);
  }
  save_safetensors(folder.file("model.safetensors"), stored);
  const auto loaded = nn::from_pretrained<nn::BertForMaskedLM>(folder.path());
  CHECK(loaded.report.text() == "");
  CHECK(same_weights(*loaded.model, *model));
  CHECK(loaded.model->cls.predictions.decoder.weight.impl() == loaded.model->bert.embeddings.word_embeddings.weight.impl());
}

TEST_CASE("pretrained: untied decoders keep a matrix and a bias of their own") {
  const TempFolder folder;
  const auto model = made<nn::BertForMaskedLM>(3, [](nn::BertConfig& c) { c.tie_word_embeddings = false; });
  nn::save_pretrained(*model, folder.path());
  CHECK(SafetensorsFolder::open(folder.path()).file_of("cls.predictions.decoder.weight") != nullptr);
  CHECK(SafetensorsFolder::open(folder.path()).file_of("cls.predictions.decoder.bias") != nullptr);
  const auto loaded = nn::from_pretrained<nn::BertForMaskedLM>(folder.path());
  CHECK(loaded.report.text() == "");
  CHECK(same_weights(*loaded.model, *model));
}

TEST_CASE("pretrained: other shapes are refused in one sentence, or drawn anew where that is allowed") {
  const TempFolder folder;
  nn::save_pretrained(*made<Classifier>(4), folder.path());
  const auto three = [](nn::Config& c) { c.labels = {"a", "b", "c"}; };
  CHECK(text_of([&] { nn::from_pretrained<Classifier>(folder.path(), {.configure = three}); }) ==
        "load " + folder.path() +
            "/model.safetensors: classifier.bias is f32[2] in the file, f32[3] in the model; 0 keys missing, 0 unused. With ignore_mismatched_sizes it is drawn anew.");
  const auto loaded = nn::from_pretrained<Classifier>(folder.path(), {.ignore_mismatched_sizes = true, .configure = three});
  CHECK(loaded.report.mismatched == std::vector<std::string>{"classifier.bias", "classifier.weight"});
  CHECK(loaded.model->classifier.bias.data<float>()[2] == 0);
  CHECK(loaded.model->config()->label(2) == "c");
}

TEST_CASE("pretrained: half-precision files are read as f32") {
  const TempFolder folder;
  const auto model = made<nn::BertModel>(4);
  write_file(folder.file("config.json"), nn::config_text(*small_bert()));
  std::vector<std::pair<std::string, Tensor>> halves;
  for (const auto& [name, tensor] : model->named_parameters()) halves.emplace_back(name, converted(tensor, DType::bf16));
  save_safetensors(folder.file("model.safetensors"), halves);
  const auto loaded = nn::from_pretrained<nn::BertModel>(folder.path());
  CHECK(loaded.report.text() == "");
  const Tensor w = loaded.model->embeddings.word_embeddings.weight;
  CHECK(w.dtype() == DType::f32);
  CHECK(w.data<float>()[40] == to_float(to_bfloat16(model->embeddings.word_embeddings.weight.data<float>()[40])));
}

TEST_CASE("pretrained: a sharded checkpoint is read, a missing or cut file is one sentence") {
  const TempFolder folder;
  const auto model = made<Classifier>(8);
  nn::save_pretrained(*model, folder.path());
  std::vector<std::pair<std::string, Tensor>> parts[2];
  std::string map;
  for (const auto& [name, tensor] : model->named_parameters()) {
    const size_t part = parts[0].size() <= parts[1].size() ? 0 : 1;
    parts[part].emplace_back(name, tensor);
    map += str(map.empty() ? "" : ",", "\"", name, "\":\"part", part, ".safetensors\"");
  }
  for (int i = 0; i < 2; ++i) save_safetensors(folder.file(str("part", i, ".safetensors")), parts[i]);
  std::filesystem::rename(folder.file("model.safetensors"), folder.file("whole"));
  CHECK(text_of([&] { nn::from_pretrained<Classifier>(folder.path()); }) ==
        "read " + folder.path() + ": it holds neither model.safetensors nor model.safetensors.index.json; name a model folder.");
  folder.file("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const auto loaded = nn::from_pretrained<Classifier>(folder.path());
  CHECK(loaded.report.text() == "");
  CHECK(same_weights(*loaded.model, *model));
  const std::string cut = folder.file("part1.safetensors");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  const std::string text = text_of([&] { nn::from_pretrained<Classifier>(folder.path()); });
  CHECK(text.find("read " + cut + ": ") == 0);
  CHECK(text.find("it was cut short.") != std::string::npos);
}

TEST_CASE("pretrained: a folder that cannot be made is an IoError with its path") {
  const TempFolder folder;
  const std::string file = folder.file("plain", "x");
  const auto model = made<nn::BertModel>(1);
  CHECK(text_of([&] { nn::save_pretrained(*model, file + "/out"); }).find("write " + file + "/out: ") == 0);
  CHECK(read_file(file) == "x");
}
