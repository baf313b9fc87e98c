"""What texts cost in tokens: an estimate that the figures of the model server correct.

A text is counted as it stands in a prompt: as a line, with its line end. So what lines
cost adds up to what the prompt costs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import lru_cache

CHARACTERS_PER_TOKEN = 4
"""English prose runs at about four characters a token with the tokenizers in use."""

_PIECE = re.compile(
    r"[A-Za-z]{1,10}|[0-9]|[\u0080-\u06ff]{1,2}|[^\x00-\u06ff]|[^A-Za-z0-9\s\x80-\U0010ffff]+"
)
"""What tokenizers seldom cut further: a word that is not very long, a digit, a run of marks,
two letters of another alphabet, one sign of a script that has thousands."""
_TOKENS_PER_PIECE = 1.05
"""To begin with; too much is the safer side. Gemma's tokenizer has 1.04 on this game's prompts."""
_LEAST, _MOST = 0.9 * _TOKENS_PER_PIECE, 4.0
"""A server's own figure lowers the estimate by a tenth at most: it may have looked at a part of a
prompt, or leave out what it had cached."""
_PIECES_THAT_CONVINCE = 2000
_TRUST = 0.5
_STEP = 0.01


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up; for who has nothing better."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@lru_cache(maxsize=16_384)  # the lines of the prompts of a hundred agents, some 3 MB
def pieces(text: str) -> int:
    """Into how many pieces ``text``, as a line with its end, falls; 0 for no text.

    Counted over the game's own prompts, pieces are twice as near to the tokens of a line
    as its length is.
    """
    return len(_PIECE.findall(text)) + 1 + text.count("\n") if text else 0


class Heuristic:
    """Estimates tokens from pieces of text, by a factor that a server's figures correct.

    Safe in any thread.

    Attributes:
        factor: Tokens a piece, as the server's figures so far have it, in steps: while it is the
            same, what was counted need not be counted again.
    """

    def __init__(self) -> None:
        self.factor = self._exact = _TOKENS_PER_PIECE
        self._lock = threading.Lock()

    def of(self, text: str) -> int:
        """Estimated tokens of ``text`` as a line; 0 for no text."""
        return self.each([text])[0]

    def each(self, texts: Sequence[str]) -> list[int]:
        """The same of each of several."""
        factor = self.factor
        # Rounded to the nearest, since what is rounded up 128 times is wrong by 64.
        return [round(pieces(text) * factor) for text in texts]

    def heard(self, estimated: int, tokens: int) -> None:
        """Learn from what the server says that a whole prompt had: the more, the longer it was.

        Args:
            estimated: The sum of :meth:`of` over the prompt's lines.
            tokens: The server's own figure.
        """
        if estimated <= 0 or tokens <= 0:
            return
        with self._lock:
            number = estimated / self.factor
            seen = min(max(tokens / number, _LEAST), _MOST)
            weight = _TRUST * min(1.0, number / _PIECES_THAT_CONVINCE)
            self._exact += weight * (seen - self._exact)
            if abs(self._exact - self.factor) > _STEP * self.factor:
                self.factor = self._exact
