// trainer/text/word_level.cpp — the look-up of whole words.
#include "trainer/text/word_level.h"

#include <utility>

#include "kernels/check.h"
#include "trainer/text/unicode.h"

namespace rote::text {

WordLevel::WordLevel(Vocabulary vocabulary, std::string unk_token) : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)) {
  unk_id_ = vocabulary_.id_of(unk_token_);
}

void WordLevel::tokenize(std::u32string_view word, std::vector<Piece>& pieces) const {
  auto id = vocabulary_.id_of(to_utf8(word));
  if (!id) id = unk_id_;
  ROTE_CHECK(id.has_value(), StateError, "wordlevel: \"", to_utf8(word), "\" is not in the vocabulary and unk_token \"", unk_token_,
             "\" is not either; add it to the vocabulary.");
  pieces.push_back({*id, 0, static_cast<uint32_t>(word.size())});
}

}  // namespace rote::text
