#include "autograd/mode.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "kernels/check.h"
#include "tensor/generator.h"

namespace rote {

namespace {

thread_local bool grad_mode = true;
thread_local std::optional<DType> autocast;
thread_local std::string path;
thread_local ScopeState* open_scope = nullptr;

// 64-bit FNV-1a over the bytes and a closing zero.
uint64_t fnv(uint64_t hash, const char* text, size_t n) {
  for (size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  return hash * 0x100000001b3u;
}

}  // namespace

bool grad_enabled() { return grad_mode; }
GradMode::GradMode(bool recorded) : before_(grad_mode) { grad_mode = recorded; }
GradMode::~GradMode() { grad_mode = before_; }

AutocastGuard::AutocastGuard(std::optional<DType> lower) : before_(autocast) {
  ROTE_CHECK(!lower || (size_of(*lower) == 2 && is_floating(*lower)), DTypeError, "autocast: ", name(*lower), " is not a dtype to compute in; it must be bf16 or f16.");
  autocast = lower;
}
AutocastGuard::~AutocastGuard() { autocast = before_; }
std::optional<DType> autocast_dtype() { return autocast; }

RunScopeGuard::RunScopeGuard(const RunScope& scope) : outer_(open_scope) {
  static std::atomic<uint64_t> serial{0};
  state_ = {scope, ++serial, {}};
  open_scope = &state_;
}
RunScopeGuard::RunScopeGuard(ScopeState state) : state_(std::move(state)), outer_(open_scope) { open_scope = state_.serial == 0 ? nullptr : &state_; }
RunScopeGuard::~RunScopeGuard() { open_scope = outer_; }

const ScopeState* current_scope_state() { return open_scope; }
const RunScope* current_scope() { return open_scope ? &open_scope->scope : nullptr; }
uint64_t current_scope_serial() { return open_scope ? open_scope->serial : 0; }

uint32_t draw_id(const char* purpose, const std::string& at, uint32_t ordinal) {
  uint64_t hash = 0xcbf29ce484222325u;
  hash = fnv(hash, purpose, std::char_traits<char>::length(purpose));
  hash = fnv(hash, at.data(), at.size());
  const std::string number = std::to_string(ordinal);
  hash = fnv(hash, number.data(), number.size());
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

uint32_t draw_id(const char* purpose) {
  if (open_scope == nullptr) return std::strcmp(purpose, "init") == 0 ? draw_id("init", "", next_init_draw()) : draw_id("user", "", next_user_draw());
  return draw_id(purpose, path, open_scope->draws[std::string(purpose) + '\0' + path]++);
}

PathGuard::PathGuard(const std::string& component) : length_(path.size()) {
  if (component.empty()) return;
  if (!path.empty()) path += '.';
  path += component;
}
PathGuard::~PathGuard() { path.resize(length_); }
const std::string& module_path() { return path; }

PathOf::PathOf(const std::string& of) : before_(std::exchange(path, of)) {}
PathOf::~PathOf() { path = std::move(before_); }

}  // namespace rote
