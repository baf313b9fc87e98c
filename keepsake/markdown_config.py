"""Settings a person keeps in a markdown file.

A file is prose with settings in it::

    ## agent

    **temperature**: 0.7
    _How daring the agent's words are_

A line that is ``**key**: value``, with a key of small letters, digits and ``_``,
is a setting; ``#`` and ``##`` headings part the sections; everything else, code
blocks too, is for the reader. :class:`ConfigFile` reads such a file again when it
changes and keeps the last good reading when the new one cannot be used; a file
whose settings are the fields of a dataclass is read by :meth:`FileSettings.load`.
"""

from __future__ import annotations

import difflib
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, cast

from keepsake.books.files import stamp
from keepsake.errors import ConfigError

_log = logging.getLogger("keepsake.mind")

_HEADING = re.compile(r"#{1,2}\s+(?P<name>.+?)\s*#*$")
_SETTING = re.compile(r"\*\*(?P<key>[a-z][a-z0-9_]*)\*\*\s*:\s*(?P<value>.*?)$")
_ITEM = re.compile(r"\s*[-*]\s+(?P<item>\S.*?)\s*$")
_FENCE = ("```", "~~~")
_YES = frozenset({"yes", "true", "on"})
_NO = frozenset({"no", "false", "off"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it was written, and the line (from 1) that it stands on."""

    value: str
    line: int
    items: tuple[Setting, ...] = ()  # the list that stands below it where it has no value


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """What stands under one heading."""

    path: Path
    name: str
    line: int
    entries: Mapping[str, Setting] = field(default_factory=dict)

    def text(self, key: str, default: str | None = None) -> str:
        """The setting as it was written.

        Raises:
            ConfigError: It is not there, or empty, and there is no default.
        """
        entry = self.entries.get(key)
        if entry is not None and entry.value:
            return entry.value
        if default is not None:
            return default
        here = f"section {self.name!r}" if self.name else "the file"
        raise ConfigError(
            self.path,
            entry.line if entry else self.line,
            f"{key} has no value" if entry else f"{key} is missing from {here}",
            f"Write a line such as **{key}**: value",
        )

    def integer(
        self, key: str, default: int | None = None, *, low: int = 0, high: int = 2**31 - 1
    ) -> int:
        """The setting as a whole number from ``low`` to ``high``.

        Raises:
            ConfigError: It is no such number, or missing without a default.
        """
        return self._between(key, default, int, low, high)

    def number(
        self, key: str, default: float | None = None, *, low: float = 0.0, high: float = math.inf
    ) -> float:
        """The setting as a number from ``low`` to ``high``.

        Raises:
            ConfigError: It is no such number, or missing without a default.
        """
        return self._between(key, default, float, low, high)

    def _between[N: (int, float)](
        self, key: str, default: N | None, kind: type[N], low: N, high: N
    ) -> N:
        if key not in self.entries and default is not None:
            return default
        written = self.text(key)
        try:
            number = kind(written)
        except ValueError:
            whole = " whole" if kind is int else ""
            raise self.refuse(key, f"{written!r} is not a{whole} number") from None
        if not (math.isfinite(number) and low <= number <= high):
            bounds = f"{low:g} and {high:g}" if kind is float else f"{low} and {high}"
            raise self.refuse(key, f"{written} is not between {bounds}")
        return number

    def choice(self, key: str, options: Iterable[str], default: str | None = None) -> str:
        """The setting as one of ``options``.

        Raises:
            ConfigError: It is none of them, or missing without a default.
        """
        written, known = self.text(key, default), sorted(options)
        if written not in known:
            raise self.refuse(key, f"{written!r} is none of {', '.join(known)}")
        return written

    def flag(self, key: str, default: bool | None = None) -> bool:
        """The setting as yes or no.

        Raises:
            ConfigError: It is neither, or missing without a default.
        """
        if key not in self.entries and default is not None:
            return default
        written = self.text(key).lower()
        if written in _YES | _NO:
            return written in _YES
        raise self.refuse(key, f"{written!r} is neither yes nor no")

    def only(self, known: Iterable[str]) -> None:
        """Refuse settings that nobody reads, so that a slip of the pen is seen.

        Raises:
            ConfigError: A key is not in ``known``; it names the nearest one that is.
        """
        keys = set(known)
        offered = sorted(keys - RETIRED.get(self.path.name, frozenset()))
        for key, entry in self.entries.items():
            if key not in keys:
                near = difflib.get_close_matches(key, offered, 1)
                cure = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(offered)}"
                raise ConfigError(self.path, entry.line, f"nothing reads {key}", cure)

    def into[C](self, config: type[C]) -> C:
        """The settings as a dataclass that has a field with a default for each of them.

        Raises:
            ConfigError: A value or a name is wrong; says which line and why.
        """
        known = fields(cast("Any", config))
        self.only(each.name for each in known)
        return config(**{each.name: self.value(each) for each in known})

    def value(self, of: Field[Any], default: Any = MISSING) -> Any:
        """The setting that a field of a configuration stands for, as :meth:`into` reads it.

        ``default``: What it is where it is not written; that of the field if not given.

        Raises:
            ConfigError: It is none that the field takes.
        """
        key, bounds = of.name, of.metadata.get("bounds", {})
        default = of.default if default is MISSING else default
        match default:
            case bool():
                return self.flag(key, default)
            case int():
                return self.integer(key, default, **bounds)
            case float():
                return self.number(key, default, **bounds)
        if among := of.metadata.get("among"):
            return self.choice(key, among, str(default))
        return self.text(key, str(default))

    def refuse(self, key: str, reason: str, cure: str = "") -> ConfigError:
        """The error that says why the value of ``key`` cannot be used."""
        entry = self.entries.get(key)
        line = entry.line if entry else self.line
        return ConfigError(self.path, line, f"{key}: {reason}", cure)


def parse(path: Path) -> list[ConfigSection]:
    """The sections of a markdown file that hold settings, in order.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8, or has a key twice in
            one section.
    """
    return [section for section in _sections(path, _read(path)) if section.entries]


def merged(path: Path) -> ConfigSection:
    """All settings of a file as one section, for files whose headings mean nothing.

    Raises:
        ConfigError: As :func:`parse`, and when two sections have the same key.
    """
    together: dict[str, Setting] = {}
    for section in parse(path):
        for key, entry in section.entries.items():
            _add(path, together, key, entry)
    return ConfigSection(path, "", 1, together)


RETIRED: Mapping[str, frozenset[str]] = {
    "journal.md": frozenset({"draw_from", "drawn", "entries", "days"}),
    "memory_compaction.md": frozenset({"on_agent", "rounds"}),
    "people.md": frozenset({"shown", "lines", "observations", "facts", "conclusions", "things"}),
    "recall.md": frozenset(
        {"notes", "summaries", "remembered", "remembered_tokens", "remembered_thoughts"}
    ),
    "sleep.md": frozenset({"quiet_minutes", "reflect_after", "questions", "insights", "dream"}),
    "thinking.md": frozenset(
        {"jitter", "pause_notice", "chatter_pause", "retries", "insist", "template", "constrain"}
    ),
}
"""By file, what nobody can set any more: a constant now, mostly the default of that field."""


def between(default: Any, **bounds: float) -> Any:
    """A field of a configuration for a number from ``low`` to ``high``."""
    return field(default=default, metadata={"bounds": bounds})


def one_of(default: str, options: Iterable[str]) -> Any:
    """A field of a configuration for one of these words."""
    return field(default=default, metadata={"among": tuple(options)})


@dataclass(frozen=True, slots=True)
class FileSettings:
    """A configuration: a dataclass that has a field with a default for each setting of a file.

    The defaults say of what type a setting is, :func:`between` and :func:`one_of` what it may be.
    """

    @classmethod
    def load(cls, path: Path, changes: Mapping[str, str] | None = None) -> Self:
        """Read a file.

        What it does not name, and what is retired (which is noted), keeps its default.

        ``changes``: Values that hold instead of the file's, as they would be written there.

        Raises:
            ConfigError: A value or a name is wrong, or two values do not go together; says which
                line, why, and what to do.
        """
        read = merged(path)
        if old := retired(read):
            _log.warning("[Note] %s: %s", path, note(old))
        entries = {key: entry for key, entry in read.entries.items() if key not in old}
        entries |= {key: Setting(value, 1) for key, value in (changes or {}).items()}
        read = replace(read, entries=entries)
        return read.into(cls).checked(read)

    def checked(self, read: ConfigSection) -> Self:
        """These settings as they are used, if they go together; ``read`` is what they come from.

        Raises:
            ConfigError: They do not.
        """
        return self


def retired(read: ConfigSection) -> list[str]:
    """The keys of a file that nothing reads any more."""
    return sorted(read.entries.keys() & RETIRED.get(read.path.name, frozenset()))


def note(keys: Sequence[str]) -> str:
    """What a person is told of such keys."""
    lines = "this line does" if len(keys) == 1 else "these lines do"
    return f"{', '.join(keys)} cannot be set any more; {lines} nothing and can be removed"


def with_settings(text: str, name: str, values: Mapping[str, str]) -> str:
    """The text of a file with these settings in the section ``name``; the rest stays as it is.

    A setting that is there is replaced where it stands, with the list below it. Others, unless they
    are empty, come before the section's first one. A section that is not there is added at the end.
    """
    lines, missing = text.splitlines(keepends=True), dict(values)
    place = first = 0  # lines above the place where settings are added, and the first setting
    inside = listing = False
    for number, line in _outside_fences(text):
        if heading := _HEADING.match(line):
            inside = heading["name"].lower() == name
            place = number if inside else place
        elif inside and (setting := _SETTING.match(line)):
            first = first or number
            if (key := setting["key"]) in missing:
                lines[number - 1] = _setting(key, missing.pop(key), lines[number - 1])
                listing = not setting["value"].strip()
                continue
        elif listing and _ITEM.match(line):
            lines[number - 1] = ""
            continue
        listing = listing and not line
    end = "\r\n" if "\r\n" in text else "\n"
    added = [_setting(key, value, end) for key, value in missing.items() if value]
    if added and not place:
        place, added = len(lines), [end, f"## {name}{end}", end, *added]
    place = first - 1 if first else place
    return "".join([*lines[:place], *added, *lines[place:]])


def _setting(key: str, value: str, replaced: str) -> str:
    """A setting's line, with the line end of the one that it replaces."""
    return f"**{key}**: {value}".rstrip() + replaced[len(replaced.rstrip("\r\n")) :]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(path, 0, f"cannot be read ({reason})", "Put it back") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(path, line, "is not UTF-8", "Save it as UTF-8") from error


def _sections(path: Path, text: str) -> Iterator[ConfigSection]:
    name, start, entries = "", 1, dict[str, Setting]()
    listing = ""  # the setting below which a list may stand
    for number, line in _outside_fences(text):
        if heading := _HEADING.match(line):
            yield ConfigSection(path, name, start, entries)
            name, start, entries = heading["name"], number, {}
        elif setting := _SETTING.match(line):
            _add(path, entries, setting["key"], Setting(setting["value"].strip(), number))
            listing = "" if setting["value"].strip() else setting["key"]
            continue
        elif listing and (item := _ITEM.match(line)):
            above = entries[listing]
            items = (*above.items, Setting(item["item"], number))
            entries[listing] = replace(above, items=items)
            continue
        listing = listing if not line else ""
    yield ConfigSection(path, name, start, entries)


def _outside_fences(text: str) -> Iterator[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCE:
            fence = mark
        else:
            yield number, line.rstrip()


def _add(path: Path, entries: dict[str, Setting], key: str, entry: Setting) -> None:
    if key in entries:
        first = entries[key].line
        raise ConfigError(
            path, entry.line, f"{key} was set on line {first} already", "Keep one of them"
        )
    entries[key] = entry


class ConfigFile[T]:
    """A file that is read again when it changes; the last good reading stays.

    Args:
        default: Stands in until the file has been read well once.
        rest: Seconds in which the file is not looked at again. A thought asks for its settings
            a dozen times, and each look lets go of the interpreter, which the reactor then
            has to wait for.

    Attributes:
        problem: Why the newest state of the file is not in use; None when it is.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[Path], T],
        default: T | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> None:
        self.path = path
        self.problem: ConfigError | None = None
        self._load = load
        self._value = default
        self._on_problem = on_problem
        self._seen: object = _NEVER
        self._rest, self._look_again = rest, float("-inf")
        self._lock = threading.Lock()

    @property
    def current(self) -> T:
        """The value of the file as it is now, or of its last good state.

        Raises:
            ConfigError: There has been no good state, and there is no default.
        """
        with self._lock:
            problem = self._refresh()
            value = self._value
        if problem is not None and self._on_problem is not None:
            self._on_problem(problem)
        if value is None:
            raise self.problem or ConfigError(self.path, 0, "holds nothing")
        return value

    def _refresh(self) -> ConfigError | None:
        """Read the file if it has changed; the problem this reading has met."""
        if (now := time.monotonic()) < self._look_again:
            return None
        self._look_again = now + self._rest
        signature = stamp(self.path)
        if signature == self._seen:
            return None
        self._seen = signature
        try:
            self._value, self.problem = self._load(self.path), None
        except ConfigError as error:
            self.problem = error
        return self.problem


_NEVER = object()
