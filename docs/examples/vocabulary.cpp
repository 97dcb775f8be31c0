// docs/examples/vocabulary.cpp — tokens by their ids: `vocabulary TOKENIZER_FOLDER`.
#include <iostream>

#include "kernels/check.h"
#include "trainer/parser.h"
#include "trainer/text/auto_tokenizer.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "vocabulary: give a folder with a tokenizer.json or a vocab.txt.");
    const text::Tokenizer tokenizer = text::AutoTokenizer::from_pretrained(argv[1]);
    for (int64_t id = 0; id < 5; ++id) std::cout << *tokenizer.id_to_token(id) << ": " << id << "\n";
    for (int64_t id = 2990; id < 3010; ++id) std::cout << *tokenizer.id_to_token(id) << ": " << id << "\n";
    for (int64_t id = 0; id < tokenizer.vocab_size(); ++id)
      if (tokenizer.token_to_id(*tokenizer.id_to_token(id)) != id) std::cout << id << " is not the id of its token\n";
    return 0;
  });
}

// prints, of the vocabulary of bert-base-uncased:
//   [PAD]: 0
//   [unused0]: 1
//   [unused1]: 2
//   [unused2]: 3
//   [unused3]: 4
//   jack: 2990
//   fall: 2991
//   raised: 2992
//   itself: 2993
//   stay: 2994
//   true: 2995
//   studio: 2996
//   1988: 2997
//   sports: 2998
//   replaced: 2999
//   paris: 3000
//   systems: 3001
//   saint: 3002
//   leader: 3003
//   theatre: 3004
//   whose: 3005
//   market: 3006
//   capital: 3007
//   parents: 3008
//   spanish: 3009
