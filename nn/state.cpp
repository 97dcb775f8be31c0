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

// A line of the table: how many names it stands for, and of those the numbers that differ.
std::string with_numbers(const std::string& name) {
  std::string shape;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool number = name[i] >= '0' && name[i] <= '9' && (i == 0 || name[i - 1] == '.');
    if (!number) {
      shape += name[i];
      continue;
    }
    size_t end = i;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    const bool whole = end == name.size() || name[end] == '.';
    shape += whole ? "*" : name.substr(i, end - i);
    i = end - 1;
  }
  return shape;
}

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

std::string LoadReport::table() const {
  struct Line {
    std::string key, status, shapes;
    int64_t count;
  };
  std::vector<Line> lines;
  const auto add = [&](const std::vector<std::string>& names, const char* status) {
    std::map<std::string, size_t> at;
    for (const std::string& name : names) {
      const auto shape = shapes.find(name);
      const std::string shown = shape == shapes.end() ? "" : shape->second, common = with_numbers(name) + shown;
      const auto [found, added] = at.emplace(common, lines.size());
      if (added) lines.push_back({name, status, shown, 0});
      Line& line = lines[found->second];
      if (++line.count > 1) line.key = with_numbers(name);
    }
  };
  add(missing, "missing, drawn anew");
  add(mismatched, "other shape, drawn anew");
  add(unexpected, "unused");
  size_t widest = 0;
  for (Line& line : lines) {
    if (line.count > 1) line.key += str(" (", line.count, ")");
    widest = std::max(widest, line.key.size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += line.key + std::string(widest - line.key.size() + 2, ' ') + line.status;
    text += (line.shapes.empty() ? "" : ": " + line.shapes) + "\n";
  }
  for (const std::string& note : notes) text += note + "\n";
  return text;
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

std::vector<StoredTensor> stored_tensors(const SafetensorsFolder& files) {
  std::vector<StoredTensor> tensors;
  for (const SafetensorsFile& file : files.files())
    for (const SafetensorsInfo& info : file.infos()) tensors.push_back({info.name, info.dtype, info.shape, [&](const Tensor& to) { file.read_into(info, to); }});
  return tensors;
}

LoadReport load_state(Module& module, const SafetensorsFolder& files, const LoadStateOptions& options) {
  return load_state(module, files.files()[0].path(), stored_tensors(files), options);
}

namespace {

// What a module takes: its parameters and saved buffers by their first names, and every name that leads to one.
struct Wanted {
  std::vector<std::string> order;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> first_name;

  explicit Wanted(const Module& module) {
    std::map<const TensorImpl*, std::string> names;
    module.each_parameter([&](const std::string& name, Tensor& tensor, bool first) {
      if (first) add(name, tensor), names[tensor.impl().get()] = name;
      first_name[name] = names[tensor.impl().get()];
    });
    for (const auto& [name, tensor] : module.saved_buffers()) add(name, tensor);
  }

 private:
  void add(const std::string& name, const Tensor& tensor) {
    order.push_back(name);
    tensors[name] = tensor;
    first_name[name] = name;
  }
};

}  // namespace

LoadReport load_state(Module& module, const std::string& from, const std::vector<StoredTensor>& tensors, const LoadStateOptions& options) {
  const Wanted wanted(module);
  std::set<std::string> buffers;
  for (const auto& [name, tensor] : module.named_buffers()) buffers.insert(name);

  LoadReport report;
  std::map<std::string, size_t> plan;  // by first name: the tensor of the file that goes there
  std::set<std::string> exact;         // filled under their first name, which goes before another name of a shared one
  for (size_t i = 0; i < tensors.size(); ++i) {
    const StoredTensor& stored = tensors[i];
    const std::vector<std::string> read_as = readings(options.stored_name ? options.stored_name(stored.name) : stored.name, options.base_prefix);
    const auto known = std::find_if(read_as.begin(), read_as.end(), [&](const std::string& name) { return wanted.first_name.count(name) > 0; });
    if (known == read_as.end()) {
      const bool is_buffer = std::any_of(read_as.begin(), read_as.end(), [&](const std::string& name) { return buffers.count(name) > 0; });
      if (!is_buffer) report.unexpected.push_back(stored.name);
      continue;
    }
    const std::string& name = wanted.first_name.at(*known);
    const Tensor& to = wanted.tensors.at(name);
    if (!(stored.shape == to.shape()) || is_floating(stored.dtype) != is_floating(to.dtype())) {
      report.mismatched.push_back(name);
      report.shapes[name] = str(rote::name(stored.dtype), stored.shape, " in the file, ", describe(to), " in the model");
      continue;
    }
    if (*known == name) exact.insert(name);
    else if (exact.count(name) > 0) continue;
    plan[name] = i;
  }
  for (const std::string& name : wanted.order)
    if (plan.count(name) == 0 && report.shapes.count(name) == 0) report.missing.push_back(name);
  const std::string differing = report.mismatched.empty() ? "" : report.mismatched[0];
  ROTE_CHECK(differing.empty() || options.ignore_mismatched_sizes, ShapeError, "load ", from, ": ", differing, " is ", report.shapes[differing], "; ",
             counted(report.missing, "keys missing"), ", ", counted(report.unexpected, "unused"),
             ". With ignore_mismatched_sizes it is drawn anew.");

  int64_t fresh_bytes = 0;  // REQUIRES of empty(): each has less than 2^48
  std::string widest;
  for (const std::string& name : report.fresh()) {
    const Tensor& x = wanted.tensors.at(name);
    const int64_t bytes = x.numel() * size_of(x.dtype());
    if (widest.empty() || bytes > wanted.tensors.at(widest).numel() * size_of(wanted.tensors.at(widest).dtype())) widest = name;
    fresh_bytes += bytes;
  }
  ROTE_CHECK(!options.most_fresh_bytes || fresh_bytes <= *options.most_fresh_bytes, IoError, "load ", from, ": ", report.fresh().size(), " parameters of ",
             fresh_bytes, " bytes, as ", widest, " ", describe(wanted.tensors.at(widest)), ", would have no value in the file; the config belongs to another model.");

  if (options.dtype) module.to(*options.dtype);
  const Wanted converted(module);
  std::map<size_t, std::string> by_place;
  for (const auto& [name, place] : plan) by_place[place] = name;
  for (const auto& [place, name] : by_place) {
    const Tensor& to = converted.tensors.at(name);
    tensors[place].read_into(to);
    to.storage()->bump_version();
  }
  return report;
}

}  // namespace rote::nn
