// trainer/progress.cpp — drawing the bar and its numbers.
#include "trainer/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "kernels/check.h"
#include "trainer/callbacks.h"
#include "trainer/python_text.h"

namespace rote {

namespace {

std::string clock_text(double seconds) {
  const int64_t whole = static_cast<int64_t>(seconds);
  char buffer[40];
  if (whole >= 3600)
    std::snprintf(buffer, sizeof buffer, "%lld:%02d:%02d", static_cast<long long>(whole / 3600), static_cast<int>(whole / 60 % 60),
                  static_cast<int>(whole % 60));
  else std::snprintf(buffer, sizeof buffer, "%02d:%02d", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
  return buffer;
}

double machine_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string decimals(double value, int count) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", count, value);
  return buffer;
}

}  // namespace

std::string progress_text(const Progress& p) {
  std::string out = str(p.done, "/", p.total, " [", clock_text(p.seconds));
  if (p.done > p.since && p.seconds > 0) {
    const double each = p.seconds / static_cast<double>(p.done - p.since);
    out += "<" + clock_text(static_cast<double>(p.total - p.done) * each);
    out += each <= 1 ? ", " + decimals(1 / each, 2) + "it/s" : ", " + decimals(each, 2) + "s/it";
  }
  if (p.loss) out += ", loss=" + general_float(*p.loss, 4);
  return out + "]";
}

std::string progress_bar(const Progress& p) {
  constexpr int64_t kCells = 10;
  const double share = p.total > 0 ? std::clamp(static_cast<double>(p.done) / static_cast<double>(p.total), 0.0, 1.0) : 0.0;
  const int64_t full = static_cast<int64_t>(share * kCells);
  std::string cells;
  for (int64_t i = 0; i < kCells; ++i) cells += i < full ? "█" : " ";
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3d%%", static_cast<int>(share * 100));
  return percent + ("|" + cells + "| ") + progress_text(p);
}

ProgressCallback::ProgressCallback(ProgressOptions options) : options_(std::move(options)) {
  if (!options_.bars) options_.bars = &std::cerr;
  if (!options_.lines) options_.lines = &std::cout;
  if (!options_.terminal) options_.terminal = isatty(STDERR_FILENO) != 0;
  if (!options_.seconds) options_.seconds = machine_seconds;
}

void ProgressCallback::draw(Bar& bar, bool now) {
  bar.progress.seconds = options_.seconds() - bar.begun;
  if (!*options_.terminal || (!now && options_.seconds() - last_drawn_ < 0.1)) return;
  last_drawn_ = options_.seconds();
  *options_.bars << "\r" << progress_bar(bar.progress) << "\x1b[K" << std::flush;
}

void ProgressCallback::clear() {
  if (*options_.terminal) *options_.bars << "\r\x1b[K" << std::flush;
}

void ProgressCallback::on_train_begin(const CallbackContext& context, TrainerControl&) {
  if (!context.state.is_world_process_zero) return;
  const int64_t step = context.state.global_step;
  training_ = Bar{{.done = step, .total = context.state.max_steps, .since = step}, options_.seconds()};
  draw(*training_, true);
}

void ProgressCallback::on_step_end(const CallbackContext& context, TrainerControl&) {
  if (!training_) return;
  training_->progress.done = context.state.global_step;
  draw(*training_, context.state.global_step >= context.state.max_steps);
}

void ProgressCallback::on_prediction_step(const CallbackContext& context, TrainerControl&) {
  if (!context.state.is_world_process_zero || !context.eval_batches) return;
  if (!evaluation_) evaluation_ = Bar{{.total = *context.eval_batches}, options_.seconds()};
  evaluation_->progress.done += 1;
  draw(*evaluation_, evaluation_->progress.done == evaluation_->progress.total);
}

void ProgressCallback::end_evaluation() {
  if (!evaluation_) return;
  evaluation_.reset();
  if (training_) draw(*training_, true);
  else if (*options_.terminal) *options_.bars << std::endl;  // the finished bar stays when there is no other
}

void ProgressCallback::on_evaluate(const CallbackContext&, TrainerControl&) { end_evaluation(); }
void ProgressCallback::on_predict(const CallbackContext&, TrainerControl&) { end_evaluation(); }

void ProgressCallback::on_log(const CallbackContext& context, TrainerControl&) {
  if (!training_ || !context.logs) return;
  double loss = 0;
  const Value* logged = context.logs->find("loss");
  const bool has_loss = logged && logged->number(loss);
  if (has_loss) training_->progress.loss = loss;
  clear();
  *options_.lines << log_line(*context.logs, options_.max_str_len) << std::endl;
  draw(*training_, true);
  if (has_loss && !*options_.terminal) *options_.bars << progress_text(training_->progress) << std::endl;
}

void ProgressCallback::on_train_end(const CallbackContext&, TrainerControl&) {
  if (training_ && *options_.terminal) *options_.bars << std::endl;
  training_.reset();
}

}  // namespace rote
