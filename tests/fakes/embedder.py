"""A fake embedder: texts with common words get similar vectors."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence

from keepsake.errors import ModelUnavailable


class BagOfWords:
    """Embeds texts by word counts and records them; ``synonyms`` maps words to others."""

    def __init__(self, model_name: str = "bag", synonyms: Mapping[str, str] = {}) -> None:
        self.model_name = model_name
        self.synonyms = synonyms
        self.texts: list[str] = []
        self.down = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.down:
            raise ModelUnavailable("The embedder does not answer", "Wait")
        self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        row = [0.001] * 256
        for word in re.findall(r"\w+", text.lower()):
            for salt in "ab":  # two dimensions per word: no two words share both
                digest = hashlib.sha256((salt + self.synonyms.get(word, word)).encode()).digest()
                row[int.from_bytes(digest[:4]) % len(row)] += 1.0
        length = math.hypot(*row)
        return [value / length for value in row]
