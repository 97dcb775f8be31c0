// docs/examples/tokenizers.cpp — text to tokens and ids and back, padding, pairs: `tokenizers TOKENIZER_FOLDER`.
#include <iostream>

#include "kernels/check.h"
#include "trainer/data/collate.h"
#include "trainer/parser.h"
#include "trainer/text/auto_tokenizer.h"

using namespace rote;

template <class T>
void print(const char* name, const std::vector<T>& list) {
  std::cout << name;
  for (const T& one : list) std::cout << " " << one;
  std::cout << "\n";
}

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2, ArgumentError, "tokenizers: give a folder with a tokenizer.json or a vocab.txt.");
    const text::Tokenizer tokenizer = text::AutoTokenizer::from_pretrained(argv[1]);
    std::cout << tokenizer << "\n";

    const text::Encoding one = tokenizer.encode("A Titan RTX has 24GB of VRAM");
    print("tokens", one.tokens);  // with those of the template; EncodeOptions{.add_special_tokens = false} leaves them out
    print("ids", one.ids);
    std::cout << tokenizer.decode(one.ids, false) << "\n";  // with special tokens
    std::cout << tokenizer.decode(one.ids) << "\n";

    const std::string a = "This is a short sequence.", b = "This is a rather long sequence. It is at least longer than the sequence A.";
    std::cout << tokenizer.encode(a).ids.size() << " and " << tokenizer.encode(b).ids.size() << " tokens\n";
    const std::vector<text::Encoding> rows = tokenizer.encode_batch({{a}, {b}}, {.padding = tokenizer.padding()});
    for (const text::Encoding& row : rows) print("padded", row.ids);
    for (const text::Encoding& row : rows) print("mask", row.attention_mask);
    std::cout << describe(data::batch_of(rows)["attention_mask"]) << "\n";  // what a model takes

    const text::Encoding pair = tokenizer.encode("HuggingFace is based in NYC", "Where is HuggingFace based?");
    std::cout << tokenizer.decode(pair.ids, false) << "\n";
    print("types", pair.type_ids);
    return 0;
  });
}

// prints, of the vocabulary of bert-base-uncased:
//   BertTokenizer(vocab_size=30522, model_max_length=512, padding_side='right', truncation_side='right', special_tokens={'unk_token': '[UNK]', 'sep_token': '[SEP]', 'pad_token': '[PAD]', 'cls_token': '[CLS]', 'mask_token': '[MASK]'}, added_tokens_decoder={
//   	0: AddedToken("[PAD]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),
//   	100: AddedToken("[UNK]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),
//   	101: AddedToken("[CLS]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),
//   	102: AddedToken("[SEP]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),
//   	103: AddedToken("[MASK]", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),
//   })
//   tokens [CLS] a titan rt ##x has 24 ##gb of vr ##am [SEP]
//   ids 101 1037 16537 19387 2595 2038 2484 18259 1997 27830 3286 102
//   [CLS] a titan rtx has 24gb of vram [SEP]
//   a titan rtx has 24gb of vram
//   8 and 19 tokens
//   padded 101 2023 2003 1037 2460 5537 1012 102 0 0 0 0 0 0 0 0 0 0 0
//   padded 101 2023 2003 1037 2738 2146 5537 1012 2009 2003 2012 2560 2936 2084 1996 5537 1037 1012 102
//   mask 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0
//   mask 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
//   i64[2,19]
//   [CLS] huggingface is based in nyc [SEP] where is huggingface based? [SEP]
//   types 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1
