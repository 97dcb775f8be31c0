// trainer/text/model.h — the four models of tokenizer.json behind one face.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/text/bpe.h"
#include "trainer/text/unigram.h"
#include "trainer/text/word_level.h"
#include "trainer/text/wordpiece.h"

namespace rote::text {

// Immutable once built; any thread may call it.
class Model {
 public:
  template <class M>
  Model(M model) : model_(std::move(model)) {}

  // Appends the pieces of `word`, which is not empty.
  void tokenize(std::u32string_view word, std::vector<Piece>& pieces) const {
    std::visit([&](const auto& model) { model.tokenize(word, pieces); }, model_);
  }
  std::optional<int64_t> token_to_id(std::string_view token) const {
    return std::visit([&](const auto& model) { return model.vocabulary().id_of(token); }, model_);
  }
  std::optional<std::string_view> id_to_token(int64_t id) const {
    if (const auto* unigram = std::get_if<Unigram>(&model_)) return unigram->token_of(id);
    return std::visit([&](const auto& model) { return model.vocabulary().token_of(id); }, model_);
  }
  int64_t vocab_size() const {
    if (const auto* unigram = std::get_if<Unigram>(&model_)) return unigram->size();
    return std::visit([&](const auto& model) { return model.vocabulary().size(); }, model_);
  }
  int64_t id_limit() const {
    if (const auto* unigram = std::get_if<Unigram>(&model_)) return unigram->size();
    return std::visit([&](const auto& model) { return model.vocabulary().id_limit(); }, model_);
  }
  std::optional<int64_t> unk_id() const {
    if (const auto* unigram = std::get_if<Unigram>(&model_)) return unigram->options().unk_id;
    if (const auto* bpe = std::get_if<Bpe>(&model_)) return bpe->unk_token() ? token_to_id(*bpe->unk_token()) : std::nullopt;
    if (const auto* level = std::get_if<WordLevel>(&model_)) return token_to_id(level->unk_token());
    return token_to_id(std::get<WordPiece>(model_).unk_token());
  }
  bool is_bpe() const { return std::holds_alternative<Bpe>(model_); }
  // Of the tokens that do not begin a word; empty where they look like those that do.
  std::string continuing_subword_prefix() const {
    if (const auto* pieces = std::get_if<WordPiece>(&model_)) return pieces->continuing_subword_prefix();
    const auto* bpe = std::get_if<Bpe>(&model_);
    return bpe ? bpe->continuing_subword_prefix() : "";
  }

 private:
  std::variant<WordPiece, WordLevel, Bpe, Unigram> model_;
};

}  // namespace rote::text
