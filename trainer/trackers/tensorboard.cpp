#include "trainer/trackers/tensorboard.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "kernels/check.h"
#include "nn/config.h"
#include "trainer/argument_text.h"
#include "trainer/arguments.h"
#include "trainer/python_text.h"
#include "trainer/trackers/names.h"

namespace rote {

namespace {

std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return home != nullptr && (path == "~" || path.starts_with("~/")) ? home + path.substr(1) : path;
}

std::string folder_of(const TrainingArguments& args, double now, const std::string& host) {
  if (const char* named = std::getenv("TENSORBOARD_LOGGING_DIR"); named != nullptr && *named != '\0') return with_home(named);
  if (args.logging_dir) return with_home(*args.logging_dir);
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = static_cast<std::time_t>(now);
  std::tm t = {};
  localtime_r(&seconds, &t);
  char stamp[64];
  std::snprintf(stamp, sizeof stamp, "%s%02d_%02d-%02d-%02d_", kMonths[t.tm_mon], t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
  return args.output_dir + "/runs/" + stamp + host;
}

}  // namespace

void TensorBoardCallback::write(const CallbackContext& context, const std::function<void(EventFile&)>& add) {
  if (failed_ || !context.state.is_world_process_zero) return;
  try {
    if (!file_) open(context);
    add(*file_);
    file_->flush();
  } catch (const Error& fault) {
    failed_ = true;
    std::fprintf(stderr, "tensorboard: %s The run goes on without it.\n", fault.what());
  }
}

void TensorBoardCallback::open(const CallbackContext& context) {
  const double now = options_.now ? options_.now() : seconds_now();
  file_ = std::make_unique<EventFile>(folder_of(context.args, now, options_.host.empty() ? host_name() : options_.host), options_);
  file_->add_text("args", to_json_string(context.args), 0);
  if (context.model != nullptr && context.model->config() != nullptr) file_->add_text("model_config", nn::config_text(*context.model->config()), 0);
}

void TensorBoardCallback::on_train_begin(const CallbackContext& context, TrainerControl&) {
  file_.reset();
  write(context, [](EventFile&) {});
}

void TensorBoardCallback::on_log(const CallbackContext& context, TrainerControl&) {
  if (context.logs == nullptr) return;
  write(context, [&](EventFile& file) {
    for (const auto& [key, value] : *context.logs) {
      double number = 0;
      if (value.as_bool() != nullptr) file.add_scalar(tracker_name(key), *value.as_bool() ? 1 : 0, context.state.global_step);
      else if (value.number(number)) file.add_scalar(tracker_name(key), static_cast<float>(number), context.state.global_step);
      else if (value.as_text() != nullptr) file.add_text(tracker_name(key), *value.as_text(), context.state.global_step);
      else std::fprintf(stderr, "tensorboard: %s is left out, for %s is no number and no text\n", key.c_str(), python_repr(value).c_str());
    }
  });
}

}  // namespace rote
