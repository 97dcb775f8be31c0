#include "autograd/ops/contract.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "autograd/boxed.h"
#include "autograd/ops/cast.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/view.h"

namespace rote {

namespace {

using Axes = std::vector<int64_t>;

// A tensor whose axes have names: letters, and negative numbers for those of `...`, -1 the last.
struct Named {
  Tensor x;
  std::vector<int> names;

  int at(int name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  }
};

bool holds(const std::vector<int>& names, int name) { return std::find(names.begin(), names.end(), name) != names.end(); }

struct Equation {
  std::vector<std::string> inputs;  // without blanks, `...` as one '.'
  std::string output;
  bool has_output = false;
};

Equation parsed(const std::string& text) {
  const auto check = [&](bool good, const auto&... why) { ROTE_CHECK(good, ArgumentError, "einsum: equation \"", text, "\" ", why...); };
  Equation e;
  std::string* part = &e.inputs.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',') {
      check(!e.has_output, "has a comma in its output; one output is given.");
      part = &e.inputs.emplace_back();
    } else if (c == '-') {
      check(text.compare(i, 2, "->") == 0 && !e.has_output, "has a - that is not its one ->.");
      e.has_output = true;
      part = &e.output;
      ++i;
    } else if (c == '.') {
      check(text.compare(i, 3, "...") == 0, "has a dot that is not one of three.");
      check(part->find('.') == std::string::npos, "has ... twice in one operand.");
      *part += '.';
      i += 2;
    } else {
      check(std::isalpha(static_cast<unsigned char>(c)) != 0, "has the character '", std::string(1, c), "'; axes are named by the letters a-z and A-Z.");
      *part += c;
    }
  }
  return e;
}

// x with its two axes of one name as one, their diagonal, at the end.
Named diagonal(const Named& n, int first, int second) {
  const int64_t size = n.x.size(first);
  Axes order;
  Named out;
  for (int i = 0; i < n.x.axes(); ++i)
    if (i != first && i != second) {
      order.push_back(i);
      out.names.push_back(n.names[static_cast<size_t>(i)]);
    }
  order.push_back(first), order.push_back(second);
  out.names.push_back(n.names[static_cast<size_t>(first)]);
  out.x = slice(flatten(permute(n.x, order), -2, -1), -1, 0, size * size, size + 1);
  return out;
}

Named named(const std::string& text, const Tensor& x, size_t index) {
  const int letters = static_cast<int>(text.size()) - (text.find('.') == std::string::npos ? 0 : 1), rest = x.axes() - letters;
  ROTE_CHECK(rest == 0 || (rest > 0 && letters < static_cast<int>(text.size())), ShapeError, "einsum: operand ", index, " is ", describe(x), " but its part of the equation names ",
             letters, letters == 1 ? " axis." : " axes.");
  Named n{x, {}};
  for (const char c : text) {
    if (c != '.') n.names.push_back(c);
    else
      for (int i = rest; i > 0; --i) n.names.push_back(-i);
  }
  for (size_t i = 0; i < n.names.size(); ++i)
    for (size_t j = i + 1; j < n.names.size(); ++j) {
      if (n.names[i] != n.names[j]) continue;
      ROTE_CHECK(n.x.size(static_cast<int64_t>(i)) == n.x.size(static_cast<int64_t>(j)), ShapeError, "einsum: ", static_cast<char>(n.names[i]), " names two axes of operand ", index, ", ",
                 describe(x), "; their sizes must be equal.");
      n = diagonal(n, static_cast<int>(i), static_cast<int>(j));
      i = static_cast<size_t>(-1);  // names moved: look from the start
      break;
    }
  return n;
}

// Sums over the axes that are not kept; over one of size 1 nothing is added up.
Named reduced(const Named& n, const std::vector<int>& kept) {
  Axes gone, shape;
  Named out;
  bool sums = false;
  for (size_t i = 0; i < n.names.size(); ++i) {
    const int64_t axis = static_cast<int64_t>(i), size = n.x.size(axis);
    if (holds(kept, n.names[i])) {
      out.names.push_back(n.names[i]);
      shape.push_back(size);
    } else {
      gone.push_back(axis);
      sums = sums || size != 1;
    }
  }
  out.x = gone.empty() ? n.x : sums ? sum(n.x, gone) : reshape(n.x, shape);
  return out;
}

Named without(const Named& n, int axis) {
  Named out = n;
  out.x = squeeze(n.x, axis);
  out.names.erase(out.names.begin() + axis);
  return out;
}

// x as [groups…] with the axes of each group as one.
Tensor grouped(const Named& n, const std::vector<std::vector<int>>& groups) {
  Axes order, shape;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<int>& group = groups[i];
    if (i == 0 && group.empty()) continue;  // without a batch it is a matrix, whose rows may be those of samples
    int64_t size = 1;
    for (const int name : group) {
      order.push_back(n.at(name));
      size *= n.x.size(n.at(name));
    }
    shape.push_back(size);
  }
  return reshape(permute(n.x, order), shape);
}

// Σ a·b over the names that `kept` lacks.
Named contracted(Named a, Named b, const std::vector<int>& kept) {
  for (size_t i = a.names.size(); i-- > 0;) {
    const int name = a.names[i], other = b.at(name);
    if (other < 0) continue;
    if (a.x.size(static_cast<int64_t>(i)) == 1 && b.x.size(other) != 1) a = without(a, static_cast<int>(i));
    else if (b.x.size(other) == 1 && a.x.size(static_cast<int64_t>(i)) != 1) b = without(b, other);
  }
  std::vector<int> keep_a = kept, keep_b = kept;
  keep_a.insert(keep_a.end(), b.names.begin(), b.names.end());
  keep_b.insert(keep_b.end(), a.names.begin(), a.names.end());
  a = reduced(a, keep_a);
  b = reduced(b, keep_b);
  std::vector<int> batch, left, right, over;
  for (const int name : a.names) (b.at(name) < 0 ? left : holds(kept, name) ? batch : over).push_back(name);
  for (const int name : b.names)
    if (a.at(name) < 0) right.push_back(name);
  Named out;
  Axes shape;
  for (const auto* group : {&batch, &left, &right})
    for (const int name : *group) {
      out.names.push_back(name);
      shape.push_back(a.at(name) >= 0 ? a.x.size(a.at(name)) : b.x.size(b.at(name)));
    }
  // Where nothing is summed mul broadcasts [B,L,1] and [B,1,R], and joins dtypes.
  const Tensor p = grouped(a, {batch, left, over}), q = grouped(b, {batch, over, right});
  out.x = reshape(over.empty() ? mul(p, q) : matmul(p, q), shape);
  return out;
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  const Equation e = parsed(equation);
  ROTE_CHECK(e.inputs.size() == operands.size(), ArgumentError, "einsum: equation \"", equation, "\" has ", e.inputs.size(), " operands but ", operands.size(), " are given.");
  std::vector<Named> inputs;
  std::vector<int> all;
  int open = 0;  // axes that `...` stands for
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.push_back(named(e.inputs[i], operands[i], i));
    for (const int name : inputs[i].names) {
      open = std::max(open, -name);
      if (!holds(all, name)) all.push_back(name);
      for (const Named& before : inputs) {
        const int at = before.at(name);
        if (at < 0) continue;
        const int64_t n = before.x.size(at), m = inputs[i].x.size(inputs[i].at(name));
        ROTE_CHECK(n == m || n == 1 || m == 1, ShapeError, "einsum: ", name > 0 ? str("axis ", static_cast<char>(name)) : std::string("an axis of ..."), " has size ", n,
                   " and in operand ", i, ", ", describe(operands[i]), ", size ", m, "; they must be equal, or one of them 1.");
      }
    }
  }
  std::vector<int> output;
  const auto add_open = [&] {
    for (int i = open; i > 0; --i) output.push_back(-i);
  };
  if (e.has_output) {
    for (const char c : e.output) {
      if (c == '.') {
        add_open();
        continue;
      }
      ROTE_CHECK(!holds(output, c), ArgumentError, "einsum: equation \"", equation, "\" has ", std::string(1, c), " twice in its output; once is enough.");
      ROTE_CHECK(holds(all, c), ArgumentError, "einsum: equation \"", equation, "\" has ", std::string(1, c), " in its output but in no operand.");
      output.push_back(c);
    }
  } else {
    add_open();
    std::string letters;
    for (const std::string& part : e.inputs) letters += part;
    std::sort(letters.begin(), letters.end());
    for (const char c : letters)
      if (c != '.' && std::count(letters.begin(), letters.end(), c) == 1) output.push_back(c);
  }
  Named product = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    std::vector<int> kept = output;
    for (size_t j = i + 1; j < inputs.size(); ++j) kept.insert(kept.end(), inputs[j].names.begin(), inputs[j].names.end());
    product = contracted(product, inputs[i], kept);
  }
  product = reduced(product, output);
  Axes order;
  for (const int name : output) order.push_back(product.at(name));
  return permute(product.x, order);
}

Tensor tensordot(const Tensor& x, const Tensor& y, const std::vector<int64_t>& x_axes, const std::vector<int64_t>& y_axes) {
  ROTE_CHECK(x_axes.size() == y_axes.size(), ShapeError, "tensordot: ", x_axes.size(), " axes of x and ", y_axes.size(), " of y; they are summed in pairs.");
  Named a{x, {}}, b{y, {}};
  for (int i = 0; i < x.axes(); ++i) a.names.push_back(1 + i);
  for (int i = 0; i < y.axes(); ++i) b.names.push_back(1 + Shape::kMaxAxes + i);
  std::vector<int> kept;
  for (size_t i = 0; i < x_axes.size(); ++i) {
    const int p = normalize_axis(x_axes[i], x.axes(), "tensordot"), q = normalize_axis(y_axes[i], y.axes(), "tensordot");
    ROTE_CHECK(a.names[static_cast<size_t>(p)] > 0 && b.names[static_cast<size_t>(q)] > 0, ShapeError, "tensordot: axis ", x_axes[i], " of x or ", y_axes[i], " of y is named twice.");
    ROTE_CHECK(x.size(p) == y.size(q) || x.size(p) == 1 || y.size(q) == 1, ShapeError, "tensordot: axis ", p, " of x ", describe(x), " meets axis ", q, " of y ", describe(y),
               "; their sizes must be equal, or one of them 1.");
    if (x.size(p) == 1 && y.size(q) != 1) b.x = to(sum(b.x, {q}, true), y.dtype());
    if (y.size(q) == 1 && x.size(p) != 1) a.x = to(sum(a.x, {p}, true), x.dtype());
    a.names[static_cast<size_t>(p)] = b.names[static_cast<size_t>(q)] = -1 - static_cast<int>(i);
  }
  for (const Named* n : {&a, &b})
    for (const int name : n->names)
      if (name > 0) kept.push_back(name);
  return contracted(a, b, kept).x;
}

Tensor kron(const Tensor& x, const Tensor& y) {
  const int axes = std::max(x.axes(), y.axes());
  Axes apart_x, apart_y, shape;
  for (int i = 0; i < axes; ++i) {
    const int p = i - (axes - x.axes()), q = i - (axes - y.axes());
    const int64_t n = p < 0 ? 1 : x.size(p), m = q < 0 ? 1 : y.size(q);
    apart_x.insert(apart_x.end(), {n, 1});
    apart_y.insert(apart_y.end(), {1, m});
    shape.push_back(n * m);
  }
  return reshape(mul(reshape(x, apart_x), reshape(y, apart_y)), shape);
}

Tensor inner(const Tensor& x, const Tensor& y) {
  if (x.axes() == 0 || y.axes() == 0) return mul(x, y);
  ROTE_CHECK(x.size(-1) == y.size(-1), ShapeError, "inner: x is ", describe(x), " and y ", describe(y), "; the last sizes must be equal.");
  return tensordot(x, y, {-1}, {-1});
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t axis) {
  ROTE_CHECK(is_floating(x.dtype()) && x.dtype() == y.dtype(), DTypeError, "vecdot: x is ", describe(x), " and y ", describe(y), "; they must be of one floating dtype.");
  return to(sum(mul(widened(x), widened(y)), {axis}), x.dtype());
}

// The order by dynamic programming over the sizes: cost[i][j] of the product of i … j.
Tensor multi_dot(const std::vector<Tensor>& matrices) {
  const size_t n = matrices.size();
  ROTE_CHECK(n >= 2, ArgumentError, "multi_dot: ", n, " matrices; it multiplies at least two.");
  std::vector<Tensor> m = matrices;
  const bool row = m.front().axes() == 1, column = m.back().axes() == 1;
  if (row) m.front() = unsqueeze(m.front(), 0);
  if (column) m.back() = unsqueeze(m.back(), 1);
  for (size_t i = 0; i < n; ++i) {
    ROTE_CHECK(m[i].axes() == 2, ShapeError, "multi_dot: matrix ", i, " is ", describe(matrices[i]), "; it must have two axes (the first and the last may have one).");
    ROTE_CHECK(i == 0 || m[i - 1].size(1) == m[i].size(0), ShapeError, "multi_dot: matrix ", i, " is ", describe(matrices[i]), " after ", describe(matrices[i - 1]), "; it needs ",
               m[i - 1].size(1), " rows.");
  }
  std::vector<std::vector<double>> cost(n, std::vector<double>(n));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n));
  for (size_t span = 1; span < n; ++span)
    for (size_t i = 0; i + span < n; ++i) {
      const size_t j = i + span;
      for (size_t k = i; k < j; ++k) {
        const double here = cost[i][k] + cost[k + 1][j] + static_cast<double>(m[i].size(0)) * static_cast<double>(m[k].size(1)) * static_cast<double>(m[j].size(1));
        if (k > i && here >= cost[i][j]) continue;
        cost[i][j] = here;
        cut[i][j] = k;
      }
    }
  const auto product = [&](const auto& self, size_t i, size_t j) -> Tensor {
    return i == j ? m[i] : matmul(self(self, i, cut[i][j]), self(self, cut[i][j] + 1, j));
  };
  Tensor z = product(product, 0, n - 1);
  if (row) z = squeeze(z, 0);
  return column ? squeeze(z, -1) : z;
}

Tensor bilinear(const Tensor& x, const Tensor& y, const Tensor& w, const Tensor& b) {
  ROTE_CHECK(w.axes() == 3 && x.axes() > 0 && x.axes() == y.axes() && x.shape().slice(0, x.axes() - 1) == y.shape().slice(0, y.axes() - 1) && x.size(-1) == w.size(1) &&
                 y.size(-1) == w.size(2),
             ShapeError, "bilinear: x is ", describe(x), ", y ", describe(y), " and w ", describe(w), "; they must be [*,I], [*,J] and [O,I,J].");
  const int64_t O = w.size(0), I = w.size(1), J = w.size(2);
  ROTE_CHECK(!b.defined() || b.shape() == Shape{O}, ShapeError, "bilinear: b is ", describe(b), "; it must be [", O, "].");
  Axes shape(x.shape().begin(), x.shape().end());
  shape.back() = O;
  const int64_t rows = x.shape().slice(0, x.axes() - 1).numel();
  const Tensor by_x = reshape(matmul(reshape(widened(x), {rows, I}), reshape(permute(widened(w), {1, 0, 2}), {I, O * J})), {rows, O, J});
  const Tensor z = reshape(matmul(by_x, reshape(widened(y), {rows, J, 1})), shape);
  return to(b.defined() ? add(z, widened(b)) : z, x.dtype());
}

Tensor cross(const Tensor& x, const Tensor& y, int64_t axis) {
  ROTE_CHECK(x.axes() == y.axes(), ShapeError, "cross: x is ", describe(x), " and y ", describe(y), "; they must have the same number of axes.");
  const int at = normalize_axis(axis, x.axes(), "cross");
  ROTE_CHECK(x.axes() > 0 && x.size(at) == 3 && y.size(at) == 3, ShapeError, "cross: axis ", axis, " of x ", describe(x), " and y ", describe(y), " must have size 3.");
  // Elements i+1 or i+2 in the place of i.
  const auto turned = [&](const Tensor& v, int64_t by) { return cat({slice(v, at, by, 3), slice(v, at, 0, by)}, at); };
  const Tensor a = widened(x), b = widened(y);
  return to(sub(mul(turned(a, 1), turned(b, 2)), mul(turned(a, 2), turned(b, 1))), result_type({x, y}));
}

namespace {

// The first axis of size 3.
int64_t axis_of_three(const Tensor& x) {
  for (int i = 0; i < x.axes(); ++i)
    if (x.size(i) == 3) return i;
  throw ShapeError(str("cross: ", describe(x), " has no axis of size 3."));
}

}  // namespace

std::vector<Composition> contract_compositions() {
  return {
      {"einsum", [](const Arguments& a) -> Value {
         a.ignore("path");  // an order of joining, which says nothing of the result
         return einsum(a.word("equation"), a.tensors("tensors"));
       }},
      {"tensordot", [](const Arguments& a) -> Value { return tensordot(a.tensor("self"), a.tensor("other"), a.list("dims_self"), a.list("dims_other")); }},
      {"kron", [](const Arguments& a) -> Value { return kron(a.tensor("self"), a.tensor("other")); }},
      {"inner", [](const Arguments& a) -> Value { return inner(a.tensor("self"), a.tensor("other")); }},
      {"linalg_vecdot", [](const Arguments& a) -> Value { return vecdot(a.tensor("x"), a.tensor("y"), a.integer("dim")); }},
      {"linalg_multi_dot; chain_matmul", [](const Arguments& a) -> Value { return multi_dot(a.tensors(a.op() == "chain_matmul" ? "matrices" : "tensors")); }},
      {"bilinear", [](const Arguments& a) -> Value { return bilinear(a.tensor("input1"), a.tensor("input2"), a.tensor("weight"), a.tensor_or_none("bias")); }},
      {"cross; linalg_cross", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self"), y = a.tensor("other");
         return cross(x, y, a.given("dim") ? a.integer("dim") : axis_of_three(x));
       }},
  };
}

}  // namespace rote
