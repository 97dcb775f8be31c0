// trainer/pipelines/fill_mask.cpp — words for the mask tokens of a text, each mask on its own.
#include <algorithm>
#include <numeric>

#include "autograd/ops.h"
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"

namespace rote::pipelines {

namespace {

constexpr int64_t kAnswers = 5;

// The ids among which is chosen; empty: all. A word that is no token stands for its first piece, as in the reference, and one without pieces for nothing.
std::vector<int64_t> target_ids(const TextModel& m, const std::vector<std::string>& targets) {
  std::vector<int64_t> ids;
  for (const std::string& target : targets) {
    std::optional<int64_t> id = m.tokenizer.token_to_id(target);
    if (!id) {
      const text::Encoding pieces = m.tokenizer.encode(target, {.add_special_tokens = false, .fields = text::Fields::ids});
      if (!pieces.ids.empty()) id = pieces.ids[0];
    }
    if (id) ids.push_back(*id);
  }
  ROTE_CHECK(targets.empty() || !ids.empty(), ArgumentError, "--targets: no token is in them; give words that the tokenizer knows.");
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const int64_t V = m.config().limits().vocabulary.value_or(m.tokenizer.vocab_size());
  ROTE_CHECK(ids.empty() || ids.back() < V, ArgumentError, "--targets: a token has the id ", ids.back(), " but the model a vocabulary of ", V,
             "; model and tokenizer do not belong together.");
  return ids;
}

// The `count` ids with the highest scores, the lowest id first among equals.
std::vector<int64_t> best(const float* scores, std::vector<int64_t> ids, size_t count) {
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](int64_t a, int64_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  ids.erase(end, ids.end());
  return ids;
}

struct Filler {
  const TextModel& m;
  std::vector<int64_t> targets;
  size_t top_k;

  std::vector<int64_t> masks(const text::Encoding& row) const {
    std::vector<int64_t> places;
    for (size_t t = 0; t < row.ids.size(); ++t)
      if (row.ids[t] == *m.tokenizer.mask_token_id()) places.push_back(static_cast<int64_t>(t));
    return places;
  }

  // Of a row and its logits [T,V]. With several masks special tokens stay in the sequence, as the others of them would go too.
  Records fill(const text::Encoding& row, const Tensor& logits) const {
    Records records;
    const std::vector<int64_t> places = masks(row);
    for (const int64_t place : places) {
      const Tensor scores = softmax(select(logits, 0, place));
      std::vector<int64_t> ids = targets;
      if (ids.empty()) {
        ids.resize(static_cast<size_t>(scores.numel()));
        std::iota(ids.begin(), ids.end(), 0);
      }
      for (const int64_t id : best(scores.data<float>(), std::move(ids), top_k)) {
        std::vector<int64_t> filled = row.ids;
        filled[static_cast<size_t>(place)] = id;
        if (const auto pad = m.tokenizer.pad_token_id()) std::erase(filled, *pad);
        records.push_back({.score = static_cast<double>(scores.data<float>()[id]), .index = place, .token = id, .token_str = m.tokenizer.decode({id}, false),
                           .sequence = m.tokenizer.decode(filled, places.size() == 1)});
      }
    }
    return records;
  }
};

}  // namespace

PipelineRun fill_mask(const PipelineOptions& options) {
  const auto m = load_text_model("fill-mask", options);
  ROTE_CHECK(m->tokenizer.mask_token_id(), ArgumentError, "fill-mask: the tokenizer of ", options.model, " has no mask token; it needs one.");
  const int64_t top_k = options.top_k.value_or(kAnswers);
  const Filler filler{*m, target_ids(*m, options.targets), top_k > 0 ? static_cast<size_t>(top_k) : SIZE_MAX};
  return [options, m, filler](const std::vector<std::string>& texts) {
    const std::vector<text::Encoding> rows = rows_of(*m, texts, {.truncation = options.truncation});
    for (size_t i = 0; i < rows.size(); ++i)
      ROTE_CHECK(!filler.masks(rows[i]).empty(), ArgumentError, "fill-mask: ", beginning(texts[i]), " has no mask; write ",
                 m->tokenizer.id_to_token(*m->tokenizer.mask_token_id()).value_or(""), " where a word is to be found.");
    std::vector<Records> all(texts.size());
    for_each_output(*m, rows, [&](size_t row, const Tensor& logits) { all[row] = filler.fill(rows[row], logits); });
    return all;
  };
}

Value fill_mask_value(const Records& records, const PipelineOptions&) {
  ValueList masks, answers;
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    answers.push_back(ValueMap{{"score", r.score}, {"token", r.token}, {"token_str", r.token_str}, {"sequence", r.sequence}});
    if (i + 1 == records.size() || records[i + 1].index != r.index) masks.push_back(std::exchange(answers, {}));
  }
  return masks.size() == 1 ? masks[0] : Value(masks);
}

}  // namespace rote::pipelines
