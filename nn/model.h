// nn/model.h — the one interface between models and all that runs them: Batch in, ModelOutput out, Signature to say what is what.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/schema.h"
#include "nn/config.h"
#include "nn/init.h"
#include "nn/module.h"

namespace rote::nn {

// How many targets each label key scores, in the order of Signature::labels.
using TargetCounts = std::vector<int64_t>;

class KeyValueCache;

// Named inputs of one forward, in order.
struct Batch {
  std::vector<std::pair<std::string, Tensor>> entries;
  // The scored targets of the whole accumulation window, by which the loss is divided. Empty: those of this batch.
  TargetCounts num_items;
  // Whether these are returned as well; not given: as the config says.
  std::optional<bool> output_hidden_states, output_attentions;
  KeyValueCache* cache = nullptr;  // decoding: holds the positions before those of this batch, and takes these

  Tensor find(const std::string& name) const;              // undefined where there is none
  const Tensor& at(const std::string& name) const;         // ArgumentError where there is none
  const Tensor& operator[](const std::string& name) const { return at(name); }
  bool contains(const std::string& name) const { return find(name).defined(); }
  void set(const std::string& name, Tensor tensor);        // replaces, or adds at the end
};

// What a forward gives: its fields in this order, those it does not give undefined or empty. The index of a field counts given ones only.
struct ModelOutput {
  Tensor loss = {};               // []
  Tensor logits = {};
  Tensor start_logits = {}, end_logits = {};
  Tensor last_hidden_state = {};  // [B,T,C]
  Tensor pooler_output = {};      // [B,C]
  std::vector<std::pair<std::string, Tensor>> more = {};  // further results of a model of the user's
  std::vector<Tensor> hidden_states = {};  // [B,T,C]: of the embeddings and of each layer
  std::vector<Tensor> attentions = {};     // [B,H,T,T]: of each layer
  // Of encoder-decoder models in place of the two above: T positions of the decoder, S of the encoder.
  std::vector<Tensor> decoder_hidden_states = {}, decoder_attentions = {}, cross_attentions = {};
  Tensor encoder_last_hidden_state = {};   // [B,S,C]
  std::vector<Tensor> encoder_hidden_states = {}, encoder_attentions = {};

  struct Field {
    std::string name;
    std::vector<Tensor> values;  // one, or all of a tuple
    bool is_tuple;
  };
  std::vector<Field> fields() const;  // those given
  // By name ("logits", "attentions.0") or by index among the given; ArgumentError names those there are. A tuple needs its index in the name.
  Tensor operator[](const std::string& name) const;
  Tensor operator[](const char* name) const { return (*this)[std::string(name)]; }
  Tensor operator[](int index) const;
  // auto [loss, logits] = output.first<2>();
  template <int N>
  std::array<Tensor, N> first() const {
    std::array<Tensor, N> values;
    for (int i = 0; i < N; ++i) values[static_cast<size_t>(i)] = (*this)[i];
    return values;
  }
};

// Which elements of the labels count as targets; the loss is the sum of their losses over their number.
enum class Scored {
  none,          // the model has no loss
  rows,          // one a row that is not -100; of floating labels each element
  not_ignored,   // each element that is not -100
  next_token,    // each element but those of the first column, not -100: it is predicted at the place before
  row_elements,  // each element
  spans,         // one a row and key that lies inside the T of the main input (after clamping to 0…T)
};

// What collators, the Trainer and pipelines need to know of a model, declared once.
struct Signature {
  // `name[axes] dtype`, `?` after what may be left out: "input_ids[B,T] i64, labels[B,T]? i64". Equal letters are equal sizes, [...] is any
  // shape, no dtype or `any` is any dtype.
  const char* inputs = "";
  const char* outputs = "loss, logits";  // in order; of hidden_states and attentions when asked for
  const char* main = "input_ids";        // its elements are the tokens that are counted
  const char* labels = "labels";         // the keys that are labels
  Scored scored = Scored::none;

  Schema input_schema(const std::string& who) const;
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  std::vector<std::string> label_names() const;
};

// The scored targets of a batch; 0 for a key that it lacks. A window's counts are the sums over its batches.
TargetCounts count_targets(const Signature& signature, const Batch& batch);
int64_t total(const TargetCounts& counts);

// A Module with this interface. Its forward is called as model(batch), which checks the batch against the signature first.
class Model : public Module {
 public:
  // A user's model: its layers start as they say.
  Model() = default;
  // A model of a family: its layers start without values, and the constructor of the class ends with initialise().
  explicit Model(std::shared_ptr<Config> config) : config_(std::move(config)), no_init_(std::in_place) {}

  ModelOutput operator()(const Batch& batch);
  virtual ModelOutput forward(const Batch& batch) = 0;
  virtual Signature signature() const = 0;
  // nullptr for a model without one.
  Config* config() const { return config_.get(); }
  bool wants_hidden_states(const Batch& in) const;  // as the batch says, else the config
  bool wants_attentions(const Batch& in) const;
  // Draws the parameters anew for whose name `wanted` holds, each by its name (init.h): matrices normal with the config's
  // initializer_range, padding rows and biases 0, LayerNorm's weight 1; and saved buffers, which start as every layer's do.
  virtual void init_weights(const std::function<bool(const std::string&)>& wanted);

 protected:
  // init_weights for all parameters, unless the model is part of another or is about to be loaded (NoInit).
  void initialise();

 private:
  std::shared_ptr<Config> config_;
  std::optional<NoInit> no_init_;
};

}  // namespace rote::nn
