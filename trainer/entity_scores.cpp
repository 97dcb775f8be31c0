#include "trainer/entity_scores.h"

#include <algorithm>
#include <map>

#include "kernels/check.h"

namespace rote {

namespace {

// `B-PER` is {B, PER}; without a dash the tag is its own type, as in seqeval.
struct Tag {
  char prefix = 'O';
  std::string type;
};

Tag parsed(const std::string& tag) {
  const size_t dash = tag.find('-');
  const std::string type = dash == std::string::npos ? tag : tag.substr(dash + 1);
  return {tag.empty() ? 'O' : tag[0], type.empty() ? "_" : type};
}

bool ends(const Tag& before, const Tag& tag) {
  if (before.prefix == 'E' || before.prefix == 'S') return true;
  if ((before.prefix == 'B' || before.prefix == 'I') && (tag.prefix == 'B' || tag.prefix == 'S' || tag.prefix == 'O')) return true;
  return before.prefix != 'O' && before.prefix != '.' && before.type != tag.type;
}

bool begins(const Tag& before, const Tag& tag) {
  if (tag.prefix == 'B' || tag.prefix == 'S') return true;
  if ((before.prefix == 'E' || before.prefix == 'S' || before.prefix == 'O') && (tag.prefix == 'E' || tag.prefix == 'I')) return true;
  return tag.prefix != 'O' && tag.prefix != '.' && before.type != tag.type;
}

struct Counts {
  int64_t hits = 0, predicted = 0, present = 0;
};

double ratio(int64_t part, int64_t whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0; }
Scores scores_of(const Counts& c) { return {ratio(c.hits, c.predicted), ratio(c.hits, c.present), ratio(2 * c.hits, c.predicted + c.present)}; }

}  // namespace

std::vector<Entity> entities(const Tags& tags) {
  std::vector<Entity> found;
  Tag before;
  size_t begin = 0;
  for (size_t i = 0; i <= tags.size(); ++i) {
    const Tag tag = parsed(i < tags.size() ? tags[i] : "O");
    if (ends(before, tag)) found.push_back({before.type, begin, i});
    if (begins(before, tag)) begin = i;
    before = tag;
  }
  return found;
}

bool are_entity_tags(const std::vector<std::string>& labels) {
  const auto has_prefix = [](const std::string& label) { return label.size() > 2 && label[1] == '-' && std::string("BIES").find(label[0]) != std::string::npos; };
  return std::any_of(labels.begin(), labels.end(), has_prefix) &&
         std::all_of(labels.begin(), labels.end(), [&](const std::string& label) { return label == "O" || has_prefix(label); });
}

EntityReport entity_scores(const std::vector<Tags>& predictions, const std::vector<Tags>& labels) {
  ROTE_CHECK(predictions.size() == labels.size(), ArgumentError, "entity_scores: got ", predictions.size(), " predicted sentences for ", labels.size(),
             "; each needs both.");
  std::map<std::string, Counts> counts;
  Counts all;
  for (size_t row = 0; row < labels.size(); ++row) {
    ROTE_CHECK(predictions[row].size() == labels[row].size(), ArgumentError, "entity_scores: sentence ", row, " has ", predictions[row].size(),
               " predicted tags for ", labels[row].size(), "; each word needs both.");
    const std::vector<Entity> predicted = entities(predictions[row]), present = entities(labels[row]);
    for (const Entity& entity : predicted) ++counts[entity.type].predicted, ++all.predicted;
    for (const Entity& entity : present) ++counts[entity.type].present, ++all.present;
    // Both lists are in the order of their ends, no two of which are equal in one list.
    for (size_t p = 0, q = 0; p < predicted.size() && q < present.size();) {
      if (predicted[p] == present[q]) ++counts[present[q].type].hits, ++all.hits;
      if (predicted[p].end < present[q].end) ++p;
      else ++q;
    }
  }
  EntityReport report{.overall = scores_of(all), .types = {}};
  for (const auto& [type, c] : counts) report.types.push_back({type, scores_of(c), c.present});
  return report;
}

}  // namespace rote
