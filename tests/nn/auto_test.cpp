// tests/nn/auto_test.cpp — models by name: the hub's cache, Auto classes, dtypes, shards, the table of keys, and what is refused.
#include "nn/auto.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <type_traits>

#include "nn/hub.h"
#include "nn/models/bert_heads.h"
#include "tensor/file.h"
#include "tensor/generator.h"
#include "tests/nn/small_bert.h"
#include "tests/support/compare.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::small_bert;
using rote::testing::TempFolder;
namespace fs = std::filesystem;

namespace {

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::unique_ptr<nn::BertForMaskedLM> small_model() {
  manual_seed(4);
  return std::make_unique<nn::BertForMaskedLM>(small_bert());
}

}  // namespace

TEST_CASE("auto: the hub's cache is found by name and revision, a plain folder goes before it") {
  const TempFolder cache;
  const std::string model = cache.file("models--owner--small"), first(40, 'a'), second(40, 'b');
  for (const std::string& commit : {first, second}) fs::create_directories(model + "/snapshots/" + commit);
  fs::create_directories(model + "/refs");
  fs::create_directories(model + "/blobs");
  nn::save_pretrained(*small_model(), model + "/blobs/saved");
  for (const std::string& commit : {first, second}) {
    for (const char* name : {"config.json", "model.safetensors"}) fs::create_symlink(std::string("../../blobs/saved/") + name, model + "/snapshots/" + commit + "/" + name);
    write_file(model + "/snapshots/" + commit + "/README.md", commit);
  }
  write_file(model + "/refs/main", first + "\n");
  const nn::HubOptions main{.cache_dir = cache.path()};
  CHECK(nn::hub_folder("owner/small", main) == model + "/snapshots/" + first);
  write_file(model + "/refs/main", second);
  CHECK(nn::hub_folder("owner/small", main) == model + "/snapshots/" + second);
  CHECK(nn::hub_folder("owner/small", {.revision = first, .cache_dir = cache.path()}) == model + "/snapshots/" + first);
  CHECK(nn::AutoModelForMaskedLM::from_pretrained("owner/small", {.cache_dir = cache.path()}).report.text() == "");
  CHECK(nn::from_pretrained<nn::BertForMaskedLM>("owner/small", {.cache_dir = cache.path()}).report.text() == "");
  CHECK(nn::model_place(model, {.cache_dir = cache.path()}) == model);

  CHECK(text_of([&] { nn::hub_folder("owner/other", main); }) == "hub: owner/other is no folder here, and the cache has no " + cache.path() +
                                                                  "/models--owner--other; nothing is downloaded: name a folder, or put the model there.");
  CHECK(has(text_of([&] { nn::hub_folder("owner/small", {.revision = "v2", .cache_dir = cache.path()}); }), "owner/small has no revision v2 in " + model));
  CHECK(has(text_of([&] { nn::hub_folder("owner/small", {.revision = "../../x", .cache_dir = cache.path()}); }), "it must be a branch, a tag or a commit."));
  for (const char* name : {"", "a/b/c", "/a", "a/", "../a", "a--b", ".a", "a b"}) {
    CAPTURE(name);
    CHECK_FALSE(nn::is_hub_id(name));
  }
  write_file(model + "/refs/main", "main");
  CHECK(has(text_of([&] { nn::hub_folder("owner/small", main); }), "refs/main holds no commit"));
  fs::remove(model + "/blobs/saved/model.safetensors");
  CHECK(has(text_of([&] { nn::hub_folder("owner/small", {.revision = first, .cache_dir = cache.path()}); }),
            "model.safetensors leads to ../../blobs/saved/model.safetensors, a blob that is not there; download the model again."));
}

TEST_CASE("auto: classes are made by from_pretrained and from_config alone; the config prints as its file") {
  CHECK_FALSE(std::is_default_constructible_v<nn::AutoModel>);
  CHECK_FALSE(std::is_default_constructible_v<nn::AutoConfig>);
  const TempFolder folder;
  folder.file("config.json", R"({"model_type":"bert","vocab_size":31,"hidden_size":12,"num_hidden_layers":1,"num_attention_heads":3,"intermediate_size":20,"zeta":[1],"auto_map":{"AutoModel":"modeling_own.OwnModel"}})");
  const std::shared_ptr<nn::Config> config = nn::AutoConfig::from_pretrained(folder.path());
  std::ostringstream out;
  out << config;
  CHECK(has(out.str(), "\n  \"vocab_size\": 31,\n"));
  CHECK(has(out.str(), "\n  \"zeta\": [\n"));
  CHECK_FALSE(has(out.str(), "\"dtype\""));
  manual_seed(42);
  const auto one = nn::AutoModelForMaskedLM::from_config(config);
  manual_seed(42);
  const auto two = nn::AutoModelForMaskedLM::from_config(nn::AutoConfig::from_pretrained(folder.path()));
  CHECK(one->class_name() == "BertForMaskedLM");
  for (size_t i = 0; i < one->parameters().size(); ++i) {
    const Tensor a = one->parameters()[i], b = two->parameters()[i];
    CHECK(rote::testing::first_bit_difference(a.numel(), a.data<float>(), b.data<float>()) < 0);
  }
  CHECK(nn::AutoModel::from_config(config)->class_name() == "BertModel");
}

TEST_CASE("auto: an unknown architecture is refused with the known ones, the nearest, and why its code is not run") {
  const TempFolder folder;
  folder.file("config.json", R"({"model_type":"internlm","auto_map":{"AutoModel":"modeling_internlm.InternLMModel"}})");
  const std::string text = text_of([&] { nn::AutoModel::from_pretrained(folder.path(), {.trust_remote_code = true}); });
  CHECK(has(text, "has the model_type \"internlm\"; built are bert, roberta, "));
  CHECK(has(text, "(modeling_internlm.py) is Python, which a C++ library cannot run, so trust_remote_code is of no use here."));
  folder.file("config.json", R"({"model_type":"distillbert"})");
  CHECK(has(text_of([&] { nn::AutoModel::from_pretrained(folder.path()); }), "; the nearest is distilbert."));
  const TempFolder known;
  nn::save_pretrained(*small_model(), known.path());
  const auto loaded = nn::AutoModelForMaskedLM::from_pretrained(known.path(), {.trust_remote_code = true});
  CHECK(loaded.report.text() == "");
  CHECK(has(loaded.report.table(), "was not run; the model is the built-in one."));
}

TEST_CASE("auto: dtype is what is asked for, or as it is stored; keys that are missing are drawn in it") {
  const TempFolder folder;
  const auto model = small_model();
  nn::save_pretrained(*model, folder.path());
  const auto dtype_of = [&](const std::string& word) {
    return nn::AutoModelForMaskedLM::from_pretrained(folder.path(), {.dtype = word}).model->parameters()[0].dtype();
  };
  CHECK(dtype_of("float32") == DType::f32);
  CHECK(dtype_of("bfloat16") == DType::bf16);
  CHECK(dtype_of("float16") == DType::f16);
  CHECK(dtype_of("auto") == DType::f32);
  CHECK(text_of([&] { dtype_of("int8"); }) == "load: dtype is \"int8\"; it must be float32, bfloat16, float16 or auto.");
  model->to(DType::bf16);
  nn::save_pretrained(*model, folder.path());
  CHECK(dtype_of("auto") == DType::bf16);
  const auto head = nn::AutoModelForTokenClassification::from_pretrained(folder.path(), {.dtype = "auto"});
  CHECK(head.report.missing == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  const Tensor w = head.model->named_parameters()[head.model->named_parameters().size() - 2].second;
  CHECK(w.dtype() == DType::bf16);
  CHECK(converted(w, DType::f32).data<float>()[0] != 0);
  std::string text = read_file(folder.file("config.json"));
  text.replace(text.find("\"dtype\": \"bfloat16\","), 20, "");
  write_file(folder.file("config.json"), text);
  CHECK(dtype_of("auto") == DType::bf16);
}

TEST_CASE("auto: weights are split by size with an index, and the other form goes when one is written") {
  const TempFolder folder;
  const auto model = small_model();
  nn::save_pretrained(*model, folder.path());
  nn::save_pretrained(*model, folder.path(), {.max_shard_size = 4000});
  CHECK_FALSE(is_file(folder.file("model.safetensors")));
  const SafetensorsFolder parts = SafetensorsFolder::open(folder.path());
  CHECK(parts.files().size() > 2);
  for (const SafetensorsFile& file : parts.files()) {
    int64_t bytes = 0;
    for (const SafetensorsInfo& info : file.infos()) bytes += info.bytes;
    CHECK(bytes <= 4000);
  }
  CHECK(has(read_file(folder.file("model.safetensors.index.json")), str("\"total_size\": ", 4 * model->num_parameters())));
  const auto loaded = nn::from_pretrained<nn::BertForMaskedLM>(folder.path());
  CHECK(loaded.report.text() == "");
  CHECK(loaded.model->cls.predictions.decoder.weight.impl() == loaded.model->bert.embeddings.word_embeddings.weight.impl());
  nn::save_pretrained(*model, folder.path(), {.max_shard_size = 100});  // a tensor that is larger has a file of its own
  CHECK(nn::from_pretrained<nn::BertForMaskedLM>(folder.path()).report.text() == "");
  nn::save_pretrained(*model, folder.path());
  int files = 0;
  for (const auto& one : fs::directory_iterator(folder.path())) files += one.is_regular_file();
  CHECK(files == 2);
  CHECK(text_of([&] { nn::save_pretrained(*model, folder.path(), {.max_shard_size = 0}); }).find("max_shard_size is 0 bytes; it must be positive.") != std::string::npos);
}

TEST_CASE("auto: the table of keys has a line a key, one for those that differ in a number alone") {
  nn::LoadReport report;
  CHECK(report.table() == "");
  report.missing = {"bert.encoder.layer.0.output.dense.bias", "bert.encoder.layer.11.output.dense.bias", "classifier.weight"};
  report.mismatched = {"classifier.bias"};
  report.shapes["classifier.bias"] = "f32[2] in the file, f32[3] in the model";
  report.unexpected = {"fc1.weight", "fc2.weight"};
  report.notes = {"a note."};
  CHECK(report.table() ==
        "bert.encoder.layer.*.output.dense.bias (2)  missing, drawn anew\n"
        "classifier.weight                           missing, drawn anew\n"
        "classifier.bias                             other shape, drawn anew: f32[2] in the file, f32[3] in the model\n"
        "fc1.weight                                  unused\n"
        "fc2.weight                                  unused\n"
        "a note.\n");
}

TEST_CASE("auto: a pickle is refused, an index that nests or names nothing too") {
  const TempFolder folder;
  folder.file("config.json", nn::config_text(*small_bert()));
  folder.file("pytorch_model.bin", "PK");
  CHECK(text_of([&] { nn::AutoModel::from_pretrained(folder.path()); }) ==
        "read " + folder.path() + ": it holds pytorch_model.bin but no model.safetensors; a pickle can run code when it is read and is not, so save the model as safetensors.");
  folder.file("model.safetensors.index.json", R"({"weight_map":{}})");
  CHECK(has(text_of([&] { nn::AutoModel::from_pretrained(folder.path()); }), "its weight_map is empty"));
  folder.file("model.safetensors.index.json", std::string(100000, '['));
  CHECK(has(text_of([&] { nn::AutoModel::from_pretrained(folder.path()); }), "it nests more than 8 levels"));
}
