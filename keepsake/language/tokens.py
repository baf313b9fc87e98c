"""Estimates the tokens of texts; token counts from the model server correct the estimate.

A text is counted as a line of a prompt, with its line end. So the counts of the lines
add up to the count of the prompt.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Collection, Sequence
from functools import lru_cache
from statistics import median

CHARACTERS_PER_TOKEN = 4
"""English prose has about four characters per token with current tokenizers."""

_PIECE = re.compile(
    r"[A-Za-z]{1,10}|[0-9]|[\u0080-\u06ff]{1,2}|[^\x00-\u06ff]|[^A-Za-z0-9\s\x80-\U0010ffff]+"
)
"""A piece that tokenizers seldom split: a word of up to ten letters, a digit, a run of punctuation,
two letters of another alphabet, or one character of a script that has thousands."""
_TOKENS_PER_PIECE = 1.05
"""The initial factor. Gemma's tokenizer has 1.04 on the game's prompts; more is safer."""
_LEAST = 0.9 * _TOKENS_PER_PIECE
"""The lower limit of the factor. A server's count lowers it by a tenth at most, because the server
may have counted only a part of the prompt, or left out cached tokens."""
_MOST = 4.0
"""The upper limit of the factor. A tokenizer that splits two letters of another alphabet into bytes
has four tokens per piece."""
_PIECES_THAT_CONVINCE = 2000
"""Pieces of a prompt from which its count has the full weight."""
_TRUST = 0.5
"""The full weight of one count: how far the factor moves towards what the last counts say."""
_STEP = 0.01
"""The smallest change of the factor, as a share: each change makes earlier estimates invalid."""
_KEPT_COUNTS = 16
"""The number of last counts that are compared."""
_LEAST_COUNTS = 3
"""The fewest counts that are believed: one may be of another prompt, or of a part of it."""
_LEAST_VARIETY = 1.05
"""How much longer the longest of these prompts must be than the shortest. From prompts of one
length nobody can tell whether a server counts at all."""
_MOST_SPREAD = 2.0
"""The highest ratio of the most to the least tokens per piece. In one tokenizer, an English prompt
and one in another alphabet differ by less; numbers that have nothing to do with the prompts differ
by more."""


def estimate_tokens(text: str) -> int:
    """Return a rough estimate of the tokens of ``text``, rounded up, without a server's counts."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@lru_cache(maxsize=16_384)  # the prompt lines of a hundred agents, about 3 MB
def pieces(text: str) -> int:
    """Return the number of pieces of ``text`` as a line with its end; 0 for an empty text.

    On the game's prompts, the number of pieces predicts the tokens of a line twice as well
    as its length does.
    """
    return len(_PIECE.findall(text)) + 1 + text.count("\n") if text else 0


class Heuristic:
    """Estimates tokens as pieces of text times a factor, which a server's counts correct.

    A server's counts are believed only if they behave like counts: they differ for prompts of
    different lengths, and are in proportion to them. All agents share the factor, so a server that
    reports one number for everything must not move it. Safe in any thread.

    Attributes:
        factor: Tokens per piece, learned from the server's counts. It changes in steps; while it
            stays the same, earlier estimates stay valid.
    """

    def __init__(self) -> None:
        self.factor = _TOKENS_PER_PIECE
        self._exact = _TOKENS_PER_PIECE
        self._lock = threading.Lock()
        # pieces and tokens of the last prompts that a server counted
        self._counts: deque[tuple[float, int]] = deque(maxlen=_KEPT_COUNTS)

    def of(self, text: str) -> int:
        """Return the estimated tokens of ``text`` as a line; 0 for an empty text."""
        return self.each([text])[0]

    def each(self, texts: Sequence[str]) -> list[int]:
        """Return the estimated tokens of each text."""
        factor = self.factor
        # Round to nearest: rounding up 128 lines would add an error of 64 tokens.
        return [round(pieces(text) * factor) for text in texts]

    def heard(self, estimated: int, tokens: int) -> None:
        """Learn from the server's token count of a prompt; a longer prompt has more weight.

        Args:
            estimated: The sum of :meth:`of` over the prompt's lines.
            tokens: The server's own count.
        """
        if estimated <= 0 or tokens <= 0:
            return
        with self._lock:
            number = estimated / self.factor
            self._counts.append((number, tokens))
            if not _are_counts(self._counts):
                return
            seen = median(tokens / number for number, tokens in self._counts)
            weight = _TRUST * min(1.0, number / _PIECES_THAT_CONVINCE)
            self._exact += weight * (min(max(seen, _LEAST), _MOST) - self._exact)
            if abs(self._exact - self.factor) > _STEP * self.factor:
                self.factor = self._exact


def _are_counts(counts: Collection[tuple[float, int]]) -> bool:
    """Return whether a server's numbers behave like token counts of prompts of these lengths."""
    if len(counts) < _LEAST_COUNTS:
        return False
    pieces_of = [number for number, _ in counts]
    if max(pieces_of) < _LEAST_VARIETY * min(pieces_of):
        return False
    if len({tokens for _, tokens in counts}) == 1:
        return False
    # Without the extremes: one prompt may have been counted in part, or together with another.
    ratios = sorted(tokens / number for number, tokens in counts)
    inner = ratios[1:-1] if len(ratios) > _LEAST_COUNTS + 1 else ratios
    return inner[-1] <= _MOST_SPREAD * inner[0]
