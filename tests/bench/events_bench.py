"""What the event log costs the thread that an event happens in, and the machine beside it.

Run as a module it measures in its own process, where Evennia can be set up.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from keepsake.agent.attention import EventKind, Impulse
from keepsake.archive.records import Memory, MemoryKind
from keepsake.events.files import files_of
from keepsake.events.log import EventLog
from keepsake.events.subscribers import Tapped
from keepsake.events.types import Event, Events
from keepsake.events.types import Thought as ThoughtEvent
from keepsake.memory import MemoryContext
from keepsake.paths import REPOSITORY, places
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs, PromptSection
from keepsake.prompt.marks import Rendered
from keepsake.recall.documents import Document, DocumentKind, Hit
from tests.bench import talk
from tests.bench.figures import Figure, percentile

EVENTS = 4_000
AGENTS = 50
WANTED = "to be under 50 µs"
_PAUSE = 0.0005
"""Seconds between two events at a steady pace: some 1,500 a second, far more than agents make."""
_BLOCK = 20
"""Turns of about a millisecond with an event each, and as many without."""
_SECTIONS = "who it is,commands,pinned,noticed,window,people here,related past,situation,headings"
_SWITCH = 0.001
"""Seconds after which a thread lets others have the interpreter, as in the game."""


def measure() -> Iterator[Figure]:
    """An event at a steady pace and in a burst, listened to or not; what a busy thread loses."""
    command = [sys.executable, "-m", "tests.bench.events_bench"]
    ran = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True)
    for line in ran.stdout.splitlines():
        if line.startswith(b"{"):  # Evennia has something to say as well
            yield Figure(**json.loads(line))


def main() -> None:
    """Measure here, and print each figure as JSON."""
    from tests.game import evennia_up  # noqa: PLC0415 - sets the environment of the process

    evennia_up.start()
    for figure in _measure():
        print(json.dumps(asdict(figure)), flush=True)


def _measure() -> Iterator[Figure]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        kinds = (("thought", _thoughts()), ("memory", _memories()), ("recall", _searches()))
        for name, make in kinds:
            yield from _paced(name, make)
            yield from _beside(name, make)
        yield from _kept()
    finally:
        sys.setswitchinterval(before)


def _paced(name: str, make: Callable[[int], Event]) -> Iterator[Figure]:
    """With nobody listening, and with dashboard, live stream and metrics."""
    for how, pause in (("at a steady pace", _PAUSE), ("in a burst", 0.0)):
        for listened in (False, True):
            with TemporaryDirectory() as scratch, _log(Path(scratch), listened) as (log, events):
                took = [_one(events, make, n, pause) for n in range(EVENTS)]
                log.flush(60)
                shown = _on_the_reactor() / EVENTS
            who = ", all listening" if listened else ""
            for share, of_it in ((0.5, "median"), (0.99, "p99")):
                value = percentile(took, share)
                yield Figure(f"{name} event {how}{who}, {of_it}", EVENTS, value, "µs", WANTED)
            if listened:
                told = "on the reactor, beside the above: taken for the live stream, 2,000 are kept"
                yield Figure(f"{name} event {how}, taken for browsers", EVENTS, shown, "µs", told)


@contextmanager
def _log(folder: Path, listened: bool) -> Iterator[tuple[EventLog, Events]]:
    """A log, and what takes its events: with ``listened`` as in the game."""
    if not listened:
        log = EventLog(folder, buffer=EVENTS)
        yield log, log
    else:
        from twisted.internet import reactor  # noqa: PLC0415 - when Evennia is up

        from game.web.live.watching import Watching  # noqa: PLC0415

        taps = Watching(places(), reactor).taps
        log = EventLog(folder, buffer=EVENTS, written=taps.written)
        yield log, Tapped(log, taps)
    log.close()


def _on_the_reactor() -> float:
    """Microseconds of what was handed to the reactor meanwhile, which does not run here."""
    from twisted.internet import reactor  # noqa: PLC0415 - when Evennia is up

    began = time.perf_counter()
    reactor.runUntilCurrent()  # type: ignore[attr-defined]  # the reactor's base class has it
    return (time.perf_counter() - began) * 1e6


def _one(log: Events, make: Callable[[int], Event], n: int, pause: float) -> float:
    """Microseconds that one event takes, its making included."""
    began = time.perf_counter()
    log.emit(make(n))
    took = time.perf_counter() - began
    if pause:
        time.sleep(pause)
    return took * 1e6


def _beside(name: str, make: Callable[[int], Event]) -> Iterator[Figure]:
    """What the same work takes longer with an event in it, and what the writer takes."""
    with TemporaryDirectory() as scratch:
        log = EventLog(Path(scratch), buffer=EVENTS)
        cpu, own = time.process_time(), time.thread_time()
        turns = []
        for n in range(0, EVENTS // 4, _BLOCK):
            log.flush(60)  # what was written before belongs to nobody here
            bare = _turns([lambda: None] * _BLOCK)
            turns.append((bare, _turns([partial(_emit, log, make, n + k) for k in range(_BLOCK)])))
        log.flush(60)
        writer = time.process_time() - cpu - (time.thread_time() - own)
        log.close()
    bare, full = (statistics.median(each) for each in zip(*turns, strict=True))
    count = EVENTS // 4
    told = f"a turn of {bare:.0f} µs, and one with an event and its writing, {full:.0f} µs"
    yield Figure(f"{name} event, what a busy thread loses", count, full - bare, "µs", told)
    each = writer / count * 1e6
    yield Figure(f"{name} event, the writer's processor time", count, each, "µs")


def _turns(besides: Sequence[Callable[[], None]]) -> float:
    """Microseconds of a turn of pure Python work, with something before it in each."""
    began = time.perf_counter()
    for beside in besides:
        beside()
        sum(number * number for number in range(20_000))
    return (time.perf_counter() - began) * 1e6 / len(besides)


def _emit(log: EventLog, make: Callable[[int], Event], n: int) -> None:
    log.emit(make(n))


def _kept() -> Iterator[Figure]:
    make = _thoughts()
    with TemporaryDirectory() as scratch:
        log = EventLog(Path(scratch), buffer=EVENTS)
        began = time.perf_counter()
        for n in range(EVENTS):
            log.emit(make(n))
        log.flush(60)
        rate = EVENTS / (time.perf_counter() - began)
        log.close()
        sizes = {
            stem: sum(len(file.read()) for file in files_of(Path(scratch), stem)) / EVENTS
            for stem in ("events", "prompts")
        }
    length = sum(len(make(n).prompt) for n in range(0, EVENTS, 100)) / (EVENTS / 100)
    yield Figure("thoughts written a second", EVENTS, rate, "1/s", "prompts and all")
    yield Figure("a thought's line", EVENTS, sizes["events"], "bytes")
    told = f"the prompt itself has {length:,.0f} characters"
    yield Figure("what is stored of a thought's prompt", EVENTS, sizes["prompts"], "bytes", told)


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _thoughts() -> Callable[[int], ThoughtEvent]:
    """Thoughts of fifty agents in turn, each with a prompt that has grown by a line or two."""
    from keepsake.agent.happenings import basis_of  # noqa: PLC0415
    from keepsake.agent.thinking.actor import Act  # noqa: PLC0415 - when Evennia is up
    from keepsake.agent.thinking.reports import thought_event  # noqa: PLC0415
    from keepsake.agent.thinking.thought import Sent, ThoughtInProgress  # noqa: PLC0415

    lines = [line.text for line in islice(talk.talk(Random(5)), 600)]
    heads = [f"You are agent {n}.\n" + "\n".join(lines[n : n + 20]) for n in range(AGENTS)]
    prompts = [_prompt(heads[n % AGENTS], lines, n // AGENTS) for n in range(EVENTS)]
    requests = list(map(GenerationRequest, prompts))  # what the model is asked is no event
    names = _SECTIONS.split(",")
    costs = Costs(tuple(PromptSection(each, 120) for each in names), 3_400, "model server")
    impulse = Impulse(EventKind.ADDRESSED, True, "Tom", priority="player")
    thought, act = ThoughtInProgress(impulse), Act(None, "no")
    thought.answer = Generation("say The leek soup.", "stop", 1_200, 1_100, 9, 0.4, "a-model")
    names_of = [f"Agent{n}" for n in range(AGENTS)]
    hits, context = _hits(), MemoryContext(None, None, ())

    def make(n: int) -> ThoughtEvent:
        basis = basis_of(context, hits, ())
        prompt = Rendered(requests[n].prompt, ())
        thought.sent = Sent(NOON, impulse, prompt, requests[n], costs, 0.02, 100.0, basis)
        return thought_event(names_of[n % AGENTS], thought, "refused", 100.4, act)

    return make


def _prompt(head: str, lines: Sequence[str], turn: int) -> str:
    window = lines[100 : 164 + turn % 64]
    return "\n".join([head, *window, f"You are in The Kettle, for the {turn}th time.", "~Mira>"])


def _memories() -> Callable[[int], Event]:
    from keepsake.agent.happenings import remembered  # noqa: PLC0415 - when Evennia is up

    time_of_it = datetime(2026, 5, 1, tzinfo=UTC)
    memory = Memory(7, time_of_it, MemoryKind.PERCEPTION, 'Tom says to you, "Good evening."')
    return lambda _: remembered("Mira", memory)


def _searches() -> Callable[[int], Event]:
    from keepsake.agent.happenings import searched  # noqa: PLC0415 - when Evennia is up

    asked, hits = "Tom: Where is the brass key?\nThe Kettle", _hits()
    return lambda n: searched("Mira", "thought", asked, hits, seconds=0.02, before=n)


def _hits() -> tuple[Hit, ...]:
    """What a thought is reminded of: three memories, a summary, a note."""
    time_of_it = datetime(2026, 5, 1, tzinfo=UTC)
    kinds = (*[DocumentKind.MEMORY] * 3, DocumentKind.SUMMARY, DocumentKind.NOTE)
    return tuple(
        Hit(
            Document(f"{kind}:{n}", kind, "I lost a brass key at the old mill.", time_of_it, n, n),
            8.0 - n,
            ("words: brass, key, mill", "said by Tom", "at The Kettle"),
        )
        for n, kind in enumerate(kinds, 1)
    )


if __name__ == "__main__":
    main()
