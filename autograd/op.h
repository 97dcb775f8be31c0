// autograd/op.h — Call, one run of an op, and OpEntry, a Row made runnable. No graph.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "autograd/formula_table.h"
#include "autograd/mode.h"
#include "autograd/schema.h"
#include "kernels/table.h"

namespace rote {

struct OpEntry;

// Forward fills `out` (already allocated where the schema says the shape). Backward reads what `.saves` names and dout, and sets din[i]
// where wants(i). Both report what they wrote to `amax`.
struct Call {
  const OpEntry* op = nullptr;
  std::vector<Tensor> in, out;      // in schema order; none is undefined
  std::vector<Attr> attrs;          // in schema order
  std::vector<Tensor> dout, din;
  std::vector<Shape> in_shapes;     // of all inputs, saved or not
  std::vector<DType> in_dtypes;     // as given; under autocast `in` has others
  std::optional<DType> lower;       // the 16-bit type to which autocast rounded f32 inputs; those that are no results are saved unrounded
  std::vector<bool> wanted;         // backward: which inputs need a gradient
  uint32_t amax = 0;
  uint32_t draw = 0;                // ops that draw: their op id
  uint64_t seed = 0;                // and the seed: of the run, outside of one that of the process
  RunScope scope;                   // samples = 0 outside of a run

  bool wants(int i) const { return wanted[static_cast<size_t>(i)]; }
  void saw(uint32_t word) { amax = word > amax ? word : amax; }
  double number(int i) const;       // attributes by schema position, converted
  int64_t integer(int i) const;
  bool flag(int i) const;
  bool given(int i) const { return !std::holds_alternative<std::monostate>(attrs[static_cast<size_t>(i)]); }
  const std::vector<int64_t>& list(int i) const;
  const std::string& word(int i) const;
  // Rows of one sample leaf of `rows` leading rows of input i (0: one leaf).
  int64_t leaf(int i, int64_t rows) const;
};

// An optional input as a kernel takes it.
inline Tensor plain(const Tensor& x) { return x.defined() ? contiguous(x) : x; }
// The first element of a contiguous tensor, nullptr for none.
template <class Real>
const Real* values(const Tensor& x) {
  return x.defined() ? x.data<Real>() : nullptr;
}

struct OpEntry {
  Row row;
  Schema schema;
  const FormulaLoops* formula = nullptr;  // none: an op with kernels
  bool passes_dy = false;           // dy is the gradient of every input (add)
  bool takes_sixteen = false;       // its kernels read and write 16-bit floats as they lie, and round f32 inputs to call.lower themselves
  bool moves_only = false;          // fills, selects or moves: never the producer of a non-finite value
  void (*infer)(Call&) = nullptr;   // allocates the outputs that the schema leaves open
  void (*forward)(Call&) = nullptr;
  void (*backward)(Call&) = nullptr;
  void (*again)(Call&) = nullptr;   // backward as recorded ops, under create_graph; none: row.once says why
  std::vector<bool> constant;       // by input: named in row.constants
  std::vector<int> saves;           // in the order of row.saves: input i as i, output i as ~i
  std::vector<std::vector<int>> reads;  // by input: what its gradient reads, numbered alike; empty: all of `saves`
};

bool is_free(const Operand& operand);  // of no dtype of its own: kernels compute its 16-bit floats in f32 and round once

// Is told of each op that ran on this thread while the guard lives; call.wanted says nothing yet. Guards nest; each is told. And where it asks, of
// each backward of an op, with the module path of its forward: dout and din are there, of the other tensors those that the op saves.
class OpObserver {
 public:
  using TellBackward = std::function<void(const Call&, const std::string& path)>;
  explicit OpObserver(std::function<void(const Call&)> tell, TellBackward tell_backward = nullptr);
  ~OpObserver();
  OpObserver(const OpObserver&) = delete;
  OpObserver& operator=(const OpObserver&) = delete;

 private:
  friend void observe(const Call& call);
  friend void observe_backward(const Call& call, int path);
  std::function<void(const Call&)> tell_;
  TellBackward tell_backward_;
  OpObserver* outer_;
};

void observe_backward(const Call& call, int path);  // of the module, interned

// Runs the op: check, allocate, compute, record. All outputs, in schema order.
std::vector<Tensor> run(const OpEntry& op, std::vector<Tensor> inputs, std::vector<Attr> attrs);

}  // namespace rote
