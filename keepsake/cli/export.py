"""``keepsake export``: the event log as one table a kind, and lives, in Parquet and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from keepsake.cli.lives import ROWS
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.prompts import prompts_of
from keepsake.events.reader import Filter, events
from keepsake.events.schema import Column, columns, fields_of
from keepsake.events.types import KINDS

PROMPTS = "prompts"
"""The table of the prompts, whose ``hash`` is the ``prompt`` of a thought."""
_ROWS = 5_000
"""Rows that are in memory at once."""
_PROMPT_ROWS = 500
_PROMPT_COLUMNS = (Column("hash", "string"), Column("text", "string"))
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the begin of a formula: players write the texts."""
_MAPS = ("counts", "numbers")
_NESTED = (*_MAPS, "integers", "list")
"""What a cell of CSV holds as JSON."""
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "counts": pa.map_(pa.string(), pa.int64()),
    "numbers": pa.map_(pa.string(), pa.float64()),
    "integers": pa.list_(pa.int64()),
}

type Row = Mapping[str, Any]


class Form(StrEnum):
    """What a table is written as."""

    PARQUET = "parquet"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Table:
    """A table that was written."""

    path: Path
    rows: int  # how many it has


def forms(names: Sequence[str] | None) -> list[Form]:
    """The forms of those names; all when none is named.

    Raises:
        KeepsakeError: There is no such form.
    """
    try:
        return [Form(each) for each in dict.fromkeys(names or Form)]
    except ValueError as error:
        unknown = next(each for each in names or () if each not in list(Form))
        raise KeepsakeError(
            f"There is no format {unknown!r}", f"There are: {', '.join(Form)}"
        ) from error


def export(
    log: Path,
    folder: Path,
    forms: Sequence[Form],
    wanted: Filter,
    *,
    prompts: bool,
    more: Iterable[tuple[str, Iterable[Any]]] = (),
) -> list[Table]:
    """Write the events that are wanted, and their prompts, into a new or empty folder.

    ``more``: Further tables of :data:`keepsake.cli.lives.ROWS`, by name, each with its rows.

    Raises:
        KeepsakeError: The log cannot be read, the tables cannot be written, the folder is not
            empty, or there is nothing to write.
    """
    cure = "Look at the disk space and at who may write there"
    with refusing(f"The events could not be exported to {folder}", cure, pa.ArrowException):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise KeepsakeError(f"{folder} is not an empty folder", "Name a new one")
        # Kinds of a later version have no columns here.
        records = (each for each in events(log) if wanted(each) and each["kind"] in KINDS)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: tables that were cut off would be taken for whole ones.
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            made = Path(scratch) / folder.name
            made.mkdir()
            tables = _write_all(made, forms, records, log if prompts else None, more)
            if tables:
                made.replace(folder)
    if not tables:
        raise KeepsakeError(
            f"There are no such events in {log}", "Start the world, or ask for other events"
        )
    return [
        Table(folder / f"{kind}.{form}", table.rows)
        for kind, table in tables.items()
        for form in forms
    ]


def _write_all(
    folder: Path,
    forms: Sequence[Form],
    records: Iterable[Row],
    log: Path | None,
    more: Iterable[tuple[str, Iterable[Any]]],
) -> dict[str, _TableWriter]:
    """Write events, their prompts out of the log, and what else there is; the tables, by name."""
    tables: dict[str, _TableWriter] = {}

    def add(name: str, shape: Callable[[], Sequence[Column]], row: Row, most: int = _ROWS) -> None:
        if name not in tables:
            tables[name] = _TableWriter(folder, name, shape(), forms, most)
        tables[name].add(row)

    hashes: set[str] = set()
    for record in records:
        kind = str(record["kind"])
        add(kind, partial(columns, KINDS[kind]), record)
        hashes.add(str(record.get("prompt") or ""))
    for hash_, text in prompts_of(log, hashes - {""}) if log is not None else ():
        add(PROMPTS, lambda: _PROMPT_COLUMNS, {"hash": hash_, "text": text}, _PROMPT_ROWS)
    for name, rows in more:
        for each in rows:
            add(name, partial(fields_of, ROWS[name]), asdict(each))
    for table in tables.values():
        table.close()
    return tables


class _TableWriter:
    """One table that is being written, in all its forms, some rows at a time."""

    def __init__(
        self, folder: Path, name: str, shape: Sequence[Column], forms: Sequence[Form], most: int
    ) -> None:
        self.rows = 0
        self._shape, self._most = shape, most
        self._waiting: list[Row] = []
        self._files = [
            (form, schema := _schema(form, shape), _opened(folder / f"{name}.{form}", form, schema))
            for form in forms
        ]

    def add(self, row: Row) -> None:
        """Take one row."""
        self._waiting.append(row)
        self.rows += 1
        if len(self._waiting) >= self._most:
            self._flush()

    def close(self) -> None:
        """Write what waits, and end the files."""
        self._flush()
        for _, _, file in self._files:
            file.close()

    def _flush(self) -> None:
        for form, schema, file in self._files:
            cell = _csv_cell if form is Form.CSV else _cell
            arrays = [
                pa.array([cell(each, row.get(each.name)) for row in self._waiting], field.type)
                for each, field in zip(self._shape, schema, strict=True)
            ]
            file.write_table(pa.Table.from_arrays(arrays, schema=schema))
        self._waiting = []


def _schema(form: Form, shape: Sequence[Column]) -> pa.Schema:
    as_text = _NESTED if form is Form.CSV else ()
    return pa.schema(
        [(each.name, pa.string() if each.type in as_text else _type(each)) for each in shape]
    )


def _opened(path: Path, form: Form, schema: pa.Schema) -> Any:
    if form is Form.CSV:
        return csv.CSVWriter(path, schema)
    return parquet.ParquetWriter(path, schema, compression="zstd")


def _type(column: Column) -> pa.DataType:
    if column.type == "list":
        return pa.list_(pa.struct([pa.field(each.name, _type(each)) for each in column.items]))
    return _TYPES[column.type]


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type == "time":
        return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return list(value.items()) if column.type in _MAPS else value


def _csv_cell(column: Column, value: Any) -> Any:
    """The same, but that a cell holds one thing, which is text or a number and no formula."""
    if column.type in _NESTED and value is not None:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and column.type == "string":
        return f"'{value}" if value.startswith(_FORMULA) else value
    return _cell(column, value)
