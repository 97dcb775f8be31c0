// trainer/run.h — what one train() counts, and the micro-batches of one update. For loop.cpp and resume.cpp, which know the steps.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/data/loader.h"
#include "trainer/debug_underflow_overflow.h"
#include "trainer/neftune.h"
#include "trainer/numerics.h"
#include "trainer/profile.h"
#include "trainer/trace.h"
#include "trainer/trainer.h"

namespace rote {

struct Trainer::Window {
  std::vector<nn::Batch> batches;
  std::vector<std::vector<int64_t>> rows;  // of each batch: numbers in the dataset, of a stream in its pass
  nn::TargetCounts targets;                // N: scored targets of all batches, by label key
  bool has_labels = false;

  // Labels, but none that is scored: there is nothing to learn from.
  bool is_empty() const { return has_labels && nn::total(targets) == 0; }
  // Last axis of the longest of their inputs `main`.
  int64_t longest(const std::string& main) const {
    int64_t longest = 0;
    for (const nn::Batch& batch : batches)
      if (const Tensor& ids = batch.at(main); ids.axes() > 1) longest = std::max(longest, ids.size(-1));
    return longest;
  }
};

struct Trainer::Run {
  int64_t batch = 1, accumulation = 1;  // rows of a micro-batch, micro-batches of an update
  int64_t batches = 0;                  // micro-batches by which an epoch counts: those it has, with a stream those of the run
  std::optional<int64_t> rows_per_epoch;  // none with a stream
  int64_t updates_per_epoch = 0, total_updates = 0, epochs = 0;
  double samples = 0;                   // rows that the whole run visits

  std::vector<Tensor> leaves;           // trainable parameters in registration order
  int64_t flops_per_element = 0;
  int64_t consumed = 0;                 // rows so far, also those of earlier processes
  int64_t skip_rows = 0;                // of the first epoch after a resume
  int64_t first_epoch = 0;
  int64_t first_step = 0;               // global_step at which this process began
  int64_t first_tokens = 0;             // num_input_tokens_seen then
  int64_t epoch = 0;                    // under way
  int64_t micro = 0, epoch_rows = 0;    // micro-batches and rows of this epoch so far
  bool stream_is_over = false;          // in this epoch
  std::unique_ptr<data::Loader> loader; // of what is left of it
  int64_t tokens = 0;                   // elements of the main input, of this process
  Stopwatch watch;
  std::unique_ptr<Profile> profile;     // as is this
  std::unique_ptr<Neftune> neftune;     // where the arguments ask for it, as for
  std::unique_ptr<DebugUnderflowOverflow> debug;
  std::unique_ptr<Tracer> tracer;
  std::unique_ptr<NumericsLog> numerics;
  std::vector<Tensor> buffers;          // of the model before this update, where one that is not finite is skipped

  double running_loss = 0, total_loss = 0;
  int64_t last_logged = 0;
  double grad_norm = std::numeric_limits<double>::quiet_NaN(), learning_rate = 0;
  bool updated = false;                 // in this epoch body
  bool told_memory = false;             // of a parameter
};

}  // namespace rote
