"""Which answers are not spoken: empty ones, recited instructions, one's own last line again.

Nothing here depends on a language. A guard that fires has the model asked once more, with the
reason; what the character says, wants or concludes is the model's to say.
"""

from __future__ import annotations

from collections.abc import Sequence

EMPTY = "The answer was empty. Say something, or write > wait"
RECITED = 40
"""Letters and figures in a row that an answer may share with the instructions of its prompt."""
SHORT = 20
"""Letters and figures of a line that may be said twice: a yes, a name, a greeting."""


def bare(text: str) -> str:
    """The letters and figures of a text, in lower case: what counts when two lines are compared."""
    return "".join(filter(str.isalnum, text.casefold()))


def fault_of(words: str, *, instructions: str, own_lines: Sequence[str]) -> str:
    """Why a line is not spoken, in words that a model can act on; empty if it is.

    Args:
        words: The line.
        instructions: The part of the prompt that says how to answer.
        own_lines: What the character said last, oldest first; only the last one counts.
    """
    said = bare(words)
    if not said:
        return EMPTY
    if len(said) > SHORT and own_lines and said == bare(own_lines[-1]):
        return "You said exactly this a moment ago. Say something else, or write > wait"
    if recites(said, bare(instructions)):
        return "The answer repeats the instructions. Answer as the character, in your own words"
    return ""


def recites(said: str, instructions: str, told: str = "") -> bool:
    """Whether a bare text shares a run of :data:`RECITED` signs with bare instructions.

    ``told``: What the instructions share with what may be said, bare.
    """
    runs = (said[at : at + RECITED] for at in range(len(said) - RECITED + 1))
    return any(run in instructions and run not in told for run in runs)
