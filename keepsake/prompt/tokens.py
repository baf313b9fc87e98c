"""What texts cost in tokens: a calibrated estimate, and the ledger of true counts.

Tokens are counted by whoever knows best (see :mod:`keepsake.models.tokens.counting`), in worker
threads. The reactor asks the :class:`TokenLedger`, which looks the text up; one that nobody
has counted yet is estimated by a :class:`Heuristic` and noted for the next round.

A text is counted as it stands in a prompt: as a line, with its line end. So what lines
cost adds up to what the prompt costs.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

CHARACTERS_PER_TOKEN = 4
"""English prose runs at about four characters a token with the tokenizers in use."""

MODEL_SERVER, HEURISTIC = "model server", "heuristic"
"""Who counts: the model's own tokenizer, or nobody."""

_PIECE = re.compile(
    r"[A-Za-z]{1,10}|[0-9]|[\u0080-\u06ff]{1,2}|[^\x00-\u06ff]|[^A-Za-z0-9\s\x80-\U0010ffff]+"
)
"""What tokenizers seldom cut further: a word that is not very long, a digit, a run of marks,
two letters of another alphabet, one sign of a script that has thousands."""
_TOKENS_PER_PIECE = 1.05
"""To begin with; too much is the safer side. Measured for gemma's tokenizer on this game's prompts
is 1.04, see ``tests/bench/token_bench.py``."""
_LEAST, _MOST = 0.3, 4.0
_LEAST_TOLD = 0.9 * _TOKENS_PER_PIECE
"""What a server's own figure lowers that to at most: it may have looked at a part of a prompt, or
leave out what it had cached."""
_PIECES_THAT_CONVINCE = 2000
_TRUST = 0.5
_MOST_WAITING = 2000


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up; for who has nothing better."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def most_tokens(text: str) -> int:
    """Estimated tokens of ``text`` by its bytes: for what is never cut, whoever fills it."""
    return -(-len(text.encode(errors="replace")) // CHARACTERS_PER_TOKEN)


_LONGEST_LINE = 1000
"""Characters of a text that is kept for the next time it is asked for; whole prompts are not."""


def pieces(text: str) -> int:
    """Into how many pieces ``text``, as a line with its end, falls; 0 for no text.

    Counted over the game's own prompts, pieces are twice as near to the tokens of a line
    as its length is.
    """
    return _pieces(text) if len(text) <= _LONGEST_LINE else _pieces.__wrapped__(text)


@lru_cache(maxsize=16_384)  # the lines of the prompts of a hundred agents, some 3 MB
def _pieces(text: str) -> int:
    return len(_PIECE.findall(text)) + 1 + text.count("\n") if text else 0


class Heuristic:
    """Estimates tokens from pieces of text, by a factor that true counts correct.

    Safe in any thread.
    """

    def __init__(self) -> None:
        self._factor = _TOKENS_PER_PIECE
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """Who counts."""
        return HEURISTIC

    @property
    def factor(self) -> float:
        """Tokens a piece, as the true counts so far have it."""
        return self._factor

    def of(self, text: str) -> int:
        """Estimated tokens of ``text`` as a line; 0 for no text."""
        return self.of_pieces(pieces(text))

    def each(self, texts: Sequence[str]) -> list[int]:
        """The same of each of several."""
        return [self.of(text) for text in texts]

    def of_pieces(self, number: int) -> int:
        """Estimated tokens of a text that falls into so many :func:`pieces`."""
        # Rounded to the nearest, since what is rounded up 128 times is wrong by 64.
        return max(1, round(number * self._factor)) if number else 0

    def observe(self, text: str, tokens: int) -> None:
        """Learn from the true count of a text."""
        self._learn(pieces(text), tokens, _LEAST)

    def correct(self, estimated: int, tokens: int) -> None:
        """Learn from the true count of a text that this estimate was asked about; quick.

        Args:
            estimated: What :meth:`of` said, as the sum over its lines.
            tokens: What the server says that it had; lowers the estimate by a tenth at most.
        """
        self._learn(estimated / self._factor, tokens, min(_LEAST_TOLD, self._factor))

    def _learn(self, number: float, tokens: int, least: float) -> None:
        """Move towards what was seen: the further, the more text there was."""
        if number <= 0 or tokens <= 0:
            return
        seen = min(max(tokens / number, least), _MOST)
        weight = _TRUST * min(1.0, number / _PIECES_THAT_CONVINCE)
        with self._lock:
            self._factor += weight * (seen - self._factor)


class TokenLedger:
    """True counts of texts, each counted once and kept; safe in any thread.

    Args:
        estimate: Stands in for what is not counted yet, and learns from what is.
        keep: Counts that are kept; those not asked for longest give way.
    """

    def __init__(self, estimate: Heuristic, keep: int = 20_000) -> None:
        self.estimate = estimate
        self._keep = keep
        self._counts: OrderedDict[str, int] = OrderedDict()
        # With their pieces, so that they are not cut up again at every turn.
        self._uncounted: OrderedDict[str, int] = OrderedDict()
        self._source = ""
        self._epoch = 0
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """Who counted last; ``heuristic`` until somebody has."""
        return self._source or self.estimate.source

    @property
    def epoch(self) -> int:
        """Rises whenever the counts are forgotten."""
        return self._epoch

    @property
    def waiting(self) -> int:
        """Texts that were asked for and are only estimated."""
        return len(self._uncounted)

    def of(self, text: str) -> int:
        """Tokens of ``text`` as a line: the count if it is known, else an estimate."""
        with self._lock:
            return self._tokens(text) if text else 0

    def each(self, texts: Sequence[str]) -> list[int]:
        """The same of each of several: a prompt asks for hundreds of lines at a time."""
        with self._lock:
            # What is asked for later counts as used later, as if each had been asked for alone.
            return [self._tokens(text) if text else 0 for text in texts]

    def uncounted(self, limit: int) -> tuple[str, ...]:
        """Up to ``limit`` texts to be counted, those asked for last first."""
        with self._lock:
            return tuple(islice(reversed(self._uncounted), limit))

    def learn(self, counts: Mapping[str, int], source: str, epoch: int | None = None) -> None:
        """Keep true counts.

        ``counts``: Tokens of texts, each with its line end.
        ``epoch``: The :attr:`epoch` when counting began; if the counts were forgotten
        since, these are of the wrong model, and dropped.
        """
        with self._lock:
            if not counts or epoch not in (None, self._epoch):
                return
            for text, tokens in counts.items():
                self._counts[text] = tokens
                self._uncounted.pop(text, None)
            while len(self._counts) > self._keep:
                self._counts.popitem(last=False)
            self._source = source
        if source == MODEL_SERVER:
            self.estimate.observe("\n".join(counts), sum(counts.values()))

    def heard(self, ours: int, tokens: int) -> None:
        """The server has said what a whole prompt had; quick.

        Where nobody counts, as behind Ollama, this is all that the estimate learns from.

        Args:
            ours: The sum of :meth:`of` over the prompt's lines.
            tokens: The server's own figure.
        """
        if not self._source:
            self.estimate.correct(ours, tokens)

    def forget_counts(self) -> None:
        """Forget all counts, as when the model changes; what they taught remains."""
        with self._lock:
            newest = list(islice(reversed(self._counts), _MOST_WAITING))
            self._counts.clear()
            for text in reversed(newest):
                self._note(text)
            self._source = ""
            self._epoch += 1

    def _tokens(self, text: str) -> int:
        """Tokens of a text; the lock is held."""
        if (known := self._counts.get(text)) is not None:
            self._counts.move_to_end(text)
            return known
        return self.estimate.of_pieces(self._note(text))

    def _note(self, text: str) -> int:
        """Note a text to be counted; how many pieces it has."""
        number = self._uncounted.get(text)
        if number is None:
            number = self._uncounted[text] = pieces(text)
            if len(self._uncounted) > _MOST_WAITING:
                self._uncounted.popitem(last=False)
        else:
            self._uncounted.move_to_end(text)
        return number
