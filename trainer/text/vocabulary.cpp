// trainer/text/vocabulary.cpp — the hash table of tokens and the order of their ids.
#include "trainer/text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/check.h"
#include "tensor/sort_stably.h"

namespace rote::text {
namespace {

uint64_t hash_of(std::string_view token) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : token) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash * 0x9E3779B97F4A7C15;
}

}  // namespace

Vocabulary::Vocabulary(const std::vector<std::pair<std::string, int64_t>>& tokens) {
  for (const auto& [token, id] : tokens) add(token, id);
  sort_ids();
}

size_t Vocabulary::slot_of(std::string_view token) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = (hash_of(token) >> 20) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0 || token_at(slots_[slot] - 1) == token) return slot;
  }
}

void Vocabulary::grow() {
  slots_.assign(std::max<size_t>(16, 2 * slots_.size()), 0);
  for (size_t i = 0; i < ids_.size(); ++i) slots_[slot_of(token_at(i))] = static_cast<uint32_t>(i + 1);
}

void Vocabulary::add(std::string_view token, int64_t id) {
  ROTE_CHECK(id >= 0 && id <= std::numeric_limits<int32_t>::max(), ArgumentError, "vocabulary: the id of \"", token, "\" is ", id,
             "; ids lie in [0, 2^31).");
  ROTE_CHECK(bytes_.size() + token.size() < std::numeric_limits<uint32_t>::max(), ArgumentError,
             "vocabulary: the tokens have more than 4 GiB together; at most that is read.");
  if (4 * (ids_.size() + 1) > 3 * slots_.size()) grow();
  const size_t slot = slot_of(token);
  if (slots_[slot] != 0) {
    ids_[slots_[slot] - 1] = static_cast<int32_t>(id);
    return;
  }
  bytes_ += token;
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  ids_.push_back(static_cast<int32_t>(id));
  slots_[slot] = static_cast<uint32_t>(ids_.size());
}

void Vocabulary::sort_ids() {
  by_id_.resize(ids_.size());
  std::iota(by_id_.begin(), by_id_.end(), 0);
  const auto less = [&](uint32_t a, uint32_t b) { return ids_[a] < ids_[b]; };
  if (!std::is_sorted(ids_.begin(), ids_.end())) sort_stably(by_id_, less);
}

std::optional<int64_t> Vocabulary::id_of(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const uint32_t found = slots_[slot_of(token)];
  return found == 0 ? std::nullopt : std::optional<int64_t>(ids_[found - 1]);
}

std::optional<std::string_view> Vocabulary::token_of(int64_t id) const {
  // Ids are nearly always 0 … n-1, each once.
  if (id >= 0 && id < size() && ids_[by_id_[static_cast<size_t>(id)]] == id &&
      (id == 0 || ids_[by_id_[static_cast<size_t>(id) - 1]] != id)) {
    return token_at(by_id_[static_cast<size_t>(id)]);
  }
  const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id, [&](uint32_t i, int64_t wanted) { return ids_[i] < wanted; });
  return at != by_id_.end() && ids_[*at] == id ? std::optional<std::string_view>(token_at(*at)) : std::nullopt;
}

}  // namespace rote::text
