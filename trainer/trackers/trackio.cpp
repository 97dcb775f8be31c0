#include "trainer/trackers/trackio.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "kernels/check.h"
#include "nn/config.h"
#include "trainer/argument_text.h"
#include "trainer/arguments.h"
#include "trainer/json_text.h"
#include "trainer/python_text.h"
#include "trainer/trackers/names.h"

namespace rote {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The model's configuration, overlaid by the arguments, and who began the run when.
ValueMap config_of(const CallbackContext& context) {
  ValueMap config;
  if (context.model != nullptr && context.model->config() != nullptr) config = *parse_json(nn::config_text(*context.model->config()), "config.json").as_map();
  for (const auto& [name, value] : to_dict(context.args)) config.set(name, value);
  if (context.model != nullptr) config.set("model/num_parameters", context.model->num_parameters());
  const std::string user = variable("USER");
  config.set("_Username", user.empty() ? Value() : Value(user));
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm t = {};
  gmtime_r(&seconds, &t);
  char stamp[64];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S+00:00", &t);
  config.set("_Created", stamp);
  config.set("_Group", Value());
  return config;
}

ValueMap renamed(const ValueMap& metrics) {
  ValueMap row;
  for (const auto& [key, value] : metrics)
    if (!is_of_whole_run(key)) row.set(tracker_name(key), value);
  return row;
}

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// What may stand in the name of a file.
std::string file_name(std::string text) {
  for (char& c : text)
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '-';
  return text.empty() || text == "." || text == ".." ? "run" : text;
}

// Of a run that goes on, the rows before stay where they are.
std::string new_table(const std::string& stem) {
  std::string path = stem + ".csv";
  std::error_code none;  // a name that the disk does not take is told where the table is written
  for (int i = 2; std::filesystem::exists(path, none); ++i) path = str(stem, "-", i, ".csv");
  return path;
}

std::string last_part(const std::string& folder) {
  const std::filesystem::path path(folder);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

TrackioCallback::TrackioCallback() {
  const std::string url = variable("TRACKIO_SERVER_URL");
  write_token_ = variable("TRACKIO_WRITE_TOKEN");
  if (url.empty()) return;
  address_ = parse_address(url, "TRACKIO_SERVER_URL");
  const std::string key = "write_token=";
  if (const size_t at = address_->query.find(key); at != std::string::npos) {
    const size_t begin = at + key.size();
    write_token_ = address_->query.substr(begin, address_->query.find('&', begin) - begin);
  }
  ROTE_CHECK(write_token_.find_first_of("\r\n") == std::string::npos, ArgumentError, "TRACKIO_WRITE_TOKEN: has more than one line; give the token alone.");
}

// What fails costs the run one line and the rest of its rows.
void TrackioCallback::attempt(const std::function<void()>& work) {
  if (failed_) return;
  try {
    work();
  } catch (const std::exception& fault) {
    failed_ = true;
    std::fprintf(stderr, "trackio: %s The run goes on without it.\n", fault.what());
  }
}

void TrackioCallback::open(const CallbackContext& context) {
  if (!context.state.is_world_process_zero || server_ || !table_path_.empty()) return;
  const TrainingArguments& args = context.args;
  if (run_.empty()) run_ = args.run_name && !args.run_name->empty() ? *args.run_name : last_part(args.output_dir) + "-" + fresh_id().substr(0, 8);
  if (address_) server_ = std::make_unique<TrackioServer>(*address_, write_token_, TrackioRun{args.project, run_, config_of(context)});
  else table_path_ = new_table(args.output_dir + "/trackio/" + file_name(run_));
}

void TrackioCallback::on_train_begin(const CallbackContext& context, TrainerControl&) {
  attempt([&] { open(context); });
}

void TrackioCallback::on_log(const CallbackContext& context, TrainerControl&) {
  if (context.logs == nullptr || !context.state.is_world_process_zero) return;
  attempt([&] {
    open(context);
    ValueMap row = renamed(*context.logs);
    row.set("train/global_step", context.state.global_step);
    log(std::move(row));
  });
}

void TrackioCallback::on_predict(const CallbackContext& context, TrainerControl&) {
  if (context.metrics == nullptr || !context.state.is_world_process_zero) return;
  attempt([&] {
    open(context);
    log(renamed(*context.metrics));
  });
}

void TrackioCallback::log(ValueMap row) {
  if (server_) server_->log(std::move(row));
  else append_to_table(row);
}

std::string TrackioCallback::line(size_t number) const {
  std::string text = std::to_string(number);
  for (const std::string& name : columns_) {
    const Value* value = rows_[number].find(name);
    text += "," + (value ? cell(python_str(*value)) : "");
  }
  return text + "\n";
}

// Written anew, and whole, where the row has a column that was not there yet.
void TrackioCallback::append_to_table(const ValueMap& row) {
  const size_t before = columns_.size();
  for (const auto& [name, value] : row)
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) columns_.push_back(name);
  rows_.push_back(row);
  if (table_ && columns_.size() == before) return table_->write(line(rows_.size() - 1));
  std::string text = "step";
  for (const std::string& name : columns_) text += "," + cell(name);
  text += "\n";
  for (size_t i = 0; i < rows_.size(); ++i) text += line(i);
  const std::string folder = std::filesystem::path(table_path_).parent_path();
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  ROTE_CHECK(!fault, IoError, "write ", folder, ": ", fault.message(), ".");
  write_file(table_path_, text);
  table_ = std::make_unique<AppendFile>(table_path_, static_cast<int64_t>(text.size()));
}

void TrackioCallback::on_train_end(const CallbackContext& context, TrainerControl&) {
  server_.reset();
  if (!table_path_.empty() && !failed_ && !rows_.empty())
    std::fprintf(stderr, "trackio: the run is in %s; trackio.import_csv(path, project=\"%s\") shows it, and with TRACKIO_SERVER_URL it goes to a server at once\n",
                 table_path_.c_str(), context.args.project.c_str());
}

}  // namespace rote
