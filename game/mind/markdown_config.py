"""Configuration in markdown: ``**key**: value`` lines that a person reads and edits.

A file may be divided by ``## headings``; whatever is not a ``**key**: value`` line is
explanation. Every value knows its line, so that a wrong one can be named.
"""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from game.mind.errors import ConfigError

_ENTRY = re.compile(r"^\*\*(?P<key>[^*]+)\*\*\s*:\s*(?P<value>.*?)\s*$")
_HEADING = re.compile(r"^##\s+(?P<name>.+?)\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``**key**: value`` line."""

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one ``## heading``; the part before the first has no name."""

    name: str
    line: int
    entries: dict[str, Entry] = field(default_factory=dict)


def parse(path: Path) -> list[Section]:
    """Read a file into its sections, in order.

    Raises:
        ConfigError: The file cannot be read, or names a key twice in one section.
    """
    sections = [Section("", 1)]
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if heading := _HEADING.match(line):
            sections.append(Section(heading["name"], number))
        elif entry := _ENTRY.match(line):
            key, entries = entry["key"].strip(), sections[-1].entries
            if key in entries:
                reason = f"{key} stands here and in line {entries[key].line}"
                raise ConfigError(path, number, reason, "Keep one of the two")
            entries[key] = Entry(entry["value"], number)
    return sections


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(path, 1, "this is not UTF-8 text", "Save it as UTF-8") from error
    except OSError as error:
        reason = f"the file cannot be read ({error.strerror})"
        raise ConfigError(path, 1, reason, "Put it back from the committed vault") from error


class Values:
    """Typed access to entries; remembers what was asked for, so that typos are found.

    Args:
        path: The file, for messages.
        entries: The entries to read from.
    """

    def __init__(self, path: Path, entries: dict[str, Entry]) -> None:
        self.path = path
        self._entries = entries
        self._known: set[str] = set()

    def entry(self, key: str) -> Entry | None:
        """The entry as it stands; None if the file does not name ``key``."""
        self._known.add(key)
        return self._entries.get(key)

    def text(self, key: str, default: str) -> str:
        """A word or sentence; an empty value is refused."""
        if (entry := self.entry(key)) is None:
            return default
        if not entry.value:
            raise self.refuse(key, "has no value")
        return entry.value

    def integer(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number from ``least`` to ``most``."""
        if (entry := self.entry(key)) is None:
            return default
        try:
            value = int(entry.value)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise self.refuse(key, f"is {entry.value!r}", f"Give a whole number, {least} to {most}")
        return value

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number from ``least`` to ``most``."""
        if (entry := self.entry(key)) is None:
            return default
        try:
            value = float(entry.value)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise self.refuse(key, f"is {entry.value!r}", f"Give a number, {least:g} to {most:g}")
        return value

    def switch(self, key: str, default: bool) -> bool:
        """``yes`` or ``no`` (also ``on``/``off``, ``true``/``false``)."""
        if (entry := self.entry(key)) is None:
            return default
        word = entry.value.casefold()
        if word in ("yes", "on", "true"):
            return True
        if word in ("no", "off", "false"):
            return False
        raise self.refuse(key, f"is {entry.value!r}", "Give yes or no")

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        """One of ``choices``."""
        value = self.text(key, default)
        if value not in choices:
            raise self.refuse(key, f"is {value!r}", f"Give one of: {', '.join(choices)}")
        return value

    def refuse(self, key: str, reason: str, cure: str = "") -> ConfigError:
        """The error that names ``key`` with file and line."""
        entry = self._entries.get(key)
        return ConfigError(self.path, entry.line if entry else 1, f"{key} {reason}", cure)

    def refuse_unknown(self) -> None:
        """Call last: a key that nobody asked for is a typo.

        Raises:
            ConfigError: There is such a key; the nearest known one is suggested.
        """
        for key, entry in self._entries.items():
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1)
                cure = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(self.known)}"
                raise ConfigError(self.path, entry.line, f"there is no setting {key!r}", cure)

    @property
    def known(self) -> list[str]:
        """The keys that were asked for."""
        return sorted(self._known)


def read_values(path: Path) -> Values:
    """The entries of a whole file whose headings are only for the reader.

    Raises:
        ConfigError: The file cannot be read, or names a key twice.
    """
    entries: dict[str, Entry] = {}
    for section in parse(path):
        for key, entry in section.entries.items():
            if key in entries:
                reason = f"{key} stands here and in line {entries[key].line}"
                raise ConfigError(path, entry.line, reason, "Keep one of the two")
            entries[key] = entry
    return Values(path, entries)


class ConfigFile[T]:
    """A configuration that is read again when its file changes.

    A file that is wrong, or gone, is refused: the last good configuration stays, and
    :attr:`problem` says why.

    Args:
        path: The file.
        load: Reads it; raises :class:`ConfigError`.
        default: Holds until the file could be read once.
        report: Called once for each new problem.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[Path], T],
        default: T,
        report: Callable[[ConfigError], None] | None = None,
    ) -> None:
        self.path = path
        self.problem: ConfigError | None = None
        self._load = load
        self._value = default
        self._report = report
        self._seen: tuple[int, int] | None = None
        self._lock = threading.Lock()

    @property
    def current(self) -> T:
        """The configuration that holds now; costs one ``stat`` when nothing changed."""
        stamp = self._stamp()
        if stamp != self._seen:
            with self._lock:
                if stamp != self._seen:
                    self._reload()
                    self._seen = stamp
        return self._value

    def _stamp(self) -> tuple[int, int]:
        try:
            stat = self.path.stat()
        except OSError:
            return (0, 0)
        return (stat.st_mtime_ns, stat.st_size)

    def _reload(self) -> None:
        try:
            self._value = self._load(self.path)
        except ConfigError as error:
            self.problem = error
            if self._report is not None:
                self._report(error)
        else:
            self.problem = None
