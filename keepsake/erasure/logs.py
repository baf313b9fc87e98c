"""Overwrites a person's words in logs, which other processes still write to.

The words are overwritten character by character, so all positions in a log stay valid, in bytes and
in characters. This needs no room on the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from keepsake.erasure.person import key_places
from keepsake.erasure.phrases import words_with_places
from keepsake.erasure.traces import Traces
from keepsake.json_lines import parsed
from keepsake.language.perception import words

_POSSESSIVE = re.compile(r"['’]s$")


class LogCleaner:
    """Cleans the logs in a folder: text, JSON lines, the event log and its prompts.

    Args:
        folder: The folder; files below it are cleaned, too.
        settle: Called first: has the logs write what they still keep in memory.
        named: Names of files in which the person's name stays: who did what as a builder.
    """

    name = "logs"

    def __init__(
        self,
        folder: Path,
        settle: Callable[[], object] = lambda: None,
        named: Collection[str] = (),
    ) -> None:
        self._folder = folder
        self._settle = settle
        self._named = named

    def clean(self, traces: Traces) -> None:
        """Clean all files; a compressed log of an earlier version is deleted.

        Raises:
            OSError: A file could not be cleaned; all others are.
        """
        self._settle()
        failed: OSError | None = None
        for path in sorted(self._folder.rglob("*")):
            if not path.is_file() or path.suffix == ".db":
                continue
            try:
                mask(path, traces, names=path.name not in self._named)
            except FileNotFoundError:
                pass  # it was rotated away meanwhile
            except OSError as error:
                failed = failed or error
        if failed is not None:
            raise failed


class ReportCleaner:
    """Overwrites the reports that the person sent to the builders.

    Args:
        path: The file of JSON lines; each has ``by``, ``by_id`` and ``text``.
    """

    name = "reports"

    def __init__(self, path: Path) -> None:
        self._path = path

    def clean(self, traces: Traces) -> None:
        """Overwrite the whole text of their reports, and their words and name in others'."""
        with suppress(FileNotFoundError):
            _overwrite(self._path, lambda line: _masked_report(line, traces))


def mask(path: Path, traces: Traces, *, names: bool = True) -> None:
    """Overwrite the person's words in a log that is still being written to; blocks.

    ``names``: Whether their name is overwritten as well.

    Raises:
        OSError: The log cannot be read or written.
    """
    if path.suffix == ".gz":
        path.unlink()
        return
    names_found = [tuple(words(name)) for name in traces.names] if names else []
    _overwrite(path, lambda line: _masked(line, traces, names_found))


def _overwrite(path: Path, masked: Callable[[str], str]) -> None:
    with path.open("r+b") as file:
        while line := file.readline():
            plain = line.decode("utf-8", "surrogateescape")
            if (without := masked(plain)) != plain:
                after = file.tell()
                file.seek(after - len(line))
                file.write(without.encode("utf-8", "surrogateescape"))
                file.seek(after)


def _masked(line: str, traces: Traces, names: Sequence[tuple[str, ...]]) -> str:
    found = words_with_places(line)
    folded = [each[0].casefold() for each in found]
    written = [_POSSESSIVE.sub("", each[0]) for each in found]
    hidden = set[int]()
    for index, word in enumerate(folded):
        if word in traces.rare:
            hidden.add(index)
        length = max(
            traces.quoted.longest_at(folded, index), traces.lines.longest_at(folded, index)
        )
        for name in names:
            if tuple(written[index : index + len(name)]) == name:
                length = max(length, len(name))
        hidden.update(range(index, index + length))
    signs = list(line)
    for index in hidden:
        if not _is_structure(line, found[index].start(), found[index].end()):
            for place in range(*found[index].span()):
                signs[place] = _mask_of(signs[place])
    return _without_key("".join(signs), traces.person.key)


def _without_key(line: str, key: str) -> str:
    """Return a line with ``#`` in place of an identity, in the same number of bytes."""
    for begin, end in key_places(key, line):
        if not _is_structure(line, begin, end):
            line = line[:begin] + "".join(map(_mask_of, line[begin:end])) + line[end:]
    return line


def _is_structure(line: str, start: int, end: int) -> bool:
    """Return whether a word of a JSON line is a key, or the kind of an event: readers need them."""
    return line.startswith('":', end) or line[:start].endswith('"kind":"')


def _masked_report(line: str, traces: Traces) -> str:
    report = parsed(line)
    key = traces.person.key
    by = str(report.get("by_id") or "")
    theirs = by == key or (not by and report.get("by") in traces.names)
    masked = _masked(line, traces, [tuple(words(name)) for name in traces.names])
    if not theirs:
        return masked
    for field in ("by", "about", "place", "text"):
        value = json.dumps(str(report.get(field, "")), ensure_ascii=False)[1:-1]
        if value:
            hidden = "".join(_mask_of(c) if c.isalnum() else c for c in value)
            line = line.replace(f'"{field}":"{value}"', f'"{field}":"{hidden}"')
    return _without_key(line, key)


def _mask_of(char: str) -> str:
    """Return a masking character with the same number of bytes in UTF-8."""
    return "#·█𝄞"[len(char.encode("utf-8", "surrogateescape")) - 1]
