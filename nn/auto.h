// nn/auto.h — models by name: of a class ("BertForMaskedLM") or of a task ("text-classification"), and the Auto classes of the reference.
// Holds no model. A name is a folder, a .gguf file, or a model's name in the hub's cache (hub.h).
#pragma once

#include <iosfwd>

#include "nn/pretrained.h"

namespace rote::nn {

// The class that a name stands for in a model folder: itself, the family's class for a task, or, where the name is empty, the one that
// config.json says was saved. Throws ArgumentError that lists the known ones.
std::string model_class(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options = {});

// The model of that class with the weights of the folder.
Loaded<Model> load_model(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options = {});
// The same of a checkpoint that holds all of it. Throws ArgumentError where weights of its head are missing;
// features (task::Features) need no pooler.
Loaded<Model> load_finetuned(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options = {});
// The model of that class with the folder's config alone: weights are drawn anew.
std::unique_ptr<Model> make_model(const std::string& class_or_task, const std::string& name, const PretrainedOptions& options = {});
// The same from a config of its family's type.
std::unique_ptr<Model> make_model(const std::string& class_or_task, std::shared_ptr<Config> config);
// The config of the folder, of its family's type. Throws ArgumentError for a model_type that is not built, with the known ones and the nearest.
std::shared_ptr<Config> load_config(const std::string& name, const PretrainedOptions& options = {});

// Classes and tasks of this build, for help and errors.
std::string known_models();
// Whether this build has the class.
bool has_model(const std::string& class_name);

// As its config.json.
std::ostream& operator<<(std::ostream& out, const std::shared_ptr<Config>& config);

// Not made, but by from_pretrained and from_config.
struct AutoConfig {
  AutoConfig() = delete;
  static std::shared_ptr<Config> from_pretrained(const std::string& name, const PretrainedOptions& options = {}) { return load_config(name, options); }
};

// The class of a family for a task: AutoModelForMaskedLM::from_pretrained("minilm"), from_config(config) with weights drawn anew.
template <class Task>
struct AutoClass {
  AutoClass() = delete;
  static Loaded<Model> from_pretrained(const std::string& name, const PretrainedOptions& options = {}) { return load_model(Task::name, name, options); }
  static std::unique_ptr<Model> from_config(std::shared_ptr<Config> config) { return make_model(Task::name, std::move(config)); }
};

namespace task {
struct Features { static constexpr char name[] = "feature-extraction"; };
struct Classes { static constexpr char name[] = "text-classification"; };
struct TokenClasses { static constexpr char name[] = "token-classification"; };
struct Masked { static constexpr char name[] = "fill-mask"; };
struct Causal { static constexpr char name[] = "text-generation"; };
struct Seq2Seq { static constexpr char name[] = "text2text-generation"; };
struct Answers { static constexpr char name[] = "question-answering"; };
struct NextSentence { static constexpr char name[] = "next-sentence-prediction"; };
struct Choices { static constexpr char name[] = "multiple-choice"; };
struct Images { static constexpr char name[] = "image-classification"; };
}  // namespace task

using AutoModel = AutoClass<task::Features>;
using AutoModelForSequenceClassification = AutoClass<task::Classes>;
using AutoModelForTokenClassification = AutoClass<task::TokenClasses>;
using AutoModelForMaskedLM = AutoClass<task::Masked>;
using AutoModelForCausalLM = AutoClass<task::Causal>;
using AutoModelForSeq2SeqLM = AutoClass<task::Seq2Seq>;
using AutoModelForQuestionAnswering = AutoClass<task::Answers>;
using AutoModelForNextSentencePrediction = AutoClass<task::NextSentence>;
using AutoModelForMultipleChoice = AutoClass<task::Choices>;
using AutoModelForImageClassification = AutoClass<task::Images>;

}  // namespace rote::nn
