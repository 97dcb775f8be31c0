// trainer/non_finite.cpp — an update that is not finite: what it is told as, and whether it ends the run or is skipped. Where it arose: overflow_report.h.
#include <cmath>
#include <cstdio>

#include "autograd/status.h"
#include "trainer/overflow_report.h"
#include "trainer/run.h"

namespace rote {

// Running statistics among them, which a forward moves.
std::vector<Tensor> Trainer::copied_buffers() const {
  std::vector<Tensor> copies;
  for (const auto& [name, buffer] : model_->named_buffers()) {
    copies.push_back(empty(buffer.shape(), {.dtype = buffer.dtype()}));
    copy_elements(copies.back(), buffer);
  }
  return copies;
}

void Trainer::put_back(const std::vector<Tensor>& buffers) const {
  size_t i = 0;
  for (const auto& [name, buffer] : model_->named_buffers()) copy_elements(buffer, buffers[i++]);
}

// Whether the update was applied: an overflow that a lower loss scale may cure gives it up, and nothing but the cursor moves.
bool Trainer::make_step(const Run& run, const Window& window) {
  const Profile::Part part(run.profile.get(), "optimizer");
  const optim::StepOptions options{.max_norm = args_.max_grad_norm, .norm = run.grad_norm};
  clear_status();
  const bool applied = (scaler_ ? scaler_->step(*optimizer_, options) : optimizer_->step(options)) == optim::StepResult::applied;
  if (applied) {
    if (options_.rote.debug_backward) run.debug->look_at_update(*optimizer_);
    const std::optional<StatusRecord> bad = first_non_finite();
    ROTE_CHECK(!bad, NonFiniteError, "non-finite: step ", state_.global_step + 1, ", ", describe(*bad),
               "; the update itself overflowed and the weights are damaged. Resume from the checkpoint before, with a lower --learning_rate.");
  }
  if (!scaler_) return applied;
  const float before = scaler_->get_scale();
  const std::string what = applied ? "" : explain(run, window);
  scaler_->update();
  if (applied) return true;
  if (scaler_->is_at_floor()) {
    hold_step(run, what, "the loss scale is 1 and falls no further", "--bf16 has the range of float32.");
    return false;
  }
  std::fprintf(stderr, "%s; the step is skipped, the loss scale was %g, from here on it is %g\n", what.c_str(), static_cast<double>(before),
               static_cast<double>(scaler_->get_scale()));
  return false;
}

// Runs the window again, listening: the origin of its Inf or NaN in a line, and as files. Gradients are gone afterwards.
std::string Trainer::explain(const Run& run, const Window& window) {
  const std::vector<Tensor> buffers = copied_buffers();  // those of the one run that counts
  int64_t first = run.consumed;
  for (const auto& rows : window.rows) first -= static_cast<int64_t>(rows.size());
  std::vector<MicroBatch> micro_batches;
  for (size_t i = 0; i < window.batches.size(); ++i) {
    micro_batches.push_back({window.rows[i], [this, &run, &window, i, first] { return micro_step(run, window, i, first); }});
    first += static_cast<int64_t>(window.rows[i].size());
  }
  OverflowReport report = explain_overflow(*model_, micro_batches, scaler_ ? std::optional<double>(scaler_->get_scale()) : std::nullopt);
  optimizer_->zero_grad();
  put_back(buffers);
  report.step = state_.global_step + 1;
  const std::string path = write_report(report, args_.output_dir);
  return str(report.line(), " (", path, ".txt)");
}

// A loss that is not finite, or without a loss scale a gradient: no lower scale can help.
void Trainer::give_up_step(const Run& run, const Window& window, double loss) {
  const std::string seen = std::isfinite(loss) ? str("the gradient norm is ", std::abs(run.grad_norm)) : str("the loss is ", std::isnan(loss) ? std::abs(loss) : loss);
  const std::string what = explain(run, window);
  if (scaler_) scaler_->update(scaler_->get_scale());  // it stays, and looks at the gradients of the next update anew
  hold_step(run, what, seen, scaler_ ? "It arose in the forward, where no loss scale helps; --bf16 has the range of float32." : "A lower --learning_rate, or a look at the rows of this step, helps.");
}

// The end of the run, or as the arguments say a step that is left out: of the model and the optimizer nothing has changed then, and the cursor moves.
void Trainer::hold_step(const Run& run, const std::string& what, const std::string& seen, const std::string& advice) {
  const NonFinitePolicy policy = options_.rote.on_nonfinite;
  const int64_t limit = options_.rote.max_nonfinite_steps;
  ROTE_CHECK(policy != NonFinitePolicy::stop, NonFiniteError, "non-finite: ", what, "; ", seen, ", the step was not applied. ", advice);
  ++nonfinite_.total;
  ++nonfinite_.in_a_row;
  ROTE_CHECK(limit == 0 || nonfinite_.in_a_row <= limit, NonFiniteError, "non-finite: ", what, "; ", seen, ", and ", limit,
             limit == 1 ? " step before it was" : " steps in a row before it were", " skipped, as many as --max_nonfinite_steps allows. ", advice);
  put_back(run.buffers);
  std::string rates;
  if (policy == NonFinitePolicy::halve) {
    nonfinite_.rate_factor /= 2;
    if (!schedule_)
      for (optim::Group& group : optimizer_->groups()) group.lr /= 2;
    rates = str(" and the learning rate halved, from here on it is ", nonfinite_.rate_factor, " of what it would be");
  }
  std::fprintf(stderr, "%s; %s, the step is skipped%s\n", what.c_str(), seen.c_str(), rates.c_str());
}

}  // namespace rote
