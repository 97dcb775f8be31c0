// kernels/cpu/gemm.cpp — the matrix product by arithmetic.md 2: what is packed when, and how tiles are dealt to tasks. The chains and
// their tree are in tile.h; nothing chosen here (blocks, tasks, threads) can change a bit.
//
// K is walked in blocks of whole pieces, so that panels stay in the second-level cache; between two blocks a tile's partial results wait
// on its stack. B is packed once per block and shared where many row tasks read it; A always by the task that uses it.
#include "kernels/blocks.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/pack.h"
#include "kernels/cpu/tile.h"
#include "kernels/pool.h"
#include "kernels/scratch.h"
#include "kernels/tree.h"

namespace rote::isa::ROTE_ISA_NAME {

namespace {

constexpr int64_t kTaskPanels = (28 + kTileRows - 1) / kTileRows;  // of A: the least that a task of a shared B takes

int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

struct KBlock {
  int64_t k = 0, rows = 0;           // of A's columns and B's rows
  int64_t step = 0, step_count = 0;  // its steps
  int64_t depth = 0;                 // partial results on a tile's stack before it
};

// The steps along K and their blocks, in scratch memory.
struct KPlan {
  Step* steps = nullptr;
  KBlock* blocks = nullptr;
  int64_t block_count = 0;
  int64_t longest = 0;  // rows of the longest block
  int64_t depth = 1;    // a stack's room
};

// Partial results to add to piece (or leaf) i of `count` before it goes on the stack.
int32_t pops_after(int64_t i, int64_t count) { return tree_merges(i) + (i + 1 < count ? 0 : tree_merges_at_end(count)); }

KPlan plan_k(int64_t K, int64_t leaf, int64_t block_rows) {
  if (leaf <= 0 || leaf > K) leaf = K;
  const int64_t leaves = K == 0 ? 1 : ceil_div(K, leaf);
  const int64_t most_pieces = most(ceil_div(leaf, kChainRows), 1);
  const int64_t most_blocks = 2 * ceil_div(K, block_rows) + 1;  // two neighbours are together longer than block_rows
  KPlan plan;
  void* memory = take_scratch(most_blocks * static_cast<int64_t>(sizeof(KBlock)) + leaves * most_pieces * static_cast<int64_t>(sizeof(Step)));
  plan.blocks = static_cast<KBlock*>(memory);
  plan.steps = reinterpret_cast<Step*>(plan.blocks + most_blocks);
  int64_t step = 0, k = 0, depth = 0;
  for (int64_t l = 0; l < leaves; ++l) {
    const int64_t leaf_rows = least(leaf, K - l * leaf);  // the last one may be short
    const int64_t pieces = most(ceil_div(leaf_rows, kChainRows), 1);
    for (int64_t i = 0; i < pieces; ++i, ++step) {
      const int64_t rows = least(leaf_rows - i * kChainRows, kChainRows);
      const int32_t pops = pops_after(i, pieces) + (i + 1 < pieces ? 0 : pops_after(l, leaves));  // a leaf is a piece one level up
      plan.steps[step] = {static_cast<int32_t>(rows), pops};
      if (step == 0 || plan.blocks[plan.block_count - 1].rows + rows > block_rows) plan.blocks[plan.block_count++] = {k, 0, step, 0, depth};
      KBlock& block = plan.blocks[plan.block_count - 1];
      block.rows += rows;
      ++block.step_count;
      k += rows;
      depth += 1 - pops;
      plan.longest = most(plan.longest, block.rows);
      plan.depth = most(plan.depth, depth + 1);
    }
  }
  return plan;
}

struct Product {
  const Gemm<Real>& g;
  GemmBlocks sizes;
  KPlan k;

  int64_t stack_size() const { return k.depth * kTileRows * kTileColumns; }
};

// A rectangle of one batch item's C.
struct Area {
  int64_t item = 0, row = 0, rows = 0, column = 0, columns = 0;
};

Panels a_panels(Real* memory, int64_t rows, int64_t depth) {
  const int64_t count = ceil_div(rows, kTileRows);
  return {memory, panel_stride(depth, kTileRows), count, kTileRows, tile_height(rows - (count - 1) * kTileRows)};
}

Panels b_panels(Real* memory, int64_t columns, int64_t depth) {
  const int64_t count = ceil_div(columns, kTileColumns);
  const int last = columns - (count - 1) * kTileColumns > kLanes ? kTileColumns : kLanes;
  return {memory, panel_stride(depth, kTileColumns), count, kTileColumns, last};
}

Operand a_operand(const Gemm<Real>& g, const Area& area, const KBlock& block) {
  return {g.a.from(area.item * g.a_batch + area.row * g.a_row + block.k * g.a_col), g.a_row, g.a_col, area.rows};
}

Operand b_operand(const Gemm<Real>& g, const Area& area, const KBlock& block) {
  return {g.b.from(area.item * g.b_batch + area.column * g.b_col + block.k * g.b_row), g.b_col, g.b_row, area.columns};
}

// Every tile of the area for one block of K. With one block the tiles share one stack, else each has its own, in the order of this loop.
void multiply(const Product& product, const Area& area, const KBlock& block, const Panels& a, const Panels& b, Real* stacks, Amax& amax) {
  const Gemm<Real>& g = product.g;
  TileJob job;
  job.steps = product.k.steps + block.step;
  job.step_count = block.step_count;
  job.last = &block == product.k.blocks + product.k.block_count - 1;
  job.stack = stacks;
  job.depth = block.depth;
  job.c_row = g.c_row;
  job.amax = &amax;
  for (int64_t j = 0; j < b.count; ++j) {
    const int64_t column = area.column + j * kTileColumns;
    job.b = b.p + j * b.stride;
    job.bias = g.bias ? g.bias + column : nullptr;
    job.columns = static_cast<int>(least(area.columns - j * kTileColumns, kTileColumns));
    for (int64_t i = 0; i < a.count; ++i) {
      const int64_t row = area.row + i * kTileRows;
      job.a = a.p + i * a.stride;
      job.c = g.c.from(area.item * g.c_batch + row * g.c_row + column);
      job.rows = static_cast<int>(least(area.rows - i * kTileRows, kTileRows));
      tile_function(a.width_of(i), job.columns)(job);
      if (product.k.block_count > 1) job.stack += product.stack_size();
    }
  }
}

// One task that packs both operands for itself: batches of small products, and products with few rows. A is packed whole; B goes panel by
// panel through memory that stays in the nearest caches.
uint32_t multiply_alone(const Product& product, const Area& area) {
  const KPlan& k = product.k;
  const int64_t panels = ceil_div(area.rows, kTileRows);
  const auto a_size = [&](const KBlock& block) { return panels * panel_stride(block.rows, kTileRows); };
  int64_t a_total = 0;
  for (int64_t n = 0; n < k.block_count; ++n) a_total += a_size(k.blocks[n]);
  const int64_t b_size = panel_stride(k.longest, kTileColumns), stacks_size = product.stack_size() * (k.block_count > 1 ? panels : 1);
  Real* const a_memory = static_cast<Real*>(take_scratch((a_total + b_size + stacks_size) * static_cast<int64_t>(sizeof(Real))));
  Real* const b_memory = a_memory + a_total;
  Real* const stacks = b_memory + b_size;
  Amax amax;
  for (int64_t column = 0; column < area.columns; column += kTileColumns) {
    const Area part{area.item, area.row, area.rows, area.column + column, least(area.columns - column, kTileColumns)};
    Real* at = a_memory;
    for (int64_t n = 0; n < k.block_count; ++n) {
      const KBlock& block = k.blocks[n];
      const Panels a = a_panels(at, area.rows, block.rows), b = b_panels(b_memory, part.columns, block.rows);
      if (column == 0) pack(a, a_operand(product.g, area, block), 0, block.rows);
      pack(b, b_operand(product.g, part, block), 0, block.rows);
      multiply(product, part, block, a, b, stacks, amax);
      at += a_size(block);
    }
  }
  give_scratch(a_memory);
  return amax.word();
}

uint32_t run_alone(const Product& product) {
  const Gemm<Real>& g = product.g;
  const GemmBlocks& sizes = product.sizes;
  const int64_t panels = most(least(sizes.private_a / (kTileRows * most(product.k.longest, 1)), 16), kTaskPanels);
  const int64_t rows = least(panels * kTileRows, g.M), row_tasks = ceil_div(g.M, rows);
  const int64_t work = g.batch * g.M * g.N * most(g.K, 1);
  const int64_t wanted = least(work / sizes.task_work, 32) / (g.batch * row_tasks);  // column tasks for each of these
  const int64_t columns = ceil_div(ceil_div(g.N, kTileColumns), most(wanted, 1)) * kTileColumns, column_tasks = ceil_div(g.N, columns);
  // Small items are dealt several to a task.
  const int64_t areas = g.batch * row_tasks * column_tasks;
  const int64_t worth = least(sizes.task_work / most(work / areas, 1), ceil_div(areas, 32));
  const int64_t per_task = work < sizes.task_work ? areas : most(worth, 1);
  return parallel(ceil_div(areas, per_task), [&](int64_t task) {
    uint32_t word = 0;
    for (int64_t n = task * per_task; n < least((task + 1) * per_task, areas); ++n) {
      const int64_t row = n / column_tasks % row_tasks * rows, column = n % column_tasks * columns;
      const Area area{n / column_tasks / row_tasks, row, least(g.M - row, rows), column, least(g.N - column, columns)};
      const uint32_t seen = multiply_alone(product, area);
      word = seen > word ? seen : word;
    }
    return word;
  });
}

// B of the area is packed by k where its columns are contiguous (long reads), else by panel.
void pack_shared(const Panels& to, const Operand& from, int64_t depth) {
  const bool by_k = from.lane == 1;
  constexpr int64_t kRows = 64;
  const int64_t tasks = to.count * depth < 512 ? 1 : by_k ? ceil_div(depth, kRows) : to.count;
  if (tasks <= 1) return pack(to, from, 0, depth);
  parallel(tasks, [&](int64_t task) {
    if (by_k) {
      pack(to, from, task * kRows, least((task + 1) * kRows, depth));
    } else {
      const int width = to.width_of(task);
      const Operand lanes{from.x.from(task * to.width * from.lane), from.lane, from.step, least(from.count - task * to.width, width)};
      pack({to.p + task * to.stride, to.stride, 1, width, width}, lanes, 0, depth);
    }
    return 0u;
  });
}

// One task of a shared B: packs its rows of A. `stacks` is where its tiles keep partial results from block to block, none for one block.
uint32_t multiply_rows(const Product& product, const Area& area, const KBlock& block, const Panels& b, Real* stacks) {
  const int64_t a_size = ceil_div(area.rows, kTileRows) * panel_stride(block.rows, kTileRows);
  const int64_t own_stack = stacks ? 0 : product.stack_size();
  Real* const memory = static_cast<Real*>(take_scratch((a_size + own_stack) * static_cast<int64_t>(sizeof(Real))));
  const Panels a = a_panels(memory, area.rows, block.rows);
  pack(a, a_operand(product.g, area, block), 0, block.rows);
  Amax amax;
  multiply(product, area, block, a, b, stacks ? stacks : memory + a_size, amax);
  give_scratch(memory);
  return amax.word();
}

uint32_t run_shared(const Product& product) {
  const Gemm<Real>& g = product.g;
  const GemmBlocks& sizes = product.sizes;
  const int64_t longest = most(product.k.longest, 1);
  const int64_t b_blocks = ceil_div(g.N * longest, sizes.shared_b);
  const int64_t b_panels_at_once = ceil_div(ceil_div(g.N, b_blocks), kTileColumns), b_columns = b_panels_at_once * kTileColumns;
  const int64_t worth = sizes.task_work / (kTileRows * least(b_columns, g.N) * longest), fitting = sizes.private_a / (kTileRows * longest);
  const int64_t panels = most(least(worth, fitting), kTaskPanels);
  const int64_t rows = panels * kTileRows, tasks = ceil_div(g.M, rows);
  const int64_t b_size = b_panels_at_once * panel_stride(longest, kTileColumns);
  const int64_t task_stacks = product.k.block_count > 1 ? product.stack_size() * panels * b_panels_at_once : 0;
  Real* const shared = static_cast<Real*>(take_scratch((b_size + tasks * task_stacks) * static_cast<int64_t>(sizeof(Real))));
  uint32_t word = 0;
  for (int64_t item = 0; item < g.batch; ++item) {
    for (int64_t column = 0; column < g.N; column += b_columns) {
      const Area all{item, 0, g.M, column, least(g.N - column, b_columns)};
      for (int64_t n = 0; n < product.k.block_count; ++n) {
        const KBlock& block = product.k.blocks[n];
        const Panels b = b_panels(shared, all.columns, block.rows);
        pack_shared(b, b_operand(g, all, block), block.rows);
        const uint32_t seen = parallel(tasks, [&](int64_t task) {
          const Area area{item, task * rows, least(g.M - task * rows, rows), column, all.columns};
          return multiply_rows(product, area, block, b, task_stacks ? shared + b_size + task * task_stacks : nullptr);
        });
        word = seen > word ? seen : word;
      }
    }
  }
  give_scratch(shared);
  return word;
}

}  // namespace

uint32_t gemm(const Gemm<Real>& g) {
  if (g.batch <= 0 || g.M <= 0 || g.N <= 0) return 0;
  const Product product{g, gemm_blocks, plan_k(g.K, g.leaf, gemm_blocks.k_rows)};
  const bool few_rows = g.M <= kTaskPanels * kTileRows;
  const bool small_items = g.batch > 1 && g.M * g.N * g.K < product.sizes.shared_work;
  const uint32_t word = few_rows || small_items ? run_alone(product) : run_shared(product);
  give_scratch(product.k.blocks);
  return word;
}

}  // namespace rote::isa::ROTE_ISA_NAME
