// trainer/text/gguf_tokenizer.h — the tokenizer in the metadata of a .gguf file, as the files that transformers reads. Encodes no text.
#pragma once

#include "tensor/gguf.h"
#include "trainer/text/tokenizer_text.h"

namespace rote::text {

// Whether the file holds a tokenizer at all.
bool has_tokenizer(const GgufFile& file);

// tokenizer.ggml.model "gpt2" is a byte-level BPE whose words are cut as tokenizer.ggml.pre says, "llama" the BPE of sentencepiece with its
// scores, merges derived where the file lists none. Throws IoError where the metadata are damaged, ArgumentError, with the known ones, for
// another model or another way to cut words.
TokenizerText read_gguf_tokenizer(const GgufFile& file);

}  // namespace rote::text
