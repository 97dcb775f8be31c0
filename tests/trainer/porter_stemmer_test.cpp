// tests/trainer/porter_stemmer_test.cpp — words and the stems that nltk 3.10's PorterStemmer().stem gives: the examples of the paper, irregular and short ones.
#include "trainer/porter_stemmer.h"

#include <doctest/doctest.h>

#include <string>

namespace {

constexpr const char* kStems[][2] = {
    {"caresses", "caress"}, {"ponies", "poni"}, {"ties", "tie"}, {"cats", "cat"}, {"feed", "feed"}, {"agreed", "agre"}, {"plastered", "plaster"},
    {"bled", "bled"}, {"motoring", "motor"}, {"sing", "sing"}, {"conflated", "conflat"}, {"troubled", "troubl"}, {"sized", "size"},
    {"hopping", "hop"}, {"tanned", "tan"}, {"falling", "fall"}, {"hissing", "hiss"}, {"fizzed", "fizz"}, {"failing", "fail"}, {"filing", "file"},
    {"happy", "happi"}, {"sky", "sky"}, {"enjoy", "enjoy"}, {"relational", "relat"}, {"conditional", "condit"}, {"rational", "ration"},
    {"valenci", "valenc"}, {"hesitanci", "hesit"}, {"digitizer", "digit"}, {"conformabli", "conform"}, {"radicalli", "radic"},
    {"differentli", "differ"}, {"vileli", "vile"}, {"analogousli", "analog"}, {"vietnamization", "vietnam"}, {"predication", "predic"},
    {"operator", "oper"}, {"feudalism", "feudal"}, {"decisiveness", "decis"}, {"hopefulness", "hope"}, {"callousness", "callous"},
    {"formaliti", "formal"}, {"sensitiviti", "sensit"}, {"sensibiliti", "sensibl"}, {"triplicate", "triplic"}, {"formative", "form"},
    {"formalize", "formal"}, {"electriciti", "electr"}, {"electrical", "electr"}, {"hopeful", "hope"}, {"goodness", "good"}, {"revival", "reviv"},
    {"allowance", "allow"}, {"inference", "infer"}, {"airliner", "airlin"}, {"gyroscopic", "gyroscop"}, {"adjustable", "adjust"},
    {"defensible", "defens"}, {"irritant", "irrit"}, {"replacement", "replac"}, {"adjustment", "adjust"}, {"dependent", "depend"},
    {"adoption", "adopt"}, {"homologou", "homolog"}, {"communism", "commun"}, {"activate", "activ"}, {"angulariti", "angular"},
    {"homologous", "homolog"}, {"effective", "effect"}, {"bowdlerize", "bowdler"}, {"probate", "probat"}, {"rate", "rate"}, {"cease", "ceas"},
    {"controll", "control"}, {"roll", "roll"}, {"dying", "die"}, {"flies", "fli"}, {"died", "die"}, {"generalizations", "gener"},
    {"oscillators", "oscil"}, {"dies", "die"}, {"skies", "sky"}, {"geology", "geolog"}, {"news", "news"}, {"innings", "inning"},
    {"proceed", "proceed"}, {"as", "as"}, {"by", "by"}, {"y", "y"}, {"us", "us"}, {"ion", "ion"}, {"ying", "ying"}, {"usefully", "use"},
    {"logi", "logi"}, {"abli", "abli"}, {"aed", "a"}, {"ee", "ee"}};

}  // namespace

TEST_CASE("porter stemmer: each step's examples and the irregular words have nltk's stems") {
  for (const auto& pair : kStems) CHECK_MESSAGE(rote::porter_stem(pair[0]) == pair[1], pair[0]);
}

TEST_CASE("porter stemmer: what is no English word goes through") {
  for (const char* word : {"", "1", "42nd", "\xC3\xA9t\xC3\xA9s", "zzzzz", "aaaa", "yyyy"}) CHECK(rote::porter_stem(word).size() <= std::string(word).size());
}
