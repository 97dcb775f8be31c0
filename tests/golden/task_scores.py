"""Writes tests/golden/task_scores.json: entities and their scores by seqeval 1.2.2, scores of answers by the formulas of the SQuAD 1.1 and 2.0
scripts, and the answers that run_qa.py's postprocessing picks from logits. numpy 2.4."""
import collections
import json
import os
import random
import re
import string

import numpy as np
from seqeval.metrics import classification_report
from seqeval.metrics.sequence_labeling import get_entities

rng = random.Random(5)


def tags(n):
    made = [rng.choice(["O", "O", "B-", "I-", "I-", "E-", "S-"]) for _ in range(n)]
    return [tag if tag == "O" else tag + rng.choice(["PER", "LOC", "LOC", "A-B"]) for tag in made]


def entity_cases():
    rows = [tags(rng.randint(0, 9)) for _ in range(60)]
    return [{"tags": row, "entities": [[kind, begin, end + 1] for kind, begin, end in get_entities(row)]} for row in rows]


def changed(row):
    return [tag if rng.random() < 0.7 else rng.choice(["O", "B-PER", "I-PER", "I-LOC"]) for tag in row]


def report_cases():
    cases = []
    for _ in range(5):
        labels = [tags(rng.randint(1, 9)) for _ in range(12)]
        predictions = [changed(row) for row in labels]
        report = classification_report(labels, predictions, output_dict=True, zero_division=0)
        cases.append({"labels": labels, "predictions": predictions,
                      "scores": {name: [float(one["precision"]), float(one["recall"]), float(one["f1-score"]), int(one["support"])]
                                 for name, one in report.items() if name not in ("macro avg", "weighted avg")}})
    return cases


def normalize_answer(s):
    s = "".join(ch for ch in s.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())


def f1(prediction, gold, version_2):
    p, g = normalize_answer(prediction).split(), normalize_answer(gold).split()
    if version_2 and (not p or not g):
        return float(p == g)
    same = sum((collections.Counter(p) & collections.Counter(g)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(p), same / len(g)
    return 2 * precision * recall / (precision + recall)


ANSWERS = ["The Eiffel Tower", "eiffel tower!", "tower of Eiffel", "a", "An apple, the pear", "apple pear", "ÉCOLE Normale", "école normale", "the", "",
           "3.5 million", "35 million", "\u00a71 the\u00a72", "\u00a71 \u00a72", "a\u0301 la carte", "la carte", "\u0130stanbul", "x\u2003y\u00a0z", "x y z", "anthem the-the"]


def answer_cases():
    cases = []
    for given in ANSWERS:
        for _ in range(3):
            wanted = rng.sample(ANSWERS, rng.randint(1, 3))
            cases.append({"given": given, "normalized": normalize_answer(given), "wanted": wanted,
                          "exact": float(max(normalize_answer(given) == normalize_answer(w) for w in wanted)),
                          "f1": max(f1(given, w, True) for w in wanted)})
    return cases


def corpus_case():
    given, wanted = [], []
    for _ in range(30):
        given.append(rng.choice(ANSWERS))
        wanted.append([] if rng.random() < 0.3 else [rng.choice(ANSWERS) for _ in range(rng.randint(1, 3))])
    exact, f1s = [], []
    for g, all_wanted in zip(given, wanted):
        golds = [w for w in all_wanted if normalize_answer(w)] or [""]
        exact.append(max(int(normalize_answer(g) == normalize_answer(w)) for w in golds))
        f1s.append(max(f1(g, w, True) for w in golds))
    total = len(given)
    scores = {"exact": 100.0 * sum(exact) / total, "f1": 100.0 * sum(f1s) / total, "total": total}
    for name, has in (("HasAns", True), ("NoAns", False)):
        rows = [i for i in range(total) if bool(wanted[i]) == has]
        scores |= {f"{name}_exact": 100.0 * sum(exact[i] for i in rows) / len(rows), f"{name}_f1": 100.0 * sum(f1s[i] for i in rows) / len(rows),
                   f"{name}_total": len(rows)}
    return {"given": given, "wanted": wanted, "scores": scores}


def pick(context, features, logits, n_best_size, max_answer_length, version_2_with_negative, null_score_diff_threshold):
    """postprocess_qa_predictions of transformers' examples/pytorch/question-answering/utils_qa.py, for one question."""
    least, spans = None, []
    for offsets, (start_logits, end_logits) in zip(features, logits):
        score = start_logits[0] + end_logits[0]
        if least is None or least["score"] > score:
            least = {"offsets": (0, 0), "score": score, "start_logit": start_logits[0], "end_logit": end_logits[0]}
        for start in np.argsort(start_logits)[-1:-n_best_size - 1:-1].tolist():
            for end in np.argsort(end_logits)[-1:-n_best_size - 1:-1].tolist():
                if start >= len(offsets) or end >= len(offsets) or offsets[start] is None or offsets[end] is None:
                    continue
                if end < start or end - start + 1 > max_answer_length:
                    continue
                spans.append({"offsets": (offsets[start][0], offsets[end][1]), "score": start_logits[start] + end_logits[end],
                              "start_logit": start_logits[start], "end_logit": end_logits[end]})
    if version_2_with_negative and least is not None:
        spans.append(least)
    best = sorted(spans, key=lambda x: x["score"], reverse=True)[:n_best_size]
    if version_2_with_negative and least is not None and not any(p["offsets"] == (0, 0) for p in best):
        best.append(least)
    for p in best:
        p["text"] = context[p["offsets"][0]:p["offsets"][1]]
    if len(best) == 0 or (len(best) == 1 and best[0]["text"] == ""):
        best.insert(0, {"text": "empty", "start_logit": 0.0, "end_logit": 0.0, "score": 0.0})
    if not version_2_with_negative:
        return best[0]["text"]
    answer = next(p for p in best if p["text"] != "")
    difference = least["score"] - answer["start_logit"] - answer["end_logit"]
    return "" if difference > null_score_diff_threshold else answer["text"]


def best_cases():
    cases, draws = [], np.random.default_rng(7)
    for case in range(40):
        words = [rng.choice(["Paris", "wine", "é", "東京", "of", "1889", "x"]) for _ in range(rng.randint(3, 14))]
        context = " ".join(words)
        places, at = [], 0
        for word in words:
            places.append((at, at + len(word)))
            at += len(word) + 1
        question, size, windows = rng.randint(1, 4), rng.randint(3, 8), []
        for begin in range(0, len(places), max(1, size - 2)):
            windows.append([None] * (question + 2) + places[begin:begin + size] + [None])
        T = max(len(w) for w in windows) + rng.randint(0, 3)
        logits = draws.permutation(len(windows) * 2 * T).reshape(len(windows), 2, T).astype(np.float32) / np.float32(8)
        options = {"n_best_size": rng.choice([1, 3, 20]), "max_answer_length": rng.choice([1, 2, 30]), "version_2_with_negative": case % 2 == 1,
                   "null_score_diff_threshold": rng.choice([0.0, -2.0, 3.0])}
        for row, w in zip(logits, windows):
            row[:, len(w):] = -100
        cases.append({"context": context, "first": question + 2, "offsets": [[list(o) for o in w if o] for w in windows],
                      "start": logits[:, 0].tolist(), "end": logits[:, 1].tolist(), **options, "answer": pick(context, windows, logits, **options)})
    return cases


if __name__ == "__main__":
    made = {"entities": entity_cases(), "reports": report_cases(), "answers": answer_cases(), "corpus": corpus_case(), "best_answers": best_cases()}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "task_scores.json"), "w") as out:
        out.write("{\n" + ",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in (cases if isinstance(cases, list) else [cases])) + "\n]"
                                     for name, cases in made.items()) + "\n}\n")
