// trainer/trace_file.h — the file of a run's trace: a line that says what it is, then a frame of fingerprints an update (docs/reproducibility.md).
// Read and written update by update; what is in one: trace.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/file.h"
#include "trainer/rote_arguments.h"

namespace rote {

inline constexpr char kTraceFile[] = "trace.bin";     // in output_dir
inline constexpr char kTraceMagic[] = "rote trace 1 ";  // how one begins, with the version of its format

enum class TraceRole : uint8_t { batch, module, op, op_backward, loss, gradient, parameter };
inline constexpr int kTraceRoles = 7;
TraceLevel level_of(TraceRole role);  // the first that holds it

// What a fingerprint is of. module and op are empty where there is none.
struct TraceName {
  TraceRole role = TraceRole::batch;
  std::string module, op, tensor;

  friend auto operator<=>(const TraceName&, const TraceName&) = default;
};
// "op gelu in bert.encoder.layer.0: y", "gradient of classifier.weight"
std::string describe(const TraceName& name);

struct TraceRecord {
  uint32_t name = 0;    // index into the names of the trace
  uint64_t hash = 0;    // fingerprint(x)
  uint64_t inputs = 0;  // of an op and of its backward: the fingerprints of all that it read, taken in, in order, from 0 on
};

struct TraceStep {
  int64_t step = 0;   // global_step after the update; the first of a trace holds the parameters that its run began with
  uint64_t link = 0;  // of the chain: from the link before (at first 0) on, the step and each hash taken in
  std::vector<TraceRecord> records;
};
uint64_t next_link(uint64_t link, const TraceStep& step);

// Names in the order in which they first came.
class TraceNames {
 public:
  uint32_t id_of(const TraceName& name);  // a new one where it is not there
  const TraceName& operator[](uint32_t id) const { return all_[id]; }
  size_t size() const { return all_.size(); }

 private:
  std::vector<TraceName> all_;
  std::map<TraceName, uint32_t> ids_;
};

class TraceReader {
 public:
  // Throws IoError, as next() does, for a file that is no trace of this version or is damaged. A last frame that a kill has cut short is no fault.
  explicit TraceReader(const std::string& path);

  std::optional<TraceStep> next();  // none at the end
  TraceLevel level() const { return level_; }
  const std::string& contract() const { return contract_; }
  const std::string& path() const { return file_.path(); }
  const TraceNames& names() const { return names_; }  // of the steps read so far
  uint64_t link() const { return last_.link; }        // of the last of them
  int64_t place() const { return place_; }            // bytes up to its end

 private:
  InputFile file_;
  TraceLevel level_ = TraceLevel::no;
  std::string contract_;
  TraceNames names_;
  struct { int64_t step = -1; uint64_t link = 0; } last_;
  int64_t place_ = 0;
};

class TraceWriter {
 public:
  // A trace begins anew, with `keep` > 0 behind update `keep` of the one that is there, if any: what lies beyond is cut off.
  // Throws ArgumentError where that one is of another level or contract, IoError where it cannot be read or written.
  TraceWriter(const std::string& path, TraceLevel level, const std::string& contract, int64_t keep);

  TraceNames& names() { return names_; }
  bool is_new() const { return is_new_; }  // nothing of an earlier one has stayed
  // The link is computed here. Throws IoError.
  void write(TraceStep step);

 private:
  std::unique_ptr<AppendFile> file_;
  TraceNames names_;
  std::map<uint32_t, uint32_t> written_;  // names of the file so far, with their numbers there: one that no written step has is not in it
  uint64_t link_ = 0;
  bool is_new_ = true;
};

}  // namespace rote
