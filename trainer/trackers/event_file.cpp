#include "trainer/trackers/event_file.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "kernels/check.h"
#include "trainer/trackers/protobuf.h"

namespace rote {

namespace {

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82F63B78u : 0);
  }
  return table;
}();

// So that a checksum of bytes that hold checksums is none of zeros.
uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xA282EAD8u; }

std::atomic<int> files_made = 0;  // by this process

}  // namespace

double seconds_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

uint32_t crc32c(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

EventFile::EventFile(const std::string& folder, const EventFileOptions& options) : now_(options.now ? options.now : seconds_now) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  ROTE_CHECK(!fault, IoError, "write ", folder, ": ", fault.message(), ".");
  char begun[32];
  std::snprintf(begun, sizeof begun, "%010lld", static_cast<long long>(now_()));
  path_ = str(folder, "/events.out.tfevents.", begun, ".", options.host.empty() ? host_name() : options.host, ".", options.pid != 0 ? options.pid : ::getpid(), ".",
              files_made++);
  file_ = std::make_unique<AppendFile>(path_, 0);
  write_event(protobuf::bytes(3, "brain.Event:2"), 0);
  flush();
}

// Event: 1 wall_time, 2 step, and one of 3 file_version, 5 summary.
void EventFile::write_event(const std::string& content, int64_t step) {
  write_record(protobuf::number(1, now_()) + (step != 0 ? protobuf::integer(2, step) : "") + content);
}

void EventFile::write_record(const std::string& payload) {
  std::string length;
  protobuf::append_little_endian(length, static_cast<uint64_t>(payload.size()));
  pending_ += length;
  protobuf::append_little_endian(pending_, masked(crc32c(length)));
  pending_ += payload;
  protobuf::append_little_endian(pending_, masked(crc32c(payload)));
}

// Summary: 1 value; Value: 1 tag, 2 simple_value.
void EventFile::add_scalar(const std::string& tag, float value, int64_t step) {
  write_event(protobuf::bytes(5, protobuf::bytes(1, protobuf::bytes(1, tag) + protobuf::number(2, value))), step);
}

// Value: 8 tensor {1 dtype string, 2 shape {2 dim {1 size}}, 8 string_val}, 9 metadata {1 plugin_data {1 plugin_name}}.
void EventFile::add_text(const std::string& tag, const std::string& text, int64_t step) {
  constexpr int64_t kString = 7;
  const std::string tensor = protobuf::integer(1, kString) + protobuf::bytes(2, protobuf::bytes(2, protobuf::integer(1, 1))) + protobuf::bytes(8, text);
  const std::string metadata = protobuf::bytes(1, protobuf::bytes(1, "text"));
  write_event(protobuf::bytes(5, protobuf::bytes(1, protobuf::bytes(1, tag + "/text_summary") + protobuf::bytes(8, tensor) + protobuf::bytes(9, metadata))), step);
}

void EventFile::flush() {
  file_->write(pending_);
  pending_.clear();
}

}  // namespace rote
