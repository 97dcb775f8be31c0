// tests/nn/gguf_test.cpp — .gguf files written here: every block type, names, the order of queries and keys, metadata; and files that lie.
#include "nn/gguf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "nn/auto.h"
#include "nn/models/llama.h"
#include "tensor/generator.h"
#include "tests/support/compare.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/place.h"

using namespace rote;
using rote::testing::TempFolder;
using Bytes = rote::testing::GgufBytes;
using Written = rote::testing::GgufTensor;
using rote::testing::file_of;

namespace {

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

uint16_t half_bits(float x) {
  const Half h = to_half(x);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}

std::string floats(const float* p, int64_t n) { return std::string(reinterpret_cast<const char*>(p), static_cast<size_t>(n) * 4); }

constexpr int64_t kWidth = 32, kHeads = 4, kKeyHeads = 2, kHeadDim = 8, kInner = 64, kVocab = 40;

std::shared_ptr<nn::LlamaConfig> small_llama() {
  auto c = std::make_shared<nn::LlamaConfig>();
  c->vocab_size = kVocab;
  c->hidden_size = kWidth;
  c->intermediate_size = kInner;
  c->num_hidden_layers = 2;
  c->num_attention_heads = kHeads;
  c->num_key_value_heads = kKeyHeads;
  c->max_position_embeddings = 64;
  c->rms_norm_eps = 1e-5;
  c->tie_word_embeddings = true;
  return c;
}

Bytes small_values() {
  Bytes v;
  v.word("general.architecture", "llama").u32("llama.block_count", 2).u32("llama.context_length", 64).u32("llama.embedding_length", kWidth);
  v.u32("llama.feed_forward_length", kInner).u32("llama.attention.head_count", kHeads).u32("llama.attention.head_count_kv", kKeyHeads);
  v.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f).u32("llama.rope.dimension_count", kHeadDim).u32("tokenizer.ggml.eos_token_id", 2);
  return v;
}
constexpr uint64_t kSmallValues = 10;

std::string theirs(std::string name) {
  const std::pair<const char*, const char*> names[] = {
      {"model.embed_tokens", "token_embd"}, {"model.norm", "output_norm"},     {"model.layers.", "blk."},         {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},       {"self_attn.v_proj", "attn_v"},    {"self_attn.o_proj", "attn_output"}, {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"}, {"mlp.gate_proj", "ffn_gate"}, {"mlp.up_proj", "ffn_up"},         {"mlp.down_proj", "ffn_down"}};
  for (const auto& [ours, other] : names)
    if (const size_t at = name.find(ours); at != std::string::npos) name.replace(at, std::strlen(ours), other);
  return name;
}

// The model's weights as llama.cpp's converter lays them out: of each head's rows, first and second of a pair side by side.
std::vector<Written> small_tensors(const nn::Module& model) {
  std::vector<Written> tensors;
  for (const auto& [name, x] : model.named_parameters()) {
    Written one{theirs(name), GgufType::f32, {}, ""};
    for (int a = x.axes(); a-- > 0;) one.extents.push_back(static_cast<uint64_t>(x.size(a)));
    const bool turned = name.find("q_proj") != std::string::npos || name.find("k_proj") != std::string::npos;
    const int64_t columns = x.size(-1);
    for (int64_t r = 0; r < x.numel() / columns; ++r) {
      const int64_t within = r % kHeadDim, row = turned ? r - within + within % 2 * (kHeadDim / 2) + within / 2 : r;
      one.data += floats(x.data<float>() + row * columns, columns);
    }
    tensors.push_back(std::move(one));
  }
  return tensors;
}

}  // namespace

TEST_CASE("gguf: blocks of each type become the numbers that they stand for") {
  const TempFolder folder;
  std::vector<float> values(64);
  for (size_t i = 0; i < 64; ++i) values[i] = static_cast<float>(i) - 20.5f;
  Bytes f16, bf16, q8, q4, q41;
  for (const float v : values) f16.put(half_bits(v)), bf16.put(static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16));
  for (int block = 0; block < 2; ++block) {
    q8.put(half_bits(0.5f));
    for (int i = 0; i < 32; ++i) q8.put(static_cast<int8_t>(i * 8 - 128 + block));
    q4.put(half_bits(0.25f));
    q41.put(half_bits(0.25f)).put(half_bits(-3.f));
    for (int i = 0; i < 16; ++i) q4.put(static_cast<uint8_t>(i | (15 - i) << 4)), q41.put(static_cast<uint8_t>(i | (15 - i) << 4));
  }
  const std::string path = folder.file("a.gguf", file_of({}, 0,
                                                         {{"f32", GgufType::f32, {32, 2}, floats(values.data(), 64)},
                                                          {"f16", GgufType::f16, {32, 2}, f16.data},
                                                          {"bf16", GgufType::bf16, {32, 2}, bf16.data},
                                                          {"q8", GgufType::q8_0, {32, 2}, q8.data},
                                                          {"q4", GgufType::q4_0, {32, 2}, q4.data},
                                                          {"q41", GgufType::q4_1, {32, 2}, q41.data}}));
  const GgufFile file = GgufFile::open(path);
  const auto read = [&](const char* name) {
    std::vector<float> to(64);
    const GgufInfo* info = file.find(name);
    REQUIRE(info != nullptr);
    CHECK(info->shape == Shape({2, 32}));
    file.read_rows(*info, 0, 2, to.data());
    std::vector<float> second(32);
    file.read_rows(*info, 1, 1, second.data());
    CHECK(std::equal(second.begin(), second.end(), to.begin() + 32));
    return to;
  };
  CHECK(read("f32") == values);
  CHECK(read("f16") == values);
  CHECK(read("bf16")[40] == 19.5f);
  CHECK(read("q8")[0] == -64.f);
  CHECK(read("q8")[63] == (31 * 8 - 127) * 0.5f);
  CHECK(read("q4")[3] == (3 - 8) * 0.25f);
  CHECK(read("q4")[32 + 16 + 3] == (12 - 8) * 0.25f);
  CHECK(read("q41")[3] == 3 * 0.25f - 3);
  CHECK(read("q41")[16 + 15] == -3.f);
}

TEST_CASE("gguf: a llama file is the model that it was written from, to the bit") {
  manual_seed(3);
  nn::LlamaForCausalLM model(small_llama());
  const TempFolder folder;
  const std::string path = folder.file("small.gguf", file_of(small_values(), kSmallValues, small_tensors(model)));
  const nn::Loaded<nn::Model> loaded = nn::load_model("", path);
  CHECK(loaded.report.table() == "");
  CHECK(loaded.model->class_name() == "LlamaForCausalLM");
  const auto& c = static_cast<const nn::LlamaConfig&>(*loaded.model->config());
  CHECK(c.rms_norm_eps == 1e-5);
  CHECK(c.tie_word_embeddings);
  CHECK(c.eos_token_id == std::vector<int64_t>{2});
  CHECK(c.head_width() == kHeadDim);
  const nn::NamedTensors x = model.named_parameters(), y = loaded.model->named_parameters();
  REQUIRE(x.size() == y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i].first);
    CHECK(x[i].first == y[i].first);
    CHECK(rote::testing::first_bit_difference(x[i].second.numel(), x[i].second.data<float>(), y[i].second.data<float>()) < 0);
  }
  // From the folder by name, and saved as a folder of safetensors.
  CHECK(nn::AutoModelForCausalLM::from_pretrained(folder.path(), {.gguf_file = "small.gguf"}).report.text() == "");
  nn::save_pretrained(*loaded.model, folder.file("saved"));
  CHECK(nn::AutoModelForCausalLM::from_pretrained(folder.file("saved")).report.text() == "");
}

TEST_CASE("gguf: a file that is cut anywhere, or whose bytes are changed, is one sentence or another model, never a crash") {
  manual_seed(3);
  nn::LlamaForCausalLM model(small_llama());
  const TempFolder folder;
  const std::string whole = file_of(small_values(), kSmallValues, small_tensors(model));
  const std::string path = folder.file("x.gguf");
  for (size_t length = 0; length < whole.size() - 32; length += length < 1700 ? 13 : 9001) {
    CAPTURE(length);
    write_file(path, whole.substr(0, length));
    const std::string text = text_of([&] { nn::load_model("", path); });
    CHECK(text.find("read " + path + ": ") == 0);
    CHECK(text.find('.', text.size() - 1) == text.size() - 1);
  }
  for (size_t at = 0; at < 1700; at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    write_file(path, changed);
    text_of([&] { GgufFile::open(path); });
  }
}

TEST_CASE("gguf: what a file may not say is refused in one sentence") {
  const TempFolder folder;
  const std::string path = folder.file("x.gguf");
  const auto refusal = [&](const std::string& content) {
    write_file(path, content);
    const std::string text = text_of([&] { nn::load_config(path); });
    return text.substr(std::min(text.size(), path.size() + 7));
  };
  const auto head = [](uint32_t version, uint64_t tensors, uint64_t values) {
    Bytes b;
    b.data = "GGUF";
    return b.put(version).put(tensors).put(values);
  };
  CHECK(refusal("GG") == "2 bytes are no GGUF file, which begins with 24 of them.");
  CHECK(refusal(std::string(24, 'x')) == "it does not begin with GGUF; the file is no GGUF file.");
  CHECK(refusal(head(0x03000000, 0, 0).data) == "it is of version 50331648; little-endian files of version 2 and 3 are read.");
  CHECK(refusal(head(3, uint64_t{1} << 60, 0).data).find("it would have 1152921504606846976 tensors and 0 values; at most ") == 0);
  CHECK(refusal(head(3, 0, 1).put(uint64_t{1} << 62).data).find("a key at byte 24 would have 4611686018427387904 bytes, more than 1000;") == 0);
  CHECK(refusal(head(3, 0, 1).text("k").put<uint32_t>(9).put<uint32_t>(8).put(uint64_t{1} << 61).data).find("the array at byte ") == 0);
  CHECK(refusal(head(3, 0, 1).text("k").put<uint32_t>(9).put<uint32_t>(9).put<uint64_t>(1).data).find("has elements of the type 9, which none holds") != std::string::npos);
  CHECK(refusal(head(3, 0, 1).text("k").put<uint32_t>(77).data).find("has the type 77; there are 13") != std::string::npos);
  CHECK(refusal(head(3, 0, 2).u32("k", 1).u32("k", 2).data).find("the key k is there twice") == 0);
  const uint64_t huge = uint64_t{1} << 40;
  CHECK(refusal(head(3, 1, 0).text("w").put<uint32_t>(2).put(huge).put(huge).put<uint32_t>(0).put<uint64_t>(0).data).find("w has more elements than any file") == 0);
  CHECK(refusal(head(3, 1, 0).text("w").put<uint32_t>(1).put<uint64_t>(32).put<uint32_t>(12).put<uint64_t>(0).data) ==
        "w has the type number 12; F32 (0), F16 (1), BF16 (30), Q8_0 (8), Q4_0 (2) and Q4_1 (3) are read.");
  CHECK(refusal(head(3, 1, 0).text("w").put<uint32_t>(1).put<uint64_t>(33).put<uint32_t>(8).put<uint64_t>(0).data).find("w has rows of 33, no multiple of the 32 of a block of Q8_0") == 0);
  CHECK(refusal(head(3, 1, 0).text("w").put<uint32_t>(1).put<uint64_t>(8).put<uint32_t>(0).put<uint64_t>(0).data) ==
        "w ends at byte 32 of the data but the file holds only 0; it was cut short.");
  Bytes other;
  other.word("general.architecture", "gemma2");
  CHECK(refusal(file_of(other, 1, {})) == "its general.architecture is \"gemma2\"; of GGUF files only llama is built.");
}

namespace {

// The factors that converters write for a llama3 scaling, as they compute them.
std::vector<float> llama3_factors(int64_t head_dim, double theta, double factor, double original) {
  std::vector<float> factors;
  for (int64_t i = 0; i < head_dim; i += 2) {
    const float freq = 1.f / std::pow(static_cast<float>(theta), static_cast<float>(i) / static_cast<float>(head_dim));
    const double wavelength = 2 * 3.14159265358979323846 / freq, smooth = (original / wavelength - 1) / (4 - 1);
    factors.push_back(static_cast<float>(wavelength < original / 4 ? 1 : wavelength > original ? factor : 1 / ((1 - smooth) / factor + smooth)));
  }
  return factors;
}

}  // namespace

TEST_CASE("gguf: rope_freqs.weight is read as the llama3 scaling that it was made from") {
  const TempFolder folder;
  struct Row {
    int64_t head_dim;
    double theta, factor;
    int64_t original;
  };
  for (const Row& row : {Row{128, 5e5, 8, 8192}, Row{64, 5e5, 32, 8192}, Row{8, 1e4, 8, 8192}, Row{8, 1e4, 32, 8192}, Row{64, 1e6, 4, 2048}, Row{64, 1e4, 1, 8192}}) {
    CAPTURE(row.head_dim);
    CAPTURE(row.factor);
    Bytes v = small_values();
    v.u32("llama.attention.key_length", static_cast<uint32_t>(row.head_dim)).f32("llama.rope.freq_base", static_cast<float>(row.theta));
    v.data.replace(v.data.find("llama.rope.dimension_count") + 30, 4, reinterpret_cast<const char*>(&row.head_dim), 4);
    const std::vector<float> factors = llama3_factors(row.head_dim, row.theta, row.factor, static_cast<double>(row.original));
    const std::string path = folder.file("x.gguf", file_of(v, kSmallValues + 2, {{"token_embd.weight", GgufType::f32, {1, 1}, std::string(4, 0)},
                                                                                {"rope_freqs.weight", GgufType::f32, {factors.size()}, floats(factors.data(), row.head_dim / 2)}}));
    const auto config = nn::load_config(path);
    const nn::RopeParameters& p = static_cast<const nn::LlamaConfig&>(*config).rope_parameters;
    CHECK(p.rope_type == "llama3");
    CHECK(p.factor == row.factor);
    CHECK(p.rope_theta == row.theta);
    if (row.factor > 1) CHECK(p.original_max_position_embeddings == row.original);
    CHECK(p.low_freq_factor == 1.0);
    CHECK(p.high_freq_factor == 4.0);
  }
}

TEST_CASE("gguf: a llama3 file computes what its model does, and frequencies that are no llama3 scaling are refused") {
  manual_seed(3);
  auto config = small_llama();
  config->rope_parameters.rope_type = "llama3";
  config->rope_parameters.factor = 8;
  config->rope_parameters.low_freq_factor = 1, config->rope_parameters.high_freq_factor = 4;
  config->rope_parameters.original_max_position_embeddings = 8192;
  nn::LlamaForCausalLM model(config);
  model.eval();
  std::vector<Written> tensors = small_tensors(model);
  const std::vector<float> factors = llama3_factors(kHeadDim, 1e4, 8, 8192);
  tensors.push_back({"rope_freqs.weight", GgufType::f32, {factors.size()}, floats(factors.data(), kHeadDim / 2)});
  const TempFolder folder;
  const std::string path = folder.file("x.gguf", file_of(small_values(), kSmallValues, tensors));
  const nn::Loaded<nn::Model> loaded = nn::load_model("", path);
  CHECK(loaded.report.table() == "");
  nn::Batch batch;
  batch.set("input_ids", from_values({1, 12}, std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  const Tensor x = model.forward(batch).logits, y = loaded.model->forward(batch).logits;
  CHECK(rote::testing::first_bit_difference(x.numel(), x.data<float>(), y.data<float>()) < 0);

  std::vector<float> other = factors;
  other[1] = 1.5f;
  tensors.back().data = floats(other.data(), kHeadDim / 2);
  const auto refusal = [&](const Bytes& values, uint64_t count) {
    write_file(path, file_of(values, count, tensors));
    return text_of([&] { nn::load_config(path); }).substr(path.size() + 7);
  };
  CHECK(refusal(small_values(), kSmallValues) == "rope_freqs.weight holds frequencies that no llama3 scaling gives; take the model's safetensors.");
  CHECK(refusal(small_values().word("llama.rope.scaling.type", "linear"), kSmallValues + 1) ==
        "it holds rope_freqs.weight and turns by llama.rope.freq_base 10000 and llama.rope.scaling.type \"linear\"; with frequencies of its own they must be positive and none.");
  tensors.back().extents = {2}, tensors.back().data.resize(8);
  CHECK(refusal(small_values(), kSmallValues) == "rope_freqs.weight is [2]; it must be [4].");
}
