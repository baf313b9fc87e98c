"""``keepsake export``: the event log as one table a kind, memories, people, as Parquet and CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from keepsake.archive.log import Archive
from keepsake.books.journal import Journal
from keepsake.books.people import FOLDER
from keepsake.books.person_page import parse_page
from keepsake.errors import KeepsakeError, NoteRefused, refusing
from keepsake.events.files import Filter, events
from keepsake.events.prompts import prompts_of
from keepsake.events.schema import Shape, columns
from keepsake.events.types import KINDS
from keepsake.names import name_of
from keepsake.paths import Places

PROMPTS, MEMORIES, PEOPLE = "prompts", "memories", "people"
_ROWS = 2_000
"""Rows that are in memory at once."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the begin of a formula: players write the texts."""
_NESTED = ("object", "array")
"""What a cell of CSV holds as JSON."""
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}
_STRING, _INTEGER, _TIME = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "string", "format": "date-time"},
)
_TEXTS = ("kind", "text", "place", "source", "source_id", "reason", "event", "to", "to_id", "chain")
_COLUMNS: Mapping[str, Mapping[str, Shape]] = {
    PROMPTS: {"hash": _STRING, "text": _STRING},
    MEMORIES: {
        **{"agent": _STRING, "n": _INTEGER, "t": _TIME},
        **dict.fromkeys(_TEXTS, _STRING),
        **{"repeats": _INTEGER, "importance": _INTEGER},
    },
    PEOPLE: {
        **dict.fromkeys(("agent", "about", "about_id", "of", "text"), _STRING),
        **{"t": _TIME, "evidence": {"type": "array", "items": _INTEGER}},
    },
}

type Row = Mapping[str, Any]


class Form(StrEnum):
    """What a table is written as."""

    PARQUET = "parquet"
    CSV = "csv"


def forms(names: Sequence[str] | None) -> list[Form]:
    """The forms of those names; all when none is named.

    Raises:
        KeepsakeError: There is no such form.
    """
    if unknown := [each for each in names or () if each not in list(Form)]:
        what = f"There is no format {unknown[0]!r}"
        raise KeepsakeError(what, f"There are: {', '.join(Form)}")
    return [Form(each) for each in dict.fromkeys(names or Form)]


def export(
    here: Places,
    folder: Path,
    forms: Sequence[Form],
    wanted: Filter,
    *,
    prompts: bool,
    lives: bool,
) -> dict[Path, int]:
    """Write the events that are wanted into a new or empty folder; the tables, and their rows.

    Args:
        here: Whose they are.
        folder: Where the tables go.
        forms: What they are written as.
        wanted: Which events, and of whom.
        prompts: Whether the prompts are written as well, whole.
        lives: Whether memories and people are.

    Raises:
        KeepsakeError: Something cannot be read or written, the folder is not empty, or there is
            nothing to write.
    """
    tables: dict[str, _TableWriter] = {}
    cure = "Look at the disk space and at who may write there"
    with refusing(f"The events could not be exported to {folder}", cure, pa.ArrowException):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise KeepsakeError(f"{folder} is not an empty folder", "Name a new one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: tables that were cut off would be taken for whole ones.
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            made = Path(scratch) / folder.name
            made.mkdir()
            for name, row in _rows(here, wanted, prompts=prompts, lives=lives):
                if name not in tables:
                    shape = _COLUMNS[name] if name in _COLUMNS else columns(KINDS[name])
                    tables[name] = _TableWriter(made, name, shape, forms)
                tables[name].add(row)
            for table in tables.values():
                table.close()
            if tables:
                made.replace(folder)
    if not tables:
        what = f"There are no such events in {here.events}"
        raise KeepsakeError(what, "Start the world, or ask for other events")
    return {folder / f"{n}.{form}": table.rows for n, table in tables.items() for form in forms}


class _TableWriter:
    """One table that is being written, in all its forms, some rows at a time."""

    def __init__(
        self, folder: Path, name: str, shape: Mapping[str, Shape], forms: Sequence[Form]
    ) -> None:
        self.rows = 0
        self._waiting: list[Row] = []
        self._times = [each for each, of in shape.items() if "format" in of]
        self._nested = {each for each, of in shape.items() if of["type"] in _NESTED}
        schema = pa.schema([(each, _type(of)) for each, of in shape.items()])
        flat = {each: _STRING if each in self._nested else of for each, of in shape.items()}
        self._flat = pa.schema([(each, _type(of)) for each, of in flat.items()])
        self._parquet = self._csv = None
        if Form.PARQUET in forms:
            path = folder / f"{name}.parquet"
            self._parquet = parquet.ParquetWriter(path, schema, compression="zstd")
        if Form.CSV in forms:
            self._csv = csv.CSVWriter(folder / f"{name}.csv", self._flat)

    def add(self, row: Row) -> None:
        """Take one row."""
        times = {
            name: datetime.fromisoformat(str(row[name])) for name in self._times if row.get(name)
        }
        self._waiting.append({**row, **times})
        self.rows += 1
        if len(self._waiting) >= _ROWS:
            self._flush()

    def close(self) -> None:
        """Write what waits, and end the files."""
        self._flush()
        for file in filter(None, (self._parquet, self._csv)):
            file.close()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting, []
        if self._parquet is not None:
            self._parquet.write_table(pa.Table.from_pylist(rows, self._parquet.schema))
        if self._csv is not None:
            cells = [{name: self._cell(name, row[name]) for name in row} for row in rows]
            self._csv.write_table(pa.Table.from_pylist(cells, self._flat))

    def _cell(self, name: str, value: Any) -> Any:
        """A cell of CSV holds one thing, which is text or a number and no formula."""
        if name in self._nested and value is not None:
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and value.startswith(_FORMULA):
            return f"'{value}"
        return value


def _type(shape: Shape) -> pa.DataType:
    match shape:
        case {"format": _}:
            return pa.timestamp("us", tz="UTC")
        case {"items": items}:
            return pa.list_(_type(items))
        case {"properties": properties}:
            return pa.struct([pa.field(name, _type(each)) for name, each in properties.items()])
        case {"additionalProperties": values}:
            return pa.map_(pa.string(), _type(values))
        case {"type": [kind, *_] | kind}:
            return _TYPES[kind]
    raise TypeError(f"no type for {shape}")


# -- rows


def _rows(here: Places, wanted: Filter, *, prompts: bool, lives: bool) -> Iterator[tuple[str, Row]]:
    """Each row, and the table that it goes into."""
    hashes = set()
    for record in events(here.events):
        if wanted(record) and record["kind"] in KINDS:  # those of a later version have no columns
            yield str(record["kind"]), record
            hashes.add(str(record.get("prompt") or ""))
    for hash_, text in prompts_of(here.events, hashes - {""}) if prompts else ():
        yield PROMPTS, {"hash": hash_, "text": text}
    found = here.agents.glob("*/archive") if lives else ()
    for folder in sorted(each.parent for each in found):
        if wanted({"agent": name_of(folder)}):
            yield from ((MEMORIES, row) for row in _memories(folder))
            yield from ((PEOPLE, row) for row in _people(folder))


def _memories(folder: Path) -> Iterator[Row]:
    journal = Journal(folder / "journal")
    journal.entries()  # it reads its files whole
    with closing(Archive(folder / "archive", read_only=True)) as archive:
        lived = archive.read(1, archive.last_number)
    for each in lived:
        entry = journal.resting_on(each.number)
        yield {
            "agent": name_of(folder),
            "n": each.number,
            "t": each.time,
            **{name: str(getattr(each, name)) for name in _TEXTS},
            "repeats": each.repeats,
            "importance": entry.importance if entry else each.importance,
        }


def _people(folder: Path) -> Iterator[Row]:
    for path in sorted((folder / FOLDER).glob("*.md")):
        changed = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        try:
            page = parse_page(path, path.read_text(encoding="utf-8"), changed)
        except (NoteRefused, UnicodeDecodeError):
            continue  # nobody reads it in the game either
        row = {"agent": name_of(folder), "about": page.name, "about_id": page.key}
        if page.portrait:
            yield {**row, "of": "portrait", "text": page.portrait, "t": page.last_met}
        for each in page.lines:
            of, evidence = "said" if each.said else "did", list(each.numbers)
            yield {**row, "of": of, "text": each.text, "t": each.time, "evidence": evidence}
