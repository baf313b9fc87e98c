"""A soak from beginning to end: players talk, things break, and then everything is counted."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from threading import Thread, Timer

from game.cli.world.processes import Component
from game.lab.intervals import percentile
from game.lab.soak import checks
from game.lab.soak.fake_model import FaultyModel
from game.lab.soak.plan import Kill, PlannedFault, SoakPlan
from game.lab.soak.players import PATIENCE, SaidLine, SoakPlayer
from game.lab.soak.world import Sample, SoakedWorld, until

_SAMPLE_SECONDS = 5.0
_TELL_SECONDS = 10.0
_POLL = 0.1
_STAYS_READ_ONLY = 10.0
_STARTING_SECONDS = 2.0
WORLD = "world"
"""Server and Portal together: without either nobody can play."""
_RECOVERY_SECONDS = 180.0
_SETTLE_SECONDS = 90.0

type Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recovery:
    """Seconds from kills of one kind of process until a ``look`` was answered.

    Of a child process, which nobody need notice: until it ran again.
    """

    median: float
    p95: float
    longest: float
    each: tuple[float, ...]

    @classmethod
    def of(cls, each: Sequence[float]) -> Recovery:
        """Of at least one."""
        spread = (percentile(each, share) for share in (0.5, 0.95, 1.0))
        return cls(*(round(seconds, 2) for seconds in spread), tuple(round(x, 2) for x in each))


@dataclass(frozen=True, slots=True)
class SoakReport:
    """What came of it; times in seconds, memory in bytes."""

    seconds: float
    seed: int
    said: int  # lines that players typed to agents
    echoed: int  # how many of them the game showed as said
    archived: int  # how many of these are in the archive of whom they were said to, once
    heard: int  # how often all agents together archived a player's line
    memories: int  # how many there are in all
    model_calls: int  # requests that the model server had
    cut_off: int  # how often a player's line was lost
    kills: dict[str, int]  # by process
    recovery: dict[str, Recovery]  # by process, and of Server and Portal together
    read_only: int  # times that the world came up with a vault that cannot be written
    jumps: int  # of the clock
    looks: tuple[float, ...] = field(repr=False)  # how long each took that was answered
    memory_growth: int  # the most by which a warm Server grew until its end
    handle_growth: int  # the same in file handles
    problems: tuple[str, ...]  # what must not be; none in a world that is well

    @property
    def whole(self) -> bool:
        """Whether all is as it must be."""
        return not self.problems


def soak(plan: SoakPlan, first_base: int, say: Say) -> SoakReport:
    """Do it all; nothing of it is left afterwards, but for the files of a world with problems.

    Args:
        plan: What is to be done.
        first_base: The world takes the first free port base from there.
        say: Is told how it goes, a line at a time.

    Raises:
        KeepsakeError: The world could not be started, or the plan cannot be followed.
    """
    model = FaultyModel(plan.seed)
    try:
        world = SoakedWorld(model.port, first_base, plan)
        report = None
        try:
            report = Soak(plan, world, model, say).run()
        finally:
            broken = report is not None and not report.whole
            world.end(keep=broken)
        if broken:
            say(f"The world is left in {world.folder} to be looked at.")
        return report
    finally:
        model.close()


class Soak:
    """One soak of a world that has not been started."""

    def __init__(self, plan: SoakPlan, world: SoakedWorld, model: FaultyModel, say: Say) -> None:
        self._plan, self._world, self._model, self._say = plan, world, model, say
        self._players: list[SoakPlayer] = []
        self._samples: list[Sample] = []
        self._kills: Counter[str] = Counter()
        self._recoveries: dict[str, list[float]] = defaultdict(list)
        self._read_only = 0
        self._problems: list[str] = []
        self._began = 0.0

    def run(self) -> SoakReport:
        """Start it, soak it, stop it, count.

        Raises:
            KeepsakeError: It did not start, or a player could not make an account.
        """
        self._say(f"starting a world in {self._world.folder}")
        self._world.start()
        ports, agents = self._world.here.ports, self._world.agents()
        self._players = [
            SoakPlayer(self._plan.seed, number, ports, agents)
            for number in range(self._plan.players)
        ]
        for player in self._players:
            player.arrive()
        self._began = time.monotonic()
        with self._playing():
            self._live()
        self._settle()
        return self._counted()

    @contextmanager
    def _playing(self) -> Iterator[None]:
        """While it lasts players play, and faults come and go, each in a thread of its own."""
        stop, plan, fill = threading.Event(), self._plan, self._world.fill_disk
        turns = [Timer(at, self._model.become, (fault,)) for at, fault in plan.fault_times()]
        for begins, ends in plan.disk_times():
            turns += [Timer(at, fill, kwargs={"full": at == begins}) for at in (begins, ends)]
        turns += [Timer(at, self._world.set_clock, (off,)) for at, off in plan.jump_times()]
        threads = [Thread(target=player.run, args=(stop,)) for player in self._players]
        for thread in (*threads, *turns):
            thread.daemon = True
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for turn in turns:
                turn.cancel()
            for thread in (*threads, *turns):
                thread.join(2 * PATIENCE)

    def _live(self) -> None:
        kills, pauses, plan = self._plan.kill_times(), self._plan.pauses(), self._plan
        sampled = told = 0.0
        due = next(kills, None)
        at = due.at + next(pauses) if due else 0.0
        while due or self._elapsed < plan.seconds:
            if due and at <= self._elapsed:
                self._kill(due)
                due = next(kills, None)
                at = max(due.at, self._elapsed + next(pauses)) if due else 0.0
            if plan.pause is not None and self._elapsed > plan.last_kill:
                due = None
            if self._elapsed - sampled >= _SAMPLE_SECONDS:
                sampled = self._elapsed
                self._take_sample()
            if self._elapsed - told >= _TELL_SECONDS:
                told = self._elapsed
                self._say(self._told())
            time.sleep(_POLL)
        before = self._echoed()
        if not until(lambda: self._echoed() > before, _RECOVERY_SECONDS):
            self._problems.append("at the end nobody's words were heard any more")

    def _echoed(self) -> int:
        return sum(line.echoed for player in self._players for line in tuple(player.said))

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _take_sample(self) -> None:
        if (sample := self._world.sample(self._elapsed)) is not None:
            self._samples.append(sample)

    def _kill(self, kill: Kill) -> None:
        """Kill it, and wait until the world is as before."""
        self._take_sample()
        if not until(lambda: self._world.runs(kill.component), _RECOVERY_SECONDS):
            self._problems.append(f"no {kill.component} came up that could be killed")
            return
        killed = time.monotonic()
        if not self._world.kill(kill.component):
            return
        self._kills[kill.component.value] += 1
        # Nothing is written there before the next Server opens its archives, seconds later.
        read_only = kill.read_only and self._world.make_read_only(on=True)
        self._read_only += read_only
        if kill.twice:
            self._kill_once_more(kill.component)
        if seconds := self._recovered(kill.component, killed):
            self._recoveries[kill.component.value].append(seconds)
        else:
            self._problems.append(f"the world did not recover from a kill of its {kill.component}")
        if read_only:
            time.sleep(_STAYS_READ_ONLY)
            if not self._world.make_read_only(on=False):
                self._problems.append("the small disk could not be made writable again")

    def _kill_once_more(self, component: Component) -> None:
        """Kill what takes its place while it starts, which may have two processes then."""
        until(lambda: self._world.runs(component), _RECOVERY_SECONDS)
        time.sleep(_STARTING_SECONDS)
        self._kills[component.value] += self._world.kill(component)

    def _recovered(self, component: Component, killed: float) -> float | None:
        """Seconds until all was as before; None if that never was."""
        if component not in (Component.SERVER, Component.PORTAL):
            back = until(lambda: self._world.runs(component), _RECOVERY_SECONDS)
            return time.monotonic() - killed if back else None
        until(lambda: self._answered(killed) is not None, _RECOVERY_SECONDS)
        answered = self._answered(killed)
        return answered - killed if answered else None

    def _answered(self, killed: float) -> float | None:
        """When the first ``look`` was answered that was sent after the kill."""
        found = chain.from_iterable(tuple(player.looks) for player in self._players)
        return min((answered for sent, answered in found if sent > killed), default=None)

    def _settle(self) -> None:
        """Nothing is broken any more: what waits goes into the archives, and the world ends."""
        self._take_sample()
        self._model.become(PlannedFault.WELL)
        self._world.fill_disk(full=False)
        self._say("stopping the world and looking at what it holds")
        if not until(lambda: not self._world.waiting(), _SETTLE_SECONDS):
            self._problems.append(f"memories still wait: {', '.join(self._world.waiting())}")
        until(lambda: self._world.runs(Component.VECTORS), _SETTLE_SECONDS)
        self._problems += self._wrong_for_the_doctor()
        self._world.stop()

    def _wrong_for_the_doctor(self) -> list[str]:
        """What the doctor finds, once children that were killed last have had time to come up."""
        here, small, found = self._world.here, self._plan.small_disk is not None, list[str]()

        def is_well() -> bool:
            found[:] = checks.doctor_problems(here, small_disk=small)
            return not found

        until(is_well, _SETTLE_SECONDS)
        return found

    def _counted(self) -> SoakReport:
        said = [line for player in self._players for line in player.said]
        here = self._world.here
        heard, memories, problems = checks.archive_problems(here)
        echoed = [line for line in said if line.echoed]
        grown = list(checks.growth(self._samples))
        problems = [
            *self._problems,
            *checks.line_problems(said, heard),
            *checks.order_problems(said, heard),
            *problems,
            *checks.store_problems(here),
            *checks.log_problems(here),
            *checks.growth_problems(self._samples),
        ]
        return SoakReport(
            seconds=round(self._elapsed, 1),
            seed=self._plan.seed,
            said=len(said),
            echoed=len(echoed),
            archived=sum(_once(line, heard) for line in echoed),
            heard=sum(len(found) for each in heard.values() for found in each.values()),
            memories=memories,
            model_calls=self._model.calls,
            cut_off=sum(player.cut_off for player in self._players),
            kills=dict(self._kills),
            recovery=self._spread(),
            read_only=self._read_only,
            jumps=len(self._plan.jump_times()),
            looks=tuple(end - sent for player in self._players for sent, end in player.looks),
            memory_growth=max((memory for memory, _ in grown), default=0),
            handle_growth=max((handles for _, handles in grown), default=0),
            problems=tuple(problems),
        )

    def _spread(self) -> dict[str, Recovery]:
        found = self._recoveries
        world = [*found[Component.SERVER.value], *found[Component.PORTAL.value]]
        return {name: Recovery.of(each) for name, each in (*found.items(), (WORLD, world)) if each}

    def _told(self) -> str:
        said = sum(len(player.said) for player in self._players)
        last = self._samples[-1] if self._samples else None
        memory = f", {last.memory / 1e6:.0f} MB, {last.handles} handles" if last else ""
        return (
            f"{self._elapsed:.0f} of {self._plan.seconds:.0f} s: {said} lines said, "
            f"{self._echoed()} echoed, {self._kills.total()} kills, "
            f"model {self._model.fault}{memory}"
        )


def _once(line: SaidLine, heard: checks.Heard) -> bool:
    return [each.repeats for each in heard.get(line.agent, {}).get(line.tag, ())] == [1]
