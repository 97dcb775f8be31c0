// tensor/storage.h — Device and Storage: a counted buffer with a version number. No shape.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace rote {

enum class DeviceType : uint8_t { cpu };

struct Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Device& device);
Device device_from(const std::string& text);  // "cpu"; DeviceError with the devices of this build otherwise

class Storage {
 public:
  Storage(int64_t bytes, Device device);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  // Counts in-place writes: a backward that saved an older version refuses to run.
  int64_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::byte* data_;
  int64_t bytes_;
  Device device_;
  std::atomic<int64_t> version_{0};
};

}  // namespace rote
