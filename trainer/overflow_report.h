// trainer/overflow_report.h — where Inf or NaN of a step came from: the op whose inputs were finite and whose result was not, to the element. A step that
// is held is run once more for it; its bits are the same again (arithmetic.md 9).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autograd/mode.h"
#include "nn/model.h"
#include "trainer/value.h"

namespace rote {

// A tensor of the op, counted element by element.
struct TensorNumbers {
  std::string role;  // the name in the op's schema; `d` before it for a gradient
  DType dtype = DType::f32;
  Shape shape;
  double least_nonzero = 0, largest = 0;  // magnitudes of the finite elements, 0 where there is none
  int64_t infs = 0, nans = 0, zeros = 0, subnormals = 0, saturated = 0;  // saturated: at the largest finite number of the dtype
};

struct OverflowReport {
  int64_t step = 0;
  int64_t micro_batch = 0;
  std::vector<int64_t> rows;       // of the micro-batch, by number in the dataset
  std::optional<int64_t> row;      // the one that the first bad element belongs to
  bool is_found = false;           // false: the step was finite when it was run again
  std::string path, class_name, op;
  Phase phase = Phase::forward;
  TensorNumbers result;
  std::vector<int64_t> index;      // of the lowest bad element
  double value = 0;                // Inf or NaN, as it is stored
  double amax = 0;                 // largest magnitude that the op wrote, before it was rounded to the dtype
  std::vector<TensorNumbers> operands;
  std::vector<std::pair<std::string, double>> feeding;  // elements of the operands that the bad one was made from
  std::vector<double> headroom_bits;                    // of this op here in the last steps, oldest first: log2 of the dtype's limit over amax
  std::optional<double> loss_scale;
  std::string frames;              // the last forward frames, in the layout of DebugUnderflowOverflow
  std::string advice;

  std::string line() const;  // what is bad, where, of what size; one line
  std::string text() const;
  ValueMap json() const;
};

// What runs one micro-batch again, forward and backward, under its RunScope, and gives its loss.
struct MicroBatch {
  std::vector<int64_t> rows;
  std::function<double()> run;
};
OverflowReport explain_overflow(nn::Model& model, const std::vector<MicroBatch>& micro_batches, std::optional<double> loss_scale = {});

// output_dir/overflow/step-N.txt and .json. Returns the path without its ending.
std::string write_report(const OverflowReport& report, const std::string& output_dir);

}  // namespace rote
