// tests/trainer/bleu_test.cpp — words and scores of sacrebleu 2.6.0: corpus_bleu() and Tokenizer13a of the texts below.
#include "trainer/bleu.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

using namespace rote;

namespace {

using Texts = std::vector<std::string>;
using Counts = std::array<int64_t, 4>;

std::string joined(const Texts& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

TEST_CASE("bleu_words: entities, symbols, numbers, hyphens, lines") {
  const std::pair<const char*, const char*> table[] = {
      {"The price is $3,000.50 -- don't &quot;panic&quot;!", "The price is $ 3,000.50 -- don't \" panic \" !"},
      {"1.5-2 x/y e-mail, end", "1.5 - 2 x / y e-mail , end"},
      {"<skipped>Hi-\nthere\nyou &amp; &lt;all&gt; 5-year 3.14, A.B 12,3 x.5 «é»—ü. (a)[b]{c}~`@^_=+*%#\\|",
       "Hithere you & < all > 5 - year 3.14 , A . B 12,3 x . 5 «é»—ü . ( a ) [ b ] { c } ~ ` @ ^ _ = + * % # \\ |"},
      {"a,b 1,b a,1 .5 5. -5 5- 5-5 ", "a , b 1 , b a , 1 . 5 5 . -5 5 - 5 - 5"},
      {"&amp;lt; &amp;quot;", "< & quot ;"},
      {"", ""},
      {" \n\t", ""},
      {"a\xC2\xA0\x1C" "b", "a b"},
  };
  for (const auto& [text, words] : table) CHECK(joined(bleu_words(text)) == words);
  CHECK_THROWS_AS(bleu_words("\xff"), ArgumentError);
}

TEST_CASE("corpus_bleu: the example of sacrebleu, two references each") {
  const Bleu bleu = corpus_bleu({"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."},
                                {{"The dog bit the man.", "The dog had bit the man."}, {"It was not unexpected.", "No one was surprised."}, {"The man bit him first.", "The man had bitten the dog."}});
  CHECK(bleu.score == doctest::Approx(48.530827009929865).epsilon(1e-13));
  CHECK(bleu.counts == Counts{14, 7, 5, 3});
  CHECK(bleu.totals == Counts{17, 14, 11, 8});
  CHECK(bleu.precisions[2] == doctest::Approx(45.45454545454545).epsilon(1e-14));
  CHECK(bleu.brevity_penalty == doctest::Approx(0.9428731438548749).epsilon(1e-14));
  CHECK(bleu.prediction_length == 17);
  CHECK(bleu.reference_length == 18);
}

TEST_CASE("corpus_bleu: short and empty predictions, smoothing of orders without a hit, the nearest reference") {
  struct Row {
    Texts predictions;
    std::vector<Texts> references;
    double score;
    Counts counts, totals;
    int64_t reference_length;
  };
  const Row table[] = {
      {{"a"}, {{"a"}}, 0, {1, 0, 0, 0}, {1, 0, 0, 0}, 1},
      {{"a b c"}, {{"d e f"}}, 0, {0, 0, 0, 0}, {3, 2, 1, 0}, 3},
      {{""}, {{"a b"}}, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 2},
      {{"a b c d e"}, {{"a b c d e"}}, 100.00000000000004, {5, 4, 3, 2}, {5, 4, 3, 2}, 5},
      {{"a b c d e f"}, {{"a b c x e f"}}, 37.99178428257963, {5, 3, 1, 0}, {6, 5, 4, 3}, 6},
      {{"a b x c d"}, {{"a b y c d e f"}}, 20.252884954471366, {4, 2, 0, 0}, {5, 4, 3, 2}, 7},  // two orders are smoothed
      {{"a b c x e f"}, {{"a b c d e f", "x e f g"}}, 50.81327481546149, {6, 4, 2, 0}, {6, 5, 4, 3}, 6},
      {{"hello there world"}, {{"hello"}}, 0, {1, 0, 0, 0}, {3, 2, 1, 0}, 1},
      {{"The price is $3,000.50 -- don't &quot;panic&quot;!", "1.5-2 x/y e-mail, end"}, {{"The price is $3,000.50 - do not panic!"}, {"1.5 - 2 x / y email , end ."}},
       50.51288761691556, {15, 10, 7, 5}, {20, 18, 16, 14}, 20},
  };
  for (const Row& row : table) {
    CAPTURE(row.predictions[0]);
    const Bleu bleu = corpus_bleu(row.predictions, row.references);
    CHECK(bleu.score == doctest::Approx(row.score).epsilon(1e-13));
    CHECK(bleu.counts == row.counts);
    CHECK(bleu.totals == row.totals);
    CHECK(bleu.reference_length == row.reference_length);
  }
  CHECK(corpus_bleu({"a b"}, {{"a", "a b c"}}).reference_length == 1);  // of two as near the shorter
  CHECK_THROWS_WITH_AS(corpus_bleu({}, {}), "corpus_bleu: got no rows; a score needs at least one.", ArgumentError);
  CHECK_THROWS_WITH_AS(corpus_bleu({"a"}, {}), "corpus_bleu: got 1 predictions for 0 lists of references; each row needs both.", ArgumentError);
  CHECK_THROWS_WITH_AS(corpus_bleu({"a"}, {{}}), "corpus_bleu: row 0 has no reference; it needs at least one.", ArgumentError);
}
