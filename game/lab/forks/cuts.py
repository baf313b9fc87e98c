"""An agent's folder as it was at a point: copied as far as that, and told what cannot be.

The archive is exact: lines up to the point, a compaction whole or not at all. What follows from
it is made anew, or cut by the numbers and times that it holds.
"""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import frontmatter
import yaml

from game.lab.replays.lived import FOLDER as ARCHIVE
from keepsake.books.commitments import Commitments
from keepsake.books.journal.day_file import DayFile, parse
from keepsake.books.people.book import FOLDER as PEOPLE
from keepsake.books.people.page import parse_page
from keepsake.errors import NoteRefused
from keepsake.index.tail import Record
from keepsake.json_lines import parsed
from keepsake.sleep import log as sleep_log
from keepsake.sleep import reflect

_SEGMENT = re.compile(r"\d{10,}\.jsonl")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.md")
COMMITMENTS = "noticed.md"
_NOT_COPIED = frozenset({".lock"})
_WORKED_IN = ".worked_in.json"
_PRESENT = ("recent.md", "longterm.md")
_NOTE_ENTRY = re.compile(r"^\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d)(?:, [^\]\n]*)?\] ", re.M)
_NOTE_UPDATED = re.compile(r"^updated:.*$", re.M)


@dataclass(frozen=True, slots=True)
class Cut:
    """How far one agent's life goes in a copy."""

    memories: int  # number of its last memory there, 0 for none
    left_out: int  # memories that the original has beyond it
    place: str  # where that last memory happened; empty if it does not say
    asleep: bool  # whether it slept then


@dataclass(frozen=True, slots=True)
class Until:
    """Where an agent's folder is cut."""

    time: datetime
    number: int | None = None  # the last memory, where it is known exactly; else the time decides

    def ends_before(self, record: Record | None) -> bool:
        """Whether a line of the archive is beyond it."""
        if not record:
            return False
        try:
            if record.get("type") == "memory" and self.number is not None:
                return int(record["n"]) > self.number
            return datetime.fromisoformat(str(record["t"])) > self.time
        except (KeyError, ValueError, TypeError):
            return False  # no time to go by: it belongs to what stands before it


def copy_agent(source: Path, target: Path, name: str, until: Until | None) -> Cut:
    """Copy an agent's folder, up to a point or as it is.

    Raises:
        OSError: Something cannot be read or written.
    """
    target.mkdir(parents=True)
    cut = _copy_archive(source, target, until)
    _copy_rest(source, target)
    if until is not None:  # what follows from the archive
        _cut_summaries(target / "summaries", cut.memories, until.time)
        _cut_commitments(target / COMMITMENTS, cut.memories)
        _cut_sleep(target / sleep_log.NAME, until.time)
        _cut_journal(target, until.time)
        _cut_people(target, cut.memories, until.time)
        _cut_notes(target / "notes", until.time)
    return cut


# -- the archive


def _copy_archive(source: Path, target: Path, until: Until | None) -> Cut:
    """Whole lines up to the point, byte for byte; the rest is only counted."""
    last = beyond = 0
    place, ended = "", False
    (target / ARCHIVE).mkdir()
    segments = (path for path in (source / ARCHIVE).iterdir() if _SEGMENT.fullmatch(path.name))
    for segment in sorted(segments):
        kept = bytearray()
        for line in segment.read_bytes().split(b"\n")[:-1]:
            record = parsed(line)
            ended = ended or (until is not None and until.ends_before(record))
            number = _memory_number(record)
            if ended:
                beyond += number > 0
                continue
            kept += line + b"\n"
            if number and record is not None:
                last, place = number, str(record.get("place") or place)
        if kept:
            (target / ARCHIVE / segment.name).write_bytes(kept)
    asleep = until is not None and _slept(source, until.time)
    return Cut(last, beyond, place, asleep)


def _memory_number(record: Record | None) -> int:
    number = record.get("n") if record and record.get("type") == "memory" else 0
    return number if isinstance(number, int) else 0


def _slept(folder: Path, at: datetime) -> bool:
    """Whether the agent slept at that moment, as the log of its nights has it."""
    nights = [n for n in sleep_log.SleepLog(folder).nights() if n.fell_asleep <= at]
    return bool(nights) and (nights[-1].woke is None or at < nights[-1].woke)


# -- the rest


def _copy_rest(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if inside.parts[0] == ARCHIVE or path.name in _NOT_COPIED or path.is_dir():
            continue
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(path, target / inside)
        except FileNotFoundError:
            continue  # a draft that has become a file meanwhile, or a note that was forgotten


def _cut_summaries(folder: Path, last: int, time: datetime) -> None:
    """Keep what was written before; the two present ones are written anew at the opening."""
    for path in _files(folder):
        post = _front_matter(path)
        written = _moment(post.get("time"))
        covered = post.get("memory_range_end")
        beyond = isinstance(covered, int) and covered > last
        if path.name in _PRESENT or beyond or (written is not None and written > time):
            path.unlink()


def _cut_commitments(path: Path, last: int) -> None:
    """Without the promises and rules that came later; what was done since stays done."""
    with suppress(NoteRefused):  # what cannot be read stays as it is
        Commitments(path).drop(lambda each: each.number > last)


def _cut_sleep(path: Path, time: datetime) -> None:
    if not path.exists():
        return
    kept = bytearray()
    for line in path.read_bytes().split(b"\n")[:-1]:
        written = _moment(parsed(line).get("t"))
        if written is None or written <= time:
            kept += line + b"\n"
    path.write_bytes(kept)


def _cut_journal(folder: Path, time: datetime) -> None:
    """Without the entries that were written later; what was changed in older ones stays."""
    gone: set[str] = set()
    for path in _files(folder / "journal"):
        day = _day(path)
        if day is None:
            continue  # a person's own file
        later = {entry.id for entry in day.entries if entry.time > time}
        if later:
            gone |= later
            parts = re.split(r"^(?=##? )", _text(path) or "", flags=re.MULTILINE)
            kept = (each for each in parts if each[3:].split(",")[0].strip() not in later)
            path.write_text("".join(kept), encoding="utf-8", newline="")
    for path in folder.rglob(reflect.NAME):
        reflected = parsed(path.read_bytes())
        if not reflected or str(reflected.get("through", "")) in gone:
            path.unlink()  # it reflects on everything anew


def _day(path: Path) -> DayFile | None:
    text = _text(path) if _DAY.fullmatch(path.name) else None
    try:
        return None if text is None else parse(date.fromisoformat(path.stem), text)
    except ValueError:
        return None  # 2026-13-32.md


def _cut_people(folder: Path, last: int, time: datetime) -> None:
    """Pages that know of later things go; they are worked out anew from the memories."""
    gone: list[Path] = []
    for path in _files(folder / PEOPLE):
        try:
            page = parse_page(path, path.read_text(encoding="utf-8"), time)
        except (NoteRefused, UnicodeDecodeError):
            continue  # nobody reads it, in the original either
        if max(page.through, page.studied) > last:
            gone.append(path)
    for path in (*gone, *(folder.rglob(_WORKED_IN) if gone else ())):
        path.unlink()


def _cut_notes(folder: Path, time: datetime) -> None:
    """Without the notes, and the parts of notes, that were written later."""
    for path in [*_files(folder), *_files(folder / "forgotten")]:
        post = _front_matter(path)
        created, updated = _moment(post.get("created")), _moment(post.get("updated"))
        if created is not None and created > time:
            path.unlink()
        elif updated is not None and updated > time:
            _cut_note(path, time.astimezone(updated.tzinfo))


def _cut_note(path: Path, time: datetime) -> None:
    source = path.read_text(encoding="utf-8")
    minute = time.strftime("%Y-%m-%d %H:%M")
    later = next((m.start() for m in _NOTE_ENTRY.finditer(source) if m["time"] > minute), None)
    kept = source if later is None else source[:later].rstrip() + "\n"
    stamp = f"updated: '{time.isoformat(timespec='seconds')}'"
    path.write_text(_NOTE_UPDATED.sub(lambda _: stamp, kept, count=1), encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.md")) if folder.is_dir() else []


def _text(path: Path) -> str | None:
    """What is in a file; None if there is none, or it is no text."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _front_matter(path: Path) -> dict[str, object]:
    try:
        return dict(frontmatter.loads(path.read_text(encoding="utf-8")).metadata)
    except (UnicodeDecodeError, yaml.YAMLError):
        return {}  # a person's own file: it stays as it is


def _moment(written: object) -> datetime | None:
    """A time as front matter or a log has it; None for what is none."""
    try:
        moment = written if isinstance(written, datetime) else datetime.fromisoformat(str(written))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.astimezone()
