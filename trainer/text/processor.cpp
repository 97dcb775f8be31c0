// trainer/text/processor.cpp — filling of templates.
#include "trainer/text/processor.h"

#include <utility>

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

}  // namespace

int64_t PostProcessor::added_tokens(bool two_texts) const {
  int64_t n = 0;
  for (const TemplatePiece& piece : two_texts ? pair : single) n += static_cast<int64_t>(piece.ids.size());
  return n;
}

Encoding PostProcessor::process(Encoding first, std::optional<Encoding> second, Options options) const {
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
