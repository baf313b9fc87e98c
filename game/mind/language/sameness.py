"""Whether two sentences mean the same, by an embedder: a second opinion, never the first.

Embeddings hardly see a "never", a number or the one word that makes another rule of it.
Measured with all-MiniLM-L6-v2 (int8) over 82 paraphrases of constraints and 117 near misses
(denied, another number, person, thing or deed, the two turned round): 0.88, or every word there,
keeps 53 of the paraphrases and 1 near miss wrongly; 0.84 keeps 58 and 6. What is kept and not
recognised stands there twice; what is lost and not noticed costs the rule, so nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from game.mind.errors import ModelError
from game.mind.ports import Embedder

ALIKE = 0.88
"""The least cosine at which MiniLM's opinion counts."""
_ABOVE = 0.01
_NEAR_MISSES = (
    ("Nobody may touch the great clock.", "Nobody may wind the great clock."),
    ("Never feed bread to the swans.", "I must never feed meat to the swans."),
    ("Never lend the boat to strangers.", "I must never lend the boat to my friends."),
    (
        "Never drink from the stone well, its water is foul.",
        "I must never fall into the stone well, its water is foul.",
    ),
    (
        "Hide the silver cup from the tax collector.",
        "I have to hide the silver spoon from the tax collector.",
    ),
)
"""Sentences that differ in what matters; what passes for the same must be more alike."""

_bars: dict[str, float] = {}


def alike(pairs: Iterable[tuple[str, str]], embedder: Embedder) -> set[tuple[str, str]]:
    """Those of ``pairs`` that mean the same; blocks.

    Returns:
        None of them if the embedder fails.
    """
    pairs = list(pairs)
    if not pairs:
        return set()
    try:
        bar = _bar(embedder)
        cosines = _cosines(pairs, embedder)
    except ModelError:
        return set()
    return {pair for pair, cosine in zip(pairs, cosines, strict=True) if cosine >= bar}


def _bar(embedder: Embedder) -> float:
    """What this embedder must give to two texts to be believed; asked once a model."""
    name = embedder.model_name
    if name not in _bars:
        _bars[name] = max(ALIKE, max(_cosines(_NEAR_MISSES, embedder)) + _ABOVE)
    return _bars[name]


def _cosines(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[float]:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    return [_cosine(vectors[one], vectors[two]) for one, two in pairs]


def _cosine(one: Sequence[float], two: Sequence[float]) -> float:
    size = math.hypot(*one) * math.hypot(*two)
    return math.sumprod(one, two) / size if size else 0.0
