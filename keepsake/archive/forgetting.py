"""Taking somebody's words out of an agent's folder, where they ask for it.

The archive is only appended to, with this one exception: a line that goes leaves a tombstone with
its number, its time and the SHA-256 of what it was, so that every memory is still there exactly
once and nobody can slip another in its place. What others made of the words goes too: a line that
holds a word which nobody but this person ever used, four of their words in a row, their name, or
the number of one of their memories.

Each file is replaced whole, so that a process killed at any point leaves old or new ones; doing it
again goes on. Everything here blocks, and belongs where no other process has the archive open.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake.archive.records import HEARSAY, Memory, MemoryKind, memories_in
from keepsake.books.files import replace_file
from keepsake.json_lines import in_json, parsed
from keepsake.language.heard import heard
from keepsake.language.heard import names as is_named
from keepsake.language.perception import sentences, words

FORGOTTEN = "(forgotten)"
"""What stands in place of a memory that was taken out; also its ``event``."""
PLUGGED = "memories"
"""Where, in an agent's folder, other memories than ours have theirs."""
_TITLED = ("people", "notes", "forgotten")
"""Folders of files that are called after what they are about."""
_LEAST, _RUN = 4, 4
"""Letters of a word that can be told from others', and words in a row that can."""
_MARK = "<!-- "
"""Begins what a file says of itself."""
_CITED = re.compile(r"\bmemor(?:y|ies) (\d[\d ,–-]*)")


@dataclass(frozen=True, slots=True)
class ForgottenPerson:
    """Whose words they are."""

    key: str  # of :attr:`Memory.source_id`
    name: str  # the present one
    # keys of the agents: what these say of the person is made of what they heard
    agents: frozenset[str] = frozenset()


class Traces:
    """Says what is made of somebody's words."""

    def __init__(
        self, person: ForgottenPerson, memories: Iterable[Memory], profile: str = ""
    ) -> None:
        self.person = person
        self.numbers: set[int] = set()
        mine, others = set[str](), set(_terms(profile))
        self._runs: set[tuple[str, ...]] = set()
        memories = list(memories)
        theirs = {each.source for each in memories if each.source_id == person.key}
        known = {each.source for each in memories if each.source_id != person.key} - {person.name}
        # What they were called before counts, unless another is called so; Old Tom is not Tom.
        self._names = {person.name, *filter(None, theirs - known)}
        longer = (each for each in known if any(is_named(each, name) for name in self._names))
        self._longer = sorted(longer, key=len, reverse=True)
        for memory in memories:
            if self.caused(memory):
                self.numbers.add(memory.number)
                said = heard(memory)
                if not self._by_or_to(memory):
                    continue  # in somebody else's words, which are not all of theirs
                text = said.words if said is not None else memory.text
                if memory.event == HEARSAY:  # what an agent tells on it has heard before
                    text = "" if said is None else text.partition(": ")[2]
                mine |= set(_terms(text))
                self._runs |= set(_runs(text))
            elif memory.kind is MemoryKind.PERCEPTION:
                others |= set(_terms(memory.text))
        self.rare = frozenset(t for t in mine - others if len(t) >= _LEAST)

    def caused(self, memory: Memory) -> bool:
        """Whether they said or did it, it was said to them, or an agent told of them."""
        return self._by_or_to(memory) or self._overheard(memory)

    def _by_or_to(self, memory: Memory) -> bool:
        person = self.person
        # Whoever tells on what they did or said keeps it as an act for somebody else.
        if memory.event == HEARSAY and (memory.to_id == person.key or self.named(memory.text)):
            return True
        if memory.kind is MemoryKind.ACT:
            to = memory.text.removeprefix("whisper ").partition(" = ")[0]
            return not self._names.isdisjoint((memory.to, to)) or person.key == memory.to_id
        by_name = not memory.source_id and memory.source in self._names
        return memory.source_id == person.key or by_name

    def _overheard(self, memory: Memory) -> bool:
        person, said = self.person, heard(memory)
        if memory.kind is not MemoryKind.PERCEPTION:
            return self.named(memory.text)
        of_agent = memory.source_id in person.agents and self.named(memory.text)
        return of_agent or (said is not None and said.to in self._names)

    def named(self, text: str) -> bool:
        """Whether ``text`` has their name, and not as a part of somebody else's."""
        text = text.replace("’", "'")
        for longer in self._longer:
            text = re.sub(rf"(?<!\w){re.escape(longer)}(?!\w)", " ", text, flags=re.I)
        return any(is_named(text, name) for name in self._names)

    def hold(self, text: str, *, named: bool = True) -> bool:
        """Whether ``text`` is made of their words, or of them where their name counts."""
        if named and (self.person.key in text or self.named(text)):
            return True
        cited = {int(n) for each in _CITED.findall(text) for n in re.findall(r"\d{1,9}", each)}
        return bool(
            (named and cited & self.numbers)
            or self.rare & set(_terms(text))
            or self._runs & set(_runs(text))
        )

    def without(self, text: str) -> str:
        """``text`` without the lines and sentences that hold them."""
        return "\n".join(
            kept for line in text.split("\n") if (kept := self._kept(line)) is not None
        )

    def _kept(self, line: str) -> str | None:
        if line.startswith(_MARK) or not self.hold(line):
            return line
        left = " ".join(each for each in sentences(line) if not self.hold(each))
        return left if any(map(str.isalnum, left)) else None

    def cleaned(self, value: Any) -> Any:
        """The same of whatever JSON or YAML holds; what is theirs alone is gone from lists."""
        if isinstance(value, str):
            return self.without(value)
        if isinstance(value, list | tuple):
            return [self.cleaned(each) for each in value if not self._theirs(each)]
        if isinstance(value, dict):
            return {k: self.cleaned(v) for k, v in value.items() if not self._theirs(k)}
        return value

    def _theirs(self, value: Any) -> bool:
        if isinstance(value, dict):
            return any(self._theirs(each) for each in value.values())
        if isinstance(value, list | tuple):
            return any(self._theirs(each) for each in value)
        return isinstance(value, str) and self.hold(value)


def forget(
    folder: Path,
    person: ForgottenPerson,
    profile: str = "",
    begin: Callable[[], None] = lambda: None,
) -> Traces | None:
    """Take their words out of an agent's folder.

    ``folder``: ``vault/agents/<name>``; nobody else has its archive open.
    ``profile``: Who the agent is: its words are nobody else's. ``begin``: called before the first
    file is changed, if any is.

    Returns:
        What was looked for; None where the agent has nothing of them.

    Raises:
        OSError: A file cannot be read or written; doing it again goes on.
    """
    segments = sorted((folder / "archive").glob("*.jsonl"))
    traces, plugged = Traces(person, _memories(segments), profile), folder / PLUGGED
    files = [p for p in folder.rglob("*") if p.is_file() and p.parent.name != "archive"]
    files = [path for path in files if not path.is_relative_to(plugged)]
    if not traces.numbers and not any(_mentions(path, person) for path in files):
        return None
    begin()
    # Another memory than ours has files of any form; it is lived anew from what the archive keeps.
    if plugged.exists():
        shutil.rmtree(plugged)
    # Whatever was made of them first: it is found by what the archive still says.
    for path in files:
        _clean_file(path, traces)
    for path in (folder / "archive").iterdir():
        if path.suffix in (".txt", ".tmp"):  # what was set aside, or being written
            path.unlink()
    for segment in reversed(segments):
        _rewrite(segment, lambda record, line: _cleaned(record, line, traces))
    return traces


def _memories(segments: Iterable[Path]) -> Iterator[Memory]:
    lines = (line for segment in segments for line in segment.read_bytes().splitlines())
    return (each for each in memories_in(map(parsed, lines)) if each.event != FORGOTTEN)


def _cleaned(record: dict[str, Any], line: str, traces: Traces) -> dict[str, Any]:
    if record.get("type") != "memory":
        return {key: traces.cleaned(value) for key, value in record.items()}
    if record.get("event") == FORGOTTEN:
        return record
    memory = Memory.from_record(record)
    own = memory.kind is not MemoryKind.PERCEPTION
    told = f"{memory.text} {memory.reason}"
    if not traces.caused(memory) and not (own and traces.hold(told, named=False)):
        return record
    kept = {key: record[key] for key in ("type", "n", "t", "kind", "place") if key in record}
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
    return kept | {"text": FORGOTTEN, "event": FORGOTTEN, "sha256": digest}


def _rewrite(path: Path, change: Callable[[dict[str, Any], str], dict[str, Any]]) -> None:
    """Replace a file of JSON lines; one that cannot be read goes, as nobody knows whose it is."""
    lines = []
    # Not splitlines(), for which a text may hold line ends of its own.
    *whole, torn = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for line in (*whole, torn) if torn else whole:
        try:
            lines.append(in_json(change(json.loads(line), line)))
        except (ValueError, KeyError, TypeError, AttributeError):
            lines.append(json.dumps({"type": "damaged", "text": FORGOTTEN}))
    replace_file(path, "\n".join(lines) + ("\n" if lines else ""))


def _clean_file(path: Path, traces: Traces) -> None:
    person = traces.person
    if path.name in {".lock", "profile.md"}:
        return
    titled = path.parent.name in _TITLED and traces.named(path.stem.replace("-", " "))
    if person.key in path.name or titled:
        path.unlink()
        return
    if path.suffix == ".jsonl":
        _rewrite(path, lambda record, _: dict(traces.cleaned(record)))
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if traces.hold(text):
        replace_file(path, _clean_text(path, text, traces))


def _clean_text(path: Path, text: str, traces: Traces) -> str:
    try:
        if path.suffix == ".json":
            return json.dumps(traces.cleaned(json.loads(text)), ensure_ascii=False)
        post = frontmatter.loads(text)
    except (ValueError, yaml.YAMLError):
        return traces.without(text)
    post.metadata = traces.cleaned(post.metadata)
    head, *sections = traces.without(post.content).split("\n## ")
    post.content = "\n## ".join([head, *(each for each in sections if not _emptied(each))])
    return str(frontmatter.dumps(post)) + "\n" if post.metadata else post.content + "\n"


def _emptied(section: str) -> bool:
    """Whether an entry of a journal has lost its text, and has fields alone."""
    lines = [line for line in section.split("\n")[1:] if line.strip()]
    return bool(lines) and all(line.startswith("- **") for line in lines)


def _mentions(path: Path, person: ForgottenPerson) -> bool:
    if path.name == ".lock":
        return False
    data = path.read_bytes()
    return person.key.encode() in data or person.name.encode() in data


def _terms(text: str) -> Iterator[str]:
    return (word.casefold() for word in words(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    found = [*_terms(text)]
    # Of common small words four in a row are nobody's: one long word must be among them.
    for start in range(len(found) - _RUN + 1):
        run = tuple(found[start : start + _RUN])
        if sum(map(len, run)) >= _RUN * _LEAST:
            yield run


def _masked(char: str) -> str:
    """A sign that takes as many bytes."""
    return "#·█𝄞"[len(char.encode("utf-8", "surrogateescape")) - 1]


def mask(path: Path, traces: Iterable[Traces]) -> None:
    """Overwrite their rare words in a log that is being written to, letter by letter; blocks.

    All places in it stay what they are, in bytes and in characters; a log that an earlier version
    has compressed goes.

    Raises:
        OSError: It cannot be read or written.
    """
    terms = sorted({term for each in traces for term in each.rare}, key=len, reverse=True)
    if not terms:
        return
    if path.suffix == ".gz":
        path.unlink()
        return
    either = "|".join(map(re.escape, terms))
    # The keys of a JSON line and the kind of an event are nobody's words; who reads it needs them.
    found = re.compile(rf'(?<!\w)(?<!"kind":")(?:{either})(?!\w)(?!":)', re.I)

    def masked(line: bytes) -> bytes:
        plain = line.decode("utf-8", "surrogateescape")
        hidden = found.sub(lambda m: "".join(map(_masked, m[0])), plain)
        return hidden.encode("utf-8", "surrogateescape")

    with path.open("r+b") as file:
        while line := file.readline():
            if (without := masked(line)) != line:
                after = file.tell()
                file.seek(after - len(line))
                file.write(without)
                file.seek(after)
