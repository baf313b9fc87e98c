"""A tiny model of all-mpnet-base-v2's form, with random weights, and its arithmetic in floats."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 24
LAYERS = 2
HEADS = 12
WORDS = 30_527
"""Its vocabulary is the real one's, as the tokenizer is."""


def write_weights(path: Path) -> dict[str, Any]:
    """Write a file of safetensors; return its tensors by name."""
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, SIZE),
        "embeddings.position_embeddings.weight": (514, SIZE),
        "encoder.relative_attention_bias.weight": (32, HEADS),
    }
    norms = ["embeddings"]
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention", f"{layer}.output"]
        products = {f"{layer}.attention.attn.{each}": (SIZE, SIZE) for each in "qkvo"}
        products[f"{layer}.intermediate.dense"] = (4 * SIZE, SIZE)
        products[f"{layer}.output.dense"] = (SIZE, 4 * SIZE)
        for name, shape in products.items():
            shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.LayerNorm.{each}": (SIZE,) for each in ("weight", "bias")}
    made = {name: random.normal(0, 0.5, shape).astype("<f4") for name, shape in shapes.items()}
    head = dict[str, Any](__metadata__={"format": "pt"})
    end = 0
    for name, each in made.items():
        begin, end = end, end + each.nbytes
        head[name] = {"dtype": "F32", "shape": each.shape, "data_offsets": [begin, end]}
    written = json.dumps(head).encode()
    data = b"".join(each.tobytes() for each in made.values())
    path.write_bytes(len(written).to_bytes(8, "little") + written + data)
    return made


def hidden(made: dict[str, Any], ids: Sequence[int]) -> Any:
    """Return the vectors of tokens, computed in floats as the published model does."""

    def norm(x: Any, name: str) -> Any:
        weight, bias = (made[f"{name}.LayerNorm.{each}"] for each in ("weight", "bias"))
        middle = x.mean(axis=1, keepdims=True)
        return (x - middle) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * weight + bias

    def product(x: Any, name: str) -> Any:
        return x @ made[f"{name}.weight"].T + made[f"{name}.bias"]

    count = len(ids)
    places = made["embeddings.position_embeddings.weight"][2 : count + 2]
    x = norm(made["embeddings.word_embeddings.weight"][ids] + places, "embeddings")
    steps = np.array([[_bucket(b - a) for b in range(count)] for a in range(count)])
    near = made["encoder.relative_attention_bias.weight"][steps].transpose(2, 0, 1)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        q, k, v = (
            product(x, f"{layer}.attention.attn.{each}").reshape(count, HEADS, -1).swapaxes(0, 1)
            for each in "qkv"
        )
        scores = q @ k.swapaxes(1, 2) / math.sqrt(SIZE / HEADS) + near
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = (shares / shares.sum(axis=2, keepdims=True)) @ v
        mixed = mixed.swapaxes(0, 1).reshape(count, SIZE)
        x = norm(x + product(mixed, f"{layer}.attention.attn.o"), f"{layer}.attention")
        inner = product(x, f"{layer}.intermediate.dense")
        inner = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        x = norm(x + product(inner, f"{layer}.output.dense"), f"{layer}.output")
    return x


def _bucket(step: int) -> int:
    """Return the number of the weight for a distance, as in Raffel et al. (2020)."""
    sign = 16 if step > 0 else 0
    far = abs(step)
    if far < 8:
        return sign + far
    return sign + min(15, 8 + int(math.log(far / 8) / math.log(16) * 8))
