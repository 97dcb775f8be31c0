// docs/examples/classifier_output.cpp — loss and logits of a classifier whose head is new: `classifier_output MODEL_FOLDER`.
#include <iostream>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "trainer/data/collate.h"
#include "trainer/parser.h"
#include "trainer/seed.h"
#include "trainer/text/auto_tokenizer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "classifier_output: give a model folder with its tokenizer.");
    const auto tokenizer = text::AutoTokenizer::from_pretrained(argv[1]);
    set_seed(42);  // before the head is drawn
    const auto loaded = nn::AutoModelForSequenceClassification::from_pretrained(argv[1]);
    std::cout << loaded.report.text() << "\n";

    nn::Batch in = data::batch_of(tokenizer.encode("Hello, my dog is cute"));
    std::cout << (*loaded.model)(in).fields()[0].name << " comes first without labels\n";
    in.set("labels", from_values({1, 1}, std::vector<int64_t>{1}));  // [1] would do as well
    const nn::ModelOutput out = (*loaded.model)(in);
    const auto [loss, logits] = out.first<2>();
    std::cout << "loss " << loss << "\nlogits " << logits << "\n";
    std::cout << "cross entropy " << cross_entropy(logits, reshape(in["labels"], {-1})) << "\n";
    std::cout << out.hidden_states.size() << " hidden states, " << out.attentions.size() << " attentions\n";
    in.output_hidden_states = in.output_attentions = true;
    const nn::ModelOutput all = (*loaded.model)(in);
    std::cout << all.hidden_states.size() << " hidden states, " << all.attentions.size() << " attentions\n";
    return 0;
  });
}

// prints, of a BERT of 3424 numbers:
//   2 keys missing, drawn anew (classifier.weight, classifier.bias)
//   logits comes first without labels
//   loss 0.6941 f32[]
//   logits [[  0.001814, -1.386e-05]] f32[1,2]
//   cross entropy 0.6941 f32[]
//   0 hidden states, 0 attentions
//   3 hidden states, 2 attentions
