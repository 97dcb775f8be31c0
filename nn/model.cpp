#include "nn/model.h"

#include <algorithm>
#include <set>

#include "autograd/ops/loss.h"
#include "nn/conv.h"
#include "nn/conv1d.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/norm.h"

namespace rote::nn {

namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts between commas outside of brackets.
std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> found;
  std::string part;
  int depth = 0;
  for (const char c : list) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0) {
      found.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) found.push_back(trimmed(part));
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

}  // namespace

Tensor Batch::find(const std::string& name) const {
  for (const auto& [key, tensor] : entries)
    if (key == name) return tensor;
  return {};
}

const Tensor& Batch::at(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (entry.first == name) return entry.second;
    names.push_back(entry.first);
  }
  throw ArgumentError(str("batch: it has no ", name, "; it has ", listed(names), "."));
}

void Batch::set(const std::string& name, Tensor tensor) {
  for (auto& [key, old] : entries)
    if (key == name) {
      old = std::move(tensor);
      return;
    }
  entries.emplace_back(name, std::move(tensor));
}

std::vector<ModelOutput::Field> ModelOutput::fields() const {
  std::vector<Field> given;
  const auto one = [&](const std::string& name, const Tensor& value) {
    if (value.defined()) given.push_back({name, {value}, false});
  };
  one("loss", loss);
  one("logits", logits);
  one("start_logits", start_logits);
  one("end_logits", end_logits);
  one("last_hidden_state", last_hidden_state);
  one("pooler_output", pooler_output);
  for (const auto& [name, value] : more) one(name, value);
  const auto all = [&](const std::string& name, const std::vector<Tensor>& values) {
    if (!values.empty()) given.push_back({name, values, true});
  };
  all("hidden_states", hidden_states);
  all("attentions", attentions);
  all("decoder_hidden_states", decoder_hidden_states);
  all("decoder_attentions", decoder_attentions);
  all("cross_attentions", cross_attentions);
  one("encoder_last_hidden_state", encoder_last_hidden_state);
  all("encoder_hidden_states", encoder_hidden_states);
  all("encoder_attentions", encoder_attentions);
  return given;
}

Tensor ModelOutput::operator[](const std::string& name) const {
  std::vector<std::string> names;
  for (const Field& field : fields()) {
    for (size_t i = 0; i < field.values.size(); ++i) {
      names.push_back(field.is_tuple ? str(field.name, ".", i) : field.name);
      if (names.back() == name) return field.values[i];
    }
  }
  throw ArgumentError(str("model output: it has no ", name, "; it has ", listed(names), "."));
}

Tensor ModelOutput::operator[](int index) const {
  const std::vector<Field> given = fields();
  const int count = static_cast<int>(given.size());
  ROTE_CHECK(index >= 0 && index < count, ArgumentError, "model output: it has no field ", index, "; it has ", count, ".");
  const Field& field = given[static_cast<size_t>(index)];
  ROTE_CHECK(!field.is_tuple, ArgumentError, "model output: field ", index, ", ", field.name, ", holds ", field.values.size(), " tensors; read the member ",
             field.name, ".");
  return field.values[0];
}

Schema Signature::input_schema(const std::string& who) const {
  // From `name[axes]? dtype` to the form that op schemas have, `dtype name[axes]?`.
  std::string text = who + "(";
  for (const std::string& input : parts(inputs)) {
    const size_t blank = input.find(' ');
    const std::string dtype = blank == std::string::npos ? "any" : trimmed(input.substr(blank));
    text += str(text.back() == '(' ? "" : ", ", dtype, " ", input.substr(0, blank));
  }
  return Schema::parse((text + ") -> y").c_str());
}

std::vector<std::string> Signature::input_names() const {
  std::vector<std::string> names;
  for (const std::string& input : parts(inputs)) names.push_back(input.substr(0, input.find('[')));
  return names;
}
std::vector<std::string> Signature::output_names() const { return parts(outputs); }
std::vector<std::string> Signature::label_names() const { return parts(labels); }

namespace {

int64_t count_of(const Tensor& labels, const Signature& signature, const Batch& batch) {
  if (!labels.defined()) return 0;
  const Scored scored = signature.scored;
  if (scored == Scored::none) return 0;
  if (scored == Scored::row_elements || is_floating(labels.dtype())) return labels.numel();
  const Tensor plain = contiguous(converted(labels, DType::i64));
  const int64_t* label = plain.data<int64_t>();
  if (scored == Scored::spans) {
    const int64_t T = batch.at(signature.main).size(1);
    return std::count_if(label, label + plain.numel(), [T](int64_t place) { return place < T; });
  }
  int64_t count = rote::count_targets(plain);
  if (scored != Scored::next_token) return count;
  const int64_t columns = plain.axes() > 0 ? plain.size(-1) : 0;
  for (int64_t i = 0; i < plain.numel(); i += columns) count -= label[i] != -100;
  return count;
}

}  // namespace

TargetCounts count_targets(const Signature& signature, const Batch& batch) {
  TargetCounts counts;
  for (const std::string& name : signature.label_names()) counts.push_back(count_of(batch.find(name), signature, batch));
  return counts;
}

int64_t total(const TargetCounts& counts) {
  int64_t sum = 0;
  for (const int64_t n : counts) sum += n;
  return sum;
}

ModelOutput Model::operator()(const Batch& batch) {
  const std::string who = class_name();
  const Schema schema = signature().input_schema(who);
  std::vector<Tensor> inputs;
  for (const Operand& operand : schema.inputs) inputs.push_back(batch.find(operand.name));
  bind_inputs(who.c_str(), schema, inputs, false);
  const CallGuard guard(*this);
  if (!is_hooked()) return forward(batch);
  std::erase_if(inputs, [](const Tensor& x) { return !x.defined(); });
  before_call(inputs);
  ModelOutput output = forward(batch);
  std::vector<Tensor> outputs;
  for (const ModelOutput::Field& field : output.fields()) outputs.insert(outputs.end(), field.values.begin(), field.values.end());
  after_call(inputs, outputs);
  show_call({}, CallValue::of(output));
  return output;
}

bool Model::wants_hidden_states(const Batch& in) const { return in.output_hidden_states.value_or(config_ && config_->output_hidden_states); }
bool Model::wants_attentions(const Batch& in) const { return in.output_attentions.value_or(config_ && config_->output_attentions); }

void Model::init_weights(const std::function<bool(const std::string&)>& wanted) {
  const double std = config_ ? config_->initializer_range : Config().initializer_range;
  std::set<std::string> names;
  each_parameter([&](const std::string& name, Tensor&, bool first) {
    if (first && wanted(name)) names.insert(name);
  });
  const NamedTensors buffers = saved_buffers();
  for (const auto& [name, tensor] : buffers)
    if (wanted(name)) names.insert(name);
  for (const NamedModule& one : named_modules()) {
    const auto takes = [&](const char* part) { return names.erase(one.name.empty() ? part : one.name + "." + part) > 0; };
    const std::string weight = one.name + ".weight";
    one.module->init_own(takes, one.name, std);
    if (auto* linear = dynamic_cast<Linear*>(one.module)) {
      if (takes("weight")) fill_normal(linear->weight, std, init_draw(weight));
    } else if (auto* image = dynamic_cast<Conv2d*>(one.module)) {
      if (takes("weight")) fill_normal(image->weight, std, init_draw(weight));
    } else if (auto* embedding = dynamic_cast<Embedding*>(one.module)) {
      if (takes("weight")) embedding->reset(std, init_draw(weight));
    } else if (auto* conv = dynamic_cast<Conv1D*>(one.module)) {
      if (takes("weight")) fill_normal(conv->weight, std * conv->init_scale, init_draw(weight));
    } else if (auto* norm = dynamic_cast<LayerNorm*>(one.module)) {
      if (takes("weight")) fill(norm->weight, 1);
    } else if (auto* batch = dynamic_cast<BatchNorm2d*>(one.module)) {
      if (takes("weight")) fill(batch->weight, 1);
      if (takes("running_var")) fill(batch->running_var, 1);
    } else if (auto* rms = dynamic_cast<RMSNorm*>(one.module)) {
      if (takes("weight")) fill(rms->weight, 1);
    }
  }
  each_parameter([&](const std::string& name, Tensor& tensor, bool) {
    if (names.count(name) > 0) fill(tensor, 0);
  });
  for (const auto& [name, tensor] : buffers)
    if (names.count(name) > 0) fill(tensor, 0);
}

void Model::initialise() {
  no_init_.reset();
  if (init_enabled()) init_weights([](const std::string&) { return true; });
}

}  // namespace rote::nn
