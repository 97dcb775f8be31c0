#include "trainer/trace_file.h"

#include <algorithm>
#include <cstring>

#include "kernels/check.h"
#include "kernels/fingerprint.h"

namespace rote {

namespace {

constexpr int64_t kMostHeader = 256;
constexpr size_t kFrameHead = sizeof(uint32_t);

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& bytes, const std::string& text) {
  ROTE_CHECK(text.size() <= 0xFFFF, ArgumentError, "trace_hashes: the name ", text.substr(0, 40), "… has ", text.size(), " bytes; at most 65535 are taken.");
  put(bytes, static_cast<uint16_t>(text.size()));
  bytes += text;
}

bool has_inputs(TraceRole role) { return role == TraceRole::op || role == TraceRole::op_backward; }

// The bytes of one frame, taken from the front; a frame that ends too soon is damaged, as its length said otherwise.
struct FrameBytes {
  const std::string& path;
  const char* at;
  const char* end;

  [[noreturn]] void damaged(const char* what) const { throw IoError(str("read ", path, ": the trace is damaged, ", what, "; make the run again.")); }
  template <class T>
  T take() {
    if (end - at < static_cast<std::ptrdiff_t>(sizeof(T))) damaged("a frame ends within a record");
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string take_text() {
    const auto length = take<uint16_t>();
    if (end - at < length) damaged("a frame ends within a name");
    at += length;
    return std::string(at - length, length);
  }
};

}  // namespace

TraceLevel level_of(TraceRole role) {
  switch (role) {
    case TraceRole::module: return TraceLevel::modules;
    case TraceRole::op:
    case TraceRole::op_backward: return TraceLevel::ops;
    default: return TraceLevel::steps;
  }
}

std::string describe(const TraceName& name) {
  const std::string place = name.module.empty() ? "the model" : name.module;
  switch (name.role) {
    case TraceRole::batch: return "batch: " + name.tensor;
    case TraceRole::module: return str("module ", place, ": ", name.tensor);
    case TraceRole::op: return str("op ", name.op, " in ", place, ": ", name.tensor);
    case TraceRole::op_backward: return str("backward of op ", name.op, " in ", place, ": d", name.tensor);
    case TraceRole::loss: return "loss";
    case TraceRole::gradient: return "gradient of " + name.tensor;
    case TraceRole::parameter: break;
  }
  return "parameter " + name.tensor;
}

uint64_t next_link(uint64_t link, const TraceStep& step) {
  link = fingerprint_mix(link, static_cast<uint64_t>(step.step));
  for (const TraceRecord& record : step.records) link = fingerprint_mix(link, record.hash);
  return link;
}

uint32_t TraceNames::id_of(const TraceName& name) {
  const auto [found, is_new] = ids_.emplace(name, static_cast<uint32_t>(all_.size()));
  if (is_new) all_.push_back(name);
  return found->second;
}

TraceReader::TraceReader(const std::string& path) : file_(path) {
  std::string head(static_cast<size_t>(std::min(kMostHeader, file_.bytes())), '\0');
  file_.read(0, static_cast<int64_t>(head.size()), head.data());
  const size_t end = head.find('\n'), blank = head.rfind(' ', end);
  ROTE_CHECK(head.starts_with(kTraceMagic) && end != std::string::npos && blank >= sizeof kTraceMagic, IoError, "read ", path,
             ": it does not begin as a trace of this version does, with \"", kTraceMagic, "CONTRACT LEVEL\"; give the ", kTraceFile, " of a run.");
  contract_ = head.substr(sizeof kTraceMagic - 1, blank - (sizeof kTraceMagic - 1));
  const std::string word = head.substr(blank + 1, end - blank - 1);
  const std::vector<std::string> words = words_of(TraceLevel{});
  const auto found = std::find(words.begin() + 1, words.end(), word);
  ROTE_CHECK(found != words.end(), IoError, "read ", path, ": its level is \"", word, "\"; it must be steps, modules or ops.");
  level_ = static_cast<TraceLevel>(found - words.begin());
  place_ = static_cast<int64_t>(end) + 1;
}

std::optional<TraceStep> TraceReader::next() {
  const int64_t left = file_.bytes() - place_;
  uint32_t length = 0;
  if (left < static_cast<int64_t>(kFrameHead)) return {};
  file_.read(place_, kFrameHead, &length);
  if (left - static_cast<int64_t>(kFrameHead) < length) return {};
  std::string bytes(length, '\0');
  file_.read(place_ + static_cast<int64_t>(kFrameHead), length, bytes.data());
  FrameBytes frame{file_.path(), bytes.data(), bytes.data() + bytes.size()};
  TraceStep step;
  step.step = frame.take<int64_t>();
  step.link = frame.take<uint64_t>();
  if (step.step <= last_.step) frame.damaged("its steps do not ascend");
  while (frame.at < frame.end) {
    TraceRecord record;
    record.name = frame.take<uint32_t>();
    if (record.name > names_.size()) frame.damaged("a record has no name");
    if (record.name == names_.size()) {
      TraceName name;
      const auto role = frame.take<uint8_t>();
      if (role >= kTraceRoles) frame.damaged("a record is of no known kind");
      name.role = static_cast<TraceRole>(role);
      name.module = frame.take_text(), name.op = frame.take_text(), name.tensor = frame.take_text();
      if (names_.id_of(name) != record.name) frame.damaged("a name comes twice");
    }
    record.hash = frame.take<uint64_t>();
    if (has_inputs(names_[record.name].role)) record.inputs = frame.take<uint64_t>();
    step.records.push_back(record);
  }
  if (step.link != next_link(last_.link, step)) frame.damaged("its chain of hashes is broken");
  last_ = {step.step, step.link};
  place_ += static_cast<int64_t>(kFrameHead) + length;
  return step;
}

TraceWriter::TraceWriter(const std::string& path, TraceLevel level, const std::string& contract, int64_t keep) {
  int64_t kept_bytes = 0;
  if (keep > 0 && is_file(path)) {
    TraceReader before(path);
    ROTE_CHECK(before.level() == level && before.contract() == contract, ArgumentError, "trace_hashes: ", path, " holds ", before.contract(), " ", word_of(before.level()),
               ", this run would go on with ", contract, " ", word_of(level), "; give --trace_hashes ", word_of(before.level()), " or move the file away.");
    // A step is known to lie beyond only when it is read: what it named is then left behind with it.
    TraceReader kept(path);
    for (std::optional<TraceStep> step = before.next(); step && step->step <= keep; step = before.next()) kept.next();
    names_ = kept.names(), link_ = kept.link(), kept_bytes = kept.place();
    is_new_ = names_.size() == 0;
    for (uint32_t id = 0; id < names_.size(); ++id) written_.emplace(id, id);
  }
  file_ = std::make_unique<AppendFile>(path, kept_bytes);
  if (kept_bytes == 0) file_->write(str(kTraceMagic, contract, " ", word_of(level), "\n"));
}

void TraceWriter::write(TraceStep step) {
  link_ = step.link = next_link(link_, step);
  std::string bytes;
  put(bytes, uint32_t{0});
  put(bytes, step.step);
  put(bytes, step.link);
  for (const TraceRecord& record : step.records) {
    const TraceName& name = names_[record.name];
    const auto [known, is_new] = written_.emplace(record.name, static_cast<uint32_t>(written_.size()));
    put(bytes, known->second);
    if (is_new) {
      put(bytes, static_cast<uint8_t>(name.role));
      put_text(bytes, name.module), put_text(bytes, name.op), put_text(bytes, name.tensor);
    }
    put(bytes, record.hash);
    if (has_inputs(name.role)) put(bytes, record.inputs);
  }
  const auto length = static_cast<uint32_t>(bytes.size() - kFrameHead);
  std::memcpy(bytes.data(), &length, sizeof length);
  file_->write(bytes);
}

}  // namespace rote
