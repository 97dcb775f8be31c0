#include "nn/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/check.h"
#include "nn/gguf.h"
#include "tensor/file.h"

namespace rote::nn {

using nlohmann::json;

namespace {

std::string path_of(const std::string& place) { return is_gguf(place) ? place : place + "/config.json"; }

std::string short_file(const std::string& path) {
  constexpr int64_t kLongest = 16 << 20;
  ROTE_CHECK(InputFile(path).bytes() <= kLongest, IoError, "read ", path, ": it has more than ", kLongest, " bytes; the file is damaged.");
  return read_file(path);
}

json read_json(const std::string& place) {
  const std::string path = path_of(place);
  if (is_gguf(place)) return json::parse(gguf_config_text(GgufFile::open(place)));
  ROTE_CHECK(is_file(path), IoError, "read ", place, ": it holds no config.json; name a model folder.");
  constexpr int kMostLevels = 200;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    ROTE_CHECK(depth <= kMostLevels, IoError, "read ", path, ": it nests more than ", kMostLevels, " levels; the file is damaged.");
    return true;
  };
  json parsed = json::parse(short_file(path), shallow, /*allow_exceptions=*/false);
  ROTE_CHECK(parsed.is_object(), IoError, "read ", path, ": it is no JSON object; the file is damaged.");
  return parsed;
}

class Reader : public ConfigFields {
 public:
  Reader(const std::string& path, json& left) : path_(path), left_(left) {}

  void field(const char* name, int64_t& value) override { take(name, value, "a whole number", [](const json& j) { return j.is_number_integer(); }); }
  void field(const char* name, double& value) override { take(name, value, "a number", [](const json& j) { return j.is_number(); }); }
  void field(const char* name, bool& value) override { take(name, value, "true or false", [](const json& j) { return j.is_boolean(); }); }
  void field(const char* name, std::string& value) override { take(name, value, "a text", [](const json& j) { return j.is_string(); }); }
  void field(const char* name, std::vector<std::string>& value) override { take(name, value, "a list of texts", is_text_list, /*may_be_null=*/true); }
  void field(const char* name, std::optional<int64_t>& value) override { take_optional(name, value); }
  void field(const char* name, std::optional<double>& value) override { take_optional(name, value); }
  void field(const char* name, std::optional<std::string>& value) override { take_optional(name, value); }
  void field(const char* name, std::vector<int64_t>& value) override {
    const auto found = left_.find(name);
    if (found == left_.end()) return;
    json list = found->is_array() ? *found : found->is_null() ? json::array() : json::array({*found});
    for (const json& one : list)
      ROTE_CHECK(one.is_number_integer(), ArgumentError, "read ", path_, ": ", name, " is ", found->dump(), "; it must be a whole number or a list of them.");
    value = list.get<std::vector<int64_t>>();
    left_.erase(found);
  }
  void list(const char* name, std::vector<int64_t>& value) override {
    const auto found = left_.find(name);
    ROTE_CHECK(found == left_.end() || found->is_array() || found->is_null(), ArgumentError, "read ", path_, ": ", name, " is ", found->dump(), "; it must be a list of whole numbers.");
    field(name, value);
  }
  void group(const char* name, const std::function<void(ConfigFields&)>& visit) override {
    const auto found = left_.find(name);
    if (found == left_.end() || found->is_null()) return;
    ROTE_CHECK(found->is_object(), ArgumentError, "read ", path_, ": ", name, " is ", found->dump(), "; it must be an object.");
    Reader inner(path_, *found);
    visit(inner);
    if (found->empty()) left_.erase(name);
  }
  bool reads() const override { return true; }

 private:
  static bool is_text_list(const json& j) {
    if (!j.is_array()) return false;
    for (const json& one : j)
      if (!one.is_string()) return false;
    return true;
  }

  template <class T, class Fits>
  void take(const char* name, T& value, const char* kind, Fits fits, bool may_be_null = false) {
    const auto found = left_.find(name);
    if (found == left_.end()) return;
    const bool none = may_be_null && found->is_null();
    ROTE_CHECK(none || fits(*found), ArgumentError, "read ", path_, ": ", name, " is ", found->dump(), "; it must be ", kind, ".");
    if (!none) value = found->get<T>();
    left_.erase(found);
  }

  template <class T>
  void take_optional(const char* name, std::optional<T>& value) {
    const auto found = left_.find(name);
    if (found == left_.end()) return;
    if (found->is_null()) {
      value.reset();
      left_.erase(found);
      return;
    }
    T given = value.value_or(T());
    field(name, given);
    value = given;
  }

  const std::string& path_;
  json& left_;
};

class Writer : public ConfigFields {
 public:
  explicit Writer(json& to) : to_(to) {}
  void field(const char* name, int64_t& value) override { to_[name] = value; }
  void field(const char* name, double& value) override { to_[name] = value; }
  void field(const char* name, bool& value) override { to_[name] = value; }
  void field(const char* name, std::string& value) override { to_[name] = value; }
  void field(const char* name, std::vector<std::string>& value) override { to_[name] = value; }
  void field(const char* name, std::optional<int64_t>& value) override { put(name, value); }
  void field(const char* name, std::optional<double>& value) override { put(name, value); }
  void field(const char* name, std::optional<std::string>& value) override { put(name, value); }
  void field(const char* name, std::vector<int64_t>& value) override {
    if (value.size() == 1) to_[name] = value[0];
    else to_[name] = value.empty() ? json(nullptr) : json(value);
  }
  void list(const char* name, std::vector<int64_t>& value) override { to_[name] = value; }
  void group(const char* name, const std::function<void(ConfigFields&)>& visit) override {
    json& inner = to_[name];  // with the keys that were kept
    if (!inner.is_object()) inner = json::object();
    Writer writer(inner);
    visit(writer);
  }
  bool reads() const override { return false; }

 private:
  template <class T>
  void put(const char* name, const std::optional<T>& value) {
    to_[name] = value ? json(*value) : json(nullptr);
  }
  json& to_;
};

// id2label and num_labels into the list of names. The map stands where both are given, as in the reference.
void take_labels(const std::string& path, json& left, std::vector<std::string>& labels) {
  const json map = left.value("id2label", json());
  const json count = left.value("num_labels", json());
  for (const char* key : {"id2label", "label2id", "num_labels", "_num_labels"}) left.erase(key);
  if (map.is_null()) {
    if (count.is_null()) return;
    ROTE_CHECK(count.is_number_integer() && count.get<int64_t>() > 0 && count.get<int64_t>() <= 100'000, ArgumentError, "read ", path, ": num_labels is ",
               count.dump(), "; it must be a whole number in 1…100000.");
    labels.clear();
    labels.reserve(count.get<size_t>());
    for (int64_t i = 0; i < count.get<int64_t>(); ++i) labels.push_back("LABEL_" + std::to_string(i));
    return;
  }
  ROTE_CHECK(map.is_object() && !map.empty(), ArgumentError, "read ", path, ": id2label is ", map.dump(), "; it must be a map from 0, 1, … to names.");
  labels.clear();
  for (size_t i = 0; i < map.size(); ++i) {
    const auto found = map.find(std::to_string(i));
    ROTE_CHECK(found != map.end() && found->is_string(), ArgumentError, "read ", path, ": id2label has ", map.size(), " names but none for ", i,
               "; the ids must be 0 … ", map.size() - 1, ".");
    labels.push_back(found->get<std::string>());
  }
}

}  // namespace

void Config::visit(ConfigFields& fields) {
  fields.field("model_type", model_type);
  fields.field("architectures", architectures);
  fields.field("dtype", dtype);
  fields.field("problem_type", problem_type);
  fields.field("initializer_range", initializer_range);
  fields.field("output_hidden_states", output_hidden_states);
  fields.field("output_attentions", output_attentions);
}

void Config::check() const {
  ROTE_CHECK(!problem_type || *problem_type == "regression" || *problem_type == "single_label_classification" || *problem_type == "multi_label_classification",
             ArgumentError, "config: problem_type is \"", problem_type.value_or(""),
             "\"; it must be regression, single_label_classification or multi_label_classification.");
  ROTE_CHECK(initializer_range >= 0, ArgumentError, "config: initializer_range is ", initializer_range, "; it must not be negative.");
}

void Config::check_size(const char* name, int64_t value) {
  ROTE_CHECK(value > 0 && value <= INT32_MAX, ArgumentError, "config: ", name, " is ", value, "; it must be at least 1 and fit into 32 bits.");
}
void Config::check_share(const char* name, double value) {
  ROTE_CHECK(value >= 0 && value <= 1, ArgumentError, "config: ", name, " is ", value, "; a probability lies in [0,1].");
}
void Config::check_not_negative(const char* name, double value) {
  ROTE_CHECK(value >= 0, ArgumentError, "config: ", name, " is ", value, "; it must not be negative.");
}
void Config::check_token(const char* name, const std::optional<int64_t>& id, int64_t vocab_size) {
  ROTE_CHECK(!id || (*id >= 0 && *id < vocab_size), ArgumentError, "config: ", name, " is ", id.value_or(0), " but vocab_size ", vocab_size, "; it must lie in 0…",
             vocab_size - 1, ".");
}
void Config::check_only(const char* name, const char* wanted) const {
  const auto found = others.find(name);
  ROTE_CHECK(found == others.end() || found->second == wanted, ArgumentError, "config: ", name, " is ", found->second, "; of ", model_type, " only ", wanted,
             " is built.");
}

std::string Config::label(int64_t id) const {
  ROTE_CHECK(id >= 0 && id < num_labels(), ArgumentError, "config: there is no label ", id, "; there are ", num_labels(), ".");
  return labels.empty() ? "LABEL_" + std::to_string(id) : labels[static_cast<size_t>(id)];
}

std::string read_model_type(const std::string& place) {
  const json parsed = read_json(place);
  const auto found = parsed.find("model_type");
  ROTE_CHECK(found != parsed.end() && found->is_string(), ArgumentError, "read ", path_of(place), ": it has no model_type, which names the architecture.");
  return found->get<std::string>();
}

std::vector<std::string> read_code_files(const std::string& place) {
  const json parsed = read_json(place);
  std::vector<std::string> files;
  const auto map = parsed.find("auto_map");
  if (map == parsed.end() || !map->is_object()) return files;
  for (const auto& [name, code] : map->items()) {  // "owner/name--modeling_x.XModel" or "modeling_x.XModel"
    std::string file = code.is_string() ? code.get<std::string>() : "";
    if (const size_t other = file.find("--"); other != std::string::npos) file = file.substr(other + 2);
    file = file.substr(0, file.find('.')) + ".py";
    if (file.size() > 3 && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  return files;
}

void read_config(const std::string& place, Config& config) {
  const std::string path = path_of(place);
  json left = read_json(place);
  // The name of `dtype` before version 5 of the reference.
  if (left.contains("torch_dtype") && !left.contains("dtype")) left["dtype"] = left["torch_dtype"];
  left.erase("torch_dtype");
  if (left.contains("dtype") && left["dtype"].is_null()) left.erase("dtype");
  config.dtype.clear();
  take_labels(path, left, config.labels);
  Reader reader(path, left);
  config.visit(reader);
  config.others.clear();
  for (const auto& [name, value] : left.items()) config.others[name] = value.dump();
  const std::string generation = place + "/generation_config.json";
  config.generation = !is_gguf(place) && is_file(generation) ? short_file(generation) : "";
  config.check();
}

std::string config_text(Config& config) {
  json to = json::object();
  for (const auto& [name, value] : config.others) to[name] = json::parse(value);
  Writer writer(to);
  config.visit(writer);
  for (const char* name : {"output_hidden_states", "output_attentions"})
    if (!to[name].get<bool>()) to.erase(name);
  if (config.dtype.empty()) to.erase("dtype");
  if (to["problem_type"].is_null()) to.erase("problem_type");
  if (!config.labels.empty()) {
    for (size_t i = 0; i < config.labels.size(); ++i) {
      to["id2label"][std::to_string(i)] = config.labels[i];
      to["label2id"][config.labels[i]] = i;
    }
  }
  return to.dump(2, ' ', /*ensure_ascii=*/true) + "\n";
}

}  // namespace rote::nn
