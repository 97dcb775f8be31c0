// trainer/text/vocabulary.h — tokens and their ids, both ways. Splits no text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rote::text {

// About the size of its tokens and 20 bytes for each. Immutable once built; any thread may call it.
class Vocabulary {
 public:
  Vocabulary() = default;
  explicit Vocabulary(const std::vector<std::pair<std::string, int64_t>>& tokens);

  // A token given twice keeps the later id. Throws ArgumentError where the id is not in [0, 2^31).
  void add(std::string_view token, int64_t id);
  // The last step of building one.
  void sort_ids();

  std::optional<int64_t> id_of(std::string_view token) const;
  // The token with this id, the first added where there are several.  REQUIRES: sort_ids() was called.
  std::optional<std::string_view> token_of(int64_t id) const;
  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  // Ids are below.  REQUIRES: sort_ids() was called.
  int64_t id_limit() const { return by_id_.empty() ? 0 : int64_t{ids_[by_id_.back()]} + 1; }
  int64_t bytes() const { return static_cast<int64_t>(bytes_.size()); }

  // Calls f(token, id) for each, in the order in which they were added.
  template <class F>
  void for_each(const F& f) const {
    for (size_t i = 0; i < ids_.size(); ++i) f(token_at(i), int64_t{ids_[i]});
  }

 private:
  std::string_view token_at(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  size_t slot_of(std::string_view token) const;
  void grow();

  std::string bytes_;            // all tokens, one after the other
  std::vector<uint32_t> ends_;   // where each ends there
  std::vector<int32_t> ids_;
  std::vector<uint32_t> slots_;  // open addressing: 1 + index of a token, or 0
  std::vector<uint32_t> by_id_;  // indices of tokens, sorted by id
};

}  // namespace rote::text
