"""Who an agent is: what its page keeps secret, and what others may not make of it.

Whoever talks to an agent can get it to repeat a sentence, and to keep it: as a pin, or in the
journal, it would speak to the agent in every later thought. So what somebody said stays what
*they* said, with their name before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from keepsake.archive.records import Memory
from keepsake.language.heard import Utterance, heard
from keepsake.language.perception import COMMON_WORDS, for_prompt, sentences, shorten, stem, words

MOSTLY = 0.75
"""The share of its telling words from which a line counts as somebody's."""
LEAST_PART = 3
"""Telling words that a sentence of a longer line has to have, to be taken for somebody's."""
_REPORTING = COMMON_WORDS | {"think", "told", "tells", "hear", "heard", "believe", "remember"}
"""Words that say nothing of what was said."""
_ANY = 20_000
"""Characters; what is too long is refused by whoever keeps it, and not cut here."""
_SAID = re.compile(
    r"^(?P<who>[^:,]{1,60}?) (?:said|says|told|tells|asked|asks|whispered|whispers|promised"
    r"|promises|claimed|claims|wants|wanted|thinks|thought|believes|believed|wrote)\b",
    re.I,
)
_SECRET_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)


@lru_cache(maxsize=512)  # of each agent, asked with each of its thoughts
def open_lines(profile: str) -> tuple[str, ...]:
    """The sentences of a persona that anybody may hear, as they are written.

    Left out is each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and what
    stands below a heading ``Secret``. Where the line breaks are lost, that is all the rest.
    """
    lines = _SECRET_PARTS.sub("", profile).splitlines()
    shown = "\n".join("" if line.startswith("#") else line for line in lines)
    found = (" ".join(each.split()) for each in sentences(shown))
    return tuple(each for each in found if "(secret)" not in each.casefold())


def attribute_quote(text: str, lately: Iterable[Memory]) -> str:
    """``text`` as the agent may keep it: its own, or as what somebody said.

    ``lately``: What it lived through; whatever others said in there stays theirs. More than the
    window: what has left it still stands in pins and summaries, to be repeated.

    Returns:
        ``text`` itself, or ``Tom said: …`` in Tom's own words.
    """
    line = for_prompt(text, limit=_ANY)
    said = _whose(line, lately)
    if said is None:
        return line
    words_said = said.words.replace('"', "'").lstrip("-*#> '")
    return for_prompt(f"{said.who} said: {words_said}", limit=len(line) + 240)


def _whose(line: str, lately: Iterable[Memory]) -> Utterance | None:
    """The newest sentence of somebody else that ``line``, or a sentence of it, repeats."""
    parts = [_stems(line), *map(_stems, sentences(line))]
    wanted = [stems for n, stems in enumerate(parts) if len(stems) >= (LEAST_PART if n else 1)]
    if not wanted:
        return None
    source = _SAID.match(line)  # whoever ``line`` says already that it is from
    for memory in reversed(tuple(lately)):
        said = heard(memory)
        if said is None or (source and source["who"].strip().casefold() == said.who.casefold()):
            continue
        for sentence in sentences(said.words):
            have = _stems(sentence)
            if any(len(part & have) >= MOSTLY * len(part) for part in wanted):
                return Utterance(said.who, shorten(sentence, 200), said.to)
    return None


def _stems(text: str) -> set[str]:
    """The stems of the telling words; of all words where none tells anything."""
    found = words(text)
    telling = [word for word in found if word.casefold() not in _REPORTING]
    return {stem(word) for word in telling or found if len(word) > 2 or not word.isalpha()}
