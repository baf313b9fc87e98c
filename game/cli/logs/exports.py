"""``keepsake export``: the event log as one table a kind, in Parquet and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from game.mind.errors import KeepsakeError
from game.mind.events.prompts import Prompts
from game.mind.events.reader import Filter, events
from game.mind.events.schema import Column, columns
from game.mind.events.types import KINDS
from game.mind.summaries.files import replace_file

PROMPTS = "prompts"
"""The table of the prompts, whose ``hash`` is the ``prompt`` of a thought."""
MANIFEST = ".keepsake-export.json"
"""Names the tables that exports have written into a folder."""
_ROWS = 5_000
"""Rows that are in memory at once."""
_PROMPT_ROWS = 500
_PROMPT_COLUMNS = (Column("hash", "string"), Column("text", "string"))
_MAPS = ("counts", "numbers")
_NESTED = (*_MAPS, "list")
"""What a cell of CSV holds as JSON."""
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "counts": pa.map_(pa.string(), pa.int64()),
    "numbers": pa.map_(pa.string(), pa.float64()),
}

type Row = Mapping[str, Any]


class Form(StrEnum):
    """What a table is written as."""

    PARQUET = "parquet"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Table:
    """A table that was written.

    Attributes:
        path: Where it is.
        rows: How many rows it has.
    """

    path: Path
    rows: int


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
    log: Path, folder: Path, forms: Sequence[Form], wanted: Filter, *, prompts: bool
) -> list[Table]:
    """Write the events that are wanted, and their prompts, in place of an earlier export.

    What an earlier export wrote into the folder, and this one does not, is removed: tables of two
    exports beside each other would be taken for one.

    Args:
        log: The folder of the event log.
        folder: Where the tables go; made when missing.
        forms: What to write.
        wanted: Which events.
        prompts: Whether the prompts are written as well.

    Raises:
        KeepsakeError: The log cannot be read, the tables cannot be written, tables lie in the
            folder that no export of Keepsake has written, or there is nothing to write.
    """
    if folder.exists() and not folder.is_dir():
        raise KeepsakeError(f"{folder} is a file", "Name a folder for the tables")
    try:
        earlier = _earlier(folder)
        written = _export(log, folder, forms, wanted, earlier, prompts=prompts)
    except (OSError, pa.ArrowException) as error:
        raise KeepsakeError(
            f"The events could not be exported to {folder} "
            f"({getattr(error, 'strerror', None) or error})",
            "Look at the disk space and at who may write there",
        ) from error
    if not written:
        raise KeepsakeError(
            f"There are no such events in {log}", "Start the world, or ask for other events"
        )
    return written


def _earlier(folder: Path) -> frozenset[str]:
    """The tables that exports of before have written into a folder."""
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["tables"]
    except FileNotFoundError:
        listed = []
    except (ValueError, KeyError, TypeError):
        listed = []  # somebody's own file, or a spoilt one: no table is known
    names = {f"{kind}.{form}" for kind in (*KINDS, PROMPTS) for form in Form}
    there = sorted(each for each in names if (folder / each).exists())
    if strange := [each for each in there if each not in listed]:
        raise KeepsakeError(
            f"{folder / strange[0]} was not written by an export that is known here",
            "Name another folder, or remove it: tables of two exports would be mixed",
        )
    return frozenset(there)


def _list_tables(folder: Path, names: Collection[str]) -> None:
    """Write down which tables are Keepsake's own."""
    replace_file(folder / MANIFEST, json.dumps({"tables": sorted(names)}, indent=1) + "\n")


def _export(
    log: Path,
    folder: Path,
    forms: Sequence[Form],
    wanted: Filter,
    earlier: frozenset[str],
    *,
    prompts: bool,
) -> list[Table]:
    tables: dict[str, _Writing] = {}
    hashes: set[str] = set()
    with ExitStack() as stack:
        for record in filter(wanted, events(log)):
            kind = str(record["kind"])
            if kind not in KINDS:  # of a later version
                continue
            if kind not in tables:
                tables[kind] = stack.enter_context(
                    _Writing(folder, kind, columns(KINDS[kind]), forms, _ROWS)
                )
            tables[kind].add(record)
            hashes.add(str(record.get("prompt") or ""))
        if prompts and (hashes := hashes - {""}):
            writing = _Writing(folder, PROMPTS, _PROMPT_COLUMNS, forms, _PROMPT_ROWS)
            tables[PROMPTS] = stack.enter_context(writing)
            for name, text in Prompts(log).each(hashes):
                tables[PROMPTS].add({"hash": name, "text": text})
        if tables:  # before they get their names: killed on the way, all of them are known
            new = {f"{kind}.{form}" for kind in tables for form in forms}
            _list_tables(folder, earlier | new)
    if tables:
        for name in earlier - new:
            (folder / name).unlink(missing_ok=True)
        _list_tables(folder, new)
    return [table for writing in tables.values() for table in writing.written]


class _Writing:
    """One table that is being written, in all its forms; appears whole or not at all."""

    def __init__(
        self, folder: Path, name: str, shape: Sequence[Column], forms: Sequence[Form], rows: int
    ) -> None:
        self.written: list[Table] = []
        self._shape, self._most, self._count = shape, rows, 0
        self._rows: list[Row] = []
        folder.mkdir(parents=True, exist_ok=True)
        self._sinks: list[_Sink] = []
        try:
            for form in forms:
                self._sinks.append(_Sink(folder / f"{name}.{form}", form, shape))
        except BaseException:
            self._end(keep=False)
            raise

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        try:
            if fault is None:
                self._flush()
        except BaseException:
            self._end(keep=False)
            raise
        self._end(keep=fault is None)

    def add(self, row: Row) -> None:
        """Take one row."""
        self._rows.append(row)
        self._count += 1
        if len(self._rows) >= self._most:
            self._flush()

    def _flush(self) -> None:
        for sink in self._sinks:
            sink.write(self._rows)
        self._rows = []

    def _end(self, *, keep: bool) -> None:
        with ExitStack() as all_of_them:  # one that cannot be ended must not leave the others
            for sink in reversed(self._sinks):
                all_of_them.callback(sink.close, keep=keep)
        if keep:
            self.written += [Table(sink.path, self._count) for sink in self._sinks]


class _Sink:
    """One file of a table."""

    def __init__(self, path: Path, form: Form, shape: Sequence[Column]) -> None:
        self.path, self._part = path, path.with_name(f"{path.name}.part")
        self._shape = shape
        self._cell: Callable[[Column, Any], Any] = _csv_cell if form is Form.CSV else _cell
        as_text = _NESTED if form is Form.CSV else ()
        self._schema = pa.schema(
            [
                pa.field(each.name, pa.string() if each.type in as_text else _type(each))
                for each in shape
            ]
        )
        try:
            self._writer = self._opened(form)
        except BaseException:
            self._part.unlink(missing_ok=True)
            raise

    def _opened(self, form: Form) -> Any:
        if form is Form.CSV:
            return csv.CSVWriter(self._part, self._schema)
        return parquet.ParquetWriter(self._part, self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        """Write some rows."""
        arrays = [
            pa.array([self._cell(each, row.get(each.name)) for row in rows], field.type)
            for each, field in zip(self._shape, self._schema, strict=True)
        ]
        if rows:
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def close(self, *, keep: bool) -> None:
        """End the file, and put it in its place or throw it away."""
        try:
            self._writer.close()
            if keep:
                self._part.replace(self.path)
        except (OSError, pa.ArrowException):
            if keep:  # what is thrown away need not be whole
                raise
        finally:
            self._part.unlink(missing_ok=True)


def _type(column: Column) -> pa.DataType:
    if column.type == "list":
        return pa.list_(pa.struct([pa.field(each.name, _type(each)) for each in column.items]))
    return _TYPES[column.type]


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type == "time":
        return datetime.fromisoformat(str(value))
    return list(value.items()) if column.type in _MAPS else value


def _csv_cell(column: Column, value: Any) -> Any:
    """The same, but that numbers by name and lists are written as JSON: a cell holds one thing."""
    if column.type in _NESTED and value is not None:
        return json.dumps(value, ensure_ascii=False)
    return _cell(column, value)
