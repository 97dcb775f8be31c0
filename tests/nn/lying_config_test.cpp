// tests/nn/lying_config_test.cpp — configs whose sizes the weights beside them do not have: one sentence, before memory is touched.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "nn/pretrained.h"
#include "tensor/alloc.h"
#include "tensor/file.h"
#include "tests/nn/small_families.h"

using namespace rote;
using rote::testing::small_families;
using rote::testing::small_model;
using rote::testing::SmallFamily;
using rote::testing::TempFolder;

namespace {

int64_t most_resident() {  // bytes
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

// The config with another number, or list of numbers, for `key`; empty where it has no such key.
std::string with(const std::string& config, const std::string& key, const std::string& value) {
  const size_t at = config.find("\"" + key + "\":");
  if (at == std::string::npos) return "";
  const size_t from = at + key.size() + 3, to = config[from] == '[' ? config.find(']', from) + 1 : config.find_first_of(",}", from);
  return config.substr(0, from) + value + config.substr(to);
}

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// A sanitizer writes an eighth of all that is reserved into memory of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

}  // namespace

TEST_CASE("lying config: sizes far beyond the weights are refused in one sentence, with nothing written") {
  struct Lie {
    const char* key;
    const char* value;
  };
  const Lie lies[] = {{"vocab_size", "1000000000"},  {"vocab_size", "2147483647"},     {"vocab_size", "5000000"},         {"hidden_size", "100000"},
                      {"hidden_size", "2147483646"}, {"intermediate_size", "2000000"}, {"intermediate_size", "2147483647"}, {"d_model", "100000"},
                      {"d_kv", "2147483647"},        {"num_heads", "2147483647"},      {"d_ff", "2000000"},              {"dim", "100000"},
                      {"hidden_dim", "2000000"},     {"n_embd", "100000"},             {"n_inner", "2000000"},           {"n_positions", "2000000000"},
                      {"max_position_embeddings", "2000000000"}, {"encoder_ffn_dim", "2000000"}, {"image_size", "2147483640"}, {"embedding_size", "500000000"},
                      {"hidden_sizes", "[8,2000000000]"}, {"out_channels", "[16,1000000]"}, {"head_dim", "2147483646"},
                      {"num_attention_heads", "2147483647"}, {"vocab_size", "9223372036854775807"}, {"vocab_size", "-1"}, {"num_hidden_layers", "100000000"}};
  int tried = 0;
  for (const SmallFamily& family : small_families()) {
    const TempFolder folder;
    const auto model = small_model(family, 3);
    nn::save_pretrained(*model, folder.path());
    const std::string config = family.config;
    for (const Lie& lie : lies) {
      const std::string lying = with(config, lie.key, lie.value);
      if (lying.empty() || (std::string(lie.key) == "max_position_embeddings" && config.find("num_key_value_heads") != std::string::npos)) continue;  // of Llama it sizes nothing
      CAPTURE(family.name);
      CAPTURE(lie.key);
      CAPTURE(lie.value);
      write_file(folder.file("config.json"), lying);
      for (const bool ignores : {false, true}) {
        const int64_t before = most_resident();
        const std::string said = text_of([&] { nn::load_model(family.class_name, folder.path(), {.ignore_mismatched_sizes = ignores}); });
        CHECK(said != "");
        CHECK(said.find('\n') == std::string::npos);
        CHECK(said.size() < 700);
        if (!kWatched) CHECK(most_resident() - before < 100 << 20);
      }
      empty_cache();
      ++tried;
    }
  }
  CHECK(tried > 60);
}

TEST_CASE("lying config: from_config says what the machine has, before it draws") {
  for (const char* lie : {"1000000000000", "2147483647", "-5", "100000000"}) {
    CAPTURE(lie);
    const TempFolder folder;
    folder.file("config.json", with(with(small_families()[4].config, "vocab_size", lie), "hidden_size", "2147483646"));
    const int64_t before = most_resident();
    const std::string said = text_of([&] { nn::make_model("LlamaForCausalLM", folder.path()); });
    CHECK(said != "");
    CHECK(said.find('\n') == std::string::npos);
    CHECK(most_resident() - before < 100 << 20);
  }
  // Layers that fit one by one, and not all.
  const int64_t wide = 1 << 15;  // 4 GiB a matrix
  const TempFolder folder;
  folder.file("config.json", with(with(with(small_families()[4].config, "hidden_size", std::to_string(wide)), "intermediate_size", std::to_string(wide)),
                                  "num_hidden_layers", "1000"));
  const int64_t before = most_resident();
  const std::string said = text_of([&] { nn::make_model("LlamaForCausalLM", folder.path()); });
  CHECK(said.find(str(" are more than the ", machine_memory(), " of this machine; a smaller model or batch needs less.")) != std::string::npos);
  CHECK(most_resident() - before < 100 << 20);
  empty_cache();
}

TEST_CASE("lying config: a head of any common size beside a small encoder is no lie") {
  const TempFolder folder;
  nn::save_pretrained(*small_model(small_families()[0], 3), folder.path());
  const auto many = [](nn::Config& c) { c.labels.assign(20000, "x"); };
  const auto loaded = nn::load_model("text-classification", folder.path(), {.configure = many});
  CHECK(loaded.report.fresh().size() == 4);
  // 1000 layers of which the file has two: refused where what is missing is more than the file and a head.
  write_file(folder.file("config.json"), with(with(small_families()[0].config, "num_hidden_layers", "1000"), "intermediate_size", "28"));
  CHECK(nn::load_model("BertForMaskedLM", folder.path()).report.missing.size() == 998 * 16);
  write_file(folder.file("config.json"), with(with(small_families()[0].config, "num_hidden_layers", "900"), "intermediate_size", "3000"));
  const std::string said = text_of([&] { nn::load_model("BertForMaskedLM", folder.path(), {.ignore_mismatched_sizes = true}); });
  CHECK(said.find("load " + folder.path() + "/model.safetensors: ") == 0);
  CHECK(said.find("would have no value in the file; the config belongs to another model.") != std::string::npos);
}
