// tensor/generator.h — the seed of the process and the running ordinal of user draws. What fills the words: kernels/philox.h.
#pragma once

#include <cstdint>

namespace rote {

// Seeds everything that draws: initialisation, dropout outside of a run, user draws (the ordinals start again at 0).
void manual_seed(uint64_t seed);
uint64_t current_seed();
uint32_t next_user_draw();
uint32_t user_draws();                    // so far
void set_user_draws(uint32_t draws);      // a recomputation draws from where its forward did
uint32_t next_init_draw();  // of layers that do not know their name yet

}  // namespace rote
