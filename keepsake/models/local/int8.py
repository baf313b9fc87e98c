"""MiniLM for one text at a time, computed in int8 with onnxruntime's operators.

The shipped file stores its weights in int8 but computes in floats, which takes twice the time and
four times the memory. This module reads only its weights, in the order of their use.
"""

from __future__ import annotations

import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

_EMPTY = """<ir_version: 9, opset_import: ["": 20, "com.microsoft": 1]>
made (int64[1, n] input_ids) => (float[1, n, {size}] hidden) {{}}"""
_OUTLIER_SCALE = np.ones(384, np.float32)
"""Divisors for channels that are outliers after each layer norm; weights are multiplied by them. A
product has one scale for its input, so outliers would leave the other channels few steps."""
_OUTLIER_SCALE[[63, 99, 127, 157, 223]] = 2, 4, 2, 2, 3
_NO_SCALE = np.ones(384, np.float32)
_BLOCK = 64
"""Weights that share a scale in each layer's last product, whose outlier channels differ by layer.
With 128, recall of Hythe's evidence drops by two points."""


def minilm_in_int8(path: Path, *, vnni: bool = False) -> bytes:
    """Build the int8 model from a file; the input is the tokens of one text.

    Its vectors have a cosine of 0.9993 to those of the float model. Source for the operators:
    docs/ContribOperators.md in microsoft/onnxruntime.

    Args:
        path: The file.
        vnni: Whether the processor adds products of int8 in 32 bits, which makes them fast.

    Raises:
        OSError, google.protobuf.message.DecodeError, ValueError, StopIteration: Not a MiniLM file.
    """
    graph = _Graph(path)
    last = graph.next_product_of_two if vnni else graph.product_by_blocks
    x = graph.embedded()
    for _ in range(6):
        scaled = graph.add("Mul", x, 1 / _OUTLIER_SCALE)
        heads = [graph.next_product(scaled, _OUTLIER_SCALE) for _ in ("query", "key", "value")]
        mixed = graph.add("MultiHeadAttention", *heads, num_heads=12)
        x = graph.norm(x, graph.next_product(mixed))
        scaled = graph.add("Mul", x, 1 / _OUTLIER_SCALE)
        x = graph.norm(x, last(graph.add("Gelu", graph.next_product(scaled, _OUTLIER_SCALE))))
    return graph.finished()


class GraphBuilder:
    """Builds a graph for the tokens of one text; each method adds nodes, returns an output's name.

    ``size``: The numbers of a token's vector.
    """

    FLOAT = TensorProto.FLOAT

    def __init__(self, size: int) -> None:
        self._made = parser.parse_model(_EMPTY.format(size=size))
        self._remainders = dict[str, str]()  # by the name of what was rounded

    def add(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node, whose inputs are names of outputs, or arrays; return its output."""
        graph = self._made.graph
        names = list[str]()
        for each in inputs:
            names.append(each if isinstance(each, str) else f"weights {len(graph.initializer)}")
            if not isinstance(each, str):
                graph.initializer.append(numpy_helper.from_array(each, names[-1]))
        output = str(len(graph.node))
        domain = "" if onnx.defs.has(operator) else "com.microsoft"
        graph.node.append(helper.make_node(operator, names, [output], domain=domain, **attributes))
        return output

    def product(self, x: str, whole: Any, scales: Any, bias: Any) -> str:
        """Add the product of ``x`` with weights in int8, which have a scale for each column."""
        return self.add("DynamicQuantizeMatMul", x, whole, scales, "", bias)

    def product_of_two(self, x: str, whole: Any, scales: Any, bias: Any) -> str:
        """Add the product of ``x`` in 16 bits: that of its rounded values plus the remainder's.

        On a processor with VNNI two products take a third of the time of one by blocks.
        """
        left = self._remainders.get(x) or self._remainder(x)
        y = self.add("DynamicQuantizeMatMul", x, whole, scales, "", bias)
        whole, scales = self._made.graph.node[-1].input[1:3]  # stored once
        return self.add("Add", y, self.add("DynamicQuantizeMatMul", left, whole, scales))

    def _remainder(self, x: str) -> str:
        """Add what is left of ``x`` without its rounded values."""
        rounded = [f"{x} {part}" for part in ("whole", "scale", "zero")]
        self._made.graph.node.append(helper.make_node("DynamicQuantizeLinear", [x], rounded))
        left = self.add("Sub", x, self.add("DequantizeLinear", *rounded))
        self._remainders[x] = left
        return left

    def finished(self) -> bytes:
        """Return the model, whose output is that of the last node."""
        self._made.graph.node[-1].output[0] = "hidden"
        return bytes(self._made.SerializeToString())


class _Graph(GraphBuilder):
    """The builder for MiniLM, with the weights of its file in the order of their use."""

    def __init__(self, path: Path) -> None:
        super().__init__(384)
        file = onnx.load(path).graph
        self._stored = {each.name: each for each in file.initializer}
        like = partial(fnmatch.filter, self._stored)
        added = (node.input[1] for node in file.node if node.op_type == "Add")
        biases = (each for each in added if each.startswith("inner.encoder"))
        self._tables = like("*_embeddings.*")
        self._products = zip(like("val_*_q"), like("val_*_scale"), biases, strict=True)
        self._norms = zip(like("*.LayerNorm.weight"), like("*.LayerNorm.bias"), strict=True)

    def _arrays(self, *names: str) -> list[Any]:
        return [numpy_helper.to_array(self._stored[each]) for each in names]

    def embedded(self) -> str:
        kinds, words, scales, places, place_scales = self._arrays(*self._tables)
        rows = self.add("Cast", self.add("Gather", words, "input_ids"), to=TensorProto.FLOAT)
        x = self.add("Mul", rows, self.add("Gather", scales, "input_ids"))
        places = places * place_scales + kinds[0]
        length = self.add("Shape", "input_ids", start=1)
        return self.norm(x, self.add("Slice", places, np.zeros(1, np.int64), length))

    def norm(self, x: str, y: str) -> str:
        weights = self._arrays(*next(self._norms))
        return self.add("LayerNormalization", self.add("Add", x, y), *weights, epsilon=1e-12)

    def next_product(self, x: str, scale: Any = _NO_SCALE) -> str:
        """Add the product of ``x``, which was divided by ``scale``, with the next weights."""
        weights, scales, bias = self._arrays(*next(self._products))
        return self.product(x, *by_column(weights * scales * scale[:, None]), bias)

    def next_product_of_two(self, x: str) -> str:
        weights, scales, bias = self._arrays(*next(self._products))
        return self.product_of_two(x, *by_column(weights * scales), bias)

    def product_by_blocks(self, x: str) -> str:
        """Add the product of ``x``, with a scale for each block of each token."""
        weights, scales, bias = self._arrays(*next(self._products))
        k, n = weights.shape
        blocks = (weights.T.copy().view(np.uint8) ^ 0x80).reshape(n, -1, _BLOCK)  # 128 means zero
        sizes = {"K": k, "N": n, "bits": 8, "block_size": _BLOCK, "accuracy_level": 4}  # 4 is int8
        return self.add("MatMulNBits", x, blocks, scales.repeat(k // _BLOCK), "", "", bias, **sizes)


def by_column(weights: Any) -> tuple[Any, Any]:
    """Return weights in int8 and the scale of each column."""
    scales = np.abs(weights).max(axis=0) / 127
    return np.round(weights / scales).astype(np.int8), scales
