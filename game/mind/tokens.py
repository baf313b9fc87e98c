"""What texts cost in tokens: a calibrated estimate, and the ledger of true counts.

Tokens are counted by whoever knows best (see :mod:`game.llm.token_counting`), in worker
threads. The reactor asks the :class:`Ledger`, which looks the text up; one that nobody
has counted yet is estimated by a :class:`Heuristic` and noted for the next round.

A text is counted as it stands in a prompt: a line, with its line end. So the counts of
lines add up to that of the prompt; what remains is a token or two where lines meet.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping

CHARACTERS_PER_TOKEN = 4
"""English prose runs at about four characters a token with the tokenizers in use."""

HEURISTIC = "heuristic"

_RATIO = 4.0
_LEAST_RATIO, _MOST_RATIO = 1.0, 8.0
_FULL_WEIGHT = 4000
_COSTLY = re.compile(r"[0-9]|[^\x00-\x7f]")


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class Heuristic:
    """Estimates tokens from characters, by a ratio that true counts correct."""

    def __init__(self, ratio: float = _RATIO) -> None:
        self._ratio = ratio
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """Who counts."""
        return HEURISTIC

    @property
    def ratio(self) -> float:
        """Characters a token, as true counts have it."""
        return self._ratio

    def of(self, text: str) -> int:
        """Estimated tokens of ``text`` as a line, its end included; 0 of nothing."""
        return -(-(len(text) + 1) // self._ratio).__int__() if text else 0

    def calibrate(self, characters: int, tokens: int) -> None:
        """Learn from a true count."""
        if characters <= 0 or tokens <= 0:
            return
        weight = 0.5 * min(1.0, characters / _FULL_WEIGHT)
        found = min(max(characters / tokens, _LEAST_RATIO), _MOST_RATIO)
        with self._lock:
            self._ratio += weight * (found - self._ratio)


class Ledger:
    """True counts of texts, each counted once and kept; safe in any thread."""

    def __init__(self, estimate: Heuristic, keep: int = 20_000) -> None:
        self.estimate = estimate
        self._keep = keep
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._uncounted: OrderedDict[str, None] = OrderedDict()
        self._source = ""
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """Who counted last; ``heuristic`` until somebody has."""
        return self._source or self.estimate.source

    def of(self, text: str) -> int:
        """Tokens of ``text``: the count if it is known, else an estimate; quick."""
        with self._lock:
            known = self._counts.get(text)
            if known is not None:
                self._counts.move_to_end(text)
                return known
            if text:
                self._uncounted[text] = None
                if len(self._uncounted) > self._keep:
                    self._uncounted.popitem(last=False)
        return self.estimate.of(text)

    def uncounted(self, limit: int) -> tuple[str, ...]:
        """Texts that were asked for and that nobody has counted, the newest last."""
        with self._lock:
            return tuple(list(self._uncounted)[-limit:])

    def learn(self, counts: Mapping[str, int], source: str) -> None:
        """Keep true counts."""
        with self._lock:
            for text, tokens in counts.items():
                self._counts[text] = tokens
                self._uncounted.pop(text, None)
            while len(self._counts) > self._keep:
                self._counts.popitem(last=False)
            self._source = source

    def forget_counts(self) -> None:
        """Forget all counts, as when the model changes."""
        with self._lock:
            self._counts.clear()
            self._uncounted.clear()
            self._source = ""
