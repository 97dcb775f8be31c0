// trainer/text/decoder.cpp — the decoders.
#include "trainer/text/decoder.h"

#include <string_view>

namespace rote::text {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

// The order of the steps and the change of "do not" are the reference's.
void clean_up(std::string& token) {
  static constexpr std::string_view kSteps[][2] = {
      {" .", "."},   {" ?", "?"},   {" !", "!"},           {" ,", ","},   {" ' ", "'"},  {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& step : kSteps) replace_all(token, step[0], step[1]);
}

std::string join(std::monostate, const std::vector<std::string>& tokens) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += ' ';
    text += tokens[i];
  }
  return text;
}

std::string join(const WordPieceDecoder& options, const std::vector<std::string>& tokens) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string token = tokens[i];
    if (i > 0) {
      if (token.starts_with(options.prefix)) {
        token.erase(0, options.prefix.size());
      } else {
        token.insert(token.begin(), ' ');
      }
    }
    if (options.cleanup) clean_up(token);
    text += token;
  }
  return text;
}

}  // namespace

std::string join_tokens(const Decoder& decoder, const std::vector<std::string>& tokens) {
  return std::visit([&](const auto& options) { return join(options, tokens); }, decoder);
}

}  // namespace rote::text
