// trainer/trackers/event_file.h — EventFile: the file that TensorBoard reads, events in records with checksums. Knows no Trainer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tensor/file.h"

namespace rote {

// CRC-32C (Castagnoli) of the bytes.
uint32_t crc32c(const std::string& bytes);

double seconds_now();  // since 1970
std::string host_name();

// What is written beside the values; by default of this process and machine.
struct EventFileOptions {
  std::function<double()> now = {};  // seconds since 1970
  std::string host = {};
  int64_t pid = 0;
};

// FOLDER/events.out.tfevents.SECONDS.HOST.PID.COUNTER, made with the folder. Throws IoError where that or a write fails.
class EventFile {
 public:
  explicit EventFile(const std::string& folder, const EventFileOptions& options = {});

  void add_scalar(const std::string& tag, float value, int64_t step);
  // Shown under TAG/text_summary.
  void add_text(const std::string& tag, const std::string& text, int64_t step);
  void flush();  // what was added since the last one is written

  const std::string& path() const { return path_; }

 private:
  void write_event(const std::string& content, int64_t step);
  void write_record(const std::string& payload);

  std::function<double()> now_;
  std::string path_, pending_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace rote
