"""What lines have of something typed, read from the archives and compared by an embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose

from keepsake.archive.records import Memory
from keepsake.happening import Manner, PersonId, Speech
from keepsake.tracing.past import Archived
from keepsake.tracing.tellings import addressed
from keepsake.tracing.texts import SegmentTexts
from keepsake.tracing.typed.gathering import Found, id_of, tells
from keepsake.tracing.typed.judging import LIKELY, PERHAPS, LineSignals, probabilities
from keepsake.tracing.typed.meant import (
    Match,
    Meant,
    MeantWay,
    People,
    partners_in,
    speaker_in,
)
from keepsake.tracing.typed.reading import ComparedLines, LineReader

MOST_JUDGED = 60
"""The most happenings that are judged: a tenth of a second of one core. Others count by words."""
ENOUGH = 10
"""The fewest lines that are judged: among fewer, what is near in meaning does not stand out."""
_BACK = 12
"""The memories before a line among which its talk is looked for."""
_OF_TALK = 4
"""The most lines of its talk that count with a line."""

MOST_NEWS = 5
"""The most lines that are said to be near to what tells something."""
_NEWS = 0.5
"""How near a later line must be to one that tells it, a cosine: of three played evenings, a
suspicion had 0.64, a second whisper 0.58, a spy's question 0.54, and half of those below 0.5 were
about something else."""
_OF_NEWS = 0.04
"""The least probability of such a line that it tells it: those three had 0.09 and more, and most of
the less probable ones were about something else."""

type Gathered = Mapping[str, Sequence[Found]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of lines about something typed.

    Attributes:
        chances: How probable it is that a line tells it, by its happening.
        news: The happenings of later lines that do not tell it and are near to some that do, the
            nearest first.
    """

    chances: Mapping[str, float] = field(default_factory=dict)
    news: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _LineInTalk:
    """A happening, as one of those remembers it who heard it.

    Attributes:
        id: That of the happening.
        own: The identity of who remembers it.
        said: Who says it to whom, and what.
        talk: What was said right before it in its talk.
    """

    id: str
    memory: Memory
    own: PersonId
    said: tuple[str, str]
    talk: Sequence[Memory]


def judged(
    archives: Mapping[str, Archived],
    found: Gathered,
    meant: Meant,
    people: People,
    reader: LineReader,
) -> Judged:
    """Return how probable it is that lines tell what was typed; blocks.

    Of many lines, some are left out; all are if they are few, or cannot be compared, or if none has
    any typed word: the weights were learned from what was told, and the best of such lines would
    pass for it. A line that
    has all of several typed words tells it at least perhaps: who typed them looks for it.
    """
    lines = [*_lines(archives, found, meant, people)]
    best: dict[str, float] = {}
    near: dict[str, float] = {}
    for way in meant.ways if len(lines) >= ENOUGH else ():
        compared = reader.compare(way.typed, way.weights, [each.said for each in lines])
        if compared is None:
            return Judged()
        signals = [
            _signals(each, meant, way, near, like)
            for each, near, like in zip(lines, compared.meaning, compared.likeness, strict=True)
        ]
        if not any(each.of_talk for each in signals):
            continue
        chances = probabilities(signals, compared.like)
        for line, signal, chance in zip(lines, signals, chances, strict=True):
            least = PERHAPS if isclose(signal.words, 1.0) and len(way.weights) > 1 else 0.0
            best[line.id] = max(chance, least, best.get(line.id, 0.0))
        for line, nearness in _news(lines, chances, compared):
            near[line.id] = max(nearness, near.get(line.id, 0.0))
    news = (each for each in near if best[each] < LIKELY)
    return Judged(best, tuple(sorted(news, key=lambda each: -near[each])[:MOST_NEWS]))


def _news(
    lines: Sequence[_LineInTalk], chances: Sequence[float], compared: ComparedLines
) -> Iterator[tuple[_LineInTalk, float]]:
    """Yield what was said after what tells something and is near to it, with how near."""
    tell = [at for at, chance in enumerate(chances) if chance >= LIKELY]
    if not tell:
        return
    first = min(lines[at].memory.time for at in tell)
    nearest = map(max, zip(*(compared.like(at) for at in tell), strict=True))
    for line, nearness, chance in zip(lines, nearest, chances, strict=True):
        is_near = nearness >= _NEWS and chance >= _OF_NEWS
        if is_near and line.said[0] and line.memory.time > first:
            yield line, nearness


def _lines(
    archives: Mapping[str, Archived], found: Gathered, meant: Meant, people: People
) -> Iterator[_LineInTalk]:
    """Yield the happenings that are judged, each once: the surest by words, and those near."""
    of_id: dict[str, tuple[str, Found]] = {}
    for key, of in found.items():
        for each in of:
            id = id_of(key, each.memory)
            if tells(each.memory) and (id not in of_id or each.memory.is_own):
                of_id[id] = key, each
    near = [id for id, (_, each) in of_id.items() if each.match is Match.NEAR]
    worded = [id for id in of_id if id not in near]
    # Of those with the same match, what has more of the rare words comes first.
    worded.sort(key=lambda id: _by_words(of_id[id][1], meant))
    for id in (*worded[: MOST_JUDGED - len(near)], *near[:MOST_JUDGED]):
        key, each = of_id[id]
        own = people.agents.get(key, "")
        archived = archives[key]
        segments = archived.texts.of(archived.folder)
        said = _head(each.memory, archived.name), each.memory.words or each.memory.text
        yield _LineInTalk(id, each.memory, own, said, _talk_before(segments, each.memory, own))


def _by_words(found: Found, meant: Meant) -> tuple[int, float]:
    """Return what orders lines by how much of the typed words they have, most first."""
    said = (found.memory.words or found.memory.text).casefold()
    share = max(
        sum(weight for word, weight in way.weights.items() if meant.has(word, said))
        for way in meant.ways
    )
    return [*Match].index(found.match), -share


def _head(memory: Memory, name: str) -> str:
    """Return who says a line to whom; empty for what is no speech. ``name``: Who remembers it."""
    if not isinstance(memory.what, Speech):
        return ""
    verb = "whispers" if memory.manner == Manner.WHISPER else "says"
    to = ", ".join(addressed(memory, name))
    return f"{name if memory.is_own else memory.source} {verb}{f' to {to}' if to else ''}: "


def _talk_before(
    segments: Sequence[SegmentTexts], memory: Memory, own: PersonId
) -> Sequence[Memory]:
    """Return what those who take part in a line said to each other right before it."""
    partners = partners_in(memory, own)
    if not isinstance(memory.what, Speech) or len(partners) < 2:
        return ()
    for segment in segments:
        place = segment.place_of(memory.number)
        if place is None:
            continue
        before = segment.memories(range(place - 1, max(place - _BACK, 0) - 1, -1))
        of_talk = (
            each
            for each in before
            if isinstance(each.what, Speech)
            and speaker_in(each, own) in partners
            and partners_in(each, own) <= partners
        )
        return [each for each, _ in zip(of_talk, range(_OF_TALK), strict=False)]
    return ()


def _signals(
    line: _LineInTalk, meant: Meant, way: MeantWay, near: float, like: float
) -> LineSignals:
    said = line.said[1].casefold()
    texts = [said, *((each.words or each.text).casefold() for each in line.talk)]
    has = {word for word in way.words if meant.has(word, said)}
    of_talk = {word for word in way.words if any(meant.has(word, each) for each in texts)}
    partners = partners_in(line.memory, line.own)

    there = [not partners.isdisjoint(each.ids) or meant.names(each, said) for each in way.people]
    return LineSignals(
        words=sum(way.weights[each] for each in has),
        of_talk=sum(way.weights[each] for each in of_talk),
        people=sum(there) / len(there) if there else 1.0,
        meaning=near,
        likeness=like,
        names=float(bool(way.names) and has.issuperset(way.names)),
    )
