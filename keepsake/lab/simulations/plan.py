"""What a simulation is: its agents, its first moment, its length, its seed.

The plan is ``simulation.json`` in the simulation's folder. ``progress.json`` beside it says how far
the world has come; it is written once per simulated hour and at the end of a run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from keepsake.archive.log import Archive
from keepsake.books.files import replace_file
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, Ports

HOUR = 3600.0
MOST_AGENTS, MOST_VISITORS, MOST_HOURS = 100, 20, 24.0 * 366
MOST_SEED = 2**31 - 1
"""The largest that every model server takes, and ``llm.md`` with them."""
FOLDER = "lab"
PLAN, PROGRESS = "simulation.json", "progress.json"
START = "2026-05-04T08:00"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """A simulation as it was asked for."""

    name: str  # its name, and that of its folder
    agents: int = 5  # how many agents live in it
    hours: float = 24.0  # how many hours it is to live through
    seed: int = 7  # where chance comes from
    start: str = START  # its first moment by the clock on the wall, ``2026-05-04T08:00``
    zone: str = "UTC"  # the time zone of that clock
    model: str = "scripted"  # who answers; see :func:`.settings.copy_config`
    visitors: int = 1  # how many players come and go
    # what its configuration was made with otherwise than the vault's: ``thinking.idle_interval``
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def begins(self) -> datetime:
        """Its first moment, with time zone."""
        return datetime.fromisoformat(self.start).replace(tzinfo=ZoneInfo(self.zone))

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.hours * HOUR

    def moment(self, seconds: float) -> datetime:
        """The moment ``seconds`` after the first one; an hour always has 60 minutes."""
        utc = self.begins.astimezone(ZoneInfo("UTC")) + timedelta(seconds=seconds)
        return utc.astimezone(ZoneInfo(self.zone))


def checked(plan: SimulationPlan) -> SimulationPlan:
    """The plan, if it can be lived.

    Raises:
        KeepsakeError: A value is out of the question; says which one may be used.
    """
    if not _NAME.fullmatch(plan.name):
        raise KeepsakeError(
            f"{plan.name!r} is no name for a simulation",
            "Use letters, digits, dots, dashes and underscores; it becomes a folder's name",
        )
    within = {"agents": (1, MOST_AGENTS), "visitors": (0, MOST_VISITORS), "seed": (0, MOST_SEED)}
    for what, (least, most) in within.items():
        if not least <= (value := getattr(plan, what)) <= most:
            raise KeepsakeError(f"--{what} is {value}", f"Use a number from {least} to {most}")
    if not 0 < plan.hours <= MOST_HOURS:
        told = f"--hours is {plan.hours:.12g}"
        raise KeepsakeError(told, f"Use more than 0, up to {MOST_HOURS:g}")
    try:
        ZoneInfo(plan.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        cure = "Use a name such as UTC or Europe/Berlin"
        raise KeepsakeError(f"--zone is {plan.zone!r}, which is no time zone", cure) from error
    try:
        if datetime.fromisoformat(plan.start).tzinfo is not None:
            raise ValueError("its zone is given beside it")
        plan.moment(plan.seconds)
    except (ValueError, OverflowError) as error:
        cure = f"Write a date and a time such as {START}; the zone goes into --zone"
        raise KeepsakeError(f"--start is {plan.start!r}, which is no moment", cure) from error
    return plan


@dataclass(frozen=True, slots=True)
class Lab:
    """The folder of one simulation, with a home and a vault of its own."""

    folder: Path  # ``<home>/lab/<name>``

    @property
    def home(self) -> Path:
        """Database, logs, keys of its world."""
        return self.folder / "home"

    @property
    def vault(self) -> Path:
        """Configuration and agents of its world."""
        return self.folder / "vault"

    def places(self) -> Places:
        """The paths of its world: logs, archives, events."""
        return Places(self.home, self.vault, Ports())

    @property
    def resume(self) -> str:
        """The command that goes on with it."""
        return f"keepsake simulate --resume {self.folder.name}"

    # -- what it is, and how far it has come

    def plan(self) -> SimulationPlan:
        """The plan as it was written.

        Raises:
            KeepsakeError: There is no such simulation, or its file is spoilt.
        """
        written = _read(self.folder / PLAN)
        if written is None:
            plans = self.folder.parent.glob(f"*/{PLAN}")
            there = ", ".join(sorted(path.parent.name for path in plans))
            raise KeepsakeError(
                f"There is no simulation {self.folder.name!r}", f"There are: {there or 'none'}"
            )
        try:
            for name in ("ends", "villages"):  # of earlier versions
                written.pop(name, None)
            return checked(SimulationPlan(**written))
        except (TypeError, AttributeError) as error:
            raise _spoilt(self.folder / PLAN, error) from error

    def lived(self) -> float:
        """How many seconds of the plan the world has lived; 0 before it begins. Blocks.

        A run that was killed has come further than ``progress.json`` says: its archives tell how
        far. Time must not run backwards in them.

        Raises:
            KeepsakeError: A file cannot be read.
        """
        seconds, begins = self._progress()[0], self.plan().begins
        for folder in self.places().agents.glob("*/archive"):
            with closing(Archive(folder, read_only=True)) as archive:
                for newest in archive.read(archive.last_number, archive.last_number):
                    seconds = max(seconds, (newest.time - begins).total_seconds())
        return seconds

    def counts(self) -> Counter[str]:
        """Thoughts, tokens, memories and so on, as far as ``progress.json`` counts them.

        Raises:
            KeepsakeError: The file is spoilt.
        """
        return self._progress()[1]

    def _progress(self) -> tuple[float, Counter[str]]:
        written = _read(self.folder / PROGRESS)
        if written is None:
            return 0.0, Counter()
        try:
            return float(written["seconds"]), Counter(written.get("counts", {}))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _spoilt(self.folder / PROGRESS, error) from error

    @property
    def made(self) -> bool:
        """Whether its world is there."""
        return (self.folder / PROGRESS).exists()

    def write_plan(self, plan: SimulationPlan) -> None:
        """Write down what it is."""
        text = json.dumps(asdict(plan), indent=2, ensure_ascii=False)
        replace_file(self.folder / PLAN, f"{text}\n")

    def write_lived(self, seconds: float, counts: Mapping[str, int]) -> None:
        """Write down how far its world has come, and what has happened in it."""
        text = json.dumps({"seconds": seconds, "counts": dict(counts)}, indent=2)
        replace_file(self.folder / PROGRESS, f"{text}\n")


def lab_of(places: Places, name: str) -> Lab:
    """The folder of the simulation of that name, there or not.

    Raises:
        KeepsakeError: No simulation can have that name.
    """
    checked(SimulationPlan(name))
    return Lab(places.home / FOLDER / name)


def free_name(places: Places, seed: int) -> str:
    """A name that no simulation has yet, such as ``seed-7`` or ``seed-7-2``."""
    names = (f"seed-{seed}", *(f"seed-{seed}-{number}" for number in range(2, 10_000)))
    return next(name for name in names if not (places.home / FOLDER / name).exists())


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _spoilt(path, error) from error


def _spoilt(path: Path, error: Exception) -> KeepsakeError:
    return KeepsakeError(f"{path} cannot be used ({error})", "Mend it, or simulate anew")
