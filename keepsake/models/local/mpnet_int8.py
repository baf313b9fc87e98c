"""Builds the int8 graph of all-mpnet-base-v2 from its published weights."""

from __future__ import annotations

import json
import math
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from keepsake.models.local.int8 import GraphBuilder, by_column

_LONGEST = 256
"""Tokens of a text that are read, as with MiniLM."""
_HEADS = 12
"""Attention heads of a layer."""
_BUCKETS = 16
"""Distances between words in either direction that have a weight of their own; half of them are
single steps, and the others grow up to :data:`_FAR`."""
_FAR = 128
"""Words; all greater distances share one weight."""


def mpnet_in_int8(path: Path) -> bytes:
    """Build the int8 model from a file of safetensors; the input is the tokens of one text.

    Its vectors have a cosine of 0.9993 to those of the float model. Source for the form of a layer:
    modeling_mpnet.py in huggingface/transformers.

    Raises:
        OSError, ValueError, KeyError: Not a file of this model.
    """
    stored = _tensors(path)
    vocabulary = stored["embeddings.word_embeddings.weight"]
    graph = GraphBuilder(vocabulary.shape[1])
    # Rows of the vocabulary are rounded each by itself, like the columns of the products.
    words, scales = by_column(vocabulary.T)
    x = graph.add("Gather", np.ascontiguousarray(words.T), "input_ids")
    x = graph.add("Cast", x, to=graph.FLOAT)
    x = graph.add("Mul", x, graph.add("Gather", scales[:, None], "input_ids"))
    length = graph.add("Shape", "input_ids", start=1)
    zero = np.zeros(1, np.int64)
    table = stored["embeddings.position_embeddings.weight"][2 : _LONGEST + 2]  # 2 mark no position
    place = graph.add("Slice", table, zero, length)

    def norm(x: str, y: str, name: str) -> str:
        weights = (stored[f"{name}.LayerNorm.{each}"] for each in ("weight", "bias"))
        return graph.add("LayerNormalization", graph.add("Add", x, y), *weights, epsilon=1e-5)

    def product(x: str, name: str) -> str:
        # By one product alone the cosine would be 0.99: all layers have outliers.
        weights = by_column(stored[f"{name}.weight"].T)
        return graph.product_of_two(x, *weights, stored[f"{name}.bias"])

    x = norm(x, place, "embeddings")
    near = stored["encoder.relative_attention_bias.weight"][_buckets()].transpose(2, 0, 1)[None]
    ends = graph.add("Concat", length, length, axis=0)
    near = graph.add("Slice", near, zero.repeat(2), ends, np.array([2, 3], np.int64))
    layers = (f"encoder.layer.{number}" for number in count())
    for layer in takewhile(lambda each: f"{each}.output.dense.weight" in stored, layers):
        heads = [product(x, f"{layer}.attention.attn.{each}") for each in "qkv"]
        mixed = graph.add("MultiHeadAttention", *heads, "", "", near, num_heads=_HEADS)
        mixed = product(mixed, f"{layer}.attention.attn.o")
        x = norm(x, mixed, f"{layer}.attention")
        inner = graph.add("Gelu", product(x, f"{layer}.intermediate.dense"))
        x = norm(x, product(inner, f"{layer}.output.dense"), f"{layer}.output")
    return graph.finished()


def _tensors(path: Path) -> dict[str, Any]:
    """Read the tensors of a file of safetensors, all of them floats of 32 bits but one."""
    data = np.memmap(path, np.uint8, "r")
    begin = 8 + int(data[:8].view("<u8")[0])
    head: dict[str, Any] = json.loads(data[8:begin].tobytes())
    found = dict[str, Any]()
    for name, each in head.items():
        if each.get("dtype") == "F32":
            start, end = each["data_offsets"]
            flat = data[begin + start : begin + end].view("<f4")
            found[name.removeprefix("mpnet.")] = np.asarray(flat).reshape(each["shape"])
    return found


def _buckets() -> Any:
    """Return the number of the weight for each pair of places: by distance, apart by direction."""
    places_ = np.arange(_LONGEST)
    back = places_[:, None] - places_[None, :]
    steps = np.abs(back)
    single = _BUCKETS // 2
    grown = np.log(np.maximum(steps, 1) / single) / math.log(_FAR / single) * (_BUCKETS - single)
    far = np.minimum(single + grown.astype(int), _BUCKETS - 1)
    return np.where(back < 0, _BUCKETS, 0) + np.where(steps < single, steps, far)
