// docs/examples/auto_model.cpp — models by name or by configuration, saved and loaded again: `auto_model MODEL_FOLDER`.
#include <iostream>

#include "kernels/check.h"
#include "nn/auto.h"
#include "tensor/hash.h"
#include "trainer/parser.h"
#include "trainer/seed.h"

using namespace rote;

std::string hash(const nn::Model& model) { return hash_tensors(nn::state_dict(model)); }

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "auto_model: give a model folder.");
    const auto loaded = nn::AutoModel::from_pretrained(argv[1]);
    int64_t numbers = 0;
    for (const Tensor& x : loaded.model->parameters()) numbers += x.numel();
    std::cout << loaded.model->class_name() << ": " << numbers << " numbers, " << loaded.report.missing.size() << " missing\n";
    nn::save_pretrained(*loaded.model, "saved");
    std::cout << (hash(*nn::AutoModel::from_pretrained("saved").model) == hash(*loaded.model) ? "saved and loaded: the same\n" : "saved and loaded: others\n");

    const auto config = nn::AutoConfig::from_pretrained(argv[1]);
    set_seed(42);  // the same seed, the same weights
    const auto first = nn::AutoModel::from_config(config);
    set_seed(42);
    const auto again = nn::AutoModel::from_config(config);
    std::cout << (hash(*first) == hash(*again) ? "drawn again: the same\n" : "drawn again: others\n");
    std::cout << (hash(*first) == hash(*loaded.model) ? "drawn: those of the folder\n" : "drawn: not those of the folder\n");

    // Of an architecture that is built in, code beside the weights is passed over; of any other this is refused.
    for (const std::string& note : nn::AutoModel::from_pretrained(argv[1], {.trust_remote_code = true}).report.notes) std::cout << note << "\n";
    return 0;
  });
}

// prints, of a BERT of 3424 numbers:
//   BertModel: 3424 numbers, 0 missing
//   saved and loaded: the same
//   drawn again: the same
//   drawn: not those of the folder
//   trust_remote_code: code beside the weights is Python and was not run; the model is the built-in one.
