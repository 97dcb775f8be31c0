// tests/fuzz/gguf_fuzz.cpp — a .gguf file: its header, its tensors, the model and the tokenizer that it stands for.
#include "nn/auto.h"
#include "nn/gguf.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "trainer/text/tokenizer.h"

namespace rote::fuzz {

int gguf(const uint8_t* data, size_t size) {
  static File file("model.gguf");
  file.fill(data, size);
  const SmallMachine machine;
  run([&] {
    const GgufFile opened = GgufFile::open(file.path());
    for (const GgufInfo& info : opened.infos()) {
      const Tensor x = empty(info.shape);
      const int64_t columns = info.shape.axes() == 0 ? 1 : info.shape[info.shape.axes() - 1];
      if (x.numel() > 0) opened.read_rows(info, 0, x.numel() / columns, x.data<float>());
    }
  });
  run([&] { nn::load_config(file.path()); });
  run([&] { nn::load_model("", file.path()); });
  run([&] {
    const text::Tokenizer tokenizer = text::Tokenizer::from_folder(file.path());
    tokenizer.decode(tokenizer.encode("The 12 caf\u00E9s <|x|> don't  close.").ids);
  });
  return 0;
}

}  // namespace rote::fuzz
