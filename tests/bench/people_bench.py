"""What it costs an agent to know many people: ten beside a thousand, in the game.

Both have lived through as many memories; in one life they come from ten people, in the other
from a thousand. Five of them are in the room with the agent. Run as a module it measures in
its own process, where Evennia can be set up.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tests.bench.figures import Figure, percentile
from tests.bench.in_the_world import figures_of, live, print_figures

if TYPE_CHECKING:
    from keepsake.books.people.book import PeopleBook

MET = (10, 1000)
MEMORIES = 3000
HERE = 5
WANTED = 1.2
"""How many times as much a thought may cost with the many."""
_THOUGHTS, _WARM_UP = 100, 10
_SECONDS = 900
_SAYINGS = (
    "I work as a {work}.",
    "I live in the house by the {place}.",
    "I like {thing}.",
    "I've moved to the loft behind the {place}.",
    "Thank you for the {thing}, you are kind.",
    "I saw the ferry at the {place} this morning.",
    "I promise to bring you some {thing} tomorrow.",
)
_WORK = ("miller", "baker", "weaver", "smith", "tinker", "carter", "thatcher")
_PLACE = ("ford", "weir", "church", "bridge", "quay")
_THING = ("plum tarts", "cider", "eels", "honey", "turnips", "lamp oil", "barley", "tar", "salt")


def measure() -> Iterator[Figure]:
    """A thought's own cost, its prompt, and what the pages cost in worker threads."""
    for met in MET:
        yield from figures_of(__name__, str(met), seconds=_SECONDS)


def main(met: int) -> None:
    """Measure in this process, with so many people, and print the figures as JSON."""
    print_figures(lambda: _in_the_world(met))


def name_of(number: int) -> str:
    """A name of its own for each: ``Ababa``, ``Abaca``, …"""
    letters = []
    for size, alphabet in ((10, "bcdfghjklm"), (5, "aeiou"), (20, "bcdfghjklmnprstvwxyz")):
        number, place = divmod(number, size)
        letters.append(alphabet[place])
    return f"A{''.join(letters)}in"


def saying(number: int) -> str:
    """Something that somebody says, another each time."""
    lists = {"work": _WORK, "place": _PLACE, "thing": _THING}
    words = {key: words[number % len(words)] for key, words in lists.items()}
    return _SAYINGS[number % len(_SAYINGS)].format(**words)


def _in_the_world(met: int) -> list[Figure]:  # noqa: C901 - one life, in one class of its own
    from evennia.utils import create  # noqa: PLC0415 - with the world

    from keepsake.agent.attention import EventKind, PerceivedEvent  # noqa: PLC0415
    from keepsake.agent.surroundings import identity_of  # noqa: PLC0415
    from keepsake.agent.thinking.thinker import AgentState  # noqa: PLC0415
    from keepsake.books.people.book import PeopleBook  # noqa: PLC0415
    from tests.game.agents_world import AgentsWorld  # noqa: PLC0415

    figures: list[Figure] = []

    class World(AgentsWorld):
        def measure(self) -> None:
            self.set_thinking(gather=0.0, cooldown=0.0, jitter=0.0, idle_interval=86_400.0)
            numbers = itertools.count()
            self.fake.script = lambda _: f" say I have counted {next(numbers)} cups. | bored"
            self.char2.move_to(self.room2, quiet=True)
            self.char1.key = name_of(0)
            here = [self.char1, *(self._comes(name_of(n)) for n in range(1, HERE))]
            self.keys = [identity_of(who) for who in here]
            self.keys += [f"{10_000 + n}-20260101000000" for n in range(HERE, met)]
            figures.extend(self._lived())
            figures.extend(self._thoughts())
            book = PeopleBook(self.mind.memory.folder)
            figures.extend(_book_figures(met, book, self.keys))

        def _comes(self, name: str) -> object:
            return create.create_object(
                "typeclasses.characters.Character", key=name, location=self.room1
            )

        def _lived(self) -> Iterator[Figure]:
            """Everybody has said what they had to say, and it stands on their pages."""
            memory, memories = self.mind.memory, self.mind.memory.memory
            while memories.status().total < MEMORIES:
                self._hear(memories.status().total)
                if memory.compacting:
                    self.settle(lambda: not memory.compacting)
            began = time.perf_counter()
            self.mind.acquaintances.settle()
            spent = 1000 * (time.perf_counter() - began) / MEMORIES
            yield Figure("a memory worked into pages, in a worker", met, spent, "ms")

        def _hear(self, number: int) -> None:
            who = number % met
            text = f'{name_of(who)} says to you, "{saying(number // met + who)}"'
            self.mind.memory.remember(
                text, place="The Inn", source=name_of(who), source_id=self.keys[who]
            )

        def _thoughts(self) -> Iterator[Figure]:
            """What a thought costs the reactor, and what of its prompt is about people."""
            times, turns = [], itertools.count(MEMORIES)
            for _ in range(_WARM_UP + _THOUGHTS):
                for turn in itertools.islice(turns, 3):
                    self._hear(turn * met + turn % HERE)
                self.settle(lambda: not self.mind.memory.compacting)
                times.append(self._thought())
            times = times[_WARM_UP:]
            median, slow = statistics.median(times), percentile(times, 0.95)
            yield Figure("a thought's own cost, by people met", met, median, "ms", _p95(slow))
            prompt = max(len(each) for each in self.fake.prompts())
            yield Figure("longest prompt, by people met", met, prompt, "characters")
            about = sum(map(self.services.tokens.of, self.mind.acquaintances.lines(self.mira)))
            budget = self.services.people.current.budget
            yield Figure("about the people here", met, about, "tokens", f"of {budget}")

        def _thought(self) -> float:
            """Milliseconds of this thread that one thought takes, from its cause to its end."""
            event = PerceivedEvent(EventKind.ADDRESSED, from_player=True, source=self.char1.key)
            thoughts = self.mind.thinker.tally.thoughts
            spent = _timed(lambda: self.mind.thinker.notice(event))
            spent += _timed(lambda: self.clock.advance(1.0))
            while self.mind.thinker.state is AgentState.WAITING:
                spent += _timed(self.posted.get(timeout=10))
            assert self.mind.thinker.tally.thoughts == thoughts + 1, "it was not one thought"
            return spent

    live(World("measure"))
    return figures


def _book_figures(met: int, book: PeopleBook, keys: list[str]) -> Iterator[Figure]:
    """What opening the book costs, once a start, and how large a page is."""
    began = time.perf_counter()
    book.look()
    opened = 1000 * (time.perf_counter() - began)
    assert all(map(book.loaded, keys)), "somebody has been forgotten"
    yield Figure("opening the book, in a worker", met, opened, "ms")
    files = list(book.folder.glob("*.md"))
    largest = max(path.stat().st_size for path in files)
    yield Figure("largest page", met, largest, "bytes", f"{len(files)} files")


def _p95(slow: float) -> str:
    return f"wanted: the many at most {WANTED:g} times the few; p95 {slow:.2f} ms"


def _timed(work: Callable[[], object]) -> float:
    # Of this thread alone: the client's and the fake server's threads are not the reactor.
    before = time.thread_time()
    work()
    return (time.thread_time() - before) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]))
