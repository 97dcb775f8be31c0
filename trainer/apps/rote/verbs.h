// trainer/apps/rote/verbs.h — the verbs of the command, one a file.
#pragma once

#include "kernels/check.h"

namespace rote::app {

// A run that failed after it had begun: exit code 1.
class RunFailure : public Error {
 public:
  explicit RunFailure(const std::exception& fault) : Error(ErrorKind::state, fault.what()) {}
};

// Each parses argv[1] …, prints to the output and returns the exit code. Faults of arguments and inputs are thrown (exit code 2);
// once a run has made its first step, what stops it is thrown as RunFailure (exit code 1).
int train(int argc, char** argv);
int evaluate(int argc, char** argv);
int predict(int argc, char** argv);
int pipeline(int argc, char** argv);
int tokenize(int argc, char** argv);
int tokenizer(int argc, char** argv);
int logs(int argc, char** argv);
int numerics(int argc, char** argv);
int hash(int argc, char** argv);
int diff(int argc, char** argv);
int rerun(int argc, char** argv);
int replay(int argc, char** argv);
int verify(int argc, char** argv);
int inspect(int argc, char** argv);
int convert(int argc, char** argv);
int env(int argc, char** argv);

}  // namespace rote::app
