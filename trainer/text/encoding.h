// trainer/text/encoding.h — the result of encoding a text, and how it is cut, joined and padded. Knows no vocabulary and no template.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rote::text {

// What is filled in: `ids` is all that training needs (ids, type_ids, attention_mask, no overflowing rows) and costs least.
enum class Fields { ids, all };

// One row. Every list that is filled in has one entry per token.
struct Encoding {
  std::vector<int64_t> ids;
  std::vector<int64_t> type_ids;
  std::vector<int64_t> attention_mask;                // 1, and 0 at padding
  std::vector<std::string> tokens;                    // as in the vocabulary; an added token as it was found in the text
  std::vector<std::pair<int64_t, int64_t>> offsets;   // code points [begin, end) of the original text; (0, 0) at special tokens
  std::vector<int64_t> special_tokens_mask;           // 1 at tokens of the template and at padding
  std::vector<int64_t> word_ids;                      // counted from 0 in each text, -1 at special tokens
  std::vector<int64_t> sequence_ids;                  // 0 or, in the second text, 1; -1 at special tokens
  std::vector<Encoding> overflowing;                  // rows of what truncation cut off, themselves without overflowing rows
};

enum class Side { left, right };
enum class TruncationStrategy { longest_first, only_first, only_second };

struct Truncation {
  int64_t max_length = 512;  // tokens, those of the template included
  int64_t stride = 0;        // tokens that an overflowing row repeats of the row before it
  TruncationStrategy strategy = TruncationStrategy::longest_first;
  Side direction = Side::right;  // where tokens are cut off
};

struct Padding {
  Side direction = Side::right;
  int64_t pad_id = 0;
  int64_t pad_type_id = 0;
  std::string pad_token = "[PAD]";
  std::optional<int64_t> length = std::nullopt;              // absent: the longest row
  std::optional<int64_t> pad_to_multiple_of = std::nullopt;  // rounds that length up
};

// Keeps `max_length` tokens of `row` and, with Fields::all, moves the rest into overflowing rows of at most as many.
// Throws ArgumentError where something is cut and stride >= max_length > 0.
void truncate(Encoding& row, int64_t max_length, const Truncation& how, Fields fields);

// Cuts one text or two to `max_length` tokens together, by the strategy. Throws ArgumentError where the text that may be cut is too short.
void truncate_texts(Encoding& first, Encoding* second, int64_t max_length, const Truncation& how, Fields fields);

// Appends `next` to `row`. Overflowing rows of either are joined with the other and with the other's overflowing rows.
void join(Encoding& row, const Encoding& next);

// Pads the rows, and their overflowing rows, to one length.
void pad(std::vector<Encoding>& rows, const Padding& how, Fields fields);

}  // namespace rote::text
