#include "autograd/registry.h"

#include <unordered_map>

#include "autograd/ops.h"

namespace rote {

namespace {

template <class... Ops>
std::vector<const OpEntry*> entries(OpList<Ops...>) {
  return {&entry<Ops>()...};
}

}  // namespace

OpEntry detail::finish(OpEntry e) {
  e.schema = Schema::parse(e.row.schema);
  std::string word;
  for (const char* c = e.row.saves;; ++c) {
    if (*c != ' ' && *c != 0) {
      word += *c;
      continue;
    }
    if (!word.empty()) {
      const int in = e.schema.input(word), out = e.schema.output(word);
      ROTE_ASSERT(in >= 0 || out >= 0, e.row.name);
      if (in >= 0) e.saved_inputs.push_back(in);
      else e.saved_outputs.push_back(out);
      e.saves.push_back(in >= 0 ? in : ~out);
    }
    word.clear();
    if (*c == 0) break;
  }
  ROTE_ASSERT(e.forward != nullptr && (e.backward != nullptr) == (e.row.no_grad[0] == 0), e.row.name);
  return e;
}

const std::vector<const OpEntry*>& all_ops() {
  static const std::vector<const OpEntry*> list = [] {
    std::vector<const OpEntry*> ops = entries(AllOps{});
    std::unordered_map<std::string, int> seen;
    for (const OpEntry* op : ops) ROTE_ASSERT(seen[op->row.name]++ == 0, op->row.name);
    return ops;
  }();
  return list;
}

const OpEntry* find_op(const std::string& name) {
  for (const OpEntry* op : all_ops())
    if (name == op->row.name) return op;
  return nullptr;
}

}  // namespace rote
