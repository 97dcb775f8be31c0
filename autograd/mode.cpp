#include "autograd/mode.h"

#include <atomic>
#include <cstring>
#include <memory>

#include "tensor/generator.h"

namespace rote {

namespace {

thread_local bool grad_mode = true;
thread_local std::string path;

// 64-bit FNV-1a over the bytes and a closing zero.
uint64_t fnv(uint64_t hash, const char* text, size_t n) {
  for (size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  return hash * 0x100000001b3u;
}

}  // namespace

struct RunScopeGuard::State {
  RunScope scope;
  uint64_t serial;
  std::unordered_map<std::string, uint32_t> draws;  // purpose and path -> calls so far
  State* outer;
  static thread_local State* current;
};
thread_local RunScopeGuard::State* RunScopeGuard::State::current = nullptr;

bool grad_enabled() { return grad_mode; }
NoGrad::NoGrad() : before_(grad_mode) { grad_mode = false; }
NoGrad::~NoGrad() { grad_mode = before_; }

RunScopeGuard::RunScopeGuard(const RunScope& scope) {
  static std::atomic<uint64_t> serial{0};
  state_ = new State{scope, ++serial, {}, State::current};
  State::current = state_;
}

RunScopeGuard::~RunScopeGuard() {
  State::current = state_->outer;
  delete state_;
}

const RunScope* current_scope() { return RunScopeGuard::State::current ? &RunScopeGuard::State::current->scope : nullptr; }
uint64_t current_scope_serial() { return RunScopeGuard::State::current ? RunScopeGuard::State::current->serial : 0; }

uint32_t draw_id(const char* purpose, const std::string& at, uint32_t ordinal) {
  uint64_t hash = 0xcbf29ce484222325u;
  hash = fnv(hash, purpose, std::char_traits<char>::length(purpose));
  hash = fnv(hash, at.data(), at.size());
  const std::string number = std::to_string(ordinal);
  hash = fnv(hash, number.data(), number.size());
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

uint32_t draw_id(const char* purpose) {
  RunScopeGuard::State* state = RunScopeGuard::State::current;
  if (state == nullptr) return std::strcmp(purpose, "init") == 0 ? draw_id("init", "", next_init_draw()) : draw_id("user", "", next_user_draw());
  return draw_id(purpose, path, state->draws[std::string(purpose) + '\0' + path]++);
}

PathGuard::PathGuard(const std::string& component) : length_(path.size()) {
  if (component.empty()) return;
  if (!path.empty()) path += '.';
  path += component;
}
PathGuard::~PathGuard() { path.resize(length_); }
const std::string& module_path() { return path; }

}  // namespace rote
