"""What of a model's answer about a profile holds, compared with the lines that it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from game.mind.archive.records import Memory
from game.mind.books.profiles.asleep.concluding import has_form
from game.mind.books.profiles.profile import Conclusion, Observation
from game.mind.language.fit import is_fit, line
from game.mind.language.words import telling

type Shown = Memory | Observation
"""Something that a model was shown under its number."""

MOST_NEW = 4
"""Facts and conclusions of one answer that are looked at, of each."""
LONGEST_THOUGHT = 160
STOP = ("\n\n", "\nQuestion", "\n#")
THINKING = ("think", "thought", "conclusion")
"""What a line that concludes something begins with."""

_LINE = re.compile(
    r"^\W*(?P<what>[A-Za-z ]{3,20}?)\s*:\s*(?P<text>\S.*?)\s*"
    r"[\[(](?:(?:line|memor)\w* )?(?P<numbers>\d[\d, ]*)[\])]\W*$"
)
_NUMBER = re.compile(r"\d{1,9}")
_JUDGING = telling(
    "worried glad sad angry afraid happy lonely proud kind honest friendly shy curious hopes wants "
    "needs misses cares seems trusts helpful generous restless tired seem trust worry proud "
    "somebody they them their about"
)
"""Words that a conclusion may add of its own."""


def answered[S: Shown](answer: str, lines: Sequence[S]) -> Iterator[tuple[str, str, list[S]]]:
    """The lines of an answer that cite nothing but what was shown.

    Yields:
        What a line is about, its text, and what it cites.
    """
    by_number: Mapping[int, S] = {each.number: each for each in lines}
    for match in filter(None, map(_LINE.match, answer.splitlines()[: 4 * MOST_NEW])):
        numbers = sorted({int(number) for number in _NUMBER.findall(match["numbers"])})
        cited = [by_number[number] for number in numbers if number in by_number]
        if cited and len(cited) == len(numbers):
            text = line(match["text"], LONGEST_THOUGHT)
            yield match["what"].strip().casefold(), text, cited


def thought(
    text: str, cited: Sequence[Shown], name: str, more: frozenset[str] = frozenset()
) -> Conclusion | None:
    """A conclusion if every word of it that says something stands in what it cites."""
    said = set[str]().union(*(telling(each.text) for each in cited))
    strange = telling(text) - said - _JUDGING - more - telling(name)
    if strange or len(telling(text)) < 2 or not is_fit(text) or has_form(text):
        return None
    numbers = tuple(each.number for each in cited)
    return Conclusion(text, numbers, max(each.time for each in cited))
