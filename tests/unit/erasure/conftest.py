"""Agents' folders with archives of happenings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory
from keepsake.happening import What

type Line = tuple[What, dict[str, Any]]
"""What happened, and the other fields of the memory."""

START = datetime(2026, 11, 20, 18, tzinfo=UTC)


class Village:
    """The agents' folders below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def live(self, agent: str, lines: Sequence[Line]) -> Path:
        """Archive what an agent experienced, a minute apart; return its folder."""
        folder = self.folder / agent
        archive = Archive(folder / "archive")
        for number, (what, facts) in enumerate(lines, archive.last_number + 1):
            time = START + timedelta(minutes=number)
            fields = {"happening": f"{agent}-{number}", **facts}
            archive.append(Memory(number, time, what, "The Kettle", **fields).to_record())
        archive.close()
        return folder

    def kept(self, agent: str) -> list[int]:
        """Return the numbers of the memories that the agent still has."""
        archive = Archive(self.folder / agent / "archive", read_only=True)
        found = archive.read(1, archive.last_number)
        archive.close()
        return [each.number for each in found if each.event != MessageType.FORGOTTEN]

    def bytes(self) -> bytes:
        """Return all bytes of all files."""
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return b"\n".join(path.read_bytes() for path in files)


@pytest.fixture
def village(tmp_path: Path) -> Village:
    return Village(tmp_path / "agents")


@pytest.fixture
def write() -> Callable[[Path, str], Path]:
    """Write a file, with the folders above it."""

    def written(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written
