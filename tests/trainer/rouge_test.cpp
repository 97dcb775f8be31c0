// tests/trainer/rouge_test.cpp — scores of rouge_score 0.1.2: RougeScorer([…], use_stemmer).score(reference, prediction) of the texts below.
#include "trainer/rouge.h"

#include <doctest/doctest.h>

#include "kernels/check.h"

using namespace rote;

namespace {

void check(const Scores& ours, double precision, double recall, double f1) {
  CHECK(ours.precision == doctest::Approx(precision).epsilon(1e-14));
  CHECK(ours.recall == doctest::Approx(recall).epsilon(1e-14));
  CHECK(ours.f1 == doctest::Approx(f1).epsilon(1e-14));
}

}  // namespace

TEST_CASE("rouge_words: runs of ASCII letters and digits in lower case") {
  CHECK(rouge_words("Hello, World! 42nd don't") == std::vector<std::string>{"hello", "world", "42nd", "don", "t"});
  CHECK(rouge_words("naïve \u212Aelvin \u0130x") == std::vector<std::string>{"na", "ve", "kelvin", "i", "x"});
  CHECK(rouge_words("…").empty());
  CHECK_THROWS_AS(rouge_words("\xff"), ArgumentError);
}

TEST_CASE("rouge: one line") {
  const Rouge fox = rouge("the fast brown fox leaped over a lazy dog", "the quick brown fox jumps over the lazy dog");
  check(fox.rouge1, 2.0 / 3, 2.0 / 3, 2.0 / 3);
  check(fox.rouge2, 0.25, 0.25, 0.25);
  check(fox.rougeL, 2.0 / 3, 2.0 / 3, 2.0 / 3);
  check(fox.rougeLsum, 2.0 / 3, 2.0 / 3, 2.0 / 3);
  const Rouge uneven = rouge("hello world 42 nd don t", "Hello, World! 42nd don't");
  check(uneven.rouge1, 0.6666666666666666, 0.8, 0.7272727272727272);
  check(uneven.rouge2, 0.4, 0.5, 0.4444444444444445);
  check(uneven.rougeL, 0.6666666666666666, 0.8, 0.7272727272727272);
  check(rouge("a", "").rouge1, 0, 0, 0);
  check(rouge("b", "a").rougeL, 0, 0, 0);
  check(rouge("", "").rougeLsum, 0, 0, 0);
}

TEST_CASE("rouge: several lines: Lsum is the union over the lines of the prediction, no word is hit twice") {
  const Rouge cat = rouge("A dog barked.\nThe cat was sitting, the cat.", "The cat sat.\nThe dogs barked loudly at it.");
  check(cat.rouge1, 4.0 / 9, 4.0 / 9, 4.0 / 9);
  check(cat.rouge2, 0.125, 0.125, 0.125);
  check(cat.rougeL, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  check(cat.rougeLsum, 4.0 / 9, 4.0 / 9, 4.0 / 9);
  const Rouge letters = rouge("a b\nc d e\nb c f g", "a b c d\nb c e f\ng a b");
  check(letters.rouge1, 1.0, 0.8181818181818182, 0.9);
  check(letters.rouge2, 0.625, 0.5, 0.5555555555555556);
  check(letters.rougeL, 0.8888888888888888, 0.7272727272727273, 0.7999999999999999);
  check(letters.rougeLsum, 1.0, 0.8181818181818182, 0.9);
}

// With use_stemmer=True.
TEST_CASE("rouge: words of more than three letters count as their stems where it is asked for") {
  CHECK(rouge_words("The cities of Generalizations dies", {.use_stemmer = true}) == std::vector<std::string>{"the", "citi", "of", "gener", "die"});
  const Rouge stems = rouge("A runner runs quick through the city's generalization\nand was running", "The runners were running quickly\nthrough generalized cities", {.use_stemmer = true});
  check(stems.rouge1, 0.5, 0.75, 0.6);
  check(stems.rouge2, 0, 0, 0);
  check(stems.rougeL, 1.0 / 3, 0.5, 0.4);
  check(stems.rougeLsum, 1.0 / 3, 0.5, 0.4);
}

TEST_CASE("mean_rouge: over the rows") {
  const Rouge mean = mean_rouge({"a b", "c"}, {"a b", "d"});
  check(mean.rouge1, 0.5, 0.5, 0.5);
  check(mean.rouge2, 0.5, 0.5, 0.5);
  check(mean.rougeLsum, 0.5, 0.5, 0.5);
  CHECK_THROWS_WITH_AS(mean_rouge({"a"}, {}), "mean_rouge: got 1 predictions for 0 references; each row needs both.", ArgumentError);
  CHECK_THROWS_AS(mean_rouge({}, {}), ArgumentError);
}
