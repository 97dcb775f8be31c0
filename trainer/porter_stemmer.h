// trainer/porter_stemmer.h — English words without their endings, as nltk's PorterStemmer gives them in its default mode.  Porter 1980, Program 14(3)
#pragma once

#include <string>

namespace rote {

// `word`: lower-case letters; other bytes count as consonants. "generalizations" -> "gener", "dying" -> "die".
std::string porter_stem(const std::string& word);

}  // namespace rote
