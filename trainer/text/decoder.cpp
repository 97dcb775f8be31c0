// trainer/text/decoder.cpp — the decoders.
#include "trainer/text/decoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trainer/text/byte_level.h"
#include "trainer/text/unicode.h"

namespace rote::text {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

// The order of the steps and the change of "do not" are the reference's.
enum class DoNot { keep, shorten };
void clean_up(std::string& text, DoNot how) {
  static constexpr std::string_view kSteps[][2] = {
      {" .", "."},   {" ?", "?"},   {" !", "!"},           {" ,", ","},   {" ' ", "'"},  {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& step : kSteps)
    if (how == DoNot::shorten || step[0] != " do not") replace_all(text, step[0], step[1]);
}

void apply(const WordPieceDecoder& options, std::vector<std::string>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string& token = tokens[i];
    if (i > 0) {
      if (token.starts_with(options.prefix)) {
        token.erase(0, options.prefix.size());
      } else {
        token.insert(token.begin(), ' ');
      }
    }
    if (options.cleanup) clean_up(token, DoNot::shorten);
  }
}

void apply(const BpeDecoder& options, std::vector<std::string>& tokens) {
  for (std::string& token : tokens) replace_all(token, options.suffix, &token == &tokens.back() ? "" : " ");
}

void apply(ByteLevelDecoder, std::vector<std::string>& tokens) {
  std::string bytes, letters;
  for (const std::string& token : tokens) {
    letters.clear();
    for (const char32_t c : decode_text(token, "decode")) {
      const auto byte = byte_of(c);
      if (!byte) {  // no byte-level token, so it stays as it is
        letters = token;
        break;
      }
      letters.push_back(static_cast<char>(*byte));
    }
    bytes += letters;
  }
  tokens = {to_valid_utf8(bytes)};
}

void apply(ByteFallbackDecoder, std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  const auto close = [&] {
    if (bytes.empty()) return;
    if (find_malformed(bytes) == kWellFormed) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), "\uFFFD");
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    const bool framed = token.size() == 6 && token.starts_with("<0x") && token.back() == '>';
    const auto digit = [&](size_t i) { return framed ? hex_digit(static_cast<unsigned char>(token[i])) : -1; };
    const int high = digit(3), low = digit(4);
    if (high >= 0 && low >= 0) {
      bytes.push_back(static_cast<char>(16 * high + low));
    } else {
      close();
      out.push_back(std::move(token));
    }
  }
  close();
  tokens = std::move(out);
}

void apply(const MetaspaceDecoder& options, std::vector<std::string>& tokens) {
  for (std::string& token : tokens) replace_all(token, options.replacement, options.drop_first && &token == &tokens.front() ? "" : " ");
}

void apply(FuseDecoder, std::vector<std::string>& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens = {std::move(all)};
}

void apply(const StripDecoder& options, std::vector<std::string>& tokens) {
  for (std::string& token : tokens) {
    const std::u32string chars = decode_text(token, "decode");
    size_t begin = 0, end = chars.size();
    while (begin < std::min(options.start, chars.size()) && chars[begin] == options.content) ++begin;
    while (end > begin && chars.size() - end < options.stop && chars[end - 1] == options.content) --end;
    token = to_utf8(std::u32string_view(chars).substr(begin, end - begin));
  }
}

void apply(const ReplaceDecoder& options, std::vector<std::string>& tokens) {
  std::vector<Match> matches;
  for (std::string& token : tokens) {
    const std::u32string chars = decode_text(token, "decode");
    options.pattern.split(chars, matches);
    token.clear();
    for (const Match& match : matches) {
      token += match.matched ? options.content : to_utf8(std::u32string_view(chars).substr(match.span.begin, match.span.end - match.span.begin));
    }
  }
}

void apply(const CtcDecoder& options, std::vector<std::string>& tokens) {
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (std::string& token : tokens) {
    replace_all(token, options.pad_token, "");
    if (!options.cleanup) continue;
    clean_up(token, DoNot::shorten);
    replace_all(token, options.word_delimiter_token, " ");
  }
  std::erase(tokens, "");
}

}  // namespace

void clean_up_spaces(std::string& text) { clean_up(text, DoNot::keep); }

std::string join_tokens(const Decoder& decoder, std::vector<std::string> tokens) {
  for (const DecoderStep& step : decoder.steps) std::visit([&](const auto& options) { apply(options, tokens); }, step);
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !decoder.given) text += ' ';
    text += tokens[i];
  }
  return text;
}

}  // namespace rote::text
