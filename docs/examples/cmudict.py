# docs/examples/cmudict.py cmudict.dict — letters and phonemes of the words of a-z, the first pronunciation of each, as test.tsv (2,000 words by FNV-1a hash)
# and train.tsv (the others); t5/ with a tokenizer of a token for each letter and phoneme, and the config of a small T5.
import json, os, re, sys

def fnv(word, h=0xCBF29CE484222325):
    for byte in word.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h

words = {}
for line in open(sys.argv[1]):
    word, *phonemes = line.split(" #")[0].split()
    if re.fullmatch("[a-z]+", word):
        words.setdefault(word, [phoneme.rstrip("012") for phoneme in phonemes])
rows = sorted(words, key=fnv)
for name, part in (("test.tsv", rows[:2000]), ("train.tsv", rows[2000:])):
    with open(name, "w") as out:
        out.write("letters\tphonemes\n")
        out.writelines(" ".join(word) + "\t" + " ".join(words[word]) + "\n" for word in part)

pieces = ["<pad>", "</s>", "<unk>"] + sorted({c for word in words for c in word}) + sorted({p for word in words for p in words[word]})
special = [{"id": i, "content": pieces[i], "special": True, "normalized": False, "single_word": False, "lstrip": False, "rstrip": False} for i in range(3)]
template = {"type": "TemplateProcessing", "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}},
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}]}
tokenizer = {"version": "1.0", "added_tokens": special, "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": template, "decoder": None,
             "truncation": None, "padding": None, "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {piece: i for i, piece in enumerate(pieces)}}}
config = {"model_type": "t5", "vocab_size": len(pieces), "d_model": 128, "d_kv": 32, "d_ff": 512, "num_layers": 3, "num_heads": 4, "dropout_rate": 0.0,
          "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, "tie_word_embeddings": True}
roles = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
os.makedirs("t5", exist_ok=True)
for name, value in (("tokenizer.json", tokenizer), ("tokenizer_config.json", roles), ("config.json", config)):
    json.dump(value, open("t5/" + name, "w"))
