#include "nn/state.h"

#include <algorithm>
#include <map>
#include <set>

namespace rote::nn {

namespace {

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  constexpr size_t kShown = 6;
  std::string text = " (";
  for (size_t i = 0; i < names.size() && i < kShown; ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > kShown ? ", …)" : ")");
}

std::string counted(const std::vector<std::string>& names, const char* what) { return str(names.size(), " ", what, listed(names)); }

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The names under which a key of a file may be known: as it is, with LayerNorm's old names, with and without the prefix.
std::vector<std::string> readings(const std::string& key, const std::string& prefix) {
  std::vector<std::string> names = {key};
  if (ends_with(key, ".gamma")) names.push_back(key.substr(0, key.size() - 5) + "weight");
  if (ends_with(key, ".beta")) names.push_back(key.substr(0, key.size() - 4) + "bias");
  if (prefix.empty()) return names;
  const std::string lead = prefix + ".";
  for (size_t i = 0, n = names.size(); i < n; ++i) {
    const bool with = names[i].compare(0, lead.size(), lead) == 0;
    names.push_back(with ? names[i].substr(lead.size()) : lead + names[i]);
  }
  return names;
}

// The plan of a load: which tensor of the files goes where.
struct Assignment {
  const SafetensorsFile* file;
  const SafetensorsInfo* info;
  Tensor to;
};

}  // namespace

std::string LoadReport::text() const {
  std::string line;
  const auto add = [&](const std::vector<std::string>& names, const char* what) {
    if (!names.empty()) line += (line.empty() ? "" : ", ") + counted(names, what);
  };
  add(missing, "keys missing, drawn anew");
  add(mismatched, "of another shape, drawn anew");
  add(unexpected, "unused");
  return line;
}

std::vector<std::string> LoadReport::fresh() const {
  std::vector<std::string> names = missing;
  names.insert(names.end(), mismatched.begin(), mismatched.end());
  return names;
}

NamedTensors state_dict(const Module& module) {
  NamedTensors state = module.named_parameters();
  for (const auto& one : module.saved_buffers()) state.push_back(one);
  return state;
}

LoadReport load_state(Module& module, const SafetensorsFolder& files, const LoadStateOptions& options) {
  std::map<std::string, std::string> first_name;  // of every name of a parameter
  std::map<std::string, Tensor> parameters;       // by first name
  std::map<const TensorImpl*, std::string> names;
  std::vector<std::string> order;
  module.each_parameter([&](const std::string& name, Tensor& tensor, bool first) {
    if (first) {
      names[tensor.impl().get()] = name;
      parameters[name] = tensor;
      order.push_back(name);
    }
    first_name[name] = names[tensor.impl().get()];
  });
  for (const auto& [name, tensor] : module.saved_buffers()) {
    first_name[name] = name;
    parameters[name] = tensor;
    order.push_back(name);
  }
  std::set<std::string> buffers;
  for (const auto& [name, tensor] : module.named_buffers()) buffers.insert(name);

  LoadReport report;
  std::map<std::string, Assignment> plan;  // by first name
  std::set<std::string> exact;             // filled under their first name, which goes before another name of a shared one
  std::vector<std::string> differing;
  for (const SafetensorsFile& file : files.files()) {
    for (const SafetensorsInfo& info : file.infos()) {
      const std::vector<std::string> read_as = readings(options.stored_name ? options.stored_name(info.name) : info.name, options.base_prefix);
      const auto known = std::find_if(read_as.begin(), read_as.end(), [&](const std::string& name) { return first_name.count(name) > 0; });
      if (known == read_as.end()) {
        const bool is_buffer = std::any_of(read_as.begin(), read_as.end(), [&](const std::string& name) { return buffers.count(name) > 0; });
        if (!is_buffer) report.unexpected.push_back(info.name);
        continue;
      }
      const std::string& name = first_name.at(*known);
      const Tensor& to = parameters.at(name);
      if (!(info.shape == to.shape()) || is_floating(info.dtype) != is_floating(to.dtype())) {
        differing.push_back(str(name, " is ", rote::name(info.dtype), info.shape, " in the file, ", describe(to), " in the model"));
        report.mismatched.push_back(name);
        continue;
      }
      if (*known == name) exact.insert(name);
      else if (exact.count(name) > 0) continue;
      plan.insert_or_assign(name, Assignment{&file, &info, to});
    }
  }
  for (const std::string& name : order) {
    const bool other_shape = std::find(report.mismatched.begin(), report.mismatched.end(), name) != report.mismatched.end();
    if (plan.count(name) == 0 && !other_shape) report.missing.push_back(name);
  }
  ROTE_CHECK(differing.empty() || options.ignore_mismatched_sizes, ShapeError, "load ", files.files()[0].path(), ": ", differing.empty() ? "" : differing[0], "; ",
             counted(report.missing, "keys missing"), ", ", counted(report.unexpected, "unused"),
             ". With ignore_mismatched_sizes it is drawn anew.");

  std::vector<const Assignment*> by_place;
  for (const auto& [name, one] : plan) by_place.push_back(&one);
  std::sort(by_place.begin(), by_place.end(), [](const Assignment* a, const Assignment* b) {
    return a->file != b->file ? a->file < b->file : a->info->offset < b->info->offset;
  });
  for (const Assignment* one : by_place) {
    one->file->read_into(*one->info, one->to);
    one->to.storage()->bump_version();
  }
  return report;
}

}  // namespace rote::nn
