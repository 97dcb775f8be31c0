# docs/examples/cmudict.py cmudict.dict — letters and phonemes of the words of a-z, the first pronunciation of each, as test.tsv (2,000 words by FNV-1a hash)
# and train.tsv (the others); t5/ with a tokenizer of a token for each letter and phoneme, and the config of a small T5.
# cmudict.py cmudict.dict spoken.jsonl — the share of the words of test.tsv of which spoken.jsonl, a line of `rote pipeline text2text-generation` for each,
# has a pronunciation of the dictionary, and the edits to the nearest one in all phonemes.
import json, os, re, sys

def fnv(word, h=0xCBF29CE484222325):
    for byte in word.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h

def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]

spoken = {}  # all pronunciations of each word
for line in open(sys.argv[1]):
    word, *phonemes = line.split(" #")[0].split()
    word = re.sub(r"\(\d+\)$", "", word)
    if re.fullmatch("[a-z]+", word):
        spoken.setdefault(word, []).append([phoneme.rstrip("012") for phoneme in phonemes])
words = {word: ways[0] for word, ways in spoken.items()}
rows = sorted(words, key=fnv)
if len(sys.argv) > 2:
    said = [json.loads(line)[0]["generated_text"].split() for line in open(sys.argv[2])]
    right = sum(way in spoken[word] for word, way in zip(rows, said))
    wrong = [min((edits(way, other), len(other)) for other in spoken[word]) for word, way in zip(rows, said)]
    print(f"{len(said)} words, {right / len(said):.4f} right, {sum(w for w, _ in wrong) / sum(n for _, n in wrong):.4f} edits a phoneme")
    sys.exit()
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
