"""``keepsake export``: events, prompts, memories and people as JSON lines, one file per table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from keepsake.archive.log import Archive
from keepsake.books.people import PeopleBook
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import Filter, events
from keepsake.events.prompts import prompts_of
from keepsake.json_lines import line_of
from keepsake.paths import Places

PROMPTS = "prompts"
MEMORIES = "memories"
PEOPLE = "people"
_TEXTS = (
    "kind",
    "form",
    "text",
    "words",
    "manner",
    "happening",
    "place",
    "source",
    "source_id",
    "reason",
    "event",
    "to",
    "to_id",
    "about",
    "chain",
)
"""The text fields of a memory."""

type Row = Mapping[str, Any]


def export(here: Places, folder: Path, wanted: Filter, *, archives: bool) -> dict[Path, int]:
    """Write the wanted events into a new or empty folder; return each file's number of rows.

    Args:
        wanted: The filter by agent and kind of event.
        archives: Whether memories and people are written as well.

    Raises:
        KeepsakeError: Something cannot be read or written, the folder is not empty, or there is
            nothing to write.
    """
    count = Counter[str]()
    cure = "Check the disk space and the permissions of the folder"
    with refusing(f"The events could not be exported to {folder}", cure):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise KeepsakeError(f"{folder} is not an empty folder", "Name a new one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        # All or nothing: a truncated table could be mistaken for a complete one.
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            made = Path(scratch) / folder.name
            made.mkdir()
            with ExitStack() as opened:
                files: dict[str, BinaryIO] = {}
                for name, row in _rows(here, wanted, archives=archives):
                    if name not in files:
                        path = made / f"{name}.jsonl"
                        files[name] = opened.enter_context(path.open("wb"))
                    files[name].write(line_of(row))
                    count[name] += 1
            if count:
                made.replace(folder)
    if not count:
        what = f"There are no such events in {here.events}"
        raise KeepsakeError(what, "Start the world, or ask for other events")
    return {folder / f"{name}.jsonl": rows for name, rows in count.items()}


def _rows(here: Places, wanted: Filter, *, archives: bool) -> Iterator[tuple[str, Row]]:
    """Yield each row with the name of its table."""
    hashes = set()
    for record in events(here.events):
        if wanted(record):
            yield str(record["kind"]), record
            hashes.add(str(record.get("prompt") or ""))
    for hash_, text in prompts_of(here.events, hashes - {""}):
        yield PROMPTS, {"hash": hash_, "text": text}
    found = here.agents.glob("*/archive") if archives else ()
    for folder in sorted(each.parent for each in found):
        if wanted({"agent": folder.name}):
            yield from ((MEMORIES, row) for row in _memories(folder))
            yield from ((PEOPLE, row) for row in _people(folder))


def _memories(folder: Path) -> Iterator[Row]:
    with closing(Archive(folder / "archive", read_only=True)) as archive:
        memories = archive.read(1, archive.last_number)
    for each in memories:
        yield {
            "agent": folder.name,
            "n": each.number,
            "t": _utc(each.time),
            **{name: str(getattr(each, name)) for name in _TEXTS},
            "repeats": each.repeats,
            "importance": each.importance,
            "rests_on": list(each.rests_on),
        }


def _people(folder: Path) -> Iterator[Row]:
    for page in sorted(PeopleBook(folder).all(), key=lambda page: page.key):
        row = {"agent": folder.name, "about": page.name, "about_id": page.key}
        met = {"t": _utc(page.last_met), "evidence": []}
        if page.portrait:
            yield {**row, "of": "portrait", "text": page.portrait, **met}
        for each in page.lines:
            of = "said" if each.said else "did"
            evidence = list(each.numbers)
            yield {**row, "of": of, "text": each.text, "t": _utc(each.time), "evidence": evidence}


def _utc(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()
