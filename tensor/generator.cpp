#include "tensor/generator.h"

#include <atomic>

namespace rote {

namespace {
std::atomic<uint64_t> seed_of_process{0};
std::atomic<uint32_t> user_ordinal{0}, init_ordinal{0};
}  // namespace

void manual_seed(uint64_t seed) {
  seed_of_process = seed;
  user_ordinal = 0;
  init_ordinal = 0;
}
uint64_t current_seed() { return seed_of_process; }
uint32_t next_user_draw() { return user_ordinal++; }
DrawState draw_state() { return {seed_of_process, user_ordinal, init_ordinal}; }
void set_draw_state(const DrawState& state) {
  seed_of_process = state.seed;
  user_ordinal = state.user;
  init_ordinal = state.init;
}
uint32_t next_init_draw() { return init_ordinal++; }

}  // namespace rote
