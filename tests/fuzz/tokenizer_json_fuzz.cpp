// tests/fuzz/tokenizer_json_fuzz.cpp — a tokenizer.json: read, and used on texts of many kinds.
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_json.h"

namespace rote::fuzz {

int tokenizer_json(const uint8_t* data, size_t size) {
  static File file("tokenizer.json");
  file.fill(data, size);
  run([&] {
    const text::Tokenizer tokenizer = text::Tokenizer::from_file(file.path());
    for (const char* text : {"", "Hello, the 12 caf\u00E9s!", "  \u4E2D\u6587 \U0001F642\n\tdon't <mask>[SEP]", "abababababababab aaaaaaaaaa"}) {
      run([&] { tokenizer.decode(tokenizer.encode(text).ids); });
      run([&] { tokenizer.decode(tokenizer.encode(text, "a b", {.truncation = text::Truncation{.max_length = 9}}).ids, false); });
    }
  });
  run([&] {
    text::TokenizerConfig config;
    text::read_tokenizer_config({reinterpret_cast<const char*>(data), size}, "tokenizer_config.json", config);
  });
  return 0;
}

}  // namespace rote::fuzz
