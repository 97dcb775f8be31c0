// nn/config.h — what config.json says of a model: the fields that all share, and how a family adds its own. JSON only in config.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rote::nn {

// Visits the fields of a config under their names in the file: once to read them, once to write them. A field that the file lacks keeps
// its value; an optional one may be null.
class ConfigFields {
 public:
  virtual ~ConfigFields() = default;
  virtual void field(const char* name, int64_t& value) = 0;
  virtual void field(const char* name, double& value) = 0;
  virtual void field(const char* name, bool& value) = 0;
  virtual void field(const char* name, std::string& value) = 0;
  virtual void field(const char* name, std::vector<std::string>& value) = 0;
  virtual void field(const char* name, std::optional<int64_t>& value) = 0;
  virtual void field(const char* name, std::optional<double>& value) = 0;
  virtual void field(const char* name, std::optional<std::string>& value) = 0;
  // A number, a list of numbers or null in the file: the ids that end a text.
  virtual void field(const char* name, std::vector<int64_t>& value) = 0;
  // A list of numbers, one as well as many.
  virtual void list(const char* name, std::vector<int64_t>& value) = 0;
  // An object of fields, which may be missing or null; keys that no field of it takes are kept and written back.
  virtual void group(const char* name, const std::function<void(ConfigFields&)>& visit) = 0;
  // Whether the file is being read, for fields whose older spelling is read but not written.
  virtual bool reads() const = 0;
};

// What a model can be fed with; absent where it sets no limit.
struct InputLimits {
  std::optional<int64_t> length;      // positions
  std::optional<int64_t> vocabulary;  // ids are below
  std::optional<int64_t> channels = {};    // of images
  std::optional<int64_t> image_size = {};  // their height and width
};

struct Config {
  std::string model_type;
  std::vector<std::string> architectures;  // the class that was saved
  std::string dtype = "float32";           // of the stored weights; empty: the file does not say
  std::vector<std::string> labels;         // id2label; empty: the two of the default, LABEL_0 and LABEL_1
  // regression, single_label_classification, multi_label_classification; none: decided by the labels of the first batch.
  std::optional<std::string> problem_type;
  double initializer_range = 0.02;
  bool output_hidden_states = false;
  bool output_attentions = false;
  std::map<std::string, std::string> others;  // keys that no field takes, with their JSON: kept and written back
  std::string generation;                     // the generation_config.json of the folder, as it stood; empty: none

  virtual ~Config() = default;
  // The family's own fields come after a call of this one.
  virtual void visit(ConfigFields& fields);
  // Throws ArgumentError for values that cannot be built.
  virtual void check() const;
  // The name under which a head's class holds the base model, which is also a prefix of checkpoint keys; empty: none.
  virtual const char* base_prefix() const { return ""; }
  // For check(): values that must be sizes (1 … 2^31-1), shares (0 … 1), not negative. Throw ArgumentError with the name.
  static void check_size(const char* name, int64_t value);
  static void check_share(const char* name, double value);
  static void check_not_negative(const char* name, double value);
  static void check_token(const char* name, const std::optional<int64_t>& id, int64_t vocab_size);
  // A key that no field takes must be absent or have this JSON.
  void check_only(const char* name, const char* wanted) const;
  // A parameter's name as files hold it, from the one that newer versions of the reference give it.
  virtual std::string stored_name(const std::string& name) const { return name; }
  // The id with which the decoder of an encoder-decoder model begins; none: there is no encoder.
  virtual std::optional<int64_t> decoder_start() const { return std::nullopt; }
  virtual InputLimits limits() const { return {}; }
  int64_t num_labels() const { return labels.empty() ? 2 : static_cast<int64_t>(labels.size()); }
  std::string label(int64_t id) const;
};

// A place is a model folder or a .gguf file, whose metadata stand for a config.json (gguf.h).
// model_type of a place's config.json. Throws IoError where the file is missing or no JSON object, here and below.
std::string read_model_type(const std::string& place);
// The Python files that its auto_map names: code beside the weights, which is never run.
std::vector<std::string> read_code_files(const std::string& place);
// Fills `config` from the place's config.json and checks it. A value of the wrong kind is an ArgumentError that names it.
void read_config(const std::string& place, Config& config);
// config.json's text: keys sorted, two blanks a level.
std::string config_text(Config& config);

}  // namespace rote::nn
