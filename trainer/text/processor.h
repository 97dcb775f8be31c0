// trainer/text/processor.h — the post-processor of tokenizer.json: the template that puts special tokens around one text or two, and the
// trimming of offsets before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/text/encoding.h"

namespace rote::text {

// A place of a template: one of the texts, or special tokens.
struct TemplatePiece {
  int text = -1;  // 0 the first text, 1 the second, -1 the special tokens below
  int64_t type_id = 0;
  std::vector<int64_t> ids;
  std::vector<std::string> tokens;
};

// Takes the blanks that byte-level tokens carry out of their offsets.
struct OffsetTrim {
  bool add_prefix_space = true;  // a single blank that begins the text was put there and has no place in it
};

// The templates for one text and for two. Where tokenizer.json has none, the texts alone.
struct PostProcessor {
  bool given = false;  // whether tokenizer.json has one
  std::vector<TemplatePiece> single{{0, 0, {}, {}}};
  std::vector<TemplatePiece> pair{{0, 0, {}, {}}, {1, 1, {}, {}}};
  std::vector<OffsetTrim> trims;
  bool one_type = false;  // with special tokens the type ids of overflowing rows are 0 too

  // Special tokens in the template for one text or for two.
  int64_t added_tokens(bool two_texts) const;

  // Fills the template. The type ids of a text are those of its place; overflowing rows keep 0 and 1 for the first and the second text.
  // With `special_tokens` false the texts stand alone.
  struct Options {
    bool special_tokens = true;
    Fields fields = Fields::all;
  };
  Encoding process(Encoding first, std::optional<Encoding> second, Options options) const;
};

}  // namespace rote::text
