"""Collects what the library logs, in tests."""

from __future__ import annotations

import logging
from typing import Self, override

from keepsake.events.log_file import LineFormatter
from keepsake.logs import ROOT


class LogLines(logging.Handler):
    """Collects log lines as ``agents.log`` has them, without their times, and their records.

    A context manager: it collects inside the block.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines = list[str]()
        self.records = list[logging.LogRecord]()
        self.setFormatter(LineFormatter())
        self._logger = logging.getLogger(ROOT)
        self._level = logging.NOTSET

    def __enter__(self) -> Self:
        self._level = self._logger.level
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.lines.append(self.format(record).split(" ", 2)[2])

    def having(self, *parts: str) -> list[str]:
        """Return the lines that have all these parts."""
        return [line for line in self.lines if all(part in line for part in parts)]
