"""Whether a text repeats another one word for word, whatever its case, spacing and punctuation."""

from __future__ import annotations

RECITED = 40
"""A text recites another one if it has this many consecutive letters and digits of it."""


def bare(text: str) -> str:
    """Return the letters and digits of a text in lower case, for comparisons."""
    return "".join(filter(str.isalnum, text.casefold()))


def recites(said: str, instructions: str, told: str = "") -> bool:
    """Whether a bare text shares :data:`RECITED` consecutive characters with bare instructions.

    ``told``: Bare text that may be repeated even if the instructions hold it.
    """
    runs = (said[at : at + RECITED] for at in range(len(said) - RECITED + 1))
    return any(run in instructions and run not in told for run in runs)
