"""The text of an entry: made harmless, and compared with another's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from keepsake.errors import NoteRefused
from keepsake.language.perception import for_prompt, visible
from keepsake.language.words import words, writable

LONGEST = 600
"""Characters of one entry."""
MOST_TAGS, MOST_PEOPLE, MOST_NUMBERS = 12, 20, 200
"""What one entry holds at most; of the numbers the newest stay."""

_STANDINS = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'"})
"""Signs with which a text could be a link, a picture, a comment, code, or the head of a line
of the prompt (``[21 Nov, importance 8]``)."""
_START = "-*#=|~_+‹› "
_TAG = re.compile(r"[^\w-]+")
_NO_KEY = re.compile(r"[,\[\]<>`*]")


def clean(text: str) -> str:
    """``text`` as one line that is nothing else than text, in markdown and in a prompt.

    Twice is the same as once. What is longer than :data:`LONGEST` is cut at a word.
    """
    line = for_prompt(writable(text[: 20 * LONGEST]), limit=20 * LONGEST).translate(_STANDINS)
    # Without the first sign there may be a heading's second one, a cursor, a broken pair.
    for _ in range(8):
        before, line = line, for_prompt(line, limit=LONGEST).lstrip(_START).replace("**", "")
        if line == before:
            return line
    return line


def checked(text: str) -> str:
    """The text of a new entry.

    Raises:
        NoteRefused: It says nothing, or is too long.
    """
    line = clean(text)
    if not any(char.isalnum() for char in line):
        raise NoteRefused("The journal entry has no words", "Write: journal <what happened>")
    if (length := len(" ".join(text.split()))) > LONGEST:
        raise NoteRefused(
            f"That is {length:,} characters", f"Write at most {LONGEST:,} characters an entry"
        )
    return line


def tags(given: Iterable[str]) -> tuple[str, ...]:
    """Words to sort by, as an entry holds them."""
    plain = (_TAG.sub("-", visible(str(tag)).casefold().strip())[:32].strip("-_") for tag in given)
    return tuple(dict.fromkeys(tag for tag in plain if tag))[:MOST_TAGS]


def people(given: Iterable[str]) -> tuple[str, ...]:
    """Keys of people, as an entry holds them."""
    plain = (" ".join(_NO_KEY.sub(" ", visible(str(key))).split())[:80].strip() for key in given)
    return tuple(sorted({key for key in plain if key}))[:MOST_PEOPLE]


def numbers(given: Iterable[int]) -> tuple[int, ...]:
    """Numbers of memories, as an entry holds them: ascending, the newest if they are many."""
    return tuple(sorted({number for number in given if 0 < number < 10**12}))[-MOST_NUMBERS:]


# -- two texts that say the same

_DATED = re.compile(r"^On \d{1,2} [A-Z][a-z]{2}: ")
"""What stands before an entry of an earlier day, see :mod:`.drawing`: no part of what happened."""


def alike(one: str, two: str) -> bool:
    """Whether two texts say the same, whatever their case, blanks and punctuation."""
    return _bare(one) == _bare(two) and one.count("?") == two.count("?")


def _bare(text: str) -> list[str]:
    return [word.casefold() for word in words(_DATED.sub("", text))]
