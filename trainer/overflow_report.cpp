#include "trainer/overflow_report.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "autograd/op.h"
#include "autograd/status.h"
#include "tensor/file.h"
#include "trainer/debug_underflow_overflow.h"
#include "trainer/json_text.h"
#include "trainer/numerics.h"

namespace rote {

namespace {

double element(const Tensor& x, int64_t i) {
  double value = 0;
  visit(x.dtype(), [&](auto t) { value = convert<double>(x.data<decltype(t)>()[i]); });
  return value;
}

std::vector<int64_t> place_of(const Shape& shape, int64_t i) {
  std::vector<int64_t> index(static_cast<size_t>(shape.axes()));
  for (int axis = shape.axes() - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = i % shape[axis];
    i /= shape[axis];
  }
  return index;
}

TensorNumbers numbers_of(const std::string& role, const Tensor& x) {
  TensorNumbers n{.role = role, .dtype = x.dtype(), .shape = x.shape()};
  if (!is_floating(x.dtype())) return n;
  const FormatRange range = range_of(x.dtype());
  const Tensor plain = contiguous(x);
  visit(x.dtype(), [&](auto t) {
    const auto* values = plain.data<decltype(t)>();
    for (int64_t i = 0; i < plain.numel(); ++i) {
      const double magnitude = std::abs(convert<double>(values[i]));
      if (std::isnan(magnitude)) ++n.nans;
      else if (std::isinf(magnitude)) ++n.infs;
      else if (magnitude == 0) ++n.zeros;
      else {
        n.subnormals += magnitude < range.smallest;
        n.saturated += magnitude == range.largest;
        n.largest = std::max(n.largest, magnitude);
        n.least_nonzero = n.least_nonzero == 0 ? magnitude : std::min(n.least_nonzero, magnitude);
      }
    }
  });
  return n;
}

// One run of an op that wrote Inf or NaN, kept as it was.
struct Finding {
  const OpEntry* op;
  std::string path;
  Phase phase;
  std::string role;
  Tensor result;
  std::vector<std::pair<std::string, Tensor>> inputs;
  std::vector<Attr> attrs;
  uint32_t amax;
  RunScope scope;
  bool writes_nan, reads_inf;
  std::vector<bool> is_given;  // inputs: as they were given, not rounded by this op
};

bool is_softmax(const std::string& op) { return op == "softmax" || op == "log_softmax" || op == "attention"; }

struct State {
  bool inf = false, nan = false;
};
State state_of(const Tensor& x) {
  const TensorNumbers n = numbers_of("", x);
  return {n.infs > 0, n.nans > 0};
}

// Listens to a micro-batch for the first op that wrote Inf or NaN, the first that made an Inf out of finite numbers, and the first that made a NaN out of none.
class Listener {
 public:
  std::optional<Finding> any, inf, nan;

  // A NaN has its origin where it was made, or where the Inf was made that it is from. Where no op made that Inf, it is the first op that had to do with
  // it, unless it was a mask's, which harms nothing.
  const std::optional<Finding>& origin(double loss) const {
    static const std::optional<Finding> none;
    if (nan && !nan->reads_inf) return nan;
    if (inf) return inf;
    if (nan && is_softmax(nan->op->row.name)) return nan;
    return nan || (any && any->writes_nan) || !std::isfinite(loss) ? any : none;
  }

  void forward(const Call& call) {
    std::vector<std::pair<std::string, Tensor>> inputs, outputs;
    for (size_t i = 0; i < call.in.size(); ++i) {
      if (!call.in[i].defined() || !is_floating(call.in[i].dtype())) continue;
      inputs.emplace_back(call.op->schema.inputs[i].name, call.in[i]);
      // What autocast rounds is rounded by this op: an Inf that it becomes there is made here.
      is_given_.push_back(size_of(call.in[i].dtype()) >= size_of(call.in_dtypes[i]));
    }
    for (size_t i = 0; i < call.out.size(); ++i) outputs.emplace_back(call.op->schema.outputs[i].name, call.out[i]);
    look(call, module_path(), Phase::forward, inputs, outputs);
  }

  void backward(const Call& call, const std::string& path) {
    std::vector<std::pair<std::string, Tensor>> inputs, outputs;
    for (size_t i = 0; i < call.dout.size(); ++i) inputs.emplace_back("d" + call.op->schema.outputs[i].name, call.dout[i]);
    for (size_t i = 0; i < call.in.size(); ++i) inputs.emplace_back(call.op->schema.inputs[i].name, call.in[i]);
    for (size_t i = 0; i < call.out.size(); ++i) inputs.emplace_back(call.op->schema.outputs[i].name, call.out[i]);
    std::erase_if(inputs, [](const auto& one) { return !one.second.defined() || !is_floating(one.second.dtype()); });
    is_given_.assign(inputs.size(), true);
    for (size_t i = 0; i < call.din.size(); ++i) outputs.emplace_back("d" + call.op->schema.inputs[i].name, call.din[i]);
    look(call, path, Phase::backward, inputs, outputs);
  }

 private:
  void look(const Call& call, const std::string& path, Phase phase, const std::vector<std::pair<std::string, Tensor>>& inputs,
            const std::vector<std::pair<std::string, Tensor>>& outputs) {
    const std::vector<bool> is_given = std::move(is_given_);
    is_given_.clear();
    if (call.op->moves_only || (inf && nan)) return;
    std::vector<Tensor> written;
    for (const auto& [name, x] : outputs) written.push_back(x);
    if (stored_word(call.amax, written) < kInfBits) return;
    State before;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const State one = state_of(inputs[i].second);
      before = {before.inf || (one.inf && is_given[i]), before.nan || one.nan};  // rounding makes no NaN
    }
    for (const auto& output : outputs) {
      const Tensor& x = output.second;
      if (!x.defined() || !is_floating(x.dtype())) continue;
      const State after = state_of(x);
      const auto keep = [&](std::optional<Finding>& slot, bool writes_nan) {
        if (!slot) slot = Finding{call.op, path, phase, output.first, detach(x), inputs, call.attrs, call.amax, call.scope, writes_nan, before.inf, is_given};
      };
      if (after.inf || after.nan) keep(any, after.nan);
      if (after.inf && !before.inf && !before.nan) keep(inf, false);
      if (after.nan && !before.nan) keep(nan, true);
    }
  }

  std::vector<bool> is_given_;
};

// The elements of x that result[index] was made from: of an operand of the same or a broadcast shape the one at its place, of a factor of a product the
// largest of its row.
std::vector<std::pair<std::string, double>> feeding(const Finding& f, const std::vector<int64_t>& index) {
  std::vector<std::pair<std::string, double>> found;
  const Shape& shape = f.result.shape();
  for (const auto& [name, x] : f.inputs) {
    if (x.axes() > shape.axes()) continue;
    bool is_pointwise = true;
    int64_t at = 0;
    std::string place;
    for (int axis = 0; axis < x.axes(); ++axis) {
      const int64_t n = x.shape()[axis], wanted = index[static_cast<size_t>(axis + shape.axes() - x.axes())];
      is_pointwise = is_pointwise && (n == 1 || n == shape[axis + shape.axes() - x.axes()]);
      at = at * n + (n == 1 ? 0 : std::min(wanted, n - 1));
      place += str(place.empty() ? "" : ",", n == 1 ? 0 : wanted);
    }
    if (is_pointwise) {
      found.emplace_back(str(name, "[", place, "]"), element(contiguous(x), at));
      continue;
    }
    // y[*,O] = x[*,I]·w[O,I]: the row of x at the place, the row of w of the output.
    const std::string op = f.op->row.name;
    if (op != "linear" || f.phase != Phase::forward || x.axes() < 1) continue;
    const int64_t K = x.size(-1), O = shape[shape.axes() - 1];
    const Tensor plain = contiguous(x);
    int64_t row = 0;
    for (int axis = 0; axis + 1 < shape.axes(); ++axis) row = row * shape[axis] + index[static_cast<size_t>(axis)];
    if (name == "w") row = index.back();
    if (name != "x" && name != "w") continue;
    if ((row + 1) * K > plain.numel() || O == 0) continue;
    int64_t top = 0;
    for (int64_t k = 0; k < K; ++k)
      if (!(std::abs(element(plain, row * K + k)) <= std::abs(element(plain, row * K + top)))) top = k;
    found.emplace_back(str("largest of ", name, "'s row, [", row, ",", top, "]"), element(plain, row * K + top));
  }
  return found;
}

std::string class_of(nn::Model& model, const std::string& path) {
  for (const nn::NamedModule& one : model.named_modules())
    if (one.name == path) return one.module->class_name();
  return model.class_name();
}

const char* phase_name(Phase phase) { return phase == Phase::forward ? "forward" : phase == Phase::backward ? "backward" : "optimizer"; }

// An eps that the dtype of an operand cannot hold.
bool has_lost_eps(const Finding& f) {
  for (size_t i = 0; i < f.attrs.size(); ++i)
    if (f.op->schema.attrs[i].name == "eps")
      if (const double* eps = std::get_if<double>(&f.attrs[i]))
        for (const auto& [name, x] : f.inputs)
          if (*eps < range_of(x.dtype()).smallest) return true;
  return false;
}

std::string advice_for(const Finding& f, const OverflowReport& r) {
  const std::string format = r.result.dtype == DType::f16 ? "float16" : r.result.dtype == DType::bf16 ? "bfloat16" : "float32";
  const bool is_narrow = size_of(r.result.dtype) == 2;
  for (const TensorNumbers& x : r.operands)
    if (x.infs + x.nans > 0 && f.writes_nan && is_softmax(r.op))
      return "A row of the scores is -inf throughout: a query whose keys are all masked. Look at the masks of the rows named above.";
  for (size_t i = 0; i < r.operands.size() && r.result.dtype == DType::f16; ++i)
    if (!f.is_given[i] && r.operands[i].infs > 0 && r.operands[i].nans == 0)
      return str("Its input ", r.operands[i].role, " goes beyond float16's 65504 where it is rounded to that: a lower loss scale cannot help. --bf16 has the range of float32.");
  for (const TensorNumbers& x : r.operands)
    if (x.infs + x.nans > 0) return str("Its input ", x.role, " held Inf or NaN already, and no op made it: it came with the batch or with a parameter. Look there.");
  if (has_lost_eps(f)) return str("Its eps is below the smallest normal number of ", format, " and is lost; a larger one helps.");
  if (is_narrow && r.amax > range_of(r.result.dtype).largest && std::isfinite(r.amax)) {
    if (r.phase == Phase::forward)
      return str("The value is finite but beyond ", format, "'s ", range_of(r.result.dtype).largest, ". It arose in the forward: a lower loss scale cannot help. ",
                 r.result.dtype == DType::f16 ? "--bf16 has the range of float32." : "Run this module in float32.");
    if (r.loss_scale) return str("The gradient is finite but times the loss scale ", *r.loss_scale, " beyond ", format, "'s ", range_of(r.result.dtype).largest, "; a lower scale helps.");
  }
  if (r.op == "div" || r.op == "log" || r.op == "rsqrt" || r.op == "reciprocal") return "Its operand is 0 or out of its domain; clamp it, or add an eps.";
  const double share = r.result.shape.numel() > 0 ? static_cast<double>(r.result.subnormals) / static_cast<double>(r.result.shape.numel()) : 0;
  if (is_narrow && share > 0.01) return str("A share of ", share, " of its elements is below the smallest normal number: the format is too narrow on both sides.");
  return "The values grow out of range: a lower --learning_rate, --max_grad_norm, or a look at the rows named above helps.";
}

void describe_finding(nn::Model& model, const Finding& f, OverflowReport& r) {
  r.is_found = true;
  r.path = f.path;
  r.class_name = class_of(model, f.path);
  r.op = f.op->row.name;
  r.phase = f.phase;
  r.result = numbers_of(f.role, f.result);
  r.amax = static_cast<double>(std::bit_cast<float>(f.amax));
  const Tensor plain = contiguous(f.result);
  int64_t bad = 0;
  while (std::isfinite(element(plain, bad))) ++bad;
  r.index = place_of(plain.shape(), bad);
  r.value = element(plain, bad);
  for (const auto& [name, x] : f.inputs) r.operands.push_back(numbers_of(name, x));
  r.feeding = feeding(f, r.index);
  for (const float amax : amax_history(r.op, f.path, f.phase)) r.headroom_bits.push_back(headroom_bits(r.result.dtype, static_cast<double>(amax)));
  r.headroom_bits.pop_back();  // this very run's
  const int64_t samples = static_cast<int64_t>(r.rows.size());
  if (f.scope.by_sample(plain.shape()) && f.scope.samples == samples) r.row = r.rows[static_cast<size_t>(r.index[0] / (plain.shape()[0] / samples))];
  r.advice = advice_for(f, r);
}

// Up to the first that shows Inf or NaN, else all of the forward's.
std::string frames_of(nn::Model& model, const MicroBatch& micro_batch) {
  std::string text;
  DebugUnderflowOverflow debug(model, 21, {}, {}, [&](const std::string& line) { text += line; });
  try {
    micro_batch.run();
  } catch (const NonFiniteError&) {
  }
  for (const std::string& frame : debug.frames()) text += frame + "\n";
  return text;
}

}  // namespace

OverflowReport explain_overflow(nn::Model& model, const std::vector<MicroBatch>& micro_batches, std::optional<double> loss_scale) {
  OverflowReport report;
  report.loss_scale = loss_scale;
  clear_status();  // what the runs below write is one page of the history, the last
  for (size_t i = 0; i < micro_batches.size(); ++i) {
    Listener listener;
    double loss = 0;
    {
      const OpObserver observer([&](const Call& call) { listener.forward(call); }, [&](const Call& call, const std::string& path) { listener.backward(call, path); });
      loss = micro_batches[i].run();
    }
    const std::optional<Finding>& found = listener.origin(loss);
    if (!found) continue;
    report.micro_batch = static_cast<int64_t>(i);
    report.rows = micro_batches[i].rows;
    report.frames = frames_of(model, micro_batches[i]);
    describe_finding(model, *found, report);
    return report;
  }
  report.advice = "The step was finite when it was run again. Its bits are the same each time, so either the machine erred or something outside of the run changed: `rote verify`, and a memory test.";
  return report;
}

namespace {

std::string shape_text(const TensorNumbers& n) { return str(name(n.dtype), n.shape); }

std::string index_text(const std::vector<int64_t>& index) {
  std::string text;
  for (const int64_t i : index) text += str(text.empty() ? "" : ",", i);
  return "[" + text + "]";
}

ValueMap json_of(const TensorNumbers& n) {
  ValueList shape;
  for (const int64_t size : n.shape) shape.push_back(size);
  return {{"role", n.role},   {"dtype", name(n.dtype)}, {"shape", shape},           {"least_nonzero", n.least_nonzero}, {"largest", n.largest}, {"infs", n.infs},
          {"nans", n.nans}, {"zeros", n.zeros},       {"subnormals", n.subnormals}, {"saturated", n.saturated}};
}

std::string line_of(const TensorNumbers& n) {
  return str("  ", n.role, " ", shape_text(n), ": magnitudes ", n.least_nonzero, " to ", n.largest, "; ", n.infs, " Inf, ", n.nans, " NaN, ", n.zeros, " zero, ", n.subnormals,
             " subnormal, ", n.saturated, " at the limit\n");
}

}  // namespace

std::string OverflowReport::line() const {
  if (!is_found) return str("step ", step, ": Inf or NaN that did not come again");
  return str("step ", step, ": ", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", " in ", path.empty() ? "the model" : path, " (", class_name, "), ", op, "'s ", result.role, " ",
             shape_text(result), " at ", index_text(index), ", ", phase_name(phase));
}

std::string OverflowReport::text() const {
  std::string out = line() + "\n" + advice + "\n";
  if (!is_found) return out;
  std::string numbers;
  for (const int64_t one : rows) numbers += str(numbers.empty() ? "" : ", ", one);
  out += str("rows of micro-batch ", micro_batch, ": ", numbers, row ? str("; the bad element is of row ", *row) : "", "\n");
  out += str("largest magnitude written, before rounding: ", amax, "; ", name(result.dtype), " ends at ", range_of(result.dtype).largest, "\n");
  if (loss_scale) out += str("loss scale: ", *loss_scale, "\n");
  if (!headroom_bits.empty()) {
    out += "headroom of the last steps in bits, oldest first:";
    for (const double bits : headroom_bits) out += str(" ", std::round(bits * 10) / 10);
    out += "\n";
  }
  out += "made from:\n";
  for (const auto& [what, number] : feeding) out += str("  ", what, " = ", number, "\n");
  for (const TensorNumbers& n : operands) out += line_of(n);
  out += "result:\n" + line_of(result);
  return out + "\nlast forward frames:\n" + frames;
}

ValueMap OverflowReport::json() const {
  ValueList row_list, index_list, operand_list, headroom_list;
  for (const int64_t one : rows) row_list.push_back(one);
  for (const int64_t one : index) index_list.push_back(one);
  for (const TensorNumbers& n : operands) operand_list.push_back(json_of(n));
  for (const double bits : headroom_bits) headroom_list.push_back(bits);
  ValueMap feeding_map;
  for (const auto& [what, number] : feeding) feeding_map.set(what, number);
  return {{"step", step},
          {"found", is_found},
          {"micro_batch", micro_batch},
          {"rows", row_list},
          {"row", row ? Value(*row) : Value()},
          {"module", path},
          {"class", class_name},
          {"op", op},
          {"phase", phase_name(phase)},
          {"result", json_of(result)},
          {"index", index_list},
          {"value", value},
          {"amax", amax},
          {"operands", operand_list},
          {"feeding", feeding_map},
          {"headroom_bits", headroom_list},
          {"loss_scale", loss_scale ? Value(*loss_scale) : Value()},
          {"advice", advice}};
}

std::string write_report(const OverflowReport& report, const std::string& output_dir) {
  const std::string folder = output_dir + "/overflow";
  std::filesystem::create_directories(folder);
  const std::string path = folder + str("/step-", report.step);
  write_file(path + ".txt", report.text());
  write_file(path + ".json", json_text(report.json()) + "\n");
  return path;
}

}  // namespace rote
