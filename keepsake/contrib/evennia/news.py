"""News for a returning player: what agents remember about them from their absence; by rules alone.

Each line quotes one memory. Whispers to others are left out, and words of people whom the player
ignores, and the player's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, takewhile

from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, memories_in
from keepsake.happening import ME
from keepsake.json_lines import parsed
from keepsake.language.perception import SENTENCE_GAP, names, shorten

SHOWN = 3
"""How many pieces of news are shown to a player who comes back."""
MOST_LINES = 20_000
"""The most lines of one archive to read, from its end: some tens of milliseconds."""
LONGEST = 140
"""The most characters of the words that a piece of news quotes."""
_DEED = "deed"
"""The ``event`` of memories of the deeds in the world's files."""


@dataclass(frozen=True, slots=True)
class Absentee:
    """A player who was away, since when, and whom they ignore, by database number and name.

    ``key`` is unique, as in :attr:`~keepsake.archive.records.Memory.source_id`.
    """

    name: str
    key: str
    since: datetime
    ignored: Mapping[int, str] = field(default_factory=dict)

    def ignores(self, key: str) -> bool:
        """Whether the player ignores the character with that key."""
        number = key.partition("-")[0]
        return number.isdecimal() and int(number) in self.ignored


@dataclass(frozen=True, slots=True)
class News:
    """One line of news; ``same`` is equal for agents that heard the same words."""

    time: datetime
    text: str
    same: str


def news_of(archive: Archive, name: str, key: str, who: Absentee) -> Iterator[News]:
    """Yield the news of the agent with that name and key, newest first; reads files."""
    lines = islice(archive.lines_back(), MOST_LINES)
    since = takewhile(lambda each: each.time >= who.since, memories_in(map(parsed, lines)))
    for memory in since:
        hidden = is_private(memory) or who.ignores(memory.source_id) or memory.source_id == who.key
        # Memories that mention ignored people may quote them, so they are left out too.
        if not hidden and not any(names(memory.text, each) for each in who.ignored.values()):
            yield from _news_in(memory, name, "" if who.ignores(key) else name, who.name)


def newest_news(found: Iterable[News]) -> list[News]:
    """Return the newest three, oldest first; each utterance once."""
    single = {each.same: each for each in sorted(found, key=lambda each: each.time)}
    return list(single.values())[-SHOWN:]


def _news_in(memory: Memory, name: str, own: str, who: str) -> Iterator[News]:
    """Yield the news about ``who`` in a memory; ``own``: the agent's name, empty if ignored."""
    if memory.event == _DEED and names(memory.text, who):
        yield News(memory.time, memory.text, memory.text)
        return
    if said := memory.own_words:
        speaker = own
        to = memory.to
    elif said := memory.heard:
        speaker = said.speaker.name
        to = name if ME in said.to else said.to_name
    about = [each for each in SENTENCE_GAP.split(said.words) if names(each, who)] if said else []
    if not about or not speaker or names(to, who):
        return
    did = f"spoke of you{f' to {to}' * bool(to)}"
    where = f" at {memory.place}" if memory.place else ""
    text = f'{speaker} {did}{where}: "{shorten(about[0], LONGEST)}"'
    yield News(memory.time, text, f"{speaker}: {about[0]}")
