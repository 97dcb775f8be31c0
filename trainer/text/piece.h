// trainer/text/piece.h — what a model makes of a word. Knows no model.
#pragma once

#include <cstdint>

namespace rote::text {

// A token of a word: its id and the characters [begin, end) of the word that it stands for.
struct Piece {
  int64_t id = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool as_written = false;  // whether the token's text is those characters rather than the vocabulary's
};

}  // namespace rote::text
