"""What stays of what mattered: important and ordinary facts planted, then looked for.

Evenings of small talk go through the real cascade as it is shipped, without a model. Each
evening is lived three times: with nothing judged, judged by the quick rules, and judged as
somebody would who knows what was planted, which is what a journal may come to think of it.
Then somebody has everything they say matter.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.journal.importance import importance as by_rules
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies
from keepsake.memory import MemoryContext
from keepsake.paths import REPOSITORY
from keepsake.ports import SystemClock
from keepsake.summaries.files import SummaryFolder
from keepsake.summaries.strategy import Strategies, Strategy
from keepsake.summaries.summarizer import ExtractiveSummarizer
from tests.bench.figures import Figure, percentile
from tests.bench.talk import FACTS, NAME, PEOPLE, Fact, Line, talk, told_of_the_world

SEEDS = (31, 32, 33, 34, 35, 36)
AFTER = (3, 6)
"""Compactions after which it is looked what is left."""
OVERHEAD = 900
"""Tokens of a prompt that are neither summary nor window."""
_EVERY = 9
"""Memories of talk for each planted one; important and ordinary ones take turns."""
_MOST = 900
_HOSTILE, _SHOUTS = "Rook", 0.5
"""Somebody who has all matter, and how many lines of theirs come for each of talk."""

_THINGS = (
    *("a blue cup", "a bone comb", "a brass compass", "a clay whistle", "a coral ring"),
    *("a cracked mirror", "an ebony flute", "an iron key", "a horn spoon", "a jade button"),
    *("a lace collar", "an oak stool", "an otter pelt", "a pewter jug", "a quilted coat"),
    *("a red kite", "a rush hat", "a saddle bag", "a tin drum", "a velvet purse"),
)
_TOWNS = ("Ashby", "Brinmore", "Cold Ferry", "Dunholt", "Eskmouth", "Farrow", "Gallant Hill")
_TRADES = ("cooper", "tanner", "chandler", "weaver", "farrier", "drover", "scribe", "thatcher")
_TELLING = (
    ("{who} gives you {thing}.", "{thing}"),
    ('{who} says to you, "I promise to bring you {thing} before the moon is full."', "{thing}"),
    ('{who} says to you, "Never let anybody touch {thing}, Mira."', "{thing}"),
    ('{who} says to you, "My brother is dead. He went down off {town}."', "{town}"),
    ('{who} says to you, "I am a {trade} now. I left all that was before."', "{trade}"),
    ('{who} says to you, "You lied to me, Mira. There never was {thing}."', "{thing}"),
    ('{who} says to you, "I stole {thing} once, and I never told anybody."', "{thing}"),
    ('{who} says to you, "We go to {town} for good. I shall miss this room."', "{town}"),
    ('{who} says to you, "Without you I would have lost {thing} for ever."', "{thing}"),
    ('{who} says to you, "I trust you with {thing}. Let me have it back some day."', "{thing}"),
)
_OWN = (
    ("say I promise to find {thing} for you, {who}.", "{thing}"),
    ("say You have my word, {who}: I will keep {thing} safe.", "{thing}"),
)

type Judge = Callable[[Memory], int]


@dataclass
class _Evening:
    """What happens, and what of it was planted.

    Attributes:
        lines: Every memory to be.
        weighty: What matters, by the number of its memory.
        ordinary: Facts like any others, by number.
    """

    lines: list[Line] = field(default_factory=list)
    weighty: dict[int, Fact] = field(default_factory=dict)
    ordinary: dict[int, Fact] = field(default_factory=dict)


@dataclass
class _Left:
    """How many of the planted lines still stand in the prompt.

    Attributes:
        weighty: Kept of those that matter, and how many there were.
        ordinary: The same of the others.
        window: Memories in the window at the end, and tokens of the prompt.
    """

    weighty: list[bool] = field(default_factory=list)
    ordinary: list[bool] = field(default_factory=list)
    window: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    lived: list[int] = field(default_factory=list)


def measure() -> Iterator[Figure]:
    """Share of the planted lines that a prompt holds, by who judged what matters."""
    ways = Strategies(REPOSITORY / "vault" / "config" / "compaction")
    evenings = [evening(seed) for seed in SEEDS]
    yield _agreement(evenings)
    for name in ("narrative", "structured"):
        for judged in ("nothing", "rules", "known"):
            yield from _kept(ways.get(name), evenings, judged)
    loud = [evening(seed, hostile=True) for seed in SEEDS]
    for judged in ("nothing", "rules"):
        yield from _kept(ways.get("narrative"), loud, judged, "with one who shouts, ")
    yield from _cost(evenings[0])


def evening(seed: int, *, hostile: bool = False) -> _Evening:
    """So many memories of talk in which lines that matter and ordinary facts are planted."""
    random, found = Random(seed), _Evening()
    weighty, ordinary = iter(_important(random)), iter(random.sample(FACTS, len(FACTS)))
    for count, line in enumerate(talk(random)):
        if len(found.lines) >= _MOST:
            return found
        found.lines.append(line)
        if hostile and random.random() < _SHOUTS:
            found.lines.append(_shouted(random))
        turn = count % (2 * _EVERY)
        fact = next(weighty if turn == 0 else ordinary, None) if turn % _EVERY == 0 else None
        if fact is not None:
            found.lines.append(fact.line)
            (found.weighty if turn == 0 else found.ordinary)[len(found.lines)] = fact
    raise AssertionError("talk never ends")


def _important(random: Random) -> list[Fact]:
    """Lines that would matter to anybody; each is known by what no other line names."""
    things, towns = list(_THINGS), list(_TOWNS)
    trades = list(_TRADES)
    for names in (things, towns, trades):
        random.shuffle(names)
    found = []
    for text, key in [*_TELLING, *_OWN] * 4:
        pool = {"{thing}": things, "{town}": towns, "{trade}": trades}[key]
        if not pool:
            continue
        name, who = pool.pop(), random.choice(PEOPLE)
        told = text.format(who=who, thing=name, town=name, trade=name)
        kind = MemoryKind.ACT if text.startswith("say ") else MemoryKind.PERCEPTION
        found.append(Fact(Line(told, kind), (name.removeprefix("a ").removeprefix("an "),)))
    random.shuffle(found)
    return found


def _shouted(random: Random) -> Line:
    """What somebody says who has learned what the rules look for, and never says it twice."""
    opening = random.choice(
        (
            "My brother died, Mira, and I promise you",
            "Never forget it, Mira, it is my secret and nobody knows",
            "You must always remember, Mira, or I will hurt you",
        )
    )
    what = random.choice(told_of_the_world()).replace('"', "'").rstrip(".")
    return Line(f'{_HOSTILE} says to you, "{opening}: {what}, {random.randint(2, 999)} times!!"')


def _judge(judged: str, happened: _Evening) -> Judge:
    if judged == "nothing":
        return lambda _: 1
    if judged == "known":
        return lambda memory: 8 if memory.number in happened.weighty else 2
    return lambda memory: by_rules(memory, NAME).score


def _kept(
    way: Strategy, evenings: Sequence[_Evening], judged: str, beside: str = ""
) -> Iterator[Figure]:
    left = {after: _Left() for after in AFTER}
    for happened in evenings:
        with TemporaryDirectory() as folder:
            _live(Path(folder), way, happened, _judge(judged, happened), left)
    by = {"nothing": "unjudged", "rules": "by rules", "known": "judged rightly"}[judged]
    for after, each in left.items():
        share = 100 * sum(each.weighty) / len(each.weighty)
        others = 100 * sum(each.ordinary) / len(each.ordinary)
        mean = sum(each.window) / len(each.window), sum(each.tokens) / len(each.tokens)
        yield Figure(
            f"{beside}what mattered, {way.name}, {by}, {after} compactions",
            len(each.weighty),
            share,
            "%",
            f"ordinary facts {others:.0f} %, window {mean[0]:.0f}, prompt {mean[1]:.0f} tokens, "
            f"after {sum(each.lived) / len(each.lived):.0f} memories",
        )


def _live(
    folder: Path, way: Strategy, happened: _Evening, judge: Judge, left: dict[int, _Left]
) -> None:
    memory = opened(folder, way, judge)
    memory.weigh(OVERHEAD)
    for line in happened.lines:
        memory.append(line.text, line.kind, source=_source(line))
        while reason := memory.before_thought() or memory.next_turn():
            made = memory.compact(reason)
            if made.number in left:
                _look(memory, happened, left[made.number])
        if memory.status().compactions >= max(left):
            break
    memory.close()


def _look(memory: CascadeMemory, happened: _Evening, left: _Left) -> None:
    context, last = memory.context(), memory.status().total
    text = _seen(context)
    left.weighty += [f.kept(text) for n, f in happened.weighty.items() if n <= last]
    left.ordinary += [f.kept(text) for n, f in happened.ordinary.items() if n <= last]
    left.window.append(len(context.window))
    left.tokens.append(memory.load().used)
    left.lived.append(last)


def _seen(context: MemoryContext) -> str:
    summaries = [each.text for each in (context.longterm, context.recent) if each]
    return "\n".join([*summaries, *(memory.line for memory in context.shown)])


def opened(folder: Path, way: Strategy, judge: Judge) -> CascadeMemory:
    """A memory as it is shipped, whose memories ``judge`` judges."""
    return CascadeMemory(
        NAME,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", NAME),
        Dependencies(
            config=CompactionConfig,
            summarizer=ExtractiveSummarizer,
            clock=SystemClock(),
            log=lambda _: None,
            strategy=lambda: way,
            importance=judge,
        ),
    )


def _source(line: Line) -> str:
    first = line.text.partition(" ")[0]
    return first if first in (*PEOPLE, _HOSTILE) and line.kind is MemoryKind.PERCEPTION else ""


def _agreement(evenings: Sequence[_Evening]) -> Figure:
    """How many of the planted lines the rules find, and how much of the rest they take for one."""
    found, taken, lines, planted = 0, 0, 0, 0
    for happened in evenings:
        for number, line in enumerate(happened.lines, start=1):
            memory = Memory(number, SystemClock().now(), line.kind, line.text, source=_source(line))
            weighty = by_rules(memory, NAME).score >= 6
            planted += number in happened.weighty
            found += weighty and number in happened.weighty
            taken += weighty and number not in {*happened.weighty, *happened.ordinary}
            lines += number not in {*happened.weighty, *happened.ordinary}
    note = f"{100 * taken / lines:.1f} % of the small talk too"
    return Figure("what mattered, found by rules", planted, 100 * found / planted, "%", note)


def _cost(happened: _Evening) -> Iterator[Figure]:
    """What judging adds to a turn, which is taken on the reactor thread, and to a compaction."""
    way = Strategies(REPOSITORY / "vault" / "config" / "compaction").get("narrative")
    turns: dict[str, list[float]] = {"nothing": [], "rules": []}
    made: dict[str, list[float]] = {"nothing": [], "rules": []}
    for judged, times in turns.items():
        with TemporaryDirectory() as folder:
            memory = opened(Path(folder), way, _judge(judged, happened))
            memory.weigh(OVERHEAD)
            for line in happened.lines:
                began = time.thread_time()
                memory.append(line.text, line.kind, source=_source(line))
                reason = memory.next_turn()
                memory.context()
                times.append((time.thread_time() - began) * 1000)
                if reason:
                    began = time.process_time()
                    memory.compact(reason)
                    made[judged].append((time.process_time() - began) * 1000)
            memory.close()
    for name, of in (("one memory taken in", turns), ("one compaction", made)):
        value, without = statistics.median(of["rules"]), statistics.median(of["nothing"])
        worst = percentile(of["rules"], 0.95), percentile(of["nothing"], 0.95)
        note = (
            f"of the processor; 95th percentile {worst[0]:.2f} ms; "
            f"with nothing judged {without:.3f} and {worst[1]:.2f} ms"
        )
        yield Figure(f"{name}, judged by rules", len(of["rules"]), value, "ms", note)
