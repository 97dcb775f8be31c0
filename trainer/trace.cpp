#include "trainer/trace.h"

#include <cstring>

#include "kernels/fingerprint.h"
#include "tensor/fingerprint.h"

namespace rote {

namespace {

// Of all that an op read, undefined ones as 0.
uint64_t taken_in(std::initializer_list<const std::vector<Tensor>*> lists) {
  uint64_t h = 0;
  for (const std::vector<Tensor>* tensors : lists)
    for (const uint64_t one : fingerprints(*tensors)) h = fingerprint_mix(h, one);
  return h;
}

}  // namespace

TraceWatch keep_record(Tensor& into, int64_t step, size_t record) {
  return [&into, step, record](int64_t at, size_t i, const TraceName&, const Tensor& x) {
    if (at != step || i != record) return;
    const Tensor plain = contiguous(x);
    into = empty(x.shape(), {.dtype = x.dtype()});
    std::memcpy(into.raw(), plain.raw(), static_cast<size_t>(x.numel() * size_of(x.dtype())));
  };
}

Tracer::Tracer(nn::Model& model, TraceLevel level, const std::string& file, const std::string& contract, int64_t keep, TraceWatch watch)
    : model_(model), level_(level), writer_(file, level, contract, keep), watch_(std::move(watch)), parameters_(model.named_parameters()) {
  if (writer_.is_new()) {
    begin_step(keep);
    update_made();
    end_step();
  }
  if (level < TraceLevel::modules) return;
  for (const nn::NamedModule& named : model_.named_modules()) {
    const int64_t id = named.module->register_forward_hook([this, name = named.name](nn::Module&, const std::vector<Tensor>&, std::vector<Tensor>& outputs) {
      if (!is_watching_) return;
      std::vector<TraceName> names;
      for (size_t i = 0; i < outputs.size(); ++i) names.push_back({TraceRole::module, name, "", str("output ", i)});
      add(std::move(names), outputs);
    });
    hooks_.emplace_back(named.module, id);
  }
}

Tracer::~Tracer() {
  for (const auto& [module, id] : hooks_) module->remove_hook(id);
}

void Tracer::begin_step(int64_t step) { step_ = {.step = step, .link = 0, .records = {}}; }

void Tracer::add(std::vector<TraceName> names, const std::vector<Tensor>& tensors, uint64_t inputs) {
  const std::vector<uint64_t> hashes = fingerprints(tensors);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!tensors[i].defined()) continue;
    if (watch_) watch_(step_.step, step_.records.size(), names[i], tensors[i]);
    step_.records.push_back({writer_.names().id_of(names[i]), hashes[i], inputs});
  }
}

void Tracer::batch(const nn::Batch& batch) {
  std::vector<TraceName> names;
  std::vector<Tensor> tensors;
  for (const auto& [name, x] : batch.entries) names.push_back({TraceRole::batch, "", "", name}), tensors.push_back(x);
  add(std::move(names), tensors);
}

void Tracer::update_begun(double loss) {
  std::vector<TraceName> names = {{TraceRole::loss, "", "", ""}};
  std::vector<Tensor> tensors = {from_values({}, std::vector<double>{loss})};
  for (const auto& [name, param] : parameters_)
    if (param.requires_grad()) names.push_back({TraceRole::gradient, "", "", name}), tensors.push_back(param.grad());
  add(std::move(names), tensors);
}

void Tracer::update_made() {
  std::vector<TraceName> names;
  std::vector<Tensor> tensors;
  for (const auto& [name, param] : parameters_) names.push_back({TraceRole::parameter, "", "", name}), tensors.push_back(param);
  add(std::move(names), tensors);
}

void Tracer::end_step() { writer_.write(std::move(step_)); }

void Tracer::add_op(const Call& call) {
  std::vector<TraceName> names;
  for (size_t i = 0; i < call.out.size(); ++i) names.push_back({TraceRole::op, module_path(), call.op->row.name, call.op->schema.outputs[i].name});
  add(std::move(names), call.out, taken_in({&call.in}));
}

void Tracer::add_backward(const Call& call, const std::string& path) {
  std::vector<TraceName> names;
  for (size_t i = 0; i < call.din.size(); ++i) names.push_back({TraceRole::op_backward, path, call.op->row.name, call.op->schema.inputs[i].name});
  add(std::move(names), call.din, taken_in({&call.dout, &call.in, &call.out}));
}

Tracer::Watch::Watch(Tracer* tracer) : tracer_(tracer) {
  if (tracer_ == nullptr) return;
  tracer_->is_watching_ = true;
  if (tracer_->level_ < TraceLevel::ops) return;
  observer_.emplace([tracer](const Call& call) { tracer->add_op(call); }, [tracer](const Call& call, const std::string& path) { tracer->add_backward(call, path); });
}

Tracer::Watch::~Watch() {
  if (tracer_ != nullptr) tracer_->is_watching_ = false;
}

}  // namespace rote
