// trainer/apps/conformance/tokenizers.cpp — tokenizer cases: encode, encode_batch, decode, token_to_id, vocab_size.
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "trainer/apps/conformance/families.h"
#include "trainer/text/tokenizer.h"

namespace rote::conformance {
namespace {

using nlohmann::json;

// What is wrong, in one line; empty where nothing is.
using Difference = std::string;

json to_json(const std::pair<int64_t, int64_t>& span) { return json::array({span.first, span.second}); }
json to_json(int64_t value) { return value; }
json to_json(const std::string& value) { return value; }
// Ids of words and texts: -1 stands for none.
json none_if_negative(int64_t value) { return value < 0 ? json(nullptr) : json(value); }

Difference compare(const std::string& field, const json& expected, const json& got) {
  if (expected == got) return "";
  if (!expected.is_array() || !got.is_array()) return str(field, ": expected ", expected.dump(), ", got ", got.dump());
  size_t i = 0;
  while (i < expected.size() && i < got.size() && expected[i] == got[i]) ++i;
  const auto entry = [&](const json& list) { return i < list.size() ? list[i].dump() : std::string("nothing"); };
  return str(field, "[", i, "]: expected ", entry(expected), ", got ", entry(got), " (", expected.size(), " and ", got.size(), " entries)");
}

template <class List, class F>
json list_of(const List& list, const F& f) {
  json out = json::array();
  for (const auto& value : list) out.push_back(f(value));
  return out;
}

template <class List>
json list_of(const List& list) {
  return list_of(list, [](const auto& value) { return to_json(value); });
}

// Every list that `expected` has, under its name.
Difference compare_row(const std::string& where, const json& expected, const text::Encoding& row) {
  const json got = {
      {"ids", list_of(row.ids)},
      {"type_ids", list_of(row.type_ids)},
      {"tokens", list_of(row.tokens)},
      {"offsets", list_of(row.offsets)},
      {"attention_mask", list_of(row.attention_mask)},
      {"special_tokens_mask", list_of(row.special_tokens_mask)},
      {"word_ids", list_of(row.word_ids, none_if_negative)},
      {"sequence_ids", list_of(row.sequence_ids, none_if_negative)},
  };
  for (const auto& [field, value] : expected.items()) {
    if (field == "overflowing") continue;
    if (!got.contains(field)) return str(where, field, ": no such field of an encoding");
    const Difference difference = compare(where + field, value, got.at(field));
    if (!difference.empty()) return difference;
  }
  return "";
}

Difference compare_encoding(const std::string& where, const json& expected, const text::Encoding& row) {
  const json rest = expected.value("overflowing", json::array());
  Difference difference = compare_row(where, expected, row);
  if (difference.empty()) difference = compare(where + "overflowing rows", rest.size(), row.overflowing.size());
  for (size_t i = 0; difference.empty() && i < rest.size(); ++i) {
    difference = compare_row(str(where, "overflowing[", i, "]."), rest[i], row.overflowing[i]);
  }
  return difference;
}

text::Side side_of(const json& value) { return value == "left" ? text::Side::left : text::Side::right; }

text::EncodeOptions options_of(const json& one) {
  text::EncodeOptions options;
  options.add_special_tokens = one.value("add_special_tokens", true);
  if (one.contains("truncation")) {
    const json& given = one.at("truncation");
    text::Truncation how;
    how.max_length = given.at("max_length");
    how.stride = given.at("stride");
    how.direction = side_of(given.at("direction"));
    const std::string strategy = given.at("strategy");
    how.strategy = strategy == "only_first"    ? text::TruncationStrategy::only_first
                   : strategy == "only_second" ? text::TruncationStrategy::only_second
                                               : text::TruncationStrategy::longest_first;
    options.truncation = how;
  }
  if (one.contains("padding")) {
    const json& given = one.at("padding");
    text::Padding how;
    how.direction = side_of(given.at("direction"));
    how.pad_id = given.at("pad_id");
    how.pad_type_id = given.at("pad_type_id");
    how.pad_token = given.at("pad_token");
    if (given.contains("length")) how.length = given.at("length").get<int64_t>();
    if (given.contains("pad_to_multiple_of")) how.pad_to_multiple_of = given.at("pad_to_multiple_of").get<int64_t>();
    options.padding = how;
  }
  return options;
}

// A text of a case, kept for as long as the encoder refers to it.
struct Text {
  explicit Text(const json& value) : is_list(value.is_array()) {
    if (is_list) {
      words = value.get<std::vector<std::string>>();
    } else {
      text = value.get<std::string>();
    }
  }
  text::Sequence sequence() const { return is_list ? text::Sequence(words) : text::Sequence(text); }

  bool is_list;
  std::string text;
  std::vector<std::string> words;
};

Difference run_encode(const text::Tokenizer& tokenizer, const json& one) {
  const bool batch = one.at("kind") == "encode_batch";
  const bool words = one.value("is_pretokenized", false);
  // A row of a batch is a text or, as a list that is not one of words, a pair of texts.
  std::vector<Text> texts;
  std::vector<bool> paired;
  const auto add = [&](const json& first, const json* second) {
    texts.emplace_back(first);
    texts.emplace_back(second != nullptr ? *second : json(""));
    paired.push_back(second != nullptr);
  };
  if (batch) {
    for (const json& row : one.at("texts")) {
      const bool pair = row.is_array() && !words;
      add(pair ? row.at(0) : row, pair ? &row.at(1) : nullptr);
    }
  } else {
    add(one.at("text"), one.contains("pair") ? &one.at("pair") : nullptr);
  }
  std::vector<text::EncodeInput> inputs;
  for (size_t i = 0; i < paired.size(); ++i) {
    text::EncodeInput input{texts[2 * i].sequence(), std::nullopt};
    if (paired[i]) input.pair = texts[2 * i + 1].sequence();
    inputs.push_back(input);
  }

  text::EncodeOptions options = options_of(one);
  std::vector<text::Encoding> rows, plain;
  try {
    rows = tokenizer.encode_batch(inputs, options);
    options.fields = text::Fields::ids;
    plain = tokenizer.encode_batch(inputs, options);
  } catch (const Error& e) {
    return one.contains("expect_error") ? "" : str("refused: ", e.what());
  }
  if (one.contains("expect_error")) return "accepted, but must be refused";
  for (size_t i = 0; i < rows.size(); ++i) {
    const json& expected = batch ? one.at("expect").at(i) : one.at("expect");
    const std::string where = batch ? str("row ", i, " ") : "";
    Difference difference = compare_encoding(where, expected, rows[i]);
    const json short_form = {{"ids", expected.at("ids")}, {"type_ids", expected.at("type_ids")}};
    if (difference.empty()) difference = compare_row(where + "ids only: ", short_form, plain[i]);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::optional<Difference> run_case(const text::Tokenizer& tokenizer, const json& one) {
  const std::string kind = one.at("kind");
  if (kind == "encode" || kind == "encode_batch") return run_encode(tokenizer, one);
  if (kind == "decode") {
    const auto ids = one.at("ids").get<std::vector<int64_t>>();
    return compare("text", one.at("expect"), tokenizer.decode(ids, one.at("skip_special_tokens")));
  }
  if (kind == "token_to_id") {
    const auto id = tokenizer.token_to_id(one.at("token").get<std::string>());
    return compare("id", one.at("expect"), id ? json(*id) : json(nullptr));
  }
  if (kind == "vocab_size") return compare("size", one.at("expect"), tokenizer.vocab_size());
  return std::nullopt;
}

void run_file(const std::filesystem::path& file, Report& report) {
  std::ifstream in(file);
  const json content = json::parse(in, nullptr, /*allow_exceptions=*/false);
  ROTE_CHECK(content.is_object() && content.contains("cases"), IoError, file.string(), " is no file of cases.");

  std::optional<text::Tokenizer> tokenizer;
  std::string lacking, broken;
  try {
    tokenizer = text::Tokenizer::from_file(file.parent_path() / "tokenizer.json");
  } catch (const ArgumentError& e) {  // a component that Rote does not have
    lacking = e.what();
  } catch (const Error& e) {
    broken = e.what();
  }
  for (const json& one : content.at("cases")) {
    const std::string id = one.at("id");
    if (!report.wants(file.parent_path().filename().string(), id)) continue;
    if (!lacking.empty()) {
      report.skip(id, lacking);
      continue;
    }
    if (!broken.empty()) {
      report.fail(id, broken);
      continue;
    }
    std::optional<Difference> difference;
    try {
      difference = run_case(*tokenizer, one);
    } catch (const std::exception& e) {
      difference = e.what();
    }
    if (!difference) {
      report.skip(id, str("no runner for the kind ", one.at("kind").dump()));
    } else if (difference->empty()) {
      report.pass(id);
    } else {
      report.fail(id, *difference);
    }
  }
}

}  // namespace

void run_tokenizers(const std::filesystem::path& path, Report& report) {
  for (const std::filesystem::path& file : case_files(path, "cases.json")) run_file(file, report);
}

}  // namespace rote::conformance
