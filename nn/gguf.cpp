#include "nn/gguf.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nn/rope.h"

namespace rote::nn {

namespace {

constexpr std::pair<const char*, const char*> kOuter[] = {{"token_embd.", "model.embed_tokens."}, {"output_norm.", "model.norm."}, {"output.", "lm_head."}};
constexpr std::pair<const char*, const char*> kInner[] = {
    {"attn_q.", "self_attn.q_proj."},         {"attn_k.", "self_attn.k_proj."},   {"attn_v.", "self_attn.v_proj."},
    {"attn_output.", "self_attn.o_proj."},    {"attn_norm.", "input_layernorm."}, {"ffn_norm.", "post_attention_layernorm."},
    {"ffn_gate.", "mlp.gate_proj."},          {"ffn_up.", "mlp.up_proj."},        {"ffn_down.", "mlp.down_proj."}};

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; a name that is not known stays.
std::string reference_name(const std::string& name) {
  for (const auto& [theirs, ours] : kOuter)
    if (begins(name, theirs)) return ours + name.substr(std::string(theirs).size());
  if (!begins(name, "blk.")) return name;
  const size_t dot = name.find('.', 4);
  if (dot == std::string::npos) return name;
  const std::string part = name.substr(dot + 1);
  for (const auto& [theirs, ours] : kInner)
    if (begins(part, theirs)) return "model.layers." + name.substr(4, dot - 4) + "." + ours + part.substr(std::string(theirs).size());
  return name;
}

int64_t required(const GgufFile& file, const std::string& key) {
  const std::optional<int64_t> value = file.integer(key);
  ROTE_CHECK(value, IoError, "read ", file.path(), ": it has no ", key, "; it is no whole model.");
  return *value;
}

// The same for all layers; some files give one number a layer.
int64_t same_in_all(const GgufFile& file, const std::string& key, int64_t otherwise) {
  if (!file.contains(key)) return otherwise;
  if (!file.is_array(key)) return required(file, key);
  constexpr int64_t kMostLayers = 65536;
  ROTE_CHECK(file.count(key) <= kMostLayers, IoError, "read ", file.path(), ": ", key, " has ", file.count(key), " numbers, one a layer; at most ", kMostLayers, " are read.");
  const std::vector<int64_t> all = file.integers(key);
  ROTE_CHECK(!all.empty(), IoError, "read ", file.path(), ": ", key, " is an empty array; it must have a number a layer.");
  ROTE_CHECK(std::equal(all.begin() + 1, all.end(), all.begin()), IoError, "read ", file.path(), ": ", key, " differs between layers; only equal layers are built.");
  return all[0];
}

int64_t head_count(const GgufFile& file, bool of_keys) {
  const int64_t heads = same_in_all(file, "llama.attention.head_count", 0);
  const int64_t count = of_keys ? same_in_all(file, "llama.attention.head_count_kv", heads) : heads;
  ROTE_CHECK(count > 0, IoError, "read ", file.path(), ": llama.attention.head_count", of_keys ? "_kv" : "", " is ", count, "; it must be at least 1.");
  return count;
}

// What rope_freqs.weight stands for: the numbers by which a llama3 scaling divides the frequencies. The file has no other trace of its
// parameters, and of these only the factor and the original length vary between models.
RopeParameters llama3_of(const GgufFile& file, const GgufInfo& info, double theta, int64_t head_dim) {
  ROTE_CHECK(info.shape == Shape({head_dim / 2}), IoError, "read ", file.path(), ": rope_freqs.weight is ", info.shape, "; it must be [", head_dim / 2, "].");
  std::vector<float> wanted(static_cast<size_t>(head_dim / 2));
  file.read_rows(info, 0, 1, wanted.data());
  RopeParameters p;
  p.rope_theta = theta;
  const std::vector<double> plain = rope_frequencies(p, head_dim, 1, 1);
  p.rope_type = "llama3";
  p.low_freq_factor = 1, p.high_freq_factor = 4;
  const auto gives = [&](double factor, int64_t original) {
    p.factor = factor;
    p.original_max_position_embeddings = original;
    const std::vector<double> scaled = rope_frequencies(p, head_dim, original, 1);
    // Converters compute them in f32: at worst 1e-5 off, where the factor is 32. Another original length moves some by a quarter.
    for (size_t i = 0; i < wanted.size(); ++i)
      if (!(std::abs(plain[i] / scaled[i] - wanted[i]) <= 1e-4 * wanted[i])) return false;
    return true;
  };
  // Those of the published models first: the pairs of a small head may all turn too fast to show the factor.
  if (gives(8, 8192) || gives(32, 8192)) return p;
  const double factor = *std::max_element(wanted.begin(), wanted.end());
  for (const int64_t original : {8192, 4096, 2048, 1024, 16384, 32768, 65536, 131072})
    if (gives(factor, original)) return p;
  throw IoError(str("read ", file.path(), ": rope_freqs.weight holds frequencies that no llama3 scaling gives; take the model's safetensors."));
}

nlohmann::json rope_parameters(const GgufFile& file, int64_t head_dim) {
  const std::string type = file.text("llama.rope.scaling.type").value_or("none");
  const double theta = file.number("llama.rope.freq_base").value_or(10000.0);
  nlohmann::json rope = {{"rope_type", type == "none" ? "default" : type}, {"rope_theta", theta}};
  const GgufInfo* factors = file.find("rope_freqs.weight");
  if (factors != nullptr) {
    ROTE_CHECK(type == "none" && theta > 0, IoError, "read ", file.path(), ": it holds rope_freqs.weight and turns by llama.rope.freq_base ", theta,
               " and llama.rope.scaling.type \"", type, "\"; with frequencies of its own they must be positive and none.");
    const RopeParameters p = llama3_of(file, *factors, theta, head_dim);
    rope.update({{"rope_type", p.rope_type}, {"factor", p.factor}, {"low_freq_factor", *p.low_freq_factor}, {"high_freq_factor", *p.high_freq_factor},
                 {"original_max_position_embeddings", *p.original_max_position_embeddings}});
  }
  if (type == "none") return rope;
  ROTE_CHECK(type == "linear" || type == "yarn", IoError, "read ", file.path(), ": llama.rope.scaling.type is \"", type, "\"; it may be none, linear or yarn.");
  rope["factor"] = file.number("llama.rope.scaling.factor").value_or(1.0);
  if (const auto original = file.integer("llama.rope.scaling.original_context_length")) rope["original_max_position_embeddings"] = *original;
  return rope;
}

// Row r of a projection of queries or keys in the reference's order lies here in the file: of each head's channels, the reference has the
// first of all pairs and then the second, the file has pair by pair.
int64_t row_in_file(int64_t r, int64_t head_dim) {
  const int64_t head = r / head_dim, within = r % head_dim, half = head_dim / 2;
  return head * head_dim + within % half * 2 + within / half;
}

}  // namespace

bool is_gguf(const std::string& path) {
  const std::string end = ".gguf";
  return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

std::string gguf_config_text(const GgufFile& file) {
  const std::string architecture = file.text("general.architecture").value_or("");
  ROTE_CHECK(architecture == "llama", IoError, "read ", file.path(), ": its general.architecture is \"", architecture, "\"; of GGUF files only llama is built.");
  ROTE_CHECK(file.find("blk.0.ffn_gate_inp.weight") == nullptr, IoError, "read ", file.path(), ": it is a mixture of experts, which is not built.");
  const int64_t heads = head_count(file, false), width = required(file, "llama.embedding_length");
  const int64_t head_dim = file.integer("llama.attention.key_length").value_or(width / heads);
  const int64_t turned = file.integer("llama.rope.dimension_count").value_or(head_dim);
  ROTE_CHECK(turned == head_dim && head_dim > 1 && head_dim % 2 == 0, IoError, "read ", file.path(), ": ", turned, " of the ", head_dim,
             " channels of a head would turn; all must, in pairs.");
  const GgufInfo* table = file.find("token_embd.weight");
  ROTE_CHECK(table != nullptr && table->shape.axes() == 2, IoError, "read ", file.path(), ": it holds no matrix token_embd.weight; it is no whole model.");
  nlohmann::json config = {{"model_type", "llama"},
                           {"architectures", {"LlamaForCausalLM"}},
                           {"vocab_size", table->shape[0]},
                           {"hidden_size", width},
                           {"intermediate_size", same_in_all(file, "llama.feed_forward_length", 0)},
                           {"num_hidden_layers", required(file, "llama.block_count")},
                           {"num_attention_heads", heads},
                           {"num_key_value_heads", head_count(file, true)},
                           {"head_dim", head_dim},
                           {"max_position_embeddings", required(file, "llama.context_length")},
                           {"rms_norm_eps", file.number("llama.attention.layer_norm_rms_epsilon").value_or(1e-6)},
                           {"rope_parameters", rope_parameters(file, head_dim)},
                           {"attention_bias", file.find("blk.0.attn_q.bias") != nullptr},
                           {"mlp_bias", file.find("blk.0.ffn_gate.bias") != nullptr},
                           {"tie_word_embeddings", file.find("output.weight") == nullptr}};
  for (const auto& [ours, theirs] : {std::pair("bos_token_id", "bos"), std::pair("eos_token_id", "eos"), std::pair("pad_token_id", "padding")})
    if (const auto id = file.integer(str("tokenizer.ggml.", theirs, "_token_id"))) config[ours] = *id;
  return config.dump();
}

std::vector<StoredTensor> gguf_weights(std::shared_ptr<const GgufFile> file) {
  std::vector<StoredTensor> weights;
  for (const GgufInfo& info : file->infos()) {
    if (info.name == "rope_freqs.weight") continue;  // part of the config
    const bool query = info.name.find(".attn_q.") != std::string::npos, key = info.name.find(".attn_k.") != std::string::npos;
    const bool is_bias = info.shape.axes() == 1;
    int64_t head_dim = 0;  // 0: the rows lie as they are wanted
    if (query || key) {
      const int64_t heads = head_count(*file, key);
      const int64_t rows = info.shape.axes() == 0 ? 0 : info.shape[0];
      ROTE_CHECK(rows > 0 && rows % (2 * heads) == 0, IoError, "read ", file->path(), ": ", info.name, " has ", rows, " rows for ", heads, " heads; each must have as many pairs.");
      head_dim = rows / heads;
    }
    const auto read_into = [file, &info, head_dim, is_bias](const Tensor& to) {
      const Tensor x = to.dtype() == DType::f32 && to.is_contiguous() ? to : empty(to.shape());
      float* p = x.data<float>();
      const int64_t columns = is_bias || info.shape.axes() == 0 ? x.numel() : x.size(-1), rows = columns == 0 ? 0 : x.numel() / columns;
      if (head_dim == 0) {
        file->read_rows(info, 0, rows, p);
      } else if (is_bias) {
        std::vector<float> plain(static_cast<size_t>(columns));
        file->read_rows(info, 0, 1, plain.data());
        for (int64_t i = 0; i < columns; ++i) p[i] = plain[static_cast<size_t>(row_in_file(i, head_dim))];
      } else {
        for (int64_t r = 0; r < rows; ++r) file->read_rows(info, row_in_file(r, head_dim), 1, p + r * columns);
      }
      if (x.impl() != to.impl()) copy_elements(to, x);
    };
    weights.push_back({reference_name(info.name), DType::f32, info.shape, read_into});
  }
  return weights;
}

}  // namespace rote::nn
