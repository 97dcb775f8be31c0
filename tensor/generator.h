// tensor/generator.h — the seed of the process and the running ordinal of user draws. What fills the words: kernels/philox.h.
#pragma once

#include <cstdint>

namespace rote {

// Seeds everything that draws: initialisation, dropout outside of a run, user draws (the ordinals start again at 0).
void manual_seed(uint64_t seed);
uint64_t current_seed();
uint32_t next_user_draw();
uint32_t next_init_draw();  // of layers that do not know their name yet

// Seed and ordinals, for who draws aside and puts them back, or draws the same again.
struct DrawState {
  uint64_t seed = 0;
  uint32_t user = 0, init = 0;
};
DrawState draw_state();
void set_draw_state(const DrawState& state);

// Draws inside from `state` on, or from here; puts seed and ordinals back at the end.
class DrawsAside {
 public:
  DrawsAside() : before_(draw_state()) {}
  explicit DrawsAside(const DrawState& state) : before_(draw_state()) { set_draw_state(state); }
  ~DrawsAside() { set_draw_state(before_); }
  DrawsAside(const DrawsAside&) = delete;
  DrawsAside& operator=(const DrawsAside&) = delete;

 private:
  DrawState before_;
};

}  // namespace rote
