"""The text of an entry: made harmless, and compared with another's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from keepsake.errors import NoteRefused
from keepsake.language import details
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

_EMPTY_WORDS = """
    a an the please oh ah and so then just very really me my i to
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_TURNING_WORDS = """
    not no never nobody none nothing nowhere neither nor cannot without except but unless if only
    until till before after instead hardly perhaps maybe
"""
_TURNING = frozenset(_TURNING_WORDS.split())
"""Words that make another thing of what is said: what has one more of them is no copy."""
_MOST_MORE = 0.25
_DATED = re.compile(r"^On \d{1,2} [A-Z][a-z]{2}: ")
"""What stands before an entry of an earlier day, see :mod:`.drawing`: no part of what happened."""


def alike(one: str, two: str) -> bool:
    """Whether two texts say the same, the one perhaps with a few words more.

    Nothing may stand in the place of something else, turned round or denied, and the words
    more may be no name and no number: "Tom gave Ada a cup" is not "Ada gave Tom a cup".
    """
    if one == two:
        return True
    short, long = sorted((_stems(one), _stems(two)), key=len)
    if (
        one.count("?") != two.count("?")
        or not short
        or len(long) - len(short) > max(1, int(_MOST_MORE * len(long)))
    ):
        return False
    more = list(long)
    position = 0
    for stem in short:  # the short one's words in their order, each found in the long one
        try:
            position = more.index(stem, position)
        except ValueError:
            return False
        del more[position]
    return not any(map(_matters, more))


@lru_cache(maxsize=4096)
def _stems(text: str) -> tuple[str, ...]:
    low = ((word, word.casefold().replace("’", "'")) for word in words(_DATED.sub("", text)))
    # A capital stays on a name, so that one that is more is seen.
    return tuple(_marked(word, plain) for word, plain in low if plain not in _EMPTY)


def _marked(word: str, plain: str) -> str:
    return f"{details.key(plain)}{'^' if word[0].isupper() and word != 'I' else ''}"


def _matters(stem: str) -> bool:
    bare = stem.rstrip("^")
    return stem.endswith("^") or details.counts(bare) or bare in _TURNING or bare.endswith("n't")
