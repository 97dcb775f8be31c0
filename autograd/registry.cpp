#include "autograd/registry.h"

#include <sstream>
#include <unordered_map>

#include "autograd/ops.h"

namespace rote {

namespace {

template <class... Ops>
std::vector<const OpEntry*> entries(OpList<Ops...>) {
  return {&entry<Ops>()...};
}

std::vector<std::string> words_in(const char* text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Input i as i, output i as ~i.
std::vector<int> operands_named(const OpEntry& e, const char* names) {
  std::vector<int> operands;
  for (const std::string& name : words_in(names)) {
    const int in = e.schema.input(name), out = e.schema.output(name);
    ROTE_ASSERT(in >= 0 || out >= 0, e.row.name);
    operands.push_back(in >= 0 ? in : ~out);
  }
  return operands;
}

}  // namespace

OpEntry detail::finish(OpEntry e) {
  e.schema = Schema::parse(e.row.schema);
  e.saves = operands_named(e, e.row.saves);
  std::stringstream parts(e.row.reads);
  for (std::string part; std::getline(parts, part, ',');) e.reads.push_back(operands_named(e, part.c_str()));
  ROTE_ASSERT(e.reads.empty() || e.reads.size() == e.schema.inputs.size(), e.row.name);
  e.constant.resize(e.schema.inputs.size());
  for (const std::string& name : words_in(e.row.constants)) {
    ROTE_ASSERT(e.schema.input(name) >= 0, e.row.name);
    e.constant[static_cast<size_t>(e.schema.input(name))] = true;
  }
  ROTE_ASSERT(e.again != nullptr || e.row.once[0] != 0 || e.backward == nullptr, e.row.name);
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
