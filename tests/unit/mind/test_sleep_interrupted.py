"""A night's work that is killed at every point where it asks the model or writes to the disk.

The journal, the profiles and the memory are real. The process dies before each write and each
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
from keepsake.archive.records import Memory
from keepsake.books.entries import EntryOrigin, JournalEntry
from keepsake.books.journal import Journal, importance
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage
from keepsake.events.values import CompactReason
from keepsake.memory.config import CompactionConfig
from keepsake.memory.history import compactions
from keepsake.ports import Generation, GenerationRequest, TargetModel
from tests.memories import did, seen
from tests.sentences import table
from tests.unit.mind.fake_agent import FakeAgent, ManualClock, compact, covered
from tests.unit.mind.night_runner import Killed, NightRunner, Target, generated, night_work, text_of

BEDTIME = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
CONFIG = SleepConfig(reflect_after=20)
WINDOWS = CompactionConfig(context_tokens=300, min_saving_tokens=0, preserve_memories=4)
"""So small a context that one day exceeds the share at which a sleeping agent compacts."""
KEYS = {"Tom": "5-20261101120000", "Ada": "6-20261101120000"}


def model_answer(prompt: str) -> str:
    """Return a plausible answer, always the same one to the same prompt."""
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


type NightResult = tuple[tuple[JournalEntry, ...], tuple[PersonPage, ...], tuple[int, ...], int]
"""Journal, people, covered memories and number of compactions after a night."""


class OpenAgent:
    """One agent's folder, ``vault/agents/Mira``, opened as a server opens it."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.folder = folder
        self.clock = clock
        self.memory = FakeAgent(folder, config=WINDOWS, clock=clock).open()
        self.journal = Journal(folder / "journal")
        self.book = PeopleBook(folder)

    def add_day(self) -> None:
        """Add a day of talk, with the agent's journal entries about it."""
        for who, words in table("said on a day"):
            self.clock.advance(60)
            text = f'{who} says to you, "{words}"'
            memory = self.memory.append(seen(text, who, KEYS[who]), place="The Kettle")
            self.journal.write(
                f"{who} told me: '{words}'",
                importance=importance(memory, "Mira"),
                origin=EntryOrigin.TOLD,
                memories=(memory.number,),
                who=(KEYS[who],),
                now=self.clock.now(),
            )
        for who in KEYS:  # else the whole day would be an open talk, which is never summarised
            self.memory.append(did(f"say to {who} Sleep well."))

    def memories(self) -> list[Memory]:
        archive = self.memory.archive
        return list(archive.read(1, archive.last_number))

    def tasks(self) -> dict[str, NightTask]:
        night = night_work(
            self.journal,
            self.book,
            self.memory.archive.read,
            now=self.clock.now(),
            config=CONFIG,
        )

        def profiles(ask: NightAsk) -> Figures:
            self.book.take(self.memories())
            return night.write_portraits(ask)

        return {
            "consolidate": lambda ask: night.write_journal(ask, self.memories()),
            "reflect": night.reflect,
            "profiles": profiles,
            "compact": lambda _: {"kept": compact(self.memory, CompactReason.SLEEP).kept},
        }

    def result(self) -> NightResult:
        """Return what is on the disk, and close the agent."""
        self.memory.close()
        people = tuple(sorted(self.book.all(), key=lambda each: each.key))
        made = len(compactions(self.memory.archive))
        return self.journal.entries(), people, tuple(covered(self.memory.context())), made


@dataclass
class Crash:
    """Kills the process before its model call or write number ``at``, or "torn" in its middle."""

    at: int = 0
    kind: str = "killed"
    points: list[str] = field(default_factory=list)
    armed: bool = False
    happened: bool = False

    def reach(self, name: str, do: Callable[[], Any], torn: Callable[[], Any]) -> Any:
        if not self.armed:
            return do()
        if self.happened:
            raise Killed(name)  # after a kill no code runs, not even cleanup
        self.points.append(name)
        if len(self.points) != self.at:
            return do()
        self.happened = True
        if self.kind == "torn":
            torn()
        raise Killed(name)

    def ask(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        prompt = text_of(build(Target()))
        answer = self.reach("ask", lambda: generated(model_answer(prompt)), lambda: None)
        assert isinstance(answer, Generation)
        return answer


_WRITES = ("link", "replace", "unlink", "rmdir", "write")


@contextmanager
def intercepted(crash: Crash, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make each call that changes the disk a point of the crash."""
    owner = threading.get_ident()

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            idle = name == "unlink" and not os.path.lexists(args[0])
            if idle or threading.get_ident() != owner:
                return real(*args, **more)

            def half() -> None:
                if name == "write":
                    real(args[0], args[1][: len(args[1]) // 2])

            return crash.reach(name, lambda: real(*args, **more), half)

        return call

    with monkeypatch.context() as patched:
        for name in _WRITES:
            patched.setattr(os, name, watched(name, getattr(os, name)))
        for name in ("fsync", "fdatasync"):  # not needed: the process dies, the machine does not
            patched.setattr(os, name, lambda _: None)
        crash.armed = True
        try:
            yield
        finally:
            crash.armed = False


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an agent after a day, just before its night."""
    folder = tmp_path_factory.mktemp("evening") / "Mira"
    agent = OpenAgent(folder, ManualClock(BEDTIME - timedelta(hours=2)))
    agent.add_day()
    agent.memory.close()
    return folder


class NightCopy:
    """A copy of the evening's folder, for one night."""

    def __init__(self, evening: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "Mira"
        shutil.copytree(evening, self.folder)
        self._monkeypatch = monkeypatch

    def open(self) -> OpenAgent:
        return OpenAgent(self.folder, ManualClock(BEDTIME))

    def sleep(self, crash: Crash) -> list[str]:
        """Run the night until it ends or crashes; return the steps that it reported."""
        agent = self.open()
        runner = NightRunner(agent.tasks(), crash.ask)
        try:
            with intercepted(crash, self._monkeypatch):
                steps = runner.sleep()
        finally:
            agent.memory.archive.close()  # as the system does when a process dies
        assert [each.problem for each in steps if each.problem] == []
        return [each.step for each in steps]


def test_a_night_killed_anywhere_ends_as_an_undisturbed_one(
    evening: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    undisturbed = Crash()
    copy = NightCopy(evening, tmp_path / "quiet", monkeypatch)
    steps = copy.sleep(undisturbed)
    assert len(steps) == 4
    quiet = copy.open().result()
    points = undisturbed.points
    entries, people, _, compacted = quiet
    assert ([each.name for each in people], compacted) == (["Tom", "Ada"], 1)
    assert all(each.portrait for each in people)
    assert sum(each.is_insight for each in entries) == 1
    assert (points.count("ask"), len(points) > 12) == (4, True)
    for at in range(1, len(points) + 2):
        writes = points[at - 1 : at] == ["write"]
        for kind in ("killed", "torn") if writes else ("killed",):
            copy = NightCopy(evening, tmp_path / f"{at} {kind}", monkeypatch)
            assert (copy.sleep(Crash(at, kind)) == steps) == (at > len(points))
            copy.sleep(Crash())
            assert copy.open().result() == quiet, f"{kind} at {points[at - 1 : at]} {at}"
