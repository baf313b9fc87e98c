"""A night that is killed at every place where it asks the model or writes to the disk.

The journal, the profiles and the memory are real. The night is killed before each write and each
model call, and within each appended line. Then the agent sleeps again, and the files must be those
of an undisturbed night.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepsake.agent.settings import SleepConfig
from keepsake.agent.sleep.night import Figures, NightAsk, NightTask
from keepsake.archive.history import compactions
from keepsake.archive.records import Memory
from keepsake.books.entries import EntryOrigin, JournalEntry
from keepsake.books.journal import Journal, importance
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage
from keepsake.memory.config import CompactionConfig
from keepsake.memory.types import CompactReason
from keepsake.ports import Generation, GenerationRequest, TargetModel
from tests.sentences import table
from tests.unit.mind.lives import Life, ManualClock, covered
from tests.unit.mind.sleepers import Bedroom, Killed, Target, generation, shown, work

NIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
CONFIG = SleepConfig(reflect_after=20)
WINDOWS = CompactionConfig(context_tokens=300, min_saving_tokens=0)
"""So few tokens that a day is over the sleep mark."""
KEYS = {"Tom": "5-20261101120000", "Ada": "6-20261101120000"}


def model(prompt: str) -> str:
    """An honest model: the same answer to the same question, whatever was asked before."""
    if "since the last entry" in prompt:
        told = re.findall(r'^(\d+)\. .*?says to you, "(.*)"', prompt, re.M)
        entries = [
            {"text": f"I heard: {words}", "importance": 5 + int(n) % 4, "memories": [int(n)]}
            for n, words in told[:5]
        ]
        return json.dumps({"entries": entries})
    if "From the journal" in prompt:
        numbers = sorted({int(each) for each in re.findall(r"\(memory (\d+)\)", prompt)})
        found = [{"text": "Tom mends what others break.", "memories": numbers[:3]}]
        return json.dumps({"insights": found})
    who = re.findall(r"^What (\w+) and Mira said", prompt, re.M)[0]
    return f"{who} talks of nets and of the blue cup."


type End = tuple[tuple[JournalEntry, ...], tuple[PersonPage, ...], tuple[int, ...], int]
"""Journal, people, covered memories and compactions after a night."""


class World:
    """One agent's folder, ``vault/agents/Mira``, opened as a server opens it."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.folder, self.clock = folder, clock
        self.memory = Life(folder, config=WINDOWS, clock=clock, asleep=True).open()
        self.journal = Journal(folder / "journal")
        self.book = PeopleBook(folder)

    def live(self) -> None:
        """A day: talk, and what the agent wrote down of it."""
        for who, words in table("said on a day"):
            self.clock.advance(60)
            text = f'{who} says to you, "{words}"'
            memory = self.memory.append(text, place="The Kettle", source=who, source_id=KEYS[who])
            self.journal.write(
                f"{who} told me: '{words}'",
                importance=importance(memory, "Mira"),
                origin=EntryOrigin.TOLD,
                memories=(memory.number,),
                who=(KEYS[who],),
                now=self.clock.now(),
            )

    def lived(self) -> list[Memory]:
        archive = self.memory.archive
        return list(archive.read(1, archive.last_number))

    def tasks(self) -> dict[str, NightTask]:
        night = work(
            *(self.journal, self.book, self.memory.archive.read),
            now=self.clock.now(),
            config=CONFIG,
        )

        def profiles(ask: NightAsk) -> Figures:
            self.book.take(self.lived())
            return night.write_portraits(ask)

        return {
            "consolidate": lambda ask: night.write_day(ask, self.lived()),
            "reflect": night.reflect,
            "profiles": profiles,
            "compact": lambda _: {"kept": self.memory.compact(CompactReason.SLEEP).kept},
        }

    def end(self) -> End:
        """What is on the disk; the world is closed."""
        self.memory.close()
        people = tuple(sorted(self.book.all(), key=lambda each: each.key))
        made = len(compactions(self.memory.archive))
        return self.journal.entries(), people, tuple(covered(self.memory.context())), made


@dataclass
class Accident:
    """A kill, or a torn line, at the place of that number where a night asks or writes."""

    at: int = 0
    what: str = "killed"
    places: list[str] = field(default_factory=list)
    armed: bool = False
    dead: bool = False

    def place(self, name: str, do: Callable[[], Any], torn: Callable[[], Any]) -> Any:
        if not self.armed:
            return do()
        if self.dead:
            raise Killed(name)  # nothing runs after a kill, no cleaning up either
        self.places.append(name)
        if len(self.places) != self.at:
            return do()
        self.dead = True
        if self.what == "torn":
            torn()
        raise Killed(name)

    def ask(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        prompt = shown(build(Target()))
        answer = self.place("ask", lambda: generation(model(prompt)), lambda: None)
        assert isinstance(answer, Generation)
        return answer


_WRITES = ("link", "replace", "unlink", "rmdir", "write")


@contextmanager
def waylaid(accident: Accident, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that changes what is on the disk for good passes by the accident."""
    owner = threading.get_ident()

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            idle = name == "unlink" and not os.path.lexists(args[0])
            if idle or threading.get_ident() != owner:
                return real(*args, **more)
            half = lambda: name == "write" and real(args[0], args[1][: len(args[1]) // 2])  # noqa: E731
            return accident.place(name, lambda: real(*args, **more), half)

        return call

    with monkeypatch.context() as patched:
        for name in _WRITES:
            patched.setattr(os, name, watched(name, getattr(os, name)))
        for name in ("fsync", "fdatasync"):  # a process is killed here; the power stays on
            patched.setattr(os, name, lambda _: None)
        accident.armed = True
        try:
            yield
        finally:
            accident.armed = False


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an agent that has lived through a day and has just fallen asleep."""
    folder = tmp_path_factory.mktemp("evening") / "Mira"
    world = World(folder, ManualClock(NIGHT - timedelta(hours=2)))
    world.live()
    world.memory.close()
    return folder


class Bed:
    """A copy of the evening, in which one night goes its way."""

    def __init__(self, evening: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "Mira"
        shutil.copytree(evening, self.folder)
        self._monkeypatch = monkeypatch

    def world(self) -> World:
        return World(self.folder, ManualClock(NIGHT))

    def sleep(self, accident: Accident) -> list[str]:
        """The night as far as it comes; its steps."""
        world = self.world()
        bedroom = Bedroom(world.tasks(), accident.ask)
        try:
            with waylaid(accident, self._monkeypatch):
                steps = bedroom.sleep()
        finally:
            world.memory.archive.close()  # as the system does it when a process dies
        assert [each.problem for each in steps if each.problem] == []
        return [each.step for each in steps]


def test_killed_anywhere_the_night_goes_on_as_if_nothing_had_been(
    evening: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    undisturbed = Accident()
    bed = Bed(evening, tmp_path / "quiet", monkeypatch)
    steps = bed.sleep(undisturbed)
    assert len(steps) == 4
    quiet, places = bed.world().end(), undisturbed.places
    entries, people, _, compacted = quiet
    assert ([each.name for each in people], compacted) == (["Tom", "Ada"], 1)
    assert all(each.portrait for each in people)
    assert sum(each.is_insight for each in entries) == 1
    assert (places.count("ask"), len(places) > 12) == (4, True)
    for at in range(1, len(places) + 2):
        writes = places[at - 1 : at] == ["write"]
        for what in ("killed", "torn") if writes else ("killed",):
            bed = Bed(evening, tmp_path / f"{at} {what}", monkeypatch)
            assert (bed.sleep(Accident(at, what)) == steps) == (at > len(places))
            bed.sleep(Accident())
            assert bed.world().end() == quiet, f"{what} at {places[at - 1 : at]}, place {at}"
