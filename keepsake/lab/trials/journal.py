"""Rows that are kept while a run goes on, so that one that was broken off goes on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from keepsake.errors import KeepsakeError, refusing
from keepsake.json_lines import AppendedFile, ended_lines, line_of, parsed

type Row = dict[str, Any]
"""One question: names of columns and their values, as JSON has them."""


class RowJournal:
    """One line a row behind a first line that says what is being run.

    Args:
        path: The file; None keeps nothing.
        run: What is being run.

    Raises:
        KeepsakeError: The file cannot be read or written, or holds rows of another run.
    """

    def __init__(self, path: Path | None, run: Mapping[str, Any]) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        self._file: AppendedFile | None = None
        if path is not None:
            with refusing(f"{path} could not be written", "Name a file in a folder that is there"):
                self._open(path, json.loads(json.dumps(run)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        if not self._rows and self._path is not None:  # what came to nothing leaves nothing
            self._path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: str) -> Row | None:
        """The row of that key, if it is done."""
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Keep a row that is done."""
        self._rows[key] = row
        if self._file is not None:
            with refusing(f"{self._path} could not be written", "Free some disk space"):
                self._file.append(line_of({"key": key, "row": row}))

    def _open(self, path: Path, run: Mapping[str, Any]) -> None:
        found = ended_lines(path.read_bytes()) if path.exists() else []
        first, *rows = map(parsed, found or [b"{}"])
        if rows and first.get("run") != run:
            raise KeepsakeError(
                f"{path} holds answers of a run that was broken off, with other options",
                "Give the options of that run, name another file, or remove this one",
            )
        if first.get("run") == run:
            self._rows = {each["key"]: each["row"] for each in rows if "key" in each}
        self._file = AppendedFile(path)
        if first.get("run") != run:
            self._file.cut(0)
            self._file.append(line_of({"run": run}))
        else:  # a crash tears the last line at most
            self._file.cut(self._file.size - len(self._file.torn()))
