// trainer/text/added_tokens.cpp — numbering of added tokens and the search for them.
#include "trainer/text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "tensor/sort_stably.h"
#include "trainer/text/unicode.h"

namespace rote::text {

TokenFinder::TokenFinder(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
  std::erase_if(patterns_, [](const Pattern& p) { return p.content.empty(); });
  sort_stably(patterns_, [](const Pattern& a, const Pattern& b) {
    return a.content[0] != b.content[0] ? a.content[0] < b.content[0] : a.content.size() > b.content.size();
  });
  for (size_t i = 0; i < patterns_.size(); ++i) {
    const char32_t c = patterns_[i].content[0];
    first_.try_emplace(c, i, i).first->second.second = i + 1;
    if (c < 128) ascii_[c] = true;
  }
}

const TokenFinder::Pattern* TokenFinder::at(std::u32string_view rest) const {
  const auto range = first_.find(rest[0]);
  if (range == first_.end()) return nullptr;
  for (size_t i = range->second.first; i < range->second.second; ++i) {
    if (rest.starts_with(patterns_[i].content)) return &patterns_[i];
  }
  return nullptr;
}

void TokenFinder::split(std::u32string_view chars, std::vector<Stretch>& stretches) const {
  stretches.clear();
  const auto n = static_cast<uint32_t>(chars.size());
  uint32_t done = 0;  // the stretches so far end here
  for (uint32_t i = 0; i < n && !patterns_.empty();) {
    const Pattern* found = chars[i] < 128 && !ascii_[chars[i]] ? nullptr : at(chars.substr(i));
    if (found == nullptr) {
      ++i;
      continue;
    }
    uint32_t begin = i;
    uint32_t end = i = i + static_cast<uint32_t>(found->content.size());
    if (found->single_word && ((begin > 0 && is_word(chars[begin - 1])) || (end < n && is_word(chars[end])))) continue;
    if (found->lstrip) {
      while (begin > done && is_whitespace(chars[begin - 1])) --begin;
    }
    if (found->rstrip) {
      while (end < n && is_whitespace(chars[end])) ++end;
    }
    if (found->lstrip) begin = std::max(begin, done);
    if (begin >= end) continue;  // the token before it, with the blanks it took along, has swallowed it
    if (done < begin) stretches.push_back({-1, done, begin});
    stretches.push_back({found->id, begin, end});
    done = end;
  }
  if (done < n) stretches.push_back({-1, done, n});
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const Model& model, const Normalizer& normalizer) {
  std::vector<const AddedToken*> special, plain;
  std::unordered_map<int64_t, const AddedToken*> by_id;  // of two tokens with one id the later
  for (const AddedToken& token : tokens) {
    if (token.special && !token.content.empty() && special_.insert(token.content).second) special.push_back(&token);
  }
  int64_t greatest = -1;
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    auto id = token_to_id(token.content);
    if (!id) id = model.token_to_id(token.content);
    if (!id) id = greatest >= model.vocab_size() || model.vocab_size() == 0 ? greatest + 1 : model.vocab_size();
    ids_[token.content] = *id;
    by_id[*id] = &token;
    greatest = std::max(greatest, *id);
    if (!is_special(token.content)) plain.push_back(&token);
  }

  const auto form_of = [&](const AddedToken& token) {
    NormalizedText form = NormalizedText::of(decode_text(token.content, "added token"));
    if (token.normalized) normalize(normalizer, form);
    return std::move(form.chars);
  };
  std::vector<TokenFinder::Pattern> text, normalized;
  special.insert(special.end(), plain.begin(), plain.end());
  for (const AddedToken* token : special) {
    const int64_t id = ids_.at(token->content);
    const AddedToken& flags = *by_id.at(id);
    (token->normalized ? normalized : text).push_back({form_of(*token), id, flags.single_word, flags.lstrip, flags.rstrip});
  }
  in_text_ = TokenFinder(std::move(text));
  in_normalized_ = TokenFinder(std::move(normalized));
  for (const auto& [id, token] : by_id) forms_[id] = to_utf8(form_of(*token));
}

std::optional<int64_t> AddedTokens::token_to_id(std::string_view token) const {
  const auto at = ids_.find(token);
  return at == ids_.end() ? std::nullopt : std::optional<int64_t>(at->second);
}

const std::string* AddedTokens::id_to_token(int64_t id) const {
  const auto at = forms_.find(id);
  return at == forms_.end() ? nullptr : &at->second;
}

}  // namespace rote::text
