"""The patterns of a set of talks: regular expressions with two shorthands.

``<7>`` is ``7`` or ``seven``; a pattern that begins with ``~`` is meant as the speaker's own:
``~piper`` finds *I am a piper* and *my brother is a piper*, not *you are a piper*.
"""

from __future__ import annotations

import re
from functools import cache

_SAME = {"’": "'", "‘": "'", "“": '"', "”": '"'}
QUOTES = str.maketrans(_SAME)
PLAIN = str.maketrans({**_SAME, "–": "-", "—": "-", "…": "..."})
_NOT_MINE = (
    "you|your|yours|you're|you've|you'd|he|she|they|his|her|hers|their|theirs|he's|she's|that|"
    "think|know|knew|remember|recall|believe|guess|hear|heard|told|said|sure|bet|hope|wonder|"
    "ask|asked|glad|sorry|suppose|gather|understand|see|promised|friend"
)
_MINE = (
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|our|me)\b"
    rf"(?:\s+(?!(?:{_NOT_MINE})\b)[\w'-]+){{0,6}}?\s+"
)
"""Somebody says of themselves, with nobody else's pronoun between it and the claim."""
_NUMBER = re.compile(r"<(\d{1,3})>")
_LOW = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_ONES = tuple(_LOW.split())
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@cache
def compiled(text: str) -> re.Pattern[str]:
    """A pattern of a set, with its shorthands written out.

    Raises:
        re.error: It is no pattern.
    """
    own = text.startswith("~")
    body = _NUMBER.sub(lambda m: _number(int(m[1])), text.removeprefix("~").translate(PLAIN))
    return re.compile(rf"{_MINE}(?:{body})" if own else body, re.IGNORECASE)


def _number(value: int) -> str:
    return rf"\b(?:{value}|{_spelt(value)})\b"


def _spelt(value: int) -> str:
    if value < len(_ONES):
        return _ONES[value]
    if value < 100:
        ten, one = divmod(value, 10)
        return _TENS[ten] + (rf"[- ]?{_ONES[one]}" if one else "")
    hundred, rest = divmod(value, 100)
    start = rf"(?:a|{_ONES[hundred]}) hundred" if hundred == 1 else f"{_ONES[hundred]} hundred"
    return start + (rf"(?: and)? {_spelt(rest)}" if rest else "")
