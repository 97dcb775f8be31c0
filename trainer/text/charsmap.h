// trainer/text/charsmap.h — the compiled character map that sentencepiece models carry: a trie of strings and what replaces them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/normalized_text.h"

namespace rote::text {

// The `Precompiled` normalizer. Immutable once built; any thread may call it.
class Charsmap {
 public:
  // `base64` as tokenizer.json has it. Throws IoError, with `where`, where it is no such map.
  Charsmap(std::string_view base64, const std::string& where);

  // Replaces what the map names: whole grapheme clusters of up to five bytes first, single characters otherwise.
  void normalize(NormalizedText& text) const;

 private:
  // What the shortest key that begins `bytes` is replaced by.
  std::optional<std::string_view> find(std::string_view bytes) const;

  std::vector<uint32_t> units_;  // a double-array trie: base and check in one word, as darts-clone writes it
  std::string strings_;          // the replacements, each ended by a zero byte
};

}  // namespace rote::text
