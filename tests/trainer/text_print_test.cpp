// tests/trainer/text_print_test.cpp — a tokenizer as transformers prints one.
#include <doctest/doctest.h>

#include <sstream>

#include "kernels/check.h"
#include "tests/trainer/tiny_model.h"
#include "trainer/text/tokenizer.h"

using namespace rote;
using text::Tokenizer;

namespace {

std::string printed(const Tokenizer& tokenizer) {
  std::ostringstream out;
  out << tokenizer;
  return out.str();
}

}  // namespace

TEST_CASE("print: class, sizes, sides, special tokens by role, added tokens by id") {
  const testing::TempFolder folder;
  folder.file("tokenizer.json", testing::tiny_tokenizer_json());
  CHECK(printed(Tokenizer::from_folder(folder.path())) ==
        "Tokenizer(vocab_size=31, model_max_length=None, padding_side='right', truncation_side='right', special_tokens={'unk_token': '[UNK]', 'sep_token': '[SEP]', "
        "'pad_token': '[PAD]', 'cls_token': '[CLS]'}, added_tokens_decoder={\n"
        "\t0: AddedToken(\"[PAD]\", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),\n"
        "\t1: AddedToken(\"[UNK]\", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),\n"
        "\t2: AddedToken(\"[CLS]\", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),\n"
        "\t3: AddedToken(\"[SEP]\", rstrip=False, lstrip=False, single_word=False, normalized=False, special=True),\n})");
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "model_max_length": 40, "padding_side": "left", "bos_token": "good", "eos_token": "film"})");
  const Tokenizer named = Tokenizer::from_folder(folder.path());
  CHECK(printed(named).rfind("BertTokenizer(vocab_size=31, model_max_length=40, padding_side='left', truncation_side='right', special_tokens={'bos_token': 'good', "
                             "'eos_token': 'film', 'unk_token'", 0) == 0);
  CHECK(named.bos_token_id() == 4);
  CHECK(named.eos_token_id() == 8);
}

TEST_CASE("print: an added token that the vocabulary lacks is numbered on; without added tokens there are none") {
  const std::string model = R"("model":{"type":"WordLevel","unk_token":"a","vocab":{"a":0,"b":1}}})";
  const testing::TempFolder folder;
  folder.file("tokenizer.json", R"({"added_tokens":[{"id":7,"content":"\"q\"","lstrip":true,"special":false}],)" + model);
  CHECK(printed(Tokenizer::from_folder(folder.path())) ==
        "Tokenizer(vocab_size=2, model_max_length=None, padding_side='right', truncation_side='right', special_tokens={'unk_token': 'a'}, added_tokens_decoder={\n"
        "\t2: AddedToken(\"\\\"q\\\"\", rstrip=False, lstrip=True, single_word=False, normalized=True, special=False),\n})");
  folder.file("tokenizer.json", "{" + model);
  const std::string none = printed(Tokenizer::from_folder(folder.path()));
  CHECK(none.ends_with("added_tokens_decoder={\n})"));
}

TEST_CASE("padding: the tokenizer's own token and side, to the longest row") {
  const testing::TempFolder folder;
  folder.file("tokenizer.json", testing::tiny_tokenizer_json());
  folder.file("tokenizer_config.json", R"({"pad_token": "end", "padding_side": "left"})");
  const Tokenizer tokenizer = Tokenizer::from_folder(folder.path());
  const std::vector<text::Encoding> rows = tokenizer.encode_batch({{"good"}, {"the good film"}}, {.padding = tokenizer.padding()});
  CHECK(rows[0].ids == std::vector<int64_t>{18, 18, 2, 4, 3});
  CHECK(rows[0].tokens[0] == "end");
  CHECK(rows[1].ids.size() == 5);
  folder.file("tokenizer.json", R"({"model":{"type":"WordLevel","unk_token":"a","vocab":{"a":0}}})");
  folder.file("tokenizer_config.json", "{}");
  CHECK_THROWS_WITH_AS(Tokenizer::from_folder(folder.path()).padding(), "padding: the tokenizer has no pad token; batches of unequal rows need one.", ArgumentError);
}
