// tests/function_hashes.h — each elementary function of the f32 vector layer over every stride-th of all 2^32 inputs: one SHA-256 of its results, which are the
// same on each instruction set, and its largest error against the C library in fp64. For the cases in CI (stride 1021) and the program that runs all inputs.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tensor/hash.h"
#include "tests/kernels/spec.h"
#include "tests/support/compare.h"

namespace rote::testing {

struct ElementaryFunction {
  const char* name;
  double (*exact)(double x, double y);  // none: its error is measured elsewhere
  double ulps;                          // the bound of its error; 0.5001 for what is computed in fp64 and rounded once
  const char* strided;                  // the hash at stride 1021
  const char* whole;                    // of all inputs
};

inline double sigmoid(double x, double) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

inline constexpr double kOnce = 0.5001;
inline const ElementaryFunction kElementaryFunctions[] = {
    {"exp", [](double x, double) { return std::exp(x); }, 1,
     "1e13702e6c3256574aaef2092d773be3ea945ea7dd297916abcb200976af685f",
     "c67d4f95b3a2f8b2772b8fb38b55a49155347463ba271acb0436c2dc73db20a6"},
    {"log", [](double x, double) { return std::log(x); }, 1,
     "880d0d6f80a3b374a3f7feae39ca9f63e399f80f475f0f7a73b6a75df8c764a6",
     "4674b224d557f42ed4475b372c26ae68d3ded5647945eafc96f8c2e92bd14fc4"},
    {"tanh", [](double x, double) { return std::tanh(x); }, 2,
     "2c7687b6965f5f6bb8481fc8a14534f5b385a384114aec6e9cd688e8daaa6fe9",
     "86de6a4260914520ceeed34593a5e4743515a8f79432bbe5c5e5baa8b5e7e2be"},
    {"erf", [](double x, double) { return std::erf(x); }, 2,
     "538c10b7f51255ba8487d709716596c7d4b4f8ee264c123e1768ddfc90cb9ac8",
     "81c9bf8c37ccd0385eb4ed7fa6fde3dd24d2635c311977fa043bb51c3553b623"},
    {"sigmoid", sigmoid, 1,
     "4ce6499dbb6065c551ef56383d648d675bb6a5cbd50ca44f121079ce6bc9cd51",
     "3d4f535cdd41ee71729f76e6d0657c029d136a370d0be2b21905d1665bd557c8"},
    {"sqrt", [](double x, double) { return std::sqrt(x); }, kOnce,
     "086cd92f3e5963d129905569051882eba1f806b21d6c41370d24c288ad30600b",
     "c9d1f6d15cc804e9b80da9e9c5e714a116ad8d09ecdfbdb3c268f40f79fe3c6b"},
    {"rsqrt", [](double x, double) { return 1 / std::sqrt(x); }, 1.5,
     "17c7137149b6870730dc32b265b62b9d0a2f9ac3ae06cd4ccf4b468282949845",
     "3afa1fb0332558d3ab7b477172332cb1c8a267e6eb9c2dcd05ef8609681117a9"},
    {"exp2", [](double x, double) { return std::exp2(x); }, kOnce,
     "c9831241f34e8bc27600d24e70f34356d9a4ed63042b94d1aefdfeed11e54e93",
     "cafe41cd378ec65d25f9c02c1aa862c9d94b1025e77c2f3453092ec4e0edc412"},
    {"expm1", [](double x, double) { return std::expm1(x); }, kOnce,
     "157d5c21704192f6a451b4dabb968c6e46203e2422ca7f9e85a20e92a37ae5fe",
     "955b970eb04cd981472a477d8ad57d3c17a4402721efc69ed6716dbb40cc495a"},
    {"log2", [](double x, double) { return std::log2(x); }, kOnce,
     "d9d7599aa8b6d26bbcfb4c5fcb30dd6b9d9dce4b1908ca877135066d4e514408",
     "4bc6b4e00865e3ec3f25a3c1c2680a36754fdfb2aaa8eaf5b4b911e71c2d3750"},
    {"log10", [](double x, double) { return std::log10(x); }, kOnce,
     "c7474dfe5de982deb1b22aaed9e257f75d758c9b2ecdabc164bb08fc7f1c280c",
     "6f1a028f48972cbc6f920381b59f6475a48e0f59ad7f93e5f69df8aa1544f78d"},
    {"log1p", [](double x, double) { return std::log1p(x); }, kOnce,
     "1bcb538ca8847043305a6d0f9952b875b137adc1e7c9314db4b94721d7d65c3b",
     "d37afe68233718e00f3ebe6a7d5d5fe49e879a2008d712493f7bbb53cf86cded"},
    {"sin", [](double x, double) { return std::sin(x); }, kOnce,
     "aab1091faed152e9d10373db4c8f05141dbbe2dfe702042ac8516253fec79727",
     "6c3de148364dbb15467d3b67e302eee893e5628bbfcc4b0089c08b8f1f4189ef"},
    {"cos", [](double x, double) { return std::cos(x); }, kOnce,
     "0feb14bb09b27e89089a99e83f28ce9a5bb4796c1143754d5d83929e50a5b917",
     "90c61b4813aa2b9379950b6a1510958e9bebaa71a9e762995b9a6e644d028e64"},
    {"tan", [](double x, double) { return std::tan(x); }, kOnce,
     "ec7e76482116b876323cd6ffef252a2f8f107e89880d82675435524afee3f3ae",
     "ae88569b35e978231762536f4d126037bf328d45c4c8d4f656d965b2a021bdd2"},
    {"asin", [](double x, double) { return std::asin(x); }, kOnce,
     "d9b1cca6dd51f40dc5b28efc2bd77c6026276f74b1ff52c11e620da3c2cf2ab9",
     "e171f5bd8983314dadc37e70aa0eeb72acb53835ad19f7cd31c6333cb77f02fc"},
    {"acos", [](double x, double) { return std::acos(x); }, kOnce,
     "045632aa496124c74d6a781f29c56ef333e422deb9026c5104c6cc9d77c2d6ea",
     "3e5816808a9c3b62314d857e87a6036a9e0fcbc428fe1d8d77af394addee52f3"},
    {"atan", [](double x, double) { return std::atan(x); }, kOnce,
     "09db299784e9393ea72caf8cf479a07aa14ed32e98a5eb3e3e1457e95aea23eb",
     "58acddec20e49903f8f6bf1b53e05e7d9f98146d590bd45f465351dbc6fb8d80"},
    {"sinh", [](double x, double) { return std::sinh(x); }, kOnce,
     "8e1e94f2b7403a2560041aa6bf84eb072958f66759ebbf83e8f74608f1c6026d",
     "9cb300fe8fa3bacfc663d7520a2deb127a83a0934fc74e5f94536e1b6c307e48"},
    {"cosh", [](double x, double) { return std::cosh(x); }, kOnce,
     "3aa55b263bdd3f010f50c17239125e18046a930f90252359e54e3cfa1e3b48e2",
     "91b457d69a51cf1959dc85cce3c34dc9382ca283ed6ab9e71dc2f1c35b8425dc"},
    {"asinh", [](double x, double) { return std::asinh(x); }, kOnce,
     "d45e103cd42198c15f3e38a3b692e536a3e9f3169bd1eeedb3c1c3eebac59e38",
     "53f43ba5f33168c9376a14f4dc255779bf0b84e427415139ed1aa5e0b00c4d10"},
    {"acosh", [](double x, double) { return std::acosh(x); }, kOnce,
     "7f09d376a87568f60608f5e017fad662bbaaf7df7fde5af15e26f9cf4dc66ca0",
     "dbe0f9880f8635983651ff5f5016ace7b62faba5966f0123e16b34b87ee2ea4c"},
    {"atanh", [](double x, double) { return std::atanh(x); }, kOnce,
     "037312558fa5057b8b24eac5faf3eadfa5a9139d880d18e3353fffc477e61811",
     "cc83b05863e2572ff592692b0e7dc88912a974ff40c3ce286ab5608c4711bb4c"},
    {"erfc", [](double x, double) { return std::erfc(x); }, kOnce,
     "5d1b5966a23606718d90aa6fd915d11aa5b899b6eabc773768bc05cb5cc3cfc3",
     "74d7da12e40b66efcecc4c64a67a51d09fe919091b7af57488330805c4dda890"},
    {"erfinv", nullptr, 0,
     "c833dbd9300158c0898eaee8d0d225c492a36113bfbe6dff2ff8471913a30325",
     "1df0fa0549790af8a43c01e4b37af82d2dfcebe372c8dddc3e92109aa202923b"},
    {"pow", [](double x, double y) { return std::pow(x, y); }, kOnce,
     "5892369e265960795a79c746ab15eb1a50c4772a6b277618ad7b6de8d7638d9c",
     "14f1ca66f1ae5cd11d545f1b7f00cd2b14ad5b0c7603027306780cdaa74afcb0"},
    {"atan2", [](double x, double y) { return std::atan2(x, y); }, kOnce,
     "54a7941bb54b65ff0c98fb42ead9bd20b561f9f327b37eaa902c0ddf03f91899",
     "bae033fc346f3dc0e5683e13581795383c3878e07e651c91781e6746fdc30ee5"},
    {"hypot", [](double x, double y) { return std::hypot(x, y); }, kOnce,
     "d07b0f299e1bcb0dd04a5cc20479ea7d03f79348eeef5f3a60ac1bb3c6894f42",
     "82ca1b35c8f2453fb370bdaeadcc7f6dcae57c016566a96b4bc6c0401aee4977"},
    {"fmod", [](double x, double y) { return std::fmod(x, y); }, 0,
     "e29898631a76d8a97608410cfd31e27ad4227560fbd0039b167a5d8640d44ad6",
     "a0bce2db3720369d92922a895878e045ac507ca5ebe2c11a71d7e43f70605264"},
};

// Of one function: what it gave, where it was furthest off, and where an instruction set parted from the first.
struct FunctionRun {
  std::string hash;
  double worst = 0;
  float worst_at = 0;
  std::string parted;
};

inline const NamedFunction<float>* vector_function(const char* isa, const std::string& name) {
  const NamedFunction<float>* f = vector_functions(isa);
  while (f->name && name != f->name) ++f;
  return f->name ? f : nullptr;
}

// The second input beside the number with these bits: any other number, or one between -8 and 8.
inline float second_input(uint32_t bits) {
  const uint32_t mixed = (bits ^ bits >> 15) * 0x9E3779B1u;
  return bits >> 7 & 1 ? static_cast<float>(static_cast<int32_t>(mixed)) * 0x1p-28f : std::bit_cast<float>(mixed);
}

inline FunctionRun run_function(const ElementaryFunction& function, uint64_t stride) {
  constexpr uint64_t kAll = uint64_t{1} << 32, kTask = 8192, kTasks = 256;
  struct Task {
    double worst = 0;
    float worst_at = 0;
    std::string parted;
  };
  const std::vector<const KernelTable<float>*> tables = all_tables();
  std::vector<float> results(kTask * kTasks);
  std::vector<Task> tasks(kTasks);
  FunctionRun run;
  Sha256 sha;
  for (uint64_t first = 0; first * stride < kAll; first += kTask * kTasks) {
    const uint64_t count = std::min((kAll + stride - 1) / stride - first, kTask * kTasks);
    parallel(static_cast<int64_t>((count + kTask - 1) / kTask), [&](int64_t number) -> uint32_t {
      Task& task = tasks[static_cast<size_t>(number)];
      const uint64_t begin = static_cast<uint64_t>(number) * kTask, n = std::min(count - begin, kTask);
      std::vector<float> x(n), second(n), other(n);
      for (uint64_t i = 0; i < n; ++i) {
        const uint32_t bits = static_cast<uint32_t>((first + begin + i) * stride);
        x[i] = std::bit_cast<float>(bits), second[i] = second_input(bits);
      }
      float* const y = results.data() + begin;
      for (const KernelTable<float>* table : tables) {
        float* const out = table == tables[0] ? y : other.data();
        vector_function(table->isa, function.name)->apply(static_cast<int64_t>(n), x.data(), second.data(), nullptr, out);
        for (uint64_t i = 0; i < n; ++i)
          if (std::isnan(out[i])) out[i] = std::bit_cast<float>(0x7FC00000u);
        const int64_t at = first_bit_difference(static_cast<int64_t>(n), out, y);
        if (at >= 0 && task.parted.empty()) task.parted = std::string(table->isa) + " differs at " + std::to_string(x[static_cast<size_t>(at)]);
      }
      for (uint64_t i = 0; function.exact && i < n; ++i) {
        const double error = ulps(y[i], function.exact(x[i], second[i]));
        if (error > task.worst) task.worst = error, task.worst_at = x[i];
      }
      return 0;
    });
    sha.add(results.data(), count * sizeof(float));
  }
  for (const Task& task : tasks) {
    if (task.worst > run.worst) run.worst = task.worst, run.worst_at = task.worst_at;
    if (run.parted.empty()) run.parted = task.parted;
  }
  run.hash = sha.hex();
  return run;
}

}  // namespace rote::testing
