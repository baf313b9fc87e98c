"""What must hold at the end of a soak, read from the files of a world that was stopped.

A player's command is one piece of the Server's work: everybody in the room has archived the line
before anything of it is sent to a screen. So what was echoed is in the archive of whom it was said
to, once, whatever was killed afterwards. What was not echoed may be there, but not twice.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from game.cli.checks import doctor
from game.lab.soak.players import SaidLine
from game.lab.soak.world import Sample
from keepsake.archive.integrity import check
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.spill import Spill
from keepsake.archive.tiers import load_tiers
from keepsake.errors import KeepsakeError
from keepsake.memory import MemoryContext
from keepsake.paths import Places
from keepsake.summaries.files import SummaryFolder

WARM_SECONDS = 30.0
"""A Server younger than that still loads what it needs."""
MOST_MEMORY = 100 * 1024 * 1024
MOST_HANDLES = 32
"""By how much a warm process may grow until it ends."""
_TAG = re.compile(r'says to [^"]*, ".*\b(p\d+n\d+x)\b')
_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(r"(?:\w+\.)*[A-Z]\w+: .*")
_SHOWN = 300

type Heard = dict[str, dict[str, list[Memory]]]
"""What each agent's archive has of the players' lines, by their words."""


def line_problems(said: Iterable[SaidLine], heard: Heard) -> Iterator[str]:
    """Lines that were echoed and are not in the archive of whom they were said to, or twice."""
    for line in said:
        for agent, memories in heard.items():
            times = sum(each.repeats for each in memories.get(line.tag, ()))
            if times > 1:
                yield f"{agent} archived {times} times what {line.player} said: {line.words}"
        found = heard.get(line.agent, {}).get(line.tag, [])
        if line.echoed and not found:
            yield f"{line.agent} never archived what {line.player} said: {line.words}"
        if any(line.words not in each.text for each in found):
            yield f"{line.agent} archived in other words what {line.player} said: {line.words}"


def order_problems(said: Sequence[SaidLine], heard: Heard) -> Iterator[str]:
    """Players whose lines an agent has in another order."""
    for player in sorted({line.player for line in said}):
        tags = [line.tag for line in said if line.player == player]
        for agent, memories in heard.items():
            numbers = [memory.number for tag in tags for memory in memories.get(tag, ())]
            if numbers != sorted(numbers):
                yield f"{agent} archived what {player} said in another order"


def archive_problems(here: Places) -> tuple[Heard, int, list[str]]:
    """What every archive has of the lines, how many memories, and what is wrong with them."""
    heard: Heard = {}
    memories, problems = 0, list[str]()
    for folder in sorted(path.parent for path in here.agents.glob("*/archive")):
        heard[folder.name] = {}
        try:
            with closing(Archive(folder / "archive")) as archive:
                memories += archive.last_number
                heard[folder.name] = _heard(archive)
                problems += (f"{folder.name}: {each}" for each in _untidy(folder, archive))
        except (KeepsakeError, KeyError, ValueError) as error:
            problems.append(f"the archive of {folder.name} does not open: {error!r}")
    return heard, memories, problems


def _heard(archive: Archive) -> dict[str, list[Memory]]:
    found = defaultdict(list)
    for memory in archive.read(1, archive.last_number):
        if memory.kind is MemoryKind.PERCEPTION and (tag := _TAG.search(memory.text)):
            found[tag[1]].append(memory)
    return dict(found)


def _untidy(folder: Path, archive: Archive) -> Sequence[str]:
    tiers = load_tiers(archive)
    context = MemoryContext(tiers.state.longterm, tiers.state.recent, tuple(tiers.window))
    return check(archive, context, SummaryFolder(folder / "summaries", folder.name)).problems


def store_problems(here: Places) -> Iterator[str]:
    """Of a world that was stopped: databases that are damaged, memories that still wait."""
    for path in (here.database, *sorted(here.index.glob("*/words.db"))):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                found = str(database.execute("PRAGMA integrity_check(1)").fetchone()[0])
        except sqlite3.Error as error:
            found = str(error)
        if found != "ok":
            yield f"{path.name} of {path.parent.name} is damaged: {found}"
    for agent, lines in Spill(here.spill).waiting().items():
        yield f"{len(lines)} memories of {agent} still wait for a disk"


def doctor_problems(here: Places, *, small_disk: bool) -> Iterator[str]:
    """What the doctor finds in the world while it runs."""
    for each in doctor.examine(here):
        if not each.well and not (small_disk and each.subject == "Vault"):
            yield f"doctor: {each.subject}: {each.what}"


def log_problems(here: Places) -> Iterator[str]:
    """Tracebacks in any log, each kind of them once."""
    found: Counter[str] = Counter()
    for path in sorted(here.logs.glob("*.log*")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines):
            if _TRACEBACK in line:
                found[f"{path.name}: {_end_of(lines[number + 1 : number + 60])}"] += 1
    for what, times in found.items():
        yield f"{times} tracebacks in {what}"


def _end_of(lines: Sequence[str]) -> str:
    """The line with the error itself, whatever stands before each line."""
    found = filter(None, map(_ERROR.search, lines))
    return next((each[0].strip()[:_SHOWN] for each in found), "without its end")


def growth(samples: Sequence[Sample]) -> Iterator[tuple[int, int]]:
    """By what bytes and handles each process grew from when it was warm until its end."""
    by_pid: dict[int, list[Sample]] = defaultdict(list)
    for each in samples:
        if each.age >= WARM_SECONDS:
            by_pid[each.pid].append(each)
    for warm in by_pid.values():
        yield warm[-1].memory - warm[0].memory, warm[-1].handles - warm[0].handles


def growth_problems(samples: Sequence[Sample]) -> Iterator[str]:
    """Servers that grew too much."""
    for memory, handles in growth(samples):
        if memory > MOST_MEMORY:
            yield f"a Server grew by {memory / 1e6:.0f} MB after its first {WARM_SECONDS:.0f} s"
        if handles > MOST_HANDLES:
            yield f"a Server took {handles} more file handles after that"
