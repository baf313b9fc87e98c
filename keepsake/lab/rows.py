"""Rows of published tables (CSV, JSON lines, Parquet), with errors that name file, row and cure."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from keepsake.errors import KeepsakeError, refusing

AGAIN = "Copy the file as its authors publish it; docs/evaluation.md names the fields"

type TableRow = Mapping[str, Any]


def csv_rows(path: Path, needed: Iterable[str]) -> Iterator[TableRow]:
    """Yield the rows of a CSV file with a header. Raises as :func:`checked`."""
    with refusing(f"{path} cannot be read", AGAIN, ValueError, csv.Error):
        lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
        rows = list(csv.DictReader(lines))
    return checked(rows, path, needed)


def json_rows(path: Path, needed: Iterable[str] = ()) -> Iterator[TableRow]:
    """Yield the objects of a file of JSON lines. Raises as :func:`checked`."""
    with refusing(f"{path} cannot be read", AGAIN, ValueError):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    return checked(rows, path, needed)


def parquet_rows(path: Path, needed: Iterable[str]) -> Iterator[TableRow]:
    """Yield the rows of a Parquet file. Raises as :func:`checked`."""
    with refusing(f"{path} cannot be read", AGAIN, pa.ArrowException):
        rows = pq.read_table(path).to_pylist()
    return checked(rows, path, needed)


def checked(rows: Iterable[Any], path: Path, needed: Iterable[str]) -> Iterator[TableRow]:
    """Yield the rows, each of which has the needed fields.

    Raises:
        KeepsakeError: A row is no object, or lacks a field.
    """
    fields = [*needed]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise KeepsakeError(f"{path}: row {number} is no object", AGAIN)
        missing = next((each for each in fields if row.get(each) is None), None)
        if missing is not None:
            raise KeepsakeError(f"{path}: row {number} lacks {missing!r}", AGAIN)
        yield row


def found_in(written: Any, path: Path, what: str) -> Any:
    """Return the JSON value that a field has as text, or the value itself.

    Raises:
        KeepsakeError: The text is no JSON.
    """
    if not isinstance(written, str):
        return written
    with refusing(f"{path}: {what} is no JSON: {written:.60}", AGAIN, ValueError):
        return json.loads(written)
    return None
