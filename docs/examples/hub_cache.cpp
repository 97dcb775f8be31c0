// docs/examples/hub_cache.cpp — where the hub's cache keeps a model: `hub_cache CACHE_FOLDER [REVISION]`.
#include <iostream>

#include "kernels/check.h"
#include "nn/hub.h"
#include "tensor/file.h"
#include "trainer/parser.h"

using namespace rote;

int main(int argc, char** argv) {
  return run_program([&] {
    ROTE_CHECK(argc == 2 || argc == 3, ArgumentError, "hub_cache: give the cache's folder, and a revision if it is not main.");
    const std::string folder = nn::hub_folder("julien-c/EsperBERTo-small", {.revision = argc == 3 ? argv[2] : "main", .cache_dir = argv[1]});
    std::cout << folder.substr(std::string(argv[1]).size()) << "\n" << read_file(folder + "/README.md");
    return 0;
  });
}
