// tests/trainer/trace_file_test.cpp — a trace is read as it was written, goes on where a run does, and shows any damage.
#include "trainer/trace_file.h"

#include <doctest/doctest.h>

#include "kernels/check.h"
#include "tests/support/place.h"

namespace rote::testing {

namespace {

TraceStep step_of(TraceNames& names, int64_t step, uint64_t hash) {
  return {.step = step,
          .link = 0,
          .records = {{names.id_of({TraceRole::batch, "", "", "input_ids"}), hash},
                      {names.id_of({TraceRole::op, "bert.pooler", "linear", "y"}), hash + 1, hash + 2},
                      {names.id_of({TraceRole::op, "bert.pooler", str("new in ", step), "y"}), hash + 3, hash + 4}}};
}

void write_steps(const std::string& path, int64_t from, int64_t to, TraceLevel level = TraceLevel::ops) {
  TraceWriter writer(path, level, "AC-1", from - 1);
  for (int64_t step = from; step <= to; ++step) writer.write(step_of(writer.names(), step, static_cast<uint64_t>(100 * step)));
}

// "step: name=hash(inputs) …" a line each.
std::string text_of(const std::string& path) {
  TraceReader reader(path);
  std::string text = str(reader.contract(), " ", word_of(reader.level()), "\n");
  while (const std::optional<TraceStep> step = reader.next()) {
    text += str(step->step, ":");
    for (const TraceRecord& r : step->records) text += str(" ", describe(reader.names()[r.name]), "=", r.hash, "(", r.inputs, ")");
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("trace file: what was written is read") {
  const TempFolder folder;
  write_steps(folder.file("trace.bin"), 1, 2);
  CHECK(text_of(folder.file("trace.bin")) ==
        "AC-1 ops\n1: batch: input_ids=100(0) op linear in bert.pooler: y=101(102) op new in 1 in bert.pooler: y=103(104)\n"
        "2: batch: input_ids=200(0) op linear in bert.pooler: y=201(202) op new in 2 in bert.pooler: y=203(204)\n");
  CHECK(read_text(folder.file("trace.bin")).starts_with("rote trace 1 AC-1 ops\n"));
}

TEST_CASE("trace file: a run that goes on behind any step leaves the bytes of one that was never stopped") {
  const TempFolder folder;
  const std::string whole = folder.file("whole"), part = folder.file("part");
  write_steps(whole, 1, 6);
  for (int64_t behind = 1; behind <= 5; ++behind) {
    write_steps(part, 1, 5);
    write_steps(part, behind + 1, 6);
    CAPTURE(behind);
    CHECK(read_text(part) == read_text(whole));
  }
  // So it does where a kill has cut the last frame, anywhere.
  const std::string bytes = read_text(whole);
  TraceReader reader(whole);
  for (int i = 0; i < 4; ++i) reader.next();
  for (size_t cut = static_cast<size_t>(reader.place()); cut < bytes.size(); cut += 7) {
    folder.file("part", bytes.substr(0, cut));
    write_steps(part, 5, 6);
    CHECK(read_text(part) == bytes);
  }
  write_steps(part, 1, 2);
  write_steps(part, 1, 6);  // a new run begins a new file
  CHECK(read_text(part) == bytes);
}

TEST_CASE("trace file: names of a step that was never written take no number") {
  const TempFolder folder;
  const std::string path = folder.file("trace.bin");
  TraceWriter writer(path, TraceLevel::ops, "AC-1", 0);
  writer.names().id_of({TraceRole::op, "", "given up", "y"});
  writer.write(step_of(writer.names(), 1, 7));
  CHECK(text_of(path).find("1: batch: input_ids=7(0)") != std::string::npos);
}

TEST_CASE("trace file: one that was cut short ends before, one that is damaged is refused, by every byte") {
  const TempFolder folder;
  write_steps(folder.file("trace.bin"), 1, 3);
  const std::string bytes = read_text(folder.file("trace.bin"));
  const size_t header = bytes.find('\n') + 1;
  const std::string whole = text_of(folder.file("trace.bin"));
  int64_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    CHECK((at < header || whole.starts_with(text_of(folder.file("cut", bytes.substr(0, at))))));
    for (const int flip : {1, 128}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        // A frame's length may have grown beyond the end, as if it had been cut; names and inputs are in no link.
        text_of(folder.file("damaged", damaged));
      } catch (const IoError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > static_cast<int64_t>(bytes.size()));
  CHECK_THROWS_WITH_AS(TraceReader(folder.file("no", "something else\n")),
                       doctest::Contains("it does not begin as a trace of this version does, with \"rote trace 1 CONTRACT LEVEL\"; give the trace.bin of a run."), IoError);
  CHECK_THROWS_WITH_AS(TraceReader(folder.file("no", "rote trace 1 AC-1 all\n")), doctest::Contains("its level is \"all\"; it must be steps, modules or ops."), IoError);
  CHECK_THROWS_AS(TraceReader(folder.file("empty", "")), IoError);
}

TEST_CASE("trace file: a run of another level does not go on in it") {
  const TempFolder folder;
  const std::string path = folder.file("trace.bin");
  write_steps(path, 1, 3);
  CHECK_THROWS_WITH_AS(TraceWriter(path, TraceLevel::steps, "AC-1", 2),
                       doctest::Contains("holds AC-1 ops, this run would go on with AC-1 steps; give --trace_hashes ops or move the file away."), ArgumentError);
  CHECK(text_of(path).find("\n3:") != std::string::npos);
}

}  // namespace rote::testing
