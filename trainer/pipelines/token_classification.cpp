// trainer/pipelines/token_classification.cpp — the class of each token, and groups of tokens of one class: by the reference's rules, its order too.
#include <algorithm>

#include "autograd/ops.h"
#include "tensor/sort_stably.h"
#include "trainer/pipelines/tasks.h"
#include "trainer/pipelines/text_model.h"
#include "trainer/python_text.h"
#include "trainer/text/unicode.h"

namespace rote::pipelines {

namespace {

// A token with the scores of every class.
struct Token {
  Record place;               // index, word, start, end
  std::vector<float> scores;  // [L]
  bool continues = false;     // the word of the token before
};

size_t best_of(const std::vector<float>& scores) { return static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin()); }

Record classified(Record place, const std::vector<float>& scores, const nn::Config& config) {
  const size_t best = best_of(scores);
  place.entity = config.label(static_cast<int64_t>(best));
  place.score = static_cast<double>(scores[best]);
  return place;
}

// The tokens of a row but those of the template. Without a prefix for tokens inside of words, one that follows no blank is inside.
std::vector<Token> tokens_of(const TextModel& m, const text::Encoding& row, const std::u32string& text, const Tensor& scores) {
  std::vector<Token> tokens;
  const int64_t L = scores.size(1);
  for (size_t t = 0; t < row.ids.size(); ++t) {
    if (row.special_tokens_mask[t] != 0) continue;
    const auto [begin, end] = row.offsets[t];
    const std::string written = text::to_utf8(std::u32string_view(text).substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    std::string word = m.tokenizer.id_to_token(row.ids[t]).value_or("");
    bool continues;
    if (m.tokenizer.marks_subwords()) {
      continues = code_points(word) != end - begin;
    } else {
      const size_t at = static_cast<size_t>(begin);
      continues = at > 0 && text[at - 1] != U' ' && (at == text.size() || text[at] != U' ');
    }
    if (row.ids[t] == m.tokenizer.unk_token_id()) {
      word = written;
      continues = false;
    }
    const float* own = scores.data<float>() + static_cast<int64_t>(t) * L;
    tokens.push_back({{.index = static_cast<int64_t>(t), .word = word, .start = begin, .end = end}, std::vector<float>(own, own + L), continues});
  }
  return tokens;
}

// The tokens [first, last) of one word as one entity.
Record word_of(const TextModel& m, const Token* first, const Token* last, Aggregation how) {
  std::vector<std::string> pieces;
  std::vector<float> scores = first->scores;
  for (const Token* token = first; token != last; ++token) {
    pieces.push_back(token->place.word);
    if (token == first || how == Aggregation::first) continue;
    if (how == Aggregation::max && token->scores[best_of(token->scores)] > scores[best_of(scores)]) scores = token->scores;
    for (size_t c = 0; how == Aggregation::average && c < scores.size(); ++c) scores[c] += token->scores[c];
  }
  if (how == Aggregation::average)
    for (float& score : scores) score /= static_cast<float>(last - first);
  return classified({.word = m.tokenizer.join(std::move(pieces)), .start = first->place.start, .end = (last - 1)->place.end}, scores, m.config());
}

Records words_of(const TextModel& m, const std::vector<Token>& tokens, Aggregation how) {
  Records words;
  for (size_t first = 0, last = 0; first < tokens.size(); first = last) {
    for (last = first + 1; last < tokens.size() && tokens[last].continues; ++last) {}
    words.push_back(word_of(m, tokens.data() + first, tokens.data() + last, how));
  }
  return words;
}

// Of B-PER and I-PER the kind, PER; a label of another form is its own.
std::string kind_of(const std::string& label) { return label.starts_with("B-") || label.starts_with("I-") ? label.substr(2) : label; }

// Neighbours of one kind, unless a B- begins another.
Records groups_of(const TextModel& m, const Records& entities) {
  Records groups;
  for (size_t first = 0, last = 0; first < entities.size(); first = last) {
    std::vector<std::string> words;
    float sum = 0;
    const std::string kind = kind_of(entities[first].entity);
    for (last = first; last < entities.size(); ++last) {
      const std::string& label = entities[last].entity;
      if (last > first && (kind_of(label) != kind || label.starts_with("B-"))) break;
      words.push_back(entities[last].word);
      sum += static_cast<float>(entities[last].score);
    }
    const std::string& label = entities[first].entity;
    groups.push_back({.entity = label.substr(label.find('-') + 1), .score = static_cast<double>(sum / static_cast<float>(last - first)),
                      .word = m.tokenizer.join(std::move(words)), .start = entities[first].start, .end = entities[last - 1].end});
  }
  return groups;
}

// Of groups from overlapping pieces of a text those that begin first; of two that overlap the longer, of equally long ones the surer. Departs from the
// reference, which lists a first group of no character twice.
Records without_overlaps(Records groups) {
  sort_stably(groups, [](const Record& a, const Record& b) { return a.start < b.start; });
  Records kept;
  for (const Record& group : groups) {
    if (kept.empty() || group.start >= kept.back().end) {
      kept.push_back(group);
      continue;
    }
    const int64_t length = group.end - group.start, before = kept.back().end - kept.back().start;
    if (length > before || (length == before && group.score > kept.back().score)) kept.back() = group;
  }
  return kept;
}

Records entities_of(const TextModel& m, const text::Encoding& row, const std::u32string& text, const Tensor& scores, const PipelineOptions& options) {
  const std::vector<Token> tokens = tokens_of(m, row, text, scores);
  const Aggregation how = options.aggregation_strategy;
  Records entities;
  if (how == Aggregation::none || how == Aggregation::simple) {
    for (const Token& token : tokens) entities.push_back(classified(token.place, token.scores, m.config()));
  } else {
    entities = words_of(m, tokens, how);
  }
  if (how != Aggregation::none) entities = groups_of(m, entities);
  const auto& ignored = options.ignore_labels;
  std::erase_if(entities, [&](const Record& r) { return std::find(ignored.begin(), ignored.end(), r.entity) != ignored.end(); });
  return entities;
}

// Every row with the overflowing ones after it, and the text of each.
struct Pieces {
  std::vector<text::Encoding> rows;
  std::vector<size_t> text;
};

Pieces pieces_of(const TextModel& m, const std::vector<std::string>& texts, const PipelineOptions& options) {
  std::vector<text::Encoding> whole = rows_of(m, texts, {.fields = text::Fields::all, .truncation = true, .stride = options.stride});
  Pieces pieces;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<text::Encoding> rest = std::exchange(whole[i].overflowing, {});
    if (!options.stride) rest.clear();
    rest.insert(rest.begin(), std::move(whole[i]));
    for (text::Encoding& row : rest) pieces.rows.push_back(std::move(row));
    pieces.text.resize(pieces.rows.size(), i);
  }
  return pieces;
}

}  // namespace

PipelineRun token_classification(const PipelineOptions& options) {
  ROTE_CHECK(!options.stride || options.aggregation_strategy != Aggregation::none, ArgumentError,
             "--stride: the tokens that two pieces share are joined as groups; give --aggregation_strategy simple, first, average or max.");
  return [options, m = load_text_model("token-classification", options)](const std::vector<std::string>& texts) {
    const Pieces pieces = pieces_of(*m, texts, options);
    std::vector<Records> of_row(pieces.rows.size()), all(texts.size());
    for_each_output(*m, pieces.rows, [&](size_t row, const Tensor& logits) {
      of_row[row] = entities_of(*m, pieces.rows[row], text::decode_text(texts[pieces.text[row]], "pipeline"), softmax(logits), options);
    });
    for (size_t row = 0; row < of_row.size(); ++row) {
      Records& records = all[pieces.text[row]];
      std::move(of_row[row].begin(), of_row[row].end(), std::back_inserter(records));
      const bool continued = row > 0 && pieces.text[row - 1] == pieces.text[row], continues = row + 1 < of_row.size() && pieces.text[row + 1] == pieces.text[row];
      if (continued && !continues) records = without_overlaps(std::move(records));
    }
    return all;
  };
}

Value token_classification_value(const Records& records, const PipelineOptions& options) {
  ValueList list;
  for (const Record& r : records) {
    const bool is_group = options.aggregation_strategy != Aggregation::none;
    ValueMap entity{{is_group ? "entity_group" : "entity", r.entity}, {"score", r.score}};
    if (!is_group) entity.set("index", r.index);
    for (ValueMap::Entry place : {ValueMap::Entry("word", r.word), ValueMap::Entry("start", r.start), ValueMap::Entry("end", r.end)}) entity.set(place.first, place.second);
    list.push_back(std::move(entity));
  }
  return list;
}

}  // namespace rote::pipelines
