"""What a simulation is: its plan, its folder, its configuration.

The plan is ``simulation.json`` in the simulation's folder. ``progress.json`` beside it says how far
the world has come; it is written once per simulated hour and at the end of a run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.archive.log import Archive
from keepsake.books.files import replace_file
from keepsake.errors import ConfigError, KeepsakeError, refusing
from keepsake.events.files import Filter, last, time_of
from keepsake.markdown_config import FileSettings, parse, settings_of, with_settings
from keepsake.memory.config import CompactionConfig
from keepsake.models.profiles import OLLAMA, OPENAI, SCRIPTED, load
from keepsake.paths import SHIPPED_CONFIG, Places, Ports

HOUR = 3600.0
BEGINS = datetime(2026, 5, 4, 8, tzinfo=UTC)
"""The first moment of every simulation."""
FOLDER = "lab"
PLAN, PROGRESS = "simulation.json", "progress.json"


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """A simulation as it was asked for."""

    name: str = ""  # its name, and that of its folder
    agents: int = 5
    hours: float = 24.0
    seed: int = 7
    model: str = SCRIPTED  # who answers: see :data:`_MODELS`
    visitors: int = 1  # how many players come and go
    # what its configuration says otherwise than the vault's: ``thinking.idle_interval``
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.hours * HOUR


def moment(seconds: float) -> datetime:
    """The moment that many seconds after the first one."""
    return BEGINS + timedelta(seconds=seconds)


class Lab:
    """The folder of one simulation, with a home and a vault of its own.

    Attributes:
        folder: ``<home>/lab/<name>``.
        places: The paths of its world: logs, archives, events.
        resume: The command that continues it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places = Places(folder / "home", folder / "vault", Ports())
        self.resume = f"keepsake simulate --resume {folder.name}"

    def plan(self) -> SimulationPlan:
        """The plan as it was written.

        Raises:
            KeepsakeError: Its file is damaged.
        """
        written, known = self._read(PLAN), {each.name for each in fields(SimulationPlan)}
        # Earlier versions wrote more.
        return SimulationPlan(**{key: value for key, value in written.items() if key in known})

    def lived(self) -> float:
        """How many seconds of the plan are simulated; 0 before it begins. Blocks.

        After a kill the archives and the event log are ahead of ``progress.json``. Time must not
        run backwards in them.

        Raises:
            KeepsakeError: A file cannot be read.
        """
        newest = last(self.places.events, 1, Filter())
        times = [time for record in newest if (time := time_of(record.get("t")))]
        for folder in self.places.agents.glob("*/archive"):
            with closing(Archive(folder, read_only=True)) as archive:
                number = archive.last_number
                times += [memory.time for memory in archive.read(number, number)]
        seconds = ((time - BEGINS).total_seconds() for time in times)
        return max([float(self._read(PROGRESS).get("seconds", 0.0)), *seconds])

    @property
    def made(self) -> bool:
        """Whether its world is built."""
        return (self.folder / PROGRESS).exists()

    def write_plan(self, plan: SimulationPlan) -> None:
        """Write the plan."""
        text = json.dumps(asdict(plan), indent=2, ensure_ascii=False)
        replace_file(self.folder / PLAN, f"{text}\n")

    def write_lived(self, seconds: float) -> None:
        """Write how far its world has come."""
        replace_file(self.folder / PROGRESS, f'{{"seconds": {seconds}}}\n')

    def _read(self, name: str) -> dict[str, Any]:
        path, found = self.folder / name, dict[str, Any]()
        with refusing(
            f"{path} cannot be used", "Correct it, or make another simulation", ValueError
        ):
            if path.exists():
                found = json.loads(path.read_text(encoding="utf-8"))
        return found


def lab_of(places: Places, name: str) -> Lab:
    """The simulation of that name.

    Raises:
        KeepsakeError: There is none; says which there are.
    """
    labs = places.home / FOLDER
    if not (labs / name / PLAN).exists():
        there = ", ".join(sorted(path.parent.name for path in labs.glob(f"*/{PLAN}")))
        raise KeepsakeError(f"There is no simulation {name!r}", f"There are: {there or 'none'}")
    return Lab(labs / name)


# -- its configuration


AGENT, OWN = "agent", "vault"
"""The profile that agents think by; as a model: whatever ``llm.md`` names."""
_MODELS = f"{SCRIPTED}, {OWN} (what llm.md names), ollama:MODEL or openai:MODEL@HOST"
_KEYS = ("provider", "host", "model", "model_file", "seed")
_FILES: Mapping[str, type[FileSettings]] = {
    "memory_compaction": CompactionConfig,
    "thinking": ThinkingConfig,
    "recall": RecallConfig,
    "sleep": SleepConfig,
}
"""The files whose settings can be given to a simulation."""


def write_config(places: Places, target: Path, plan: SimulationPlan) -> None:
    """Copy the world's configuration, and change it as the plan says.

    Recall goes by words alone: when vectors are there depends on the machine. Files of models are
    the world's own.

    Raises:
        KeepsakeError: There is no such model, or the configuration cannot be used.
    """
    shutil.copytree(places.config if places.config.is_dir() else SHIPPED_CONFIG, target)
    profiles = target / "llm.md"
    if entries := _model_entries(plan.model, plan.seed):
        _write(profiles, AGENT, dict.fromkeys(_KEYS, "") | entries)
    for section in parse(profiles):
        if file := section.text("model_file", ""):
            _write(profiles, section.name.lower(), {"model_file": str(places.models / file)})
    load(profiles)
    chosen = {**plan.settings, "recall.chroma": "none"}
    for file, form in _FILES.items():
        parts = (name.partition(".") for name in chosen)
        own = {key: chosen[f"{file}.{key}"] for of, _, key in parts if of == file}
        path = target / f"{file}.md"
        if not own:
            continue
        if not path.exists():
            shutil.copyfile(SHIPPED_CONFIG / path.name, path)
        _write(path, "", own)
        try:
            form.load(path)
        except ConfigError as error:
            raise KeepsakeError(f"--set {file}.{error.reason}", error.cure) from error


def _write(path: Path, section: str, values: Mapping[str, str]) -> None:
    text = with_settings(path.read_text(encoding="utf-8"), section, values)
    path.write_text(text, encoding="utf-8")


def _model_entries(model: str, seed: int) -> dict[str, str]:
    """What a profile says to have that model answer; nothing for the vault's own."""
    provider, _, rest = model.partition(":")
    name, _, host = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if model == OWN:
        return {}
    if model == SCRIPTED:
        return {"provider": SCRIPTED, "seed": str(seed)}
    if name and (provider == OLLAMA or (provider == OPENAI and host)):
        return {"provider": provider, "model": name, **({"host": host} if host else {})}
    raise KeepsakeError(f"--model is {model!r}", f"Use one of: {_MODELS}")


def settings_from(given: Iterable[str]) -> dict[str, str]:
    """Settings written as ``key=value`` or ``file.key=value``, by their whole names.

    Raises:
        KeepsakeError: One names no setting, or one that several files have; says which there are.
    """
    known = [f"{file}.{each.name}" for file, of in _FILES.items() for each in settings_of(of)]
    found = {}
    for each in given:
        key, equals, value = (part.strip() for part in each.partition("="))
        names = [name for name in known if key in (name, name.partition(".")[2])]
        if not (equals and value and names):
            raise KeepsakeError(
                f"--set {each!r} names no setting and its value",
                f"Write --set key=value, with one of {', '.join(known)}",
            )
        if len(names) > 1:
            raise KeepsakeError(f"--set {each!r} may mean {' or '.join(names)}", "Name the file")
        found[names[0]] = value
    return found
