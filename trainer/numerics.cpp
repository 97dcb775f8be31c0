#include "trainer/numerics.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "autograd/status.h"
#include "kernels/magnitudes.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

constexpr const char kActivations[] = "activations", kGradients[] = "gradients", kWeights[] = "weights", kLineBegin[] = "{\"step\": ";

int64_t step_of(const std::string& text, size_t begin, size_t end) {
  int64_t step = std::numeric_limits<int64_t>::max();
  if (text.compare(begin, sizeof kLineBegin - 1, kLineBegin) == 0) std::from_chars(text.data() + begin + sizeof kLineBegin - 1, text.data() + end, step);
  return step;
}

// The bytes of the lines up to a step; a line that a kill has cut off is none.
int64_t bytes_up_to(const std::string& file, int64_t step) {
  if (step <= 0 || !is_file(file)) return 0;
  const std::string text = read_file(file);
  size_t kept = 0;
  for (size_t end = text.find('\n'); end != std::string::npos && step_of(text, kept, end) <= step; end = text.find('\n', kept)) kept = end + 1;
  return static_cast<int64_t>(kept);
}

}  // namespace

FormatRange range_of(DType format) {
  switch (format) {
    case DType::f16: return {65504, 0x1p-14};
    case DType::bf16: return {0x1.fep127, 0x1p-126};
    case DType::f64: return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min()};
    default: return {static_cast<double>(std::numeric_limits<float>::max()), 0x1p-126};
  }
}

double headroom_bits(DType format, double amax) { return amax > 0 ? std::log2(range_of(format).largest / amax) : std::numeric_limits<double>::infinity(); }

NumericsLog::NumericsLog(nn::Model& model, const std::string& file, std::optional<DType> lower, int64_t keep)
    : model_(model), lower_(lower), file_(file, bytes_up_to(file, keep)) {}

NumericsLog::Watch::Watch(NumericsLog* log) {
  if (log == nullptr) return;
  observer_.emplace(
      [log](const Call& call) {
        if (!grad_enabled()) return;  // an op of the backward, or of a layer that is recomputed in it, where it is seen
        if (call.lower) log->lowered_[module_path()] = *call.lower;
        log->look_at_all(call, module_path(), kActivations, call.out, call.op->schema.outputs);
      },
      [log](const Call& call, const std::string& path) { log->look_at_all(call, path, kGradients, call.din, call.op->schema.inputs); });
}

// Without what a kernel leaves for its backward in a dtype of its own, as the deviations of a norm.
void NumericsLog::look_at_all(const Call& call, const std::string& module, const char* what, const std::vector<Tensor>& results, const std::vector<Operand>& operands) {
  if (call.op->moves_only) return;
  for (size_t i = 0; i < results.size(); ++i)
    if (const Tensor& x = results[i]; x.defined() && is_floating(x.dtype()) && is_free(operands[i])) look({module, what, x.dtype()}, call.op->row.name, x, call.amax);
}

void NumericsLog::look(const Key& key, const std::string& source, const Tensor& x, uint32_t written) {
  const Tensor plain = contiguous(x);
  Magnitudes found = magnitudes(x.dtype(), plain.raw(), plain.numel(), range_of(size_of(x.dtype()) == 2 ? x.dtype() : lower_.value_or(x.dtype())).smallest);
  // What was finite until it was rounded to the dtype counts as it was.
  if (found.has_inf && written < kInfBits) found.largest = std::max(found.largest, static_cast<double>(std::bit_cast<float>(written)));
  auto at = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.key == key; });
  if (at == seen_.end()) at = seen_.insert(at, Seen{.key = key, .source = source});
  if (found.largest > at->amax) at->amax = found.largest, at->source = source;
  at->nonzero += found.nonzero, at->lost += found.below;
}

void NumericsLog::look_at_weights() {
  for (const nn::NamedModule& named : model_.named_modules())
    for (const auto& [name, x] : named.module->own_parameters()) {
      const auto lowered = lowered_.find(named.name);
      if (is_floating(x.dtype())) look({named.name, kWeights, lowered != lowered_.end() && x.dtype() == DType::f32 ? lowered->second : x.dtype()}, name, x, 0);
    }
}

void NumericsLog::write(int64_t step, double loss_scale) {
  if (seen_.empty()) return;
  look_at_weights();
  ValueList numbers;
  for (const Seen& one : seen_)
    numbers.push_back(ValueMap{{"module", one.key.module},
                               {"what", one.key.what},
                               {"dtype", name(one.key.dtype)},
                               {"source", one.source},
                               {"amax", one.amax},
                               {"headroom_bits", one.amax > 0 ? Value(rounded(headroom_bits(one.key.dtype, one.amax), 3)) : Value()},
                               {"underflow", one.nonzero > 0 ? static_cast<double>(one.lost) / static_cast<double>(one.nonzero) : 0.0}});
  file_.write(json_text(ValueMap{{"step", step}, {"loss_scale", loss_scale}, {"numerics", numbers}}, {.indent = -1}) + "\n");
  seen_.clear();
}

}  // namespace rote
