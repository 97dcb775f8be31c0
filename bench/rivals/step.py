"""bench/rivals/step.py — the step of trainer/apps/bench_step.cpp in PyTorch: MiniLM classifier or GPT-2, random ids, fused AdamW. One JSON line.

usage: step.py THREADS [minilm|gpt2 [f32|bf16 [STEPS]]]; needs torch and transformers (any virtual environment).
"""
import json
import resource
import sys
import time

begun = time.perf_counter()
import torch
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

threads = int(sys.argv[1])
workload = sys.argv[2] if len(sys.argv) > 2 else "minilm"
lowered = len(sys.argv) > 3 and sys.argv[3] == "bf16"
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 6
torch.set_num_threads(threads)
torch.manual_seed(0)
if workload == "gpt2":
    rows, length = 4, 256
    model = GPT2LMHeadModel(GPT2Config()).train()
    model.config.use_cache = False
else:
    rows, length = 32, 64
    model = BertForSequenceClassification(BertConfig(num_hidden_layers=6, hidden_size=384, num_attention_heads=12, intermediate_size=1536, num_labels=2)).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
ids = torch.randint(0, 30522, (rows, length))
mask = torch.ones(rows, length, dtype=torch.long)
labels = ids if workload == "gpt2" else torch.ones(rows, dtype=torch.long)

start = time.perf_counter() - begun
times = []
for step in range(steps + 2):
    at = time.perf_counter()
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=lowered):
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
    loss.backward()
    optimizer.step()
    if step == 0:
        first = time.perf_counter() - begun
    if step >= 2:
        times.append(time.perf_counter() - at)
times.sort()
print(json.dumps({
    "bench": "train_step", "workload": workload, "impl": f"torch {torch.__version__}", "threads": threads,
    "best_ms": round(times[0] * 1e3, 2), "median_ms": round(times[len(times) // 2] * 1e3, 2), "tok_s": round(rows * length / times[0], 1),
    "start_s": round(start, 3), "first_step_s": round(first, 3), "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}))
