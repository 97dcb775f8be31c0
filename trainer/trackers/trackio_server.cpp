#include "trainer/trackers/trackio_server.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

#include "kernels/check.h"
#include "trainer/json_text.h"

namespace rote {

namespace {

// JSON has no word for these.
Value plain(const Value& value) {
  double number = 0;
  if (!value.number(number) || std::isfinite(number)) return value;
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

std::string fresh_id() {
  unsigned char bytes[16] = {};
  ROTE_CHECK(::getentropy(bytes, sizeof bytes) == 0, IoError, "trackio: the system gives no random bytes.");
  std::string id;
  for (const unsigned char byte : bytes) id += "0123456789abcdef"[byte >> 4], id += "0123456789abcdef"[byte & 15];
  return id;
}

TrackioServer::TrackioServer(HttpAddress address, std::string write_token, TrackioRun run)
    : address_(std::move(address)), write_token_(std::move(write_token)), run_(std::move(run)), run_id_(fresh_id()), worker_([this] { work(); }) {}

void TrackioServer::log(ValueMap metrics) {
  Row row = {fresh_id(), std::move(metrics)};
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(row));
  changed_.notify_one();
}

void TrackioServer::finish() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_one();
  }
  worker_.join();
}

void TrackioServer::work() {
  bool is_there = try_some_times([this] { begin(); });
  while (true) {
    std::vector<Row> rows;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
      rows.swap(waiting_);
      if (rows.empty()) return;
    }
    if (is_there) is_there = try_some_times([&] { send(rows); });
  }
}

bool TrackioServer::try_some_times(const std::function<void()>& request) {
  constexpr int kTries = 5;
  for (int i = 1;; ++i) {
    try {
      request();
      return true;
    } catch (const Error& fault) {
      if (i < kTries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100 << i));
        continue;
      }
      std::fprintf(stderr, "trackio: %s The run goes on without it.\n", fault.what());
      return false;
    }
  }
}

Value TrackioServer::call(const std::string& name, ValueMap arguments) const {
  HttpHeaders headers;
  if (!write_token_.empty()) headers.emplace_back("X-Trackio-Write-Token", write_token_);
  const std::string path = "/api/" + name;
  const HttpAnswer answer = post_json(address_, path, headers, json_text(ValueMap{{"args", ValueList{}}, {"kwargs", std::move(arguments)}}, {.indent = -1}));
  const Value parsed = answer.body.empty() ? Value(ValueMap{}) : parse_json(answer.body, path);
  const ValueMap* fields = parsed.as_map();
  const Value* fault = fields ? fields->find("error") : nullptr;
  std::string reason = fault && fault->as_text() ? ", " + *fault->as_text() : "";
  while (reason.ends_with('.')) reason.pop_back();
  ROTE_CHECK(answer.status == 200 && fields != nullptr && (fault == nullptr || fault->is_null()), IoError, path, ": the server answers ", answer.status, reason, ".");
  const Value* data = fields->find("data");
  return data ? *data : Value();
}

// A run of this name, where there is one.
void TrackioServer::begin() {
  const Value runs = call("get_runs_for_project", {{"project", run_.project}});
  if (runs.as_list() == nullptr) return;
  for (const Value& one : *runs.as_list()) {
    const ValueMap* run = one.as_map();
    const Value *name = run ? run->find("name") : nullptr, *id = run ? run->find("id") : nullptr;
    if (!name || !id || !name->as_text() || !id->as_text() || *name->as_text() != run_.run) continue;
    const Value summary = call("get_run_summary", {{"project", run_.project}, {"run", run_.run}, {"run_id", *id->as_text()}});
    const Value* last = summary.as_map() ? summary.as_map()->find("last_step") : nullptr;
    run_id_ = *id->as_text();
    constexpr int64_t kMostSteps = int64_t{1} << 53;
    step_ = last && last->as_int() && *last->as_int() < kMostSteps ? std::max<int64_t>(*last->as_int(), -1) + 1 : 0;
  }
}

void TrackioServer::send(const std::vector<Row>& rows) {
  ValueList logs;
  int64_t step = step_;
  for (const Row& row : rows) {
    ValueMap metrics;
    for (const auto& [name, value] : row.metrics) metrics.set(name, plain(value));
    logs.push_back(ValueMap{{"project", run_.project}, {"run", run_.run}, {"run_id", run_id_}, {"metrics", metrics}, {"step", step}, {"log_id", row.id},
                            {"config", logs.empty() && !run_.config.empty() ? Value(run_.config) : Value()}});
    ++step;
  }
  call("bulk_log", {{"logs", logs}, {"hf_token", Value()}});
  run_.config = {};  // is there now
  step_ = step;
}

}  // namespace rote
