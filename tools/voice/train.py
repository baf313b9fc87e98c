"""Tunes a small model's voice: trains a LoRA on examples and writes a GGUF adapter for llama.cpp.

    python tools/voice/train.py MODEL.gguf examples.jsonl OUT

It needs ``torch``, ``transformers``, ``peft`` and ``gguf``, and takes minutes on a GPU. It trains
on the weights of the GGUF file itself, because these are the weights that will be served.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from pathlib import Path

import gguf
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

MATRICES = {
    "q_proj": "attn_q",
    "k_proj": "attn_k",
    "v_proj": "attn_v",
    "o_proj": "attn_output",
    "gate_proj": "ffn_gate",
    "up_proj": "ffn_up",
    "down_proj": "ffn_down",
}


def batches(rows, most, shuffle):
    """Return batches of rows of similar length, with at most ``most`` tokens including padding."""
    rows = sorted(rows, key=lambda row: (len(row["tokens"]), random.random()))
    found = []
    batch = []
    for row in rows:
        if batch and len(row["tokens"]) * (len(batch) + 1) > most:
            found.append(batch)
            batch = []
        batch.append(row)
    found.append(batch)
    if shuffle:
        random.shuffle(found)
    return found


def loss_of(model, batch, device):
    """Return the summed loss over the answers' tokens, and their number.

    No attention mask: padding comes last, so no token sees it. With a mask, bfloat16 gave NaN.
    """
    longest = max(len(row["tokens"]) for row in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    labels = torch.full_like(ids, -100)
    for at, row in enumerate(batch):
        size = len(row["tokens"])
        head = row["prompt"]
        ids[at, :size] = torch.tensor(row["tokens"])
        labels[at, head:size] = ids[at, head:size]
    ids = ids.to(device)
    labels = labels.to(device)
    hidden = model.model(input_ids=ids).last_hidden_state
    said = labels[:, 1:] != -100
    logits = model.lm_head(hidden[:, :-1][said]).float()
    loss = torch.nn.functional.cross_entropy(logits, labels[:, 1:][said], reduction="sum")
    return loss, int(said.sum())


@torch.no_grad()
def held_out(model, rows, device):
    """Return the mean loss per token on rows that are held out from training."""
    model.eval()
    found = [loss_of(model.base_model.model, b, device) for b in batches(rows, 32768, False)]
    model.train()
    return float(sum(x for x, _ in found) / sum(n for _, n in found))


def write_adapter(model, config, arch, path):
    """Write the LoRA as GGUF, with llama.cpp's names of the matrices."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(config.lora_alpha))
    for name, value in model.state_dict().items():
        if ".lora_" not in name:
            continue
        parts = name.split(".")
        layer = parts[parts.index("layers") + 1]
        which = "a" if "lora_A" in parts else "b"
        matrix = next(ours for theirs, ours in MATRICES.items() if theirs in parts)
        tensor = value.detach().float().cpu().numpy().astype("float16")
        writer.add_tensor(f"blk.{layer}.{matrix}.weight.lora_{which}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def warmth(share, done):
    """Return the learning rate's factor: ten warm-up steps, then a half cosine down to 1/20."""
    return min(1, done / 10) * (0.05 + 0.95 * (1 + math.cos(math.pi * share)) / 2)


def learn(model, rows, given, device, after_epoch):
    """Train the adapter; call ``after_epoch`` with each epoch's number and mean loss."""
    trained = [each for each in model.parameters() if each.requires_grad]
    adam = torch.optim.AdamW(trained, lr=given.rate, weight_decay=0.01)
    total = len(batches(rows, given.batch, False)) * given.epochs
    done = 0
    for epoch in range(1, given.epochs + 1):
        log = []
        for batch in batches(rows, given.batch, True):
            for group in adam.param_groups:
                group["lr"] = given.rate * warmth(done / total, done)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss, count = loss_of(model.base_model.model, batch, device)
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            adam.step()
            adam.zero_grad(set_to_none=True)
            done += 1
            log.append(float(loss.detach()) / count)
        after_epoch(epoch, sum(log) / len(log))


def main():
    """Train, and write an adapter after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rank", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--batch", type=int, default=16384, help="tokens of one step")
    parser.add_argument("--dropout", type=float, default=0.05)
    given = parser.parse_args()
    random.seed(7)
    torch.manual_seed(7)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = [json.loads(line) for line in given.examples.open(encoding="utf-8")]
    learned, aside = ([row for row in rows if row["aside"] is which] for which in (False, True))
    given.out.mkdir(parents=True, exist_ok=True)
    arch = str(gguf.GGUFReader(given.model).get_field("general.architecture").contents())
    config = LoraConfig(
        r=given.rank,
        lora_alpha=2 * given.rank,
        lora_dropout=given.dropout,
        target_modules=[*MATRICES],
    )
    begun = time.time()
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    whole = AutoModelForCausalLM.from_pretrained(
        given.model.parent, gguf_file=given.model.name, dtype=kind
    )
    model = get_peft_model(whole.to(device), config)
    for each in model.parameters():
        if each.requires_grad:
            each.data = each.data.float()

    def report(epoch, loss):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            found = held_out(model, aside, device)
        told = f"epoch {epoch}: learned {loss:.4f}, held out {found:.4f}"
        print(f"{told}, {time.time() - begun:.0f} s", flush=True)
        if epoch:
            write_adapter(model, config, arch, given.out / f"voice-{epoch}.gguf")

    print(f"{len(learned)} examples, {len(aside)} kept aside", flush=True)
    report(0, math.nan)
    learn(model, learned, given, device, report)


if __name__ == "__main__":
    main()
