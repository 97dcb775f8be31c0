// trainer/trackers/trackio_server.h — TrackioServer: rows of a run to a `trackio show` server, sent by a thread of its own. Knows no Trainer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trainer/trackers/http.h"
#include "trainer/value.h"

namespace rote {

struct TrackioRun {
  std::string project, run;
  ValueMap config = {};
};

// 32 hexadecimal digits that no one else has. No part of a run's bits.
std::string fresh_id();

// log() never waits. A run of this name is gone on with behind its last step. A server that does not answer after some tries costs one warning, and
// what comes after is dropped; what was sent twice counts once, by its id.
class TrackioServer {
 public:
  TrackioServer(HttpAddress address, std::string write_token, TrackioRun run);
  ~TrackioServer() { finish(); }
  TrackioServer(const TrackioServer&) = delete;
  TrackioServer& operator=(const TrackioServer&) = delete;

  void log(ValueMap metrics);
  // Waits until all rows are sent or given up; nothing may be logged afterwards.
  void finish();

 private:
  struct Row {
    std::string id;
    ValueMap metrics;
  };
  void work();
  void begin();
  void send(const std::vector<Row>& rows);
  Value call(const std::string& name, ValueMap arguments) const;
  bool try_some_times(const std::function<void()>& request);

  const HttpAddress address_;
  const std::string write_token_;
  TrackioRun run_;
  std::string run_id_;
  int64_t step_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Row> waiting_;
  bool is_over_ = false;
  std::thread worker_;
};

}  // namespace rote
