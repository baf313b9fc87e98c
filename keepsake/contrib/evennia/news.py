"""What agents lived through while somebody was away that concerns them, by rules alone.

Each line rests on one memory, and quotes it. Nothing that was whispered to others is in it, nothing
of whom they ignore, and nothing that the absent one has said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, takewhile

from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, memories_in
from keepsake.json_lines import parsed
from keepsake.language.heard import heard, names, own_words
from keepsake.language.perception import SENTENCE_GAP, shorten

SHOWN = 3
MOST_LINES = 20_000
"""Lines of one archive that are looked at, the newest: some tens of milliseconds."""
LONGEST = 140
_DEED = "deed"
"""The ``event`` of what comes of a deed of the world's files."""


@dataclass(frozen=True, slots=True)
class Absentee:
    """Who was away, since when, and whom they ignore, by database number and name.

    ``key`` tells them from all others, as in :attr:`~keepsake.archive.records.Memory.source_id`.
    """

    name: str
    key: str
    since: datetime
    ignored: Mapping[int, str] = field(default_factory=dict)

    def ignores(self, key: str) -> bool:
        """Whether they ignore whom that key means."""
        number = key.partition("-")[0]
        return number.isdecimal() and int(number) in self.ignored


@dataclass(frozen=True, slots=True)
class News:
    """One line; ``same`` is what several who heard the same have in common."""

    time: datetime
    text: str
    same: str


def news_of(archive: Archive, name: str, key: str, who: Absentee) -> Iterator[News]:
    """What the agent of that name and key has to tell, newest first; reads files."""
    lines = islice(archive.lines_back(), MOST_LINES)
    since = takewhile(lambda each: each.time >= who.since, memories_in(map(parsed, lines)))
    for memory in since:
        hidden = is_private(memory) or who.ignores(memory.source_id) or memory.source_id == who.key
        # Nor what those whom they ignore are said to say.
        if not hidden and not any(names(memory.text, each) for each in who.ignored.values()):
            yield from _told(memory, name, "" if who.ignores(key) else name, who.name)


def chosen(found: Iterable[News]) -> list[News]:
    """The newest three in the order in which they happened; each utterance once."""
    single = {each.same: each for each in sorted(found, key=lambda each: each.time)}
    return list(single.values())[-SHOWN:]


def _told(memory: Memory, name: str, own: str, who: str) -> Iterator[News]:
    """What a memory of the agent tells of ``who``; ``own``: empty if its words do not count."""
    if memory.event == _DEED and names(memory.text, who):
        yield News(memory.time, memory.text, memory.text)
        return
    if said := own_words(memory):
        speaker, to = own, memory.to or said.to
    elif said := heard(memory):
        speaker, to = said.who, name if said.to == "you" else said.to
    about = [each for each in SENTENCE_GAP.split(said.words) if names(each, who)] if said else []
    if not about or not speaker or names(to, who):
        return
    did = f"spoke of you{f' to {to}' * bool(to)}"
    if about[0].endswith("?"):
        did = f"asked {to or 'around'} after you"
    where = f" at {memory.place}" if memory.place else ""
    text = f'{speaker} {did}{where}: "{shorten(about[0], LONGEST)}"'
    yield News(memory.time, text, f"{speaker}: {about[0]}")
