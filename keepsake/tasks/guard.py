"""The guard: which spoken lines of an answer are refused."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.tasks.answer import EMPTY, SHORT_LINE, bare, recites

_AGAIN = "You said exactly this a moment ago. Say something else, or write > wait"
_RECITED = "The answer repeats the instructions. Answer as the character, in your own words"


class SpeechGuard:
    """Checks the spoken lines of one answer, in order.

    Args:
        instructions: The part of the prompt that says how to answer.
        said: The character's words before this answer, the newest first.
        may_repeat: Whether a line may repeat older words than the last; small models tend to
            repeat themselves.
    """

    def __init__(
        self, instructions: str = "", said: Sequence[str] = (), *, may_repeat: bool = True
    ) -> None:
        self._instructions = bare(instructions)
        self._said = () if may_repeat else tuple(said)
        self._last = said[0] if said else ""

    def fault(self, words: str) -> str:
        """Return why a spoken line is refused, phrased for the model; empty if it is accepted."""
        said = bare(words)
        if not said:
            return EMPTY
        if len(said) > SHORT_LINE and (words in self._said or said == bare(self._last)):
            return _AGAIN
        if recites(said, self._instructions):
            return _RECITED
        self._last = words
        return ""
