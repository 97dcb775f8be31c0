// trainer/apps/rote/main.cpp — picks the verb and turns what it throws into one line and an exit code.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/parser.h"

namespace {

struct Verb {
  const char* name;
  const char* about;
  int (*run)(int argc, char** argv);
};

constexpr Verb kVerbs[] = {
    {"train", "fine-tune a checkpoint on a file of labelled texts, evaluate it and save it", rote::app::train},
    {"evaluate", "loss and scores of a saved model on a file of labelled texts", rote::app::evaluate},
    {"predict", "what a saved model says: classes of texts, words or pictures, answers, texts", rote::app::predict},
    {"pipeline", "what a model makes of texts, as the records of transformers' pipelines", rote::app::pipeline},
    {"tokenize", "the pieces and ids that a model's tokenizer makes of texts", rote::app::tokenize},
    {"tokenizer", "learn a tokenizer from texts: rote tokenizer train", rote::app::tokenizer},
    {"logs", "what runs have logged, as tables or curves, on the terminal or as SVG", rote::app::logs},
    {"numerics", "which modules of a run come near the limits of their number formats", rote::app::numerics},
    {"hash", "the SHA-256 of a model's weights, the same wherever the same run was made", rote::app::hash},
    {"diff", "where two runs part by their traces, or the bits of two models: tensor, element, values", rote::app::diff},
    {"replay", "make one update of a run again, op by op, and compare it with the run's trace", rote::app::replay},
    {"rerun", "make a run again by its manifest and compare the hashes of its weights", rote::app::rerun},
    {"verify", "whether this machine keeps the arithmetic contract, by a small job whose bits are published", rote::app::verify},
    {"inspect", "parameters, shapes, dtypes and configuration of a saved model", rote::app::inspect},
    {"convert", "a model of safetensors, GGUF or the hub's cache as a folder of safetensors", rote::app::convert},
    {"env", "processor, instruction set, threads, build and arithmetic contract", rote::app::env},
};

void print_help() {
  std::puts("usage: rote VERB [ARGUMENTS]\n\nTrains transformers from Hugging Face checkpoints: the same run gives the same bits everywhere.\n");
  for (const Verb& verb : kVerbs) std::printf("  %-10s %s\n", verb.name, verb.about);
  std::puts("\n`rote VERB --help` lists the arguments of a verb. Exit codes: 0 done, 1 the run failed, 2 arguments or inputs are wrong.");
}

int unknown(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::string near = rote::nearest(word, names.data(), static_cast<int64_t>(names.size()));
  const std::string advice = near.empty() ? std::string("`rote --help` lists them.") : "did you mean " + near + "?";
  std::fprintf(stderr, "rote: %s: no such verb; %s\n", word.c_str(), advice.c_str());
  return 2;
}

int run(const Verb& verb, int argc, char** argv) {
  try {
    const int code = verb.run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "rote %s: the output cannot be written: %s.\n", verb.name, std::strerror(errno));
    return 1;
  } catch (const rote::HelpRequested& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const rote::app::RunFailure& failure) {
    std::fprintf(stderr, "rote %s: %s\n", verb.name, failure.what());
    return 1;
  } catch (const rote::MemoryError& fault) {
    std::fprintf(stderr, "rote %s: %s\n", verb.name, fault.what());
    return 1;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "rote %s: the system gives no more memory; a smaller batch needs less.\n", verb.name);
    return 1;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "rote %s: %s\n", verb.name, fault.what());
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error of write(), reported like a full disk
  std::signal(SIGPIPE, SIG_IGN);
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0) {
    print_help();
    return argc < 2 ? 2 : 0;
  }
  for (const Verb& verb : kVerbs)
    if (std::strcmp(argv[1], verb.name) == 0) return run(verb, argc - 1, argv + 1);
  return unknown(argv[1]);
}
