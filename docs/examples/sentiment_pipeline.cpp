// docs/examples/sentiment_pipeline.cpp — a text and what a classifier thinks of it: `sentiment_pipeline MODEL_FOLDER`.
#include <cstdio>

#include "trainer/parser.h"
#include "trainer/pipelines/pipeline.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    const auto pipe = pipeline("text-classification", {.model = argc > 1 ? argv[1] : ""});
    for (const Record& r : pipe("This restaurant is awesome")) std::printf("%s %.16g\n", r.label.c_str(), r.score);
    for (const Records& records : pipe({"A waste of a good cast.", "A warm, funny film."})) std::printf("%s %.4f\n", records[0].label.c_str(), records[0].score);
    return 0;
  });
}
