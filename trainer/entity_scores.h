// trainer/entity_scores.h — entities in sequences of tags, and their scores as seqeval's default mode gives them. Scores of single tags: metrics.h.
#pragma once

#include <string>
#include <vector>

#include "trainer/metrics.h"

namespace rote {

using Tags = std::vector<std::string>;  // of one sentence: O, or B- I- E- S- and a type

struct Entity {
  std::string type;
  size_t begin = 0, end = 0;  // words [begin, end) of the sentence
  friend bool operator==(const Entity&, const Entity&) = default;
};

// The entities of a sentence in IOB1, IOB2 or IOBES, by the lenient rules of conlleval: a B or S begins one, an E or S ends one, a change of type does
// both, and an I or E that follows no entity begins one. In order.
std::vector<Entity> entities(const Tags& tags);

// Whether labels name entities: each is O or has one of the prefixes, and some have.
bool are_entity_tags(const std::vector<std::string>& labels);

struct EntityScores {
  std::string type;
  Scores scores;
  int64_t number = 0;  // entities of this type among the labels
};
struct EntityReport {
  Scores overall;                   // of all types counted together
  std::vector<EntityScores> types;  // by name
};
// An entity is a hit where both sides have it with the same words and type. Throws ArgumentError where sentences differ in number or length.
EntityReport entity_scores(const std::vector<Tags>& predictions, const std::vector<Tags>& labels);

}  // namespace rote
