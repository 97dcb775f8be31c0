// trainer/apps/rote/verify.cpp — `rote verify`: the golden job on this machine, in every way it can be run, against the published links.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/pool.h"
#include "kernels/table.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/checkpoint.h"
#include "trainer/golden_job.h"
#include "trainer/parser.h"

namespace rote::app {

namespace {

constexpr DType kDTypesOfJob[] = {DType::f32, DType::bf16, DType::f16};

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const DType dtype : kDTypesOfJob) all.push_back(name(dtype));
    return all;
  }();
  return names;
}

struct VerifyArguments {
  bool links = false;
  std::string dtype = "f32";

  static const ArgumentTable<VerifyArguments>& table() {
    static const ArgumentTable<VerifyArguments> rows = {
        "arguments",
        {field(&VerifyArguments::links, {.name = "links", .help = "prints the link of each step, made with the instruction set in use, and compares nothing"}),
         field(&VerifyArguments::dtype, {.name = "dtype", .help = "of the job whose links are printed", .words = dtype_names})}};
    return rows;
  }
};

struct Way {
  DType dtype;
  const char* isa;
  int threads;
  int64_t steps;
};

// In each dtype each vector instruction set of this machine under 1, 2 and 5 threads; scalar code, which is slow, once.
std::vector<Way> ways_of_this_machine() {
  std::vector<Way> ways;
  for (const DType dtype : kDTypesOfJob) {
    for (const char* isa : {"avx512", "avx2", "neon"})
      for (const int threads : {1, 2, 5})
        if (kernel_table(isa) != nullptr) ways.push_back({dtype, isa, threads, 50});
    ways.push_back({dtype, "scalar", 1, 10});
  }
  return ways;
}

[[noreturn]] void run_child(const Way& way, int out) {
  try {
    setenv("ROTE_ISA", way.isa, 1);
    set_num_threads(way.threads);
    for (const std::string& link : run_golden_job({.steps = way.steps, .dtype = way.dtype}))
      if (write(out, link.data(), link.size()) != static_cast<ssize_t>(link.size())) _exit(1);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "rote verify: the system gives no more memory; end other programs, or raise `ulimit -v`.\n");
    _exit(1);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "rote verify: %s\n", fault.what());
    _exit(1);
  }
  _exit(0);
}

// The links of the job in a process of its own: a process has one instruction set. REQUIRES: no thread has been started.
std::vector<std::string> links_of(const Way& way) {
  constexpr size_t kDigits = 64;
  int ends[2];
  ROTE_CHECK(pipe(ends) == 0, StateError, "no pipe can be made: ", std::strerror(errno), "; close files, or raise `ulimit -n`.");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    const int fault = errno;
    close(ends[0]), close(ends[1]);
    throw StateError(str("no process can be started: ", std::strerror(fault), "; end others, or raise `ulimit -u`."));
  }
  if (child == 0) {
    close(ends[0]);
    run_child(way, ends[1]);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  std::vector<std::string> links;
  if (status == 0)
    for (size_t at = 0; at + kDigits <= text.size(); at += kDigits) links.push_back(text.substr(at, kDigits));
  return links;
}

}  // namespace

int verify(int argc, char** argv) {
  const auto parsed = parse_command(
      argc, argv, Usage{"rote verify", "Whether this machine keeps the arithmetic contract: the golden job (docs/reproducibility.md), in every way it can be run here."}, VerifyArguments{});
  const VerifyArguments& args = std::get<0>(parsed.values);
  choose_kernels(std::getenv("ROTE_ISA"));  // throws for a word that is none, though each way names its own
  if (args.links) {
    const DType dtype = *std::find_if(std::begin(kDTypesOfJob), std::end(kDTypesOfJob), [&](DType one) { return args.dtype == name(one); });
    for (const std::string& link : run_golden_job({.dtype = dtype})) std::printf("%s\n", link.c_str());
    return 0;
  }
  const std::vector<Way> ways = ways_of_this_machine();
  size_t faults = 0;
  for (const Way& way : ways) {
    const auto begun = std::chrono::steady_clock::now();
    const std::vector<std::string> links = links_of(way);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    const std::optional<int64_t> parted = first_difference(links, golden_links(way.dtype));
    const std::string result = links.empty() ? "did not end" : parted ? str("differs from step ", *parted, " on") : "as published";
    if (links.empty() || parted) ++faults;
    std::printf("%-4s  %-7s %d thread%s  %2lld steps  %s  %.1f s\n", name(way.dtype), way.isa, way.threads, way.threads == 1 ? " " : "s", static_cast<long long>(way.steps), result.c_str(), seconds);
  }
  if (faults == 0) {
    std::string last;
    for (const DType dtype : kDTypesOfJob) last += std::string(last.empty() ? "" : " ") + std::string(golden_links(dtype).back()).substr(0, 16);
    std::printf("this machine keeps %s: %s\n", kContract, last.c_str());
  }
  else std::printf("this machine does not keep %s: %zu of %zu ways differ; please report these lines with those of `rote env`\n", kContract, faults, ways.size());
  return faults == 0 ? 0 : 1;
}

}  // namespace rote::app
