"""What people see before they log in: ``connection_screen.txt``, ASCII of 40 columns."""

from __future__ import annotations

from pathlib import Path


def connection_screen() -> str:
    """The welcome screen."""
    return (Path(__file__).parent / "connection_screen.txt").read_text(encoding="ascii")
