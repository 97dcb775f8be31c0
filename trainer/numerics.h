// trainer/numerics.h — --log_numerics: how near the numbers of each module come to the limits of their formats, a line a logged step in
// output_dir/numerics.jsonl. Reading such a file: numerics_table.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/op.h"
#include "nn/model.h"
#include "tensor/file.h"

namespace rote {

inline constexpr const char* kNumericsFile = "numerics.jsonl";

// The largest finite and the smallest normal number.
struct FormatRange {
  double largest, smallest;
};
FormatRange range_of(DType format);
// How often a magnitude can be doubled before it leaves the format; infinite for 0, negative beyond the end.
double headroom_bits(DType format, double amax);

// Of one step in this order: begin_step; a Watch around each forward and backward that is to be looked at; write.
class NumericsLog {
 public:
  // lower: the 16-bit format in which ops run under autocast. Behind the lines of the file up to step `keep`, those beyond are dropped; with 0 the
  // file begins anew. The model must outlive it. Throws IoError, here and in write().
  NumericsLog(nn::Model& model, const std::string& file, std::optional<DType> lower, int64_t keep);

  void begin_step() { seen_.clear(); }
  // Ops that run while it lives are looked at, forward and backward; they come out the same to the bit. `log` may be nullptr.
  class Watch {
   public:
    explicit Watch(NumericsLog* log);

   private:
    std::optional<OpObserver> observer_;
  };
  // One line: what was seen since begin_step, and the weights as they are now. Nothing where nothing was seen.
  void write(int64_t step, double loss_scale);

 private:
  struct Key {
    std::string module;
    const char* what;
    DType dtype;
    bool operator==(const Key& o) const { return module == o.module && what == o.what && dtype == o.dtype; }
  };
  struct Seen {
    Key key;
    double amax = 0;
    std::string source;  // the op or parameter of amax
    int64_t nonzero = 0, lost = 0;
  };

  void look(const Key& key, const std::string& source, const Tensor& x, uint32_t written);
  void look_at_all(const Call& call, const std::string& module, const char* what, const std::vector<Tensor>& results, const std::vector<Operand>& operands);
  void look_at_weights();

  nn::Model& model_;
  std::optional<DType> lower_;
  AppendFile file_;
  std::vector<Seen> seen_;                  // in the order of their first op
  std::map<std::string, DType> lowered_;    // modules whose ops round f32 operands to this
};

}  // namespace rote
