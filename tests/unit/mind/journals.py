"""Helpers for tests of the journal: entries, and memories of each kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, JournalEntry
from keepsake.books.journal import Journal
from tests.memories import old_memory

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def write(journal: Journal, text: str, score: int = 6, **other: Any) -> JournalEntry:
    given = {"origin": EntryOrigin.TOLD, "now": NOON, **other}
    return journal.write(text, importance=score, **given)


def seen(number: int, text: str, source: str = "Tom", **other: Any) -> Memory:
    key = f"{source}-1" if source else ""
    given = {"place": "Inn", "source": source, "source_id": key, **other}
    return old_memory(number, NOON, MemoryKind.PERCEPTION, text, **given)


def told(number: int, words: str, source: str = "Tom", **other: Any) -> Memory:
    return seen(number, f'{source} says to you, "{words}"', source, **other)


def did(number: int, text: str) -> Memory:
    return old_memory(number, NOON, MemoryKind.ACT, text)


def result(number: int, text: str) -> Memory:
    return old_memory(number, NOON, MemoryKind.RESULT, text)


def days_ago(days: float) -> datetime:
    return NOON - timedelta(days=days)
