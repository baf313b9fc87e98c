"""Settings in a markdown file that a person edits.

A file is prose with settings in it::

    ## agent

    **temperature**: 0.7
    _How daring the agent's words are_

A line ``**key**: value`` is a setting; a key has small letters, digits and ``_``. Headings with
``#`` and ``##`` begin sections. All other text, code blocks included, is for the reader.
:class:`ConfigFile` reads a file again when it changes, and keeps the last good values if the new
text cannot be used. :meth:`FileSettings.load` reads a file whose settings are the fields of a
dataclass.
"""

from __future__ import annotations

import difflib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

from keepsake import regular_files
from keepsake.errors import ConfigError
from keepsake.files import stamp
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.CONFIG)

_FENCE = ("```", "~~~")
_MARK = re.compile(r"##? (?P<heading>.*)|\*\*(?P<key>[a-z_][a-z0-9_]*)\*\*\s*:(?P<value>.*)")
_YES = ("yes", "true", "on")
_NO = ("no", "false", "off")
_MOST = 2**31 - 1
"""The highest number of a setting that names no limit of its own."""
_SLIP = 0.8
"""Similarity (0 to 1) at which an unknown key of similar length counts as a misspelling."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The text of one setting, and its line number (from 1)."""

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """The settings under one heading. Its methods raise ConfigError for what they cannot use."""

    path: Path
    name: str
    line: int
    entries: dict[str, Setting] = field(default_factory=dict)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a setting; raise ConfigError if it is missing and has no default."""
        entry = self.entries.get(key)
        if entry is not None and entry.value:
            return entry.value
        if default is not None:
            return default
        here = f"section {self.name!r}" if self.name else "the file"
        reason = f"{key} has no value" if entry else f"{key} is missing from {here}"
        line = entry.line if entry else self.line
        cure = f"Write a line such as **{key}**: value"
        raise ConfigError(self.path, line, reason, cure)

    def only(self, known: Iterable[str]) -> ConfigSection:
        """Return the section without unknown settings; raise ConfigError for a misspelled key.

        Other unknown settings, such as those of earlier versions, are logged.
        """
        names = sorted(known)
        for key, entry in self.entries.items():
            if key in names:
                continue
            alike = (each for each in names if abs(len(each) - len(key)) <= 1)
            if near := difflib.get_close_matches(key, alike, 1, _SLIP):
                cure = f"Did you mean {near[0]}?"
                raise ConfigError(self.path, entry.line, f"nothing reads {key}", cure)
            told = "Nothing reads a setting; its line does nothing and can be removed"
            log.warning(told, path=self.path, line=entry.line, setting=key)
        return replace(self, entries={k: it for k, it in self.entries.items() if k in names})

    def into[C](self, config: type[C]) -> C:
        """Return the settings as a dataclass that has a field with a default for each of them."""
        settable = settings_of(config)
        read = self.only(each.name for each in settable)
        return config(**{each.name: read.value(each) for each in settable})

    def value(self, of: Field[Any], default: Any = MISSING) -> Any:
        """Return the value of the setting for a dataclass field, as :meth:`into` reads it.

        ``default``: The value if the setting is missing or has none; by default that of the field.

        Raises:
            ConfigError: What is written has another type than the default, or is out of bounds.
        """
        default = of.default if default is MISSING else default
        written = self.text(of.name, "")
        if not written:  # the setting is missing, or its value was deleted
            return default
        if isinstance(default, bool):
            if (said := written.lower()) not in _YES + _NO:
                raise self.refuse(of.name, f"{written!r} is neither yes nor no")
            return said in _YES
        if isinstance(default, str):
            among = of.metadata.get("among", (written,))
            if written not in among:
                raise self.refuse(of.name, f"{written!r} is none of {', '.join(sorted(among))}")
            return written
        kind = float if isinstance(default, float) else int
        try:
            number = kind(written)
        except ValueError:
            whole = " whole" if kind is int else ""
            raise self.refuse(of.name, f"{written!r} is not a{whole} number") from None
        bounds = {"low": 0, "high": _MOST, **of.metadata.get("bounds", {})}
        if not bounds["low"] <= number <= bounds["high"]:
            what = f"{written} is not between {bounds['low']} and {bounds['high']}"
            raise self.refuse(of.name, what)
        return number

    def address(self, key: str, cure: str, words: Iterable[str] = ("",)) -> str:
        """Return a server's base address, which may lack its ``http://``, or one of these words.

        Raises:
            ConfigError: It is neither; the error names the ``cure``.
        """
        written = self.text(key, "").strip("<>")
        if written.rstrip("/") in words:
            return written.rstrip("/")
        refusal = self.refuse(key, f"{written!r} is no address", cure)
        try:
            parts = urlsplit(written if "//" in written else f"http://{written}")
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError as error:  # the port is no number, a bracket is open, a sign looks like /
            raise refusal from error
        if not usable or set(parts.netloc) & set(", "):
            raise refusal
        return parts.geturl().rstrip("/")

    def refuse(self, key: str, reason: str, cure: str = "") -> ConfigError:
        """Return the error that says why the value of ``key`` cannot be used."""
        entry = self.entries.get(key)
        line = entry.line if entry else self.line
        return ConfigError(self.path, line, f"{key}: {reason}", cure)


# -- configurations as dataclasses


def between(default: Any, **bounds: float) -> Any:
    """Return a dataclass field for a number from ``low`` to ``high``."""
    return field(default=default, metadata={"bounds": bounds})


def one_of(default: str, options: Iterable[str]) -> Any:
    """Return a dataclass field for one of these words."""
    return field(default=default, metadata={"among": tuple(options)})


def fixed(default: Any) -> Any:
    """Return a dataclass field that no file sets, only tests and the lab."""
    return field(default=default, metadata={"fixed": True})


def settings_of(config: type) -> list[Field[Any]]:
    """Return the fields of a configuration that a file sets."""
    return [each for each in fields(cast("Any", config)) if not each.metadata.get("fixed")]


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Base of a configuration: a dataclass with a field and a default for each setting of a file.

    The default gives the type of a setting. :func:`between` and :func:`one_of` limit its values.
    """

    @classmethod
    def load(cls, path: Path, changes: Mapping[str, str] | None = None) -> Self:
        """Read a file; settings that it does not name keep their defaults.

        ``changes``: Values that replace the file's, in the form that the file would have.

        Raises:
            ConfigError: A value or a name is wrong, or two values contradict each other. It says
                which line, why, and what to do.
        """
        read = merged(path)
        changed = {key: Setting(value, 1) for key, value in (changes or {}).items()}
        read = replace(read, entries={**read.entries, **changed})
        return read.into(cls).checked(read)

    def checked(self, read: ConfigSection) -> Self:
        """Return the final settings if they are consistent; ``read`` is the section they come from.

        Raises:
            ConfigError: They contradict each other.
        """
        return self


# -- the file


def parse(path: Path, *, whole: bool = False) -> list[ConfigSection]:
    """Return the sections of a markdown file that contain settings, in order.

    ``whole``: Whether to ignore headings and put all settings into one section.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8, or has a key twice in one section.
    """
    try:
        text = regular_files.read_text(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(path, 0, f"cannot be read ({reason})", "Put it back") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(path, line, "is not UTF-8", "Save it as UTF-8") from error
    found = [ConfigSection(path, "", 1)]
    for number, mark in _marks(text):
        entries = found[-1].entries
        key = mark["key"]
        if key is None and not whole:
            found.append(ConfigSection(path, mark["heading"].strip("# "), number))
        elif key in entries:
            what = f"{key} was set on line {entries[key].line} already"
            raise ConfigError(path, number, what, "Keep one of them")
        elif key is not None:
            entries[key] = Setting(mark["value"].strip(), number)
    return [section for section in found if section.entries]


def merged(path: Path) -> ConfigSection:
    """Return all settings of a file as one section, ignoring its headings."""
    return next(iter(parse(path, whole=True)), ConfigSection(path, "", 1))


def with_settings(text: str, name: str, values: Mapping[str, str]) -> str:
    """Return the text of a file with these settings in section ``name``; the rest stays as it is.

    An existing setting is replaced in its place. New settings, unless empty, go below the last one
    that was replaced, else below the section's heading. A missing section is added at the end. With
    an empty name, headings are ignored.
    """
    lines = text.splitlines(keepends=True)
    missing = dict(values)
    place = beside = 0
    inside = not name
    end = "\r\n" if "\r\n" in text else "\n"
    for number, mark in _marks(text):
        key = mark["key"]
        if name and key is None:
            inside = mark["heading"].strip("# ").lower() == name
            place = number if inside else place
        elif inside and key in missing:
            lines[number - 1] = f"**{key}**: {missing.pop(key)}".rstrip() + end
            beside = number
    added = [f"**{key}**: {value}{end}" for key, value in missing.items() if value]
    if beside:
        place = beside
    elif added and not place:
        head = [f"## {name}{end}", end] if name else []
        lines += [end] if lines and not lines[-1].endswith(end) else []
        place = len(lines)
        added = [end, *head, *added]
    elif added:
        added.insert(0, end)
    return "".join([*lines[:place], *added, *lines[place:]])


def _marks(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield headings and settings of a text, outside of code blocks, with their line numbers."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        sign = line.lstrip()[:3]
        if fence:
            fence = "" if sign == fence else fence
        elif sign in _FENCE:
            fence = sign
        elif (mark := _MARK.fullmatch(line)) is not None:
            yield number, mark


class ConfigFile[T]:
    """A file that is read again when it changes; the last good value stays.

    Args:
        default: Used until the file has been read successfully once.
        rest: Seconds between two checks of the file. One thought reads settings a dozen times, and
            each check releases the GIL, for which the reactor then has to wait.

    Attributes:
        problem: Why the newest state of the file is not in use; None if it is.
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
        self.problem = cast("ConfigError | None", None)
        self._load = load
        self._value = default
        self._on_problem = on_problem
        self._seen: object = ConfigFile  # a value that no stamp equals
        self._rest = rest
        self._look_again = float("-inf")
        self._lock = threading.Lock()

    def reread(self) -> None:
        """Force a new reading at the next use, because what the file is read for has changed."""
        with self._lock:
            self._seen = ConfigFile
            self._look_again = float("-inf")

    @property
    def current(self) -> T:
        """The value of the file in its current state, or else in its last good one.

        Raises:
            ConfigError: The file has never had a good state, and there is no default.
        """
        with self._lock:
            problem = None
            now = time.monotonic()
            if now >= self._look_again:
                self._look_again = now + self._rest
                if (signature := stamp(self.path)) != self._seen:
                    self._seen = signature
                    try:
                        self._value = self._load(self.path)
                        self.problem = None
                    except ConfigError as error:
                        problem = error
                        self.problem = error
            value = self._value
        if problem is not None and self._on_problem is not None:
            self._on_problem(problem)
        if value is None:
            raise self.problem or ConfigError(self.path, 0, "is empty")
        return value
