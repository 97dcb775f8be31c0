// tests/verify_app_test.cpp — `rote verify --links` gives the published links, and docs/reproducibility.md recomputes what `rote hash` prints.
#include <doctest/doctest.h>

#include "tensor/safetensors.h"
#include "tests/app.h"
#include "trainer/golden_job.h"

namespace rote::testing {

TEST_CASE("rote verify: --links prints a line a step, the published ones of each dtype") {
  const AppFolder app;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const AppResult result = app.rote(str("verify --links --dtype ", name(dtype)));
    CHECK(result.status == 0);
    std::string expected;
    for (const char* link : golden_links(dtype)) expected += str(link, "\n");
    CHECK(result.out == expected);
  }
  CHECK(app.rote("verify --links --dtype f64").status == 2);
  for (const char* words : {"verify", "verify --links"}) {
    const AppResult refused = app.rote(words, "export ROTE_ISA=nope");
    CHECK(refused.status == 2);
    CHECK_MESSAGE(contains(refused.err, "rote verify: ROTE_ISA: 'nope' is no instruction set of Rote; here it can be "), refused.err);
  }
}

TEST_CASE("docs: the hash of reproducibility.md is that of rote hash") {
  const AppFolder app;
  save_safetensors(app.file("weights.safetensors"), {{"b.weight", from_values({2, 2}, std::vector<float>{1, -2, 0.5f, 3e-40f})}, {"a", from_values({3}, std::vector<int64_t>{-1, 0, 7})}, {"b.bias", from_values({}, std::vector<double>{0.1})}});
  const std::string page = read_text(source_folder() + "/docs/reproducibility.md"), fence = "```python\n";
  const size_t begin = page.find(fence) + fence.size(), end = page.find("```", begin);
  REQUIRE(end != std::string::npos);
  app.folder.file("hash.py", page.substr(begin, end - begin));
  const std::string expected = app.rote("hash weights.safetensors").out;
  CHECK(expected.size() == 65);
  CHECK(run_command("cd '" + app.folder.path() + "' && python3 hash.py weights.safetensors").output == expected);
}

TEST_CASE("docs: the lines of reproducibility.md read a trace, and give the fingerprints of what was saved") {
  const AppFolder app;
  REQUIRE(app.train("run", "--trace_hashes ops --num_train_epochs 1").status == 0);
  const std::string page = read_text(source_folder() + "/docs/reproducibility.md"), fence = "```python\nimport struct, sys\n";
  const size_t begin = page.find(fence), end = page.find("```\n", begin + 3);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  app.folder.file("trace.py", page.substr(begin + 10, end - begin - 10));
  const CommandResult read = run_command("cd '" + app.folder.path() + "' && python3 trace.py run/trace.bin");
  REQUIRE(read.status == 0);
  const std::vector<std::string> lines = lines_of(read.output);
  CHECK(lines.size() > 500);
  CHECK(lines[0].starts_with("0 parameter - - bert.embeddings.word_embeddings.weight "));
  app.folder.file("check.py", R"(import json, struct, sys
sys.argv = ["trace.py", "run/trace.bin"]
import trace_page as trace
with open("run/model.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    header.pop("__metadata__", None)
    weights = file.read()
last = list(trace.steps("run/trace.bin"))[-1]
for role, module, op, tensor, value in last[1]:
    if role == "parameter":
        x = header[tensor]
        assert trace.fingerprint(x["dtype"], x["shape"], weights[slice(*x["data_offsets"])]) == value, tensor
        del header[tensor]
print("step", last[0], "left", len(header))
)");
  const CommandResult checked = run_command("cd '" + app.folder.path() + "' && mv trace.py trace_page.py && python3 check.py | tail -1");
  CHECK(checked.output == "step 6 left 0\n");
}

}  // namespace rote::testing
