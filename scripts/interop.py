# scripts/interop.py BUILD WORK [CLASSIFIER] — run by scripts/test-interop.
# Every family and head, small and random: transformers' folder gives its outputs, loss and gradients here (rote-conformance), and what
# `rote convert` writes of it loads in transformers with the same bits. CLASSIFIER: what `rote train` saved gives the same logits in both.
import copy
import json
import os
import subprocess
import sys
import tempfile

import torch
import transformers as hf
from safetensors.torch import save_file
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()
BUILD, WORK, CLASSIFIER = sys.argv[1:]
ROTE, CONFORMANCE = f"{BUILD}/rote", f"{BUILD}/rote-conformance"
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, holds, detail=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {name} {detail}")


# ---- every family and head -------------------------------------------------------------------------------------------------------
TEXT = dict(vocab_size=60, max_position_embeddings=40, num_labels=3)
ENCODER = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
DECODER = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=24, pad_token_id=0, bos_token_id=1, eos_token_id=2)
HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM", "ForQuestionAnswering")


def configs():
    yield hf.BertConfig(**TEXT, **ENCODER), [f"Bert{h}" for h in (*HEADS, "ForNextSentencePrediction", "ForMultipleChoice")]
    yield hf.RobertaConfig(**TEXT, **ENCODER, pad_token_id=1), [f"Roberta{h}" for h in HEADS]
    distil = dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0, qa_dropout=0.0)
    yield hf.DistilBertConfig(**TEXT, **distil), [f"DistilBert{h}" for h in HEADS]
    gpt2 = dict(vocab_size=60, n_positions=40, n_embd=16, n_layer=2, n_head=2, num_labels=3, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, pad_token_id=0)
    yield hf.GPT2Config(**gpt2), ["GPT2Model", "GPT2LMHeadModel", "GPT2ForSequenceClassification"]
    for family, more in (("Llama", {}), ("Mistral", dict(sliding_window=4)), ("Qwen3", dict(head_dim=8))):
        yield getattr(hf, family + "Config")(**TEXT, **DECODER, **more), [f"{family}{h}" for h in ("Model", "ForCausalLM", "ForSequenceClassification")]
    t5 = dict(vocab_size=60, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2, dropout_rate=0.0, decoder_start_token_id=0)
    yield hf.T5Config(**t5), ["T5ForConditionalGeneration"]
    yield hf.T5Config(**t5, feed_forward_proj="gated-gelu", tie_word_embeddings=False), ["T5ForConditionalGeneration"]
    bart = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24)
    yield hf.BartConfig(vocab_size=60, max_position_embeddings=40, dropout=0.0, **bart), ["BartModel", "BartForConditionalGeneration"]
    yield hf.ViTConfig(**ENCODER, image_size=12, patch_size=4, num_labels=3), ["ViTModel", "ViTForImageClassification"]
    for kind in ("basic", "bottleneck"):
        for first in (False, True):
            for inner in (False, True):
                yield (
                    hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24], depths=[2, 1, 2], layer_type=kind, downsample_in_first_stage=first,
                                    downsample_in_bottleneck=inner, hidden_act="gelu" if inner else "relu", num_labels=3),
                    ["ResNetModel", "ResNetForImageClassification"],
                )
    stages = dict(kernel_sizes=[3, 5, 3], in_channels=[32, 8, 16], out_channels=[8, 16, 16], strides=[1, 2, 2], num_block_repeats=[1, 2, 2], expand_ratios=[1, 6, 4])
    for width, dim, depth, padded, pooling in ((0.25, 320, 1.0, [], "mean"), (0.5, 640, 1.3, [1], "max")):
        yield (
            hf.EfficientNetConfig(**stages, width_coefficient=width, hidden_dim=dim, depth_coefficient=depth, depthwise_padding=padded, pooling_type=pooling,
                                  dropout_rate=0.0, drop_connect_rate=0.0, num_labels=3),
            ["EfficientNetModel", "EfficientNetForImageClassification"],
        )


def inputs_of(name, config):
    if hasattr(config, "num_channels"):
        size = config.image_size if name.startswith("ViT") else 37
        given = dict(pixel_values=torch.randn(3, 3, size, size))
        return given | (dict(labels=torch.tensor([0, 2, 1])) if "For" in name else {})
    B, T = 3, 9
    ids = torch.randint(3, 60, (B, T))
    mask = torch.ones(B, T, dtype=torch.long)
    mask[1, 6:] = 0
    pad = getattr(config, "pad_token_id", None)
    ids[1, 6:] = 0 if pad is None else pad
    given = dict(input_ids=ids, attention_mask=mask)
    classes = torch.tensor([0, 2, 1])
    tokens = ids.masked_fill(mask == 0, -100)
    if "MultipleChoice" in name:
        return {k: v[:2].reshape(1, 2, T).clone() for k, v in given.items()} | dict(labels=torch.tensor([1]))
    if "NextSentence" in name:
        return given | dict(labels=torch.tensor([0, 1, 1]))
    if "Sequence" in name:
        return given | dict(labels=classes)
    if "Token" in name:
        return given | dict(labels=torch.randint(0, 3, (B, T)).masked_fill(mask == 0, -100))
    if "Question" in name:
        return given | dict(start_positions=torch.tensor([1, 0, 3]), end_positions=torch.tensor([2, 5, 8]))
    if "Masked" in name or "Causal" in name or "LMHead" in name or "Conditional" in name:
        return given | dict(labels=tokens)
    if name == "BartModel":
        return given | dict(decoder_input_ids=ids[:, :5].clone())
    return given


# Random values everywhere, running statistics too: fresh biases, norms and statistics would hide a mistake.
def shake(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.1)
            if name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)


# A case as rote-conformance reads it, with references computed in double precision.
def write_case(folder, model, inputs):
    tensors, outputs, grads = {f"in.{name}": x for name, x in inputs.items()}, {}, {}
    wide = model.double().eval()
    output = wide(**{name: x.double() if x.is_floating_point() else x for name, x in inputs.items()})

    def expect(to, name, x, tolerance):
        tensors[f"{name}.ref"] = x.detach().float().contiguous()
        # A scale of the tensor, not of each element: sums cancel.
        to[name.removeprefix("grad.")] = dict(ref=f"{name}.ref", rtol=tolerance, atol=tolerance * max(1e-3, x.detach().abs().max().item()))

    for name in ("loss", "logits", "start_logits", "end_logits", "last_hidden_state", "pooler_output"):
        x = getattr(output, name, None)
        if x is not None:
            expect(outputs, name, x, 2e-5)
            if name not in ("loss", "pooler_output") and "attention_mask" in inputs and x.shape[:2] == inputs["attention_mask"].shape:
                outputs[name]["rows"] = "position"
    if getattr(output, "loss", None) is not None:
        output.loss.backward()
        for name, parameter in wide.named_parameters():
            if parameter.grad is None:
                grads[name] = None
            else:
                expect(grads, f"grad.{name}", parameter.grad, 2e-4)
    case = dict(id=os.path.basename(folder), **{"class": type(model).__name__}, dtype="float32", inputs={name: f"in.{name}" for name in inputs}, outputs=outputs, grads=grads)
    with open(f"{folder}/expected.json", "w") as to:
        json.dump(dict(format=1, family="models", cases=[case]), to)
    save_file(tensors, f"{folder}/expected.safetensors")
    model.float()


def families():
    torch.manual_seed(0)
    made = []
    for number, (config, names) in enumerate(configs()):
        for name in names:
            folder = f"{WORK}/{number:02}-{name}"
            own = copy.deepcopy(config)
            if "Question" in name:
                own.num_labels = 2  # the beginning and the end
            inputs = inputs_of(name, own)
            model = getattr(hf, name)(own)
            shake(model)
            model.eval().save_pretrained(folder)
            write_case(folder, model, inputs)
            made.append((folder, name, model, inputs))
    run = subprocess.run([CONFORMANCE, "--verbose", WORK], capture_output=True, text=True)
    last = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr
    check("transformers' folders here", run.returncode == 0 and f"{len(made)} passed, 0 failed, 0 skipped" in run.stdout, f"{run.stdout}{run.stderr}")
    print(f"of transformers' {len(made)} models: {last}")
    for folder, name, model, inputs in made:
        for more, back in (((), f"{folder}.back"), (("--max_shard_size", "4000"), f"{folder}.shards")):
            saved = subprocess.run([ROTE, "convert", folder, back, *more], capture_output=True, text=True)
            check(f"{back}: converted", saved.returncode == 0, saved.stderr)
            if saved.returncode:
                continue
            again, info = getattr(hf, name).from_pretrained(back, output_loading_info=True)
            for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
                check(f"{back}: {kind}", not info[kind], sorted(info[kind]))
            with torch.no_grad():
                wanted, given = model(**inputs).to_tuple()[0], again.eval()(**inputs).to_tuple()[0]
            check(f"{back}: outputs", torch.equal(wanted, given))


# ---- a classifier that was trained here ------------------------------------------------------------------------------------------
LENGTH, TOLERANCE = 48, 1e-4
SENTENCES = [
    "A warm, funny film that I will watch again.",
    "Two hours that felt like five.",
    "x",
    "Ein Café-Besuch voller Überraschungen, naïve und schön — 10/10!",
    "日本の映画はとても良かった。",
    "A sentence that is far too long to fit, " * 12,
]


def by_rote(folder):
    words = [ROTE, "predict", "--model_name_or_path", folder, "--output_format", "json", "--max_seq_length", str(LENGTH), *SENTENCES]
    return [json.loads(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()]


def by_transformers(folder):
    model, info = hf.AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        check(f"{folder}: {kind}", not info[kind], sorted(info[kind]))
    batch = hf.AutoTokenizer.from_pretrained(folder)(SENTENCES, truncation=True, max_length=LENGTH, padding=True, return_tensors="pt")
    with torch.no_grad():
        return model.eval(), model(**batch).logits


def compare(name, rows, model, logits):
    check(f"{name}: rows", len(rows) == len(SENTENCES), len(rows))
    for sentence, row, wanted in zip(SENTENCES, rows, logits):
        worst = (torch.tensor(row["logits"]) - wanted).abs().max().item()
        check(f"{name}: logits of {sentence[:40]!r}", worst <= TOLERANCE, f"differ by {worst:.3g}, at most {TOLERANCE:g}")
        check(f"{name}: label of {sentence[:40]!r}", row["label"] == model.config.id2label[int(wanted.argmax())], row["label"])


def classifier():
    model, logits = by_transformers(CLASSIFIER)
    compare("saved by rote", by_rote(CLASSIFIER), model, logits)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        hf.AutoTokenizer.from_pretrained(CLASSIFIER).save_pretrained(folder)
        compare("saved by transformers", by_rote(folder), model, logits)


families()
if CLASSIFIER:
    classifier()
else:
    counts["skipped"] += 1
    print("skipped: there is no classifier that `rote train` saved (--model)")
print(", ".join(f"{count} {word}" for word, count in counts.items()))
sys.exit(1 if counts["failed"] else 0)
