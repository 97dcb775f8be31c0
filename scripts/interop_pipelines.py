# scripts/interop_pipelines.py BUILD WORK — run by scripts/test-interop.
# `rote pipeline` against transformers' own pipelines: every task and option, on small random models with tokenizers that are trained in place.
# Strings, ids and offsets must be equal, scores and features within 1e-5.
import itertools
import json
import math
import subprocess
import sys
import warnings

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()
warnings.filterwarnings("ignore")
BUILD, WORK = sys.argv[1:]
TOLERANCE = 1e-5
counts = {"passed": 0, "failed": 0}

TEXTS = [
    "This restaurant is awesome.",
    "Angela Merkel met Emmanuel Macron in Paris, and they didn't talk about Berlin!",
    "Ein Café-Besuch voller Überraschungen, naïve und schön — 10/10!",
    "日本の映画はとても良かった。 東京 and 大阪",
    "unbelievablenesses antidisestablishmentarianism Microsoft's e-mail",
    "It's \"fine\", isn't it? I do not know ... we 've been there , they 're not .",
    "  leading blanks,\ttabs and\nlines  ",
    "😀 emoji 👩‍👩‍👧 and a\u0301 accents",
    "x",
    "",
]
LONG = [" ".join(TEXTS[:4]) * 3, TEXTS[1] * 5]


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.train_from_iterator(TEXTS[:2] + TEXTS[4:7], trainers.WordPieceTrainer(vocab_size=140, show_progress=False, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t, dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def byte_level():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, show_progress=False, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return t, dict(bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>", mask_token="<mask>")


def gpt2():
    t, _ = byte_level()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t, dict(bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.NFKC(), pre_tokenizers.Metaspace(), decoders.Metaspace()
    t.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=120, show_progress=False, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], unk_token="<unk>"))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t, dict(bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>", mask_token="<mask>")


ENCODER = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, initializer_range=0.3)
FAMILIES = {  # tokenizer, class name, config
    "bert": (wordpiece, "Bert", hf.BertConfig, dict(**ENCODER, max_position_embeddings=256)),
    "distilbert": (wordpiece, "DistilBert", hf.DistilBertConfig, dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24, initializer_range=0.3, max_position_embeddings=256)),
    "roberta": (byte_level, "Roberta", hf.RobertaConfig, dict(**ENCODER, max_position_embeddings=260, pad_token_id=1)),
    "unigram": (unigram, "Roberta", hf.RobertaConfig, dict(**ENCODER, max_position_embeddings=260, pad_token_id=1)),
    "gpt2": (gpt2, "GPT2", hf.GPT2Config, dict(n_positions=256, n_embd=16, n_layer=2, n_head=2, initializer_range=0.3, pad_token_id=1, bos_token_id=0, eos_token_id=2)),
    "llama": (unigram, "Llama", hf.LlamaConfig, dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=24,
                                                     initializer_range=0.3, pad_token_id=1, bos_token_id=0, eos_token_id=2)),
}


def save(family, head, number, max_length=None, clean_up=False, **config):
    make, name, config_class, sizes = FAMILIES[family]
    tokenizer, special = make()
    folder = f"{WORK}/{family}-{head}-{number}"
    torch.manual_seed(number)
    more = {} if max_length is None else dict(model_max_length=max_length)
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=clean_up, **special, **more)
    if name != "Bert":
        fast.model_input_names = ["input_ids", "attention_mask"]
    fast.save_pretrained(folder)
    getattr(hf, name + head)(config_class(vocab_size=tokenizer.get_vocab_size(), **sizes, **config)).eval().save_pretrained(folder)
    return folder


def equal(wanted, given, place=""):
    if isinstance(wanted, dict):
        if list(wanted) != list(given):
            return f"{place}: keys {list(wanted)}, here {list(given)}"
        return next((d for k in wanted if (d := equal(wanted[k], given[k], f"{place}.{k}"))), "")
    if isinstance(wanted, (list, tuple)):
        if len(wanted) != len(given):
            return f"{place}: {len(wanted)} entries, here {len(given)}: {wanted} / {given}"
        return next((d for i, (a, b) in enumerate(zip(wanted, given)) if (d := equal(a, b, f"{place}[{i}]"))), "")
    if isinstance(wanted, (str, int)):
        return "" if wanted == given and type(wanted) is type(given) else f"{place}: {wanted!r}, here {given!r}"
    return "" if math.isclose(float(wanted), given, rel_tol=TOLERANCE, abs_tol=TOLERANCE) else f"{place}: {float(wanted)}, here {given}"


# With a stride transformers 5.24 lists a first group of no character twice.
def once(records):
    twice = len(records) > 1 and records[0] == records[1] and isinstance(records[0], dict) and records[0].get("start", 0) == records[0].get("end", 1)
    return records[1:] if twice else records


# `options` as rote's words, `kwargs` as transformers'.
def compare(task, folder, texts, options=(), **kwargs):
    pipe = hf.pipeline(task, model=folder, device="cpu")
    wanted = [once(pipe(text, **kwargs)) for text in texts]
    words = [f"{BUILD}/rote", "pipeline", task, "--model", folder, *options, "--batch_size", "3", "--", *texts]
    run = subprocess.run(words, capture_output=True, text=True)
    given = [json.loads(line) for line in run.stdout.splitlines()]
    if len(given) != len(texts):
        counts["failed"] += 1
        print(f"FAILED: {task} {folder} {options}: {len(given)} lines of {len(texts)}: {run.stderr}")
        return
    for text, a, b in zip(texts, wanted, given):
        difference = equal(a, b)
        counts["failed" if difference else "passed"] += 1
        if difference:
            print(f"FAILED: {task} {folder} {' '.join(options)} {text[:40]!r}: {difference}")


def text_classification():
    for number, (family, problem) in enumerate(itertools.product(("bert", "distilbert", "roberta", "gpt2", "llama"), (None, "multi_label_classification", "regression"))):
        texts = [t for t in TEXTS if t or family not in ("gpt2",)]
        for labels in (1, 3):
            folder = save(family, "ForSequenceClassification", 10 * number + labels, problem_type=problem, num_labels=labels)
            compare("text-classification", folder, texts)
            compare("text-classification", folder, texts, ["--top_k", "2"], top_k=2)
            compare("text-classification", folder, texts, ["--top_k", "0"], top_k=None)
            for function in ("sigmoid", "softmax", "none"):
                compare("text-classification", folder, texts, ["--function_to_apply", function], function_to_apply=function)
    folder = save("bert", "ForSequenceClassification", 999, max_length=12)
    compare("text-classification", folder, LONG, ["--truncation"], truncation=True)


def token_classification():
    labels = {i: label for i, label in enumerate(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC", "X-Y-Z"])}
    for number, (family, clean_up) in enumerate(itertools.product(("bert", "distilbert", "roberta", "unigram"), (False, True))):
        folder = save(family, "ForTokenClassification", number, id2label=labels, label2id={v: k for k, v in labels.items()}, max_length=40, clean_up=clean_up)
        for how in ("none", "simple", "first", "average", "max"):
            compare("token-classification", folder, TEXTS + LONG, ["--aggregation_strategy", how], aggregation_strategy=how)
            ignored = ["MISC", "PER", "I-LOC"]
            options = ["--aggregation_strategy", how, "--ignore_labels", *ignored]
            compare("token-classification", folder, TEXTS, options, aggregation_strategy=how, ignore_labels=ignored)
            for stride in (0, 7) if how != "none" else ():
                compare("token-classification", folder, TEXTS + LONG, ["--aggregation_strategy", how, "--stride", str(stride)], aggregation_strategy=how, stride=stride)


def fill_mask():
    for number, (family, clean_up) in enumerate(itertools.product(("bert", "distilbert", "roberta", "unigram"), (False, True))):
        folder = save(family, "ForMaskedLM", number, clean_up=clean_up)
        mask = "[MASK]" if family in ("bert", "distilbert") else "<mask>"
        texts = [f"{t} {mask}." for t in TEXTS] + [f"{mask}{t}" for t in TEXTS[:3]] + [f"{mask} {t} {mask}, {mask}" for t in TEXTS]
        compare("fill-mask", folder, texts)
        compare("fill-mask", folder, texts, ["--top_k", "17"], top_k=17)
        compare("fill-mask", folder, texts, ["--targets", "the", "restaurant", "Paris", "is", "is"], targets=["the", "restaurant", "Paris", "is", "is"])


def feature_extraction():
    for number, family in enumerate(("bert", "distilbert", "roberta", "gpt2", "llama")):
        folder = save(family, "Model", number)
        compare("feature-extraction", folder, [t for t in TEXTS if t or family != "gpt2"])


def text_generation():
    for number, (family, head, clean_up) in enumerate(itertools.product(("gpt2", "llama"), ("LMHeadModel", "ForCausalLM"), (False, True))):
        if (family == "gpt2") != (head == "LMHeadModel"):
            continue
        folder = save(family, head, number, clean_up=clean_up)
        for full in (True, False):
            options = ["--max_new_tokens", "30", *([] if full else ["--no_return_full_text"])]
            compare("text-generation", folder, TEXTS, options, do_sample=False, max_new_tokens=30, return_full_text=full)


for task in (text_classification, token_classification, fill_mask, feature_extraction, text_generation):
    before = dict(counts)
    task()
    print(f"{task.__name__}: {counts['passed'] - before['passed']} passed, {counts['failed'] - before['failed']} failed")
print("pipelines: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
sys.exit(1 if counts["failed"] else 0)
