// kernels/blas.cpp — OpenBLAS is loaded, not linked: a program needs it only where the fast mode is asked for.
#include "kernels/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

#include "kernels/check.h"
#include "kernels/pool.h"

namespace rote {

namespace {

// Of cblas.h.
enum : int { kRowMajor = 101, kAsItIs = 111, kTransposed = 112 };
using Sgemm = void (*)(int order, int a_form, int b_form, int M, int N, int K, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

struct Blas {
  Sgemm sgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  std::string name;
};

Blas load_blas() {
  Blas blas;
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return blas;
  blas.sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  blas.set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto config = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  if (!blas.sgemm || !blas.set_num_threads || !config || !core) return blas;
  const std::string words = config();  // "OpenBLAS 0.3.21 NO_LAPACKE …"
  blas.name = words.substr(0, words.find(' ', words.find(' ') + 1)) + " " + core();
  return blas;
}

const Blas& blas() {
  static const Blas loaded = load_blas();
  return loaded;
}

// One operand in BLAS's words: how it lies and the distance of its lines. line: elements of one.
struct Form {
  int form = 0;  // 0: neither its rows nor its columns are contiguous
  int64_t stride = 0;
};
Form form_of(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (column == 1 && row >= std::max<int64_t>(columns, 1)) return {kAsItIs, row};
  if (row == 1 && column >= std::max<int64_t>(rows, 1)) return {kTransposed, column};
  return {};
}

bool in_f32(const Gemm<float>& g) { return g.a.stored == Stored::real && g.b.stored == Stored::real && g.c.stored == Stored::real; }

bool fits(std::initializer_list<int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n <= std::numeric_limits<int>::max(); });
}

// The status word of C's elements.
uint32_t largest(const Gemm<float>& g) {
  constexpr int64_t kTaskElements = 65536;
  const int64_t rows = g.batch * g.M, per_task = std::max<int64_t>(kTaskElements / g.N, 1);
  return parallel((rows + per_task - 1) / per_task, [&](int64_t task) -> uint32_t {
    int32_t top = 0;
    for (int64_t r = task * per_task; r < std::min((task + 1) * per_task, rows); ++r) {
      const float* row = static_cast<const float*>(g.c.p) + r / g.M * g.c_batch + r % g.M * g.c_row;
      for (int64_t j = 0; j < g.N; ++j) top = std::max(top, std::bit_cast<int32_t>(row[j]) & 0x7FFFFFFF);
    }
    return static_cast<uint32_t>(top);
  });
}

}  // namespace

const std::string& blas_name() { return blas().name; }

uint32_t blas_gemm(const Gemm<float>& g) {
  ROTE_ASSERT(!blas().name.empty(), "the fast mode is refused where there is no OpenBLAS");
  const Form a = form_of(g.M, g.K, g.a_row, g.a_col), b = form_of(g.K, g.N, g.b_row, g.b_col);
  if (g.batch <= 0 || g.M <= 0 || g.N <= 0) return 0;
  if (g.K <= 0 || !in_f32(g) || a.form == 0 || b.form == 0 || !fits({g.M, g.N, g.K, a.stride, b.stride, g.c_row})) return kernels<float>().gemm(g);
  static std::mutex one_at_a_time;  // its threads are one set for the process
  const std::lock_guard lock(one_at_a_time);
  static int threads = 0;
  if (threads != num_threads()) blas().set_num_threads(threads = num_threads());
  for (int64_t item = 0; item < g.batch; ++item) {
    float* const c = static_cast<float*>(g.c.from(item * g.c_batch).p);
    for (int64_t i = 0; g.bias && i < g.M; ++i) std::copy_n(g.bias, g.N, c + i * g.c_row);
    blas().sgemm(kRowMajor, a.form, b.form, static_cast<int>(g.M), static_cast<int>(g.N), static_cast<int>(g.K), 1, static_cast<const float*>(g.a.from(item * g.a_batch).p), static_cast<int>(a.stride),
                 static_cast<const float*>(g.b.from(item * g.b_batch).p), static_cast<int>(b.stride), g.bias ? 1 : 0, c, static_cast<int>(g.c_row));
  }
  return largest(g);
}

}  // namespace rote
