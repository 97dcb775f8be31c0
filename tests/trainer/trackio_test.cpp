// tests/trainer/trackio_test.cpp — rows of a run to a trackio server, one that fails among them, and as CSV; what HTTP may answer.
#include "trainer/trackers/trackio.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>

#include "tests/trainer/small_run.h"
#include "tests/trainer/small_server.h"
#include "trainer/json_text.h"

namespace rote::testing {

namespace {

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& fault) {
    return fault.what();
  }
  return "";
}

// Keeps the rows of bulk_log; `runs` is what it knows before; the first `faults` requests for rows fail after they were kept.
struct TrackioStub {
  std::string runs = "[]", summary = "{}";
  int faults = 0;
  std::vector<ValueMap> rows;
  std::mutex mutex;
  SmallServer server{[this](const std::string& path, const std::string& request) {
    const std::lock_guard lock(mutex);
    if (path == "/api/get_runs_for_project") return SmallServer::json(R"({"data":)" + runs + "}");
    if (path == "/api/get_run_summary") return SmallServer::json(R"({"data":)" + summary + "}");
    if (path != "/api/bulk_log") return SmallServer::json(R"({"error":"no such thing"})", 404);
    const Value body = parse_json(request, "request");
    for (const Value& one : *body.as_map()->find("kwargs")->as_map()->find("logs")->as_list()) rows.push_back(*one.as_map());
    return faults-- > 0 ? SmallServer::json(R"({"error":"busy"})", 500) : SmallServer::json(R"({"data":null})");
  }};

  HttpAddress address() const { return parse_address(server.url, "test"); }
};

struct Variable {
  const char* name;
  Variable(const char* name, const std::string& value) : name(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name); }
};

TrainingArguments logging_args(const std::string& folder) {
  TrainingArguments args = quiet_args(folder);
  args.logging_strategy = IntervalStrategy::steps;
  args.logging_steps = 1;
  args.report_to = {"trackio"};
  args.run_name = "first";
  return args;
}

}  // namespace

TEST_CASE("http: addresses are taken apart, those that cannot be used refused") {
  const HttpAddress a = parse_address("http://127.0.0.1:7860/base/?write_token=T", "who");
  CHECK(a.host == "127.0.0.1");
  CHECK(a.port == "7860");
  CHECK(a.path == "/base");
  CHECK(a.query == "write_token=T");
  CHECK(parse_address("http://[::1]:80", "who").host == "::1");
  CHECK(parse_address("http://name", "who").port == "80");
  CHECK(refusal([] { parse_address("https://x", "who"); }).find("who: https://x wants TLS, which this build has not;") == 0);
  for (const char* url : {"ftp://x", "x:80", ""}) CHECK(refusal([&] { parse_address(url, "who"); }) == str("who: ", url, " is no http:// address."));
  for (const char* url : {"http://", "http://:80", "http://x:0", "http://x:70000", "http://x:8o"})
    CHECK(refusal([&] { parse_address(url, "who"); }).find(str("who: ", url, " names no host and port;")) == 0);
}

TEST_CASE("http: whole and chunked answers are read, broken ones are faults") {
  std::string said;
  SmallServer server([&](const std::string&, const std::string& request) { return request == "{}" ? said : "wrong"; });
  const HttpAddress address = parse_address(server.url, "test");
  const auto post = [&] { return post_json(address, "/x", {{"A", "b"}}, "{}"); };
  said = SmallServer::json("[1]", 503);
  CHECK(post().status == 503);
  CHECK(post().body == "[1]");
  server.leaves_open = true;
  CHECK(post().body == "[1]");
  server.leaves_open = false;
  said = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n";
  CHECK(post().body == "[1,2]");
  for (const char* broken : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n[1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1"}) {
    said = broken;
    CHECK(refusal(post).find(": the answer broke off.") != std::string::npos);
  }
  for (const char* broken : {"", "hello", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\n"}) {
    said = broken;
    CHECK(refusal(post).find(": the answer is no HTTP.") != std::string::npos);
  }
}

TEST_CASE("trackio: each log of a run is a row at the server, in order, without sums of the whole run; the bits of the run stay") {
  const TempFolder folder;
  TrackioStub stub;
  std::string hash;
  {
    const Variable url("TRACKIO_SERVER_URL", stub.server.url);
    TrainingArguments args = logging_args(folder.path());
    args.project = "letters";
    SmallRun run(args);
    run.trainer->train();
    hash = run.hash();
    REQUIRE(stub.rows.size() == static_cast<size_t>(run.trainer->state().global_step) + 1);
  }
  for (size_t i = 0; i < stub.rows.size(); ++i) {
    const ValueMap& row = stub.rows[i];
    CHECK(*row.find("project") == Value("letters"));
    CHECK(*row.find("run") == Value("first"));
    CHECK(*row.find("step") == Value(static_cast<int64_t>(i)));
    CHECK(row.find("config")->is_null() == (i > 0));
    const ValueMap& metrics = *row.find("metrics")->as_map();
    CHECK((metrics.find("train/loss") != nullptr) == (i + 1 < stub.rows.size()));
    CHECK(metrics.find("train/train_loss") == nullptr);
    CHECK(metrics.find("train/global_step") != nullptr);
  }
  const ValueMap& config = *stub.rows[0].find("config")->as_map();
  CHECK(*config.find("model_type") == Value("bert"));
  CHECK(config.find("learning_rate") != nullptr);
  CHECK(config.find("model/num_parameters") != nullptr);

  TrainingArguments args = logging_args(folder.file("other"));
  args.report_to = {};
  SmallRun without(args);
  without.trainer->train();
  CHECK(hash == without.hash());
}

TEST_CASE("trackio: rows that a failing server has kept come again under their id, and a run of the same name is gone on with") {
  TrackioStub stub;
  stub.faults = 2;
  stub.runs = R"([{"id":"00ff","name":"other"},{"id":"12ab","name":"first"}])";
  stub.summary = R"({"last_step":6})";
  {
    TrackioServer server(stub.address(), "token", {"p", "first", {}});
    server.log({{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", -std::numeric_limits<double>::infinity()}, {"c", 1.5}});
    server.finish();
    server.finish();
  }
  REQUIRE(stub.rows.size() == 3);
  for (const ValueMap& row : stub.rows) {
    CHECK(*row.find("log_id") == *stub.rows[0].find("log_id"));
    CHECK(*row.find("step") == Value(7));
    CHECK(*row.find("run_id") == Value("12ab"));
    CHECK(json_text(*row.find("metrics"), {.indent = -1}) == R"({"a": "NaN", "b": "-Infinity", "c": 1.5})");
  }
}

TEST_CASE("trackio: a server that is not there costs no run; one that needs TLS is refused before it") {
  const TempFolder folder;
  std::string url;
  {
    TrackioStub stub;
    url = stub.server.url;
  }
  {
    const Variable variable("TRACKIO_SERVER_URL", url);
    SmallRun run(logging_args(folder.path()));
    CHECK(run.trainer->train().global_step > 0);
  }
  const Variable variable("TRACKIO_SERVER_URL", "https://somewhere");
  const std::string unmade = folder.file("unmade");
  CHECK(refusal([&] { SmallRun run(logging_args(unmade)); }).find("TRACKIO_SERVER_URL: https://somewhere wants TLS") == 0);
  CHECK_FALSE(std::filesystem::exists(unmade));
}

TEST_CASE("trackio: without a server the rows are a table with all columns that came, under a step that counts them") {
  const TempFolder folder;
  TrainingArguments args = logging_args(folder.path());
  args.run_name = "a/b";
  SmallRun run(args);
  run.trainer->train();
  run.trainer->evaluate();
  const std::string text = read_text(folder.file("trackio/a-b.csv"));
  CHECK(text.find("step,train/loss,") == 0);
  CHECK(text.substr(0, text.find('\n')).find("eval/loss") != std::string::npos);
  const int64_t rows = run.trainer->state().global_step + 2;
  CHECK(std::count(text.begin(), text.end(), '\n') == rows + 1);
  CHECK(text.find(str("\n", rows - 1, ",")) != std::string::npos);
  const int64_t commas = std::count(text.begin(), text.end(), ',');
  CHECK(commas % (rows + 1) == 0);
  SmallRun again(args);
  again.trainer->train();
  CHECK(read_text(folder.file("trackio/a-b.csv")) == text);
  CHECK(read_text(folder.file("trackio/a-b-2.csv")).find("step,train/loss,") == 0);
  args.run_name = std::string(300, 'x');  // longer than a file's name may be
  SmallRun long_name(args);
  CHECK(long_name.trainer->train().global_step > 0);
}

}  // namespace rote::testing
