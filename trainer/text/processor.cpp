// trainer/text/processor.cpp — filling of templates.
#include "trainer/text/processor.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trainer/text/byte_level.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

Encoding row_of(const TemplatePiece& special, Fields fields) {
  const size_t n = special.ids.size();
  Encoding row;
  row.ids = special.ids;
  row.type_ids.assign(n, special.type_id);
  row.attention_mask.assign(n, 1);
  if (fields == Fields::ids) return row;
  row.tokens = special.tokens;
  row.offsets.assign(n, {0, 0});
  row.special_tokens_mask.assign(n, 1);
  row.word_ids.assign(n, -1);
  row.sequence_ids.assign(n, -1);
  return row;
}

int64_t count_blanks(std::u32string_view token) {
  const char32_t letter = letter_of(' ');
  const auto not_blank = [&](char32_t c) { return c != letter && !is_whitespace(c); };
  return std::find_if(token.begin(), token.end(), not_blank) - token.begin();
}

void trim_offsets(const OffsetTrim& options, Encoding& row) {
  for (Encoding& rest : row.overflowing) trim_offsets(options, rest);
  for (size_t i = 0; i < row.offsets.size(); ++i) {
    std::u32string token = decode_text(row.tokens[i], "offsets");
    auto& [begin, end] = row.offsets[i];
    int64_t leading = count_blanks(token);
    std::reverse(token.begin(), token.end());
    const int64_t trailing = count_blanks(token);
    if (leading > 0) {
      if ((i == 0 || begin == 0) && options.add_prefix_space && leading == 1) leading = 0;
      begin = std::min(begin + leading, end);
    }
    if (trailing > 0 && end >= trailing) end = std::max(end - trailing, begin);
  }
}

}  // namespace

int64_t PostProcessor::added_tokens(bool two_texts) const {
  int64_t n = 0;
  for (const TemplatePiece& piece : two_texts ? pair : single) n += static_cast<int64_t>(piece.ids.size());
  return n;
}

Encoding PostProcessor::process(Encoding first, std::optional<Encoding> second, Options options) const {
  for (Encoding* text : {&first, second ? &*second : nullptr}) {
    if (text == nullptr) continue;
    if (options.fields == Fields::all) {
      for (const OffsetTrim& trim : trims) trim_offsets(trim, *text);
    }
    if (one_type && options.special_tokens) {
      for (Encoding& rest : text->overflowing) std::fill(rest.type_ids.begin(), rest.type_ids.end(), 0);
    }
  }
  Encoding row;
  for (const TemplatePiece& piece : second ? pair : single) {
    if (piece.text < 0) {
      if (options.special_tokens) join(row, row_of(piece, options.fields));
      continue;
    }
    Encoding& text = piece.text == 0 ? first : *second;
    text.type_ids.assign(text.ids.size(), piece.type_id);
    join(row, text);
  }
  return row;
}

}  // namespace rote::text
