"""A world, copied at a point of its log, to go on from there differently.

The copy appears whole or not at all, and the original is only read: it may run meanwhile. Keys
and passwords of the original are not in it; the copy makes its own when it starts.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from game.lab.forks.cuts import Cut, Until, copy_agent
from game.lab.forks.database_copy import AgentPlacement, Placed, copy_database
from game.lab.forks.points import LogPoint
from game.lab.replays.lived import FOLDER as ARCHIVE
from game.lab.replays.lived import name_of
from game.lab.simulations.settings import with_models_of
from game.server import databases
from keepsake.errors import KeepsakeError, refusing
from keepsake.events import prompts as event_prompts
from keepsake.events import writer
from keepsake.events.files import SUFFIX, LogFile, files_of, number_of
from keepsake.json_lines import parsed
from keepsake.paths import Places, Ports

ABOUT = "forked.json"
"""Tells in the copy what it was made of."""
HOME, VAULT = "home", "vault"
_PART = ".part-"

AS_NOW = (
    "where players and things are, who owns what, and what builders have changed",
    "accounts and their passwords, but for the admin's, which is made new",
    "the configuration, the agents' profiles and what is pinned",
)
"""What a copy has as it is now, whatever its point."""
ANEW = (
    "promises that were made later are gone; what was kept since stays kept",
    "pages of people that know of later days are worked out anew, without what the agent wrote of"
    " them in its sleep",
    "entries of the journal that were changed since keep their change; notes that were forgotten"
    " since stay forgotten",
    "the recall index is made at the first start",
)
"""What of the past does not come back exactly."""

type Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Forked:
    """A copy that is there."""

    places: Places  # where it is
    point: LogPoint  # where it was cut
    agents: dict[str, Cut]  # how far each agent's life goes in it, by name
    events: int  # how many events its log has
    # what became of the agents in its database; None where there is no database
    placed: Placed | None


def fork(
    here: Places,
    target: Path,
    point: LogPoint,
    say: Say = lambda _: None,
    *,
    config: Path | None = None,
) -> Forked:
    """Copy a world, which may be running, to a folder that does not exist; blocks.

    Without ``config`` it has the original's.

    Raises:
        KeepsakeError: There is something at ``target``, nothing to copy, or no room for it.
    """
    target = target.absolute()
    _check(here, target)
    cure = "Free some disk space, or name a folder that you can write to"
    with refusing(f"The world could not be copied to {target}", cure):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}{_PART}", dir=target.parent))
        try:
            forked = _copied(here, part, target, point, say)
            _copy_config(config or here.config, part / VAULT, here.models)
            say("Bringing it to the disk")
            os.sync()
            part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)  # not there any more if all went well
    return forked


def _check(here: Places, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise KeepsakeError(f"{target} is there already", "Name a folder that is not, or remove it")
    real = target.resolve()
    for what, folder in (("vault", here.vault), ("home", here.home)):
        if real.is_relative_to(folder.resolve()):
            raise KeepsakeError(
                f"{target} is in the {what} that is to be copied", "Name a folder outside of it"
            )
    if not here.agents.is_dir():
        raise KeepsakeError(
            f"There is no world in {here.vault}",
            "Start it once, or set KEEPSAKE_HOME and KEEPSAKE_VAULT to those of one",
        )
    databases.refuse_another(here)


def _copied(here: Places, part: Path, target: Path, point: LogPoint, say: Say) -> Forked:
    there = Places(part / HOME, part / VAULT, Ports())
    there.home.mkdir()
    there.vault.mkdir()
    agents = _copy_agents(here, there, point, say)
    say("Copying the event log")
    events = _copy_log(here.events, there.events, point.seq)
    placed = None
    if here.database_url or here.database.exists():
        say("Copying the database")
        wanted = _wanted(agents) if point.time is not None else {}
        placed = copy_database(here, there.database, wanted)
    write_about(
        part,
        {"home": str(here.home), "vault": str(here.vault)},
        point,
        as_now=AS_NOW,
        not_exact=ANEW if point.time else (),
    )
    places = Places(target / HOME, target / VAULT, Ports())
    return Forked(places, point, agents, events, placed)


def _copy_config(source: Path, vault: Path, models: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, vault / source.name)
    profiles = vault / source.name / "llm.md"
    text = profiles.read_text(encoding="utf-8") if profiles.is_file() else ""
    if (found := with_models_of(text, models)) != text:
        profiles.write_text(found, encoding="utf-8")


def _copy_agents(here: Places, there: Places, point: LogPoint, say: Say) -> dict[str, Cut]:
    agents: dict[str, Cut] = {}
    there.agents.mkdir()
    for folder in sorted(here.agents.iterdir()):
        if not (folder / ARCHIVE).is_dir():
            continue
        name = name_of(folder)
        say(f"Copying {name}")
        agents[name] = copy_agent(folder, there.agents / folder.name, name, _until(point, name))
    return agents


def _until(point: LogPoint, name: str) -> Until | None:
    if point.time is None:
        return None
    return Until(point.time, point.numbers.get(name.casefold()))


def _wanted(agents: dict[str, Cut]) -> dict[str, AgentPlacement]:
    return {name: AgentPlacement(cut.place, cut.asleep) for name, cut in agents.items()}


def write_about(folder: Path, original: object, point: LogPoint, **more: object) -> None:
    """Write down in a copy what it was made of."""
    about = {
        "of": original,
        "point": point.told,
        "event": point.seq,
        "time": point.time.isoformat() if point.time else None,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        **more,
    }
    (folder / ABOUT).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _copy_log(source: Path, target: Path, seq: int | None) -> int:
    """Copy the event log, which may be written to meanwhile; how many events were copied."""
    prompts: set[str] = set()
    count = 0
    for file in files_of(source, writer.STEM):
        if seq is not None and file.first > seq:
            break
        lines = [line for line in file.lines() if seq is None or number_of(line) <= seq]
        count += len(lines)
        prompts.update(str(parsed(line).get("prompt") or "") for line in lines)
        _write_log(target, file, lines)
    for file in files_of(source, event_prompts.STEM):
        lines = file.lines()
        named = [place for place, line in enumerate(lines) if parsed(line).get("hash") in prompts]
        # What a prompt rests on stands above it.
        _write_log(target, file, lines[: named[-1] + 1] if named else [])
    return count


def _write_log(target: Path, file: LogFile, lines: list[bytes]) -> None:
    if not lines:
        return
    target.mkdir(parents=True, exist_ok=True)
    data = b"".join(line + b"\n" for line in lines)
    if file.packed:
        (target / file.path.name).write_bytes(gzip.compress(data, mtime=0))
    else:  # under the name that it was read by: it may have been compressed meanwhile
        (target / f"{file.path.name.partition('.')[0]}{SUFFIX}").write_bytes(data)
