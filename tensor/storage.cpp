#include "tensor/storage.h"

#include <ostream>

#include "kernels/check.h"
#include "tensor/alloc.h"

namespace rote {

std::ostream& operator<<(std::ostream& out, const Device&) { return out << "cpu"; }

Device device_from(const std::string& text) {
  ROTE_CHECK(text == "cpu", DeviceError, "device: \"", text, "\" is not a device of this build; it has cpu.");
  return {};
}

Storage::Storage(int64_t bytes, Device device) : data_(static_cast<std::byte*>(allocate(bytes))), bytes_(bytes), device_(device) {}
Storage::~Storage() { release(data_); }

}  // namespace rote
