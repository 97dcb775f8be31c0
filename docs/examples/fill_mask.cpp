// docs/examples/fill_mask.cpp — the likeliest word for a mask: `fill_mask MODEL_FOLDER`.
#include <iostream>

#include "autograd/ops.h"
#include "nn/auto.h"
#include "trainer/data/collate.h"
#include "trainer/parser.h"
#include "trainer/text/auto_tokenizer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "fill_mask: give the folder of a masked language model with its tokenizer.");
    const auto tokenizer = text::AutoTokenizer::from_pretrained(argv[1]);
    const auto model = std::move(nn::AutoModelForMaskedLM::from_pretrained(argv[1]).model);

    const nn::Batch in = data::batch_of(tokenizer.encode("The capital of France is [MASK]."));
    const Tensor at = nonzero(eq(in["input_ids"], static_cast<double>(*tokenizer.mask_token_id())));  // i64[1,2]: row and column
    const int64_t column = select(select(at, 0, 0), 0, 1).item_i64();
    const Tensor logits = (*model)(in).logits;
    const int64_t id = argmax(select(select(logits, 0, 0), 0, column)).item_i64();
    std::cout << "logits " << describe(logits) << ", the mask is token " << column << "\n" << id << " " << tokenizer.decode({id}) << "\n";
    return 0;
  });
}

// prints, of a model with the vocabulary of bert-base-uncased that has learnt capitals:
//   logits f32[1,9,30522], the mask is token 6
//   3000 paris
