"""A simulated world inside Evennia: it is built, and played on a timeline."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute
from evennia.utils.dbserialize import from_pickle, to_pickle

from game.server.private_files import read_or_create
from game.simulation.visits import PEOPLE, Visitors, make_visitors, visits
from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Compaction, Event, Fault, MemoryChange, Thought
from keepsake.lab.simulations.plan import HOUR, Lab, SimulationPlan
from keepsake.lab.simulations.simulate import start_on
from keepsake.lab.simulations.timeline import Timeline
from keepsake.paths import places
from world.atlas import Atlas, Person, Thing, read_atlas
from world.build import build_world, find

MOST_FAILURES = 12
"""Thoughts without an answer in a row, of all agents together, after which a run ends."""
TOLD_EACH = 0.2
"""Real seconds between two reports."""
FLUSH_EACH = 60.0
"""Simulated seconds after which the event log is waited for: it must lose nothing."""
_PATIENCE = 600.0
"""Real seconds that the disk gets."""
_REFERENCE = "__packed_dbobj__"
"""What Evennia writes into an attribute in place of an object."""


# -- built


def build(plan: SimulationPlan) -> None:
    """Build the world out of Evennia's empty tables; its services do not run meanwhile."""
    password = read_or_create(places().admin_password, nbytes=12)
    AccountDB.objects.create_superuser("admin", "admin@example.org", password)
    initial_setup.create_objects()
    atlas = atlas_for(read_atlas(), plan.agents, plan.seed)
    build_world(atlas)
    # Nobody plays the admin here: its character would stand about, and everybody would meet it.
    ObjectDB.objects.get(id=1).location = None
    make_visitors(plan.visitors, find("room", atlas.start))
    ServerConfig.objects.conf("last_initial_setup_step", "done")
    _backdate(plan.begins)


def _backdate(begins: datetime) -> None:
    """Date all objects and accounts to that moment: people's ids are made of it.

    Evennia identifies the objects in an attribute by number and creation date, and takes one with
    another date for deleted: so these attributes are written anew.
    """
    naming = [each for each in Attribute.objects.all() if _REFERENCE in repr(each.db_value)]
    named = [from_pickle(each.db_value) for each in naming]
    for model in (ObjectDB, AccountDB):
        model.objects.update(db_date_created=begins)
        for made in model.objects.all():  # Evennia keeps them in memory, with what they had
            made.db_date_created = begins.astimezone(UTC)
    for attribute, value in zip(naming, named, strict=True):
        attribute.db_value = to_pickle(value)
        attribute.save(update_fields=["db_value"])


# -- played


class RunStopped(Exception):
    """The run is to end here."""


class SimulatedLife:
    """One run of a world.

    Args:
        lab: Its folder.
        plan: What it is.
        report: Told how far it is: seconds, and what has happened.
        stop: Ends :meth:`play` at the next moment.

    Attributes:
        counts: What has happened in this run.
    """

    def __init__(
        self,
        lab: Lab,
        plan: SimulationPlan,
        report: Callable[[float, Mapping[str, int]], None],
        stop: threading.Event,
    ) -> None:
        self._lab, self._plan, self._report, self._stop = lab, plan, report, stop
        self._since, self._before = lab.lived(), lab.counts()
        self._timeline = Timeline(plan.moment(self._since), _broken)
        self.counts = Counter[str]()
        self._log: EventLog | None = None
        self._failures, self._failure = 0, ""  # thoughts without an answer in a row, and why
        self._told = self._flushed = 0.0
        self._saved = self._since

    def play(self) -> None:
        """Let the world live to the end of its plan.

        Raises:
            KeepsakeError: The model is gone or the disk is full; says what to do.
        """
        timeline, plan, subscribers = self._timeline, self._plan, Subscribers()
        subscribers.on_event(self._count)
        shared = start_on(timeline, f"{plan.seed} {self._since:g}", places(), subscribers)
        self._log = shared.event_log
        try:
            runtime.live(shared)
            agents = sorted(all_agents(), key=lambda agent: agent.id)
            coming = visits(plan.seed, plan.visitors, len(agents), self._since, plan.seconds)
            Visitors(timeline.timer, agents).expect(coming, self._since)
            timeline.between = self._between
            with suppress(RunStopped):
                timeline.run_until(plan.seconds - self._since)
            timeline.settle()
            self._check()
            for mind in open_minds():
                if mind.memory.problem is not None:
                    raise mind.memory.problem
        finally:
            runtime.stop(reload=False)
            timeline.close()
        if self._log is not None:
            self._log.close(_PATIENCE)
        self._check()
        self._save()

    @property
    def _seconds(self) -> float:
        return self._since + self._timeline.timer.seconds()

    def _between(self) -> None:
        if time.monotonic() - self._told >= TOLD_EACH:
            self._told = time.monotonic()
            self._check()
            self._report(self._seconds, self.counts)
        if self._seconds - self._flushed >= FLUSH_EACH:
            self._flushed = self._seconds
            while self._log is not None and not self._log.flush(1.0):
                self._check()
        if self._seconds >= (self._saved // HOUR + 1) * HOUR:
            self._save()
        if self._stop.is_set():
            raise RunStopped

    def _save(self) -> None:
        self._saved = self._seconds
        self._lab.write_lived(self._saved, self._before + self.counts)

    def _count(self, event: Event) -> None:
        """Count an event; told in any thread, but one at a time."""
        if isinstance(event, Thought) and event.outcome == "no answer":
            self.counts["unanswered"] += 1
            self._failures, self._failure = self._failures + 1, event.problem
        elif isinstance(event, Thought) and event.completion_tokens:
            self._failures = 0
            self.counts["thoughts"] += 1
            self.counts["tokens"] += event.prompt_tokens + event.completion_tokens
        elif isinstance(event, MemoryChange) and event.op == "append":
            self.counts["memories"] += 1
        elif isinstance(event, Compaction) and event.number:
            self.counts["compactions"] += 1
        elif isinstance(event, Fault):
            self.counts["faults"] += 1

    def _check(self) -> None:
        """Go on, unless the model has not answered for long, or the disk takes nothing."""
        if self._failures >= MOST_FAILURES:
            raise KeepsakeError(
                f"The model has not answered {MOST_FAILURES} thoughts in a row: {self._failure}",
                f"Start its server, then go on: {self._lab.resume}",
            )
        if self._log is not None and self._log.problem:
            raise KeepsakeError(
                f"The event log could not be written ({self._log.problem})",
                f"Free some disk space or mend the permissions, then go on: {self._lab.resume}",
            )


def _broken(error: Exception) -> None:
    """As the reactor would: say it and go on."""
    told = "[Error] The simulation: something broke off: %r"
    logging.getLogger("keepsake.lab").error(told, error, exc_info=error)


def atlas_for(atlas: Atlas, agents: int, seed: int) -> Atlas:
    """The world with ``agents`` agents: first those of its files, then made-up ones."""
    chosen = dict(list(atlas.people.items())[:agents])
    made = _made_up(atlas, agents - len(chosen), Random(f"inhabitants {seed}"))
    return only(atlas, {**chosen, **made})


def only(atlas: Atlas, people: dict[str, Person]) -> Atlas:
    """The world with these people alone; what others own lies where they would live."""

    def at_hand(thing: Thing) -> Thing:
        owner = atlas.people.get(thing.at)
        return (
            thing
            if owner is None or owner.id in people
            else thing.model_copy(update={"at": owner.home})
        )

    things = {key: at_hand(thing) for key, thing in atlas.things.items()}
    return replace(atlas, people=people, things=things)


def _made_up(atlas: Atlas, how_many: int, rng: Random) -> dict[str, Person]:
    taken = {person.name for person in atlas.people.values()}
    names = [name for name in PEOPLE["names"].split() if name not in taken]
    rng.shuffle(names)
    homes = sorted(atlas.places)
    people = (_person(name, rng.choice(homes), rng) for name in names[:how_many])
    return {person.id: person for person in people}


def _person(name: str, home: str, rng: Random) -> Person:
    trade, does = rng.choice(PEOPLE["trades"])
    speaks, talkative = rng.choice(PEOPLE["ways"])
    wants, age = rng.choice(PEOPLE["wants"]), rng.randint(19, 76)
    return Person(
        id=name.casefold(),
        name=name,
        home=home,
        look=f"A {trade} of about {age // 10 * 10}, busy and friendly.",
        talkativeness=talkative,
        profile=f"You are {name}, {age}, a {trade}. {does} {wants} {speaks}",
        examples=(
            f'Piet says to you, "Good day."\n~{name}> say Good day. I am {name}. | a new face',
        ),
        loves=(),
        ties={},
        day=tuple(_day(home, trade, rng)),
    )


def _day(home: str, trade: str, rng: Random) -> Iterator[Mapping[str, Any]]:
    """A day of work at home, with an errand, a meal and an evening among people."""
    errand = rng.choice(("quay", "orchard", "letter_office", "chapel_garden", "ferry_stage"))
    at, noon = rng.randint(9, 10), rng.choice(("12-13", "13-14"))
    work = [each.format(work=f"does a {trade}'s work") for each in PEOPLE["at_work"]]
    rest = PEOPLE["at_rest"]
    yield _hours("9-12", "square", rest, "market day")
    yield _hours(f"{at}-{at + 1}", errand, rest)
    yield _hours(noon, "kettle", rest)
    yield _hours(rng.choice(("18-20", "19-21")), rng.choice(("kettle", "square")), rest)
    yield _hours("7-22", home, work)


def _hours(at: str, room: str, does: Sequence[str], *when: str) -> Mapping[str, Any]:
    return {"at": at, "in": room, "when": [*when], "does": [*does]}
