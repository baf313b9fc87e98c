"""Delete a person's words from an agent's folder, at that person's request.

The archive is append-only, with this one exception. A deleted line leaves a tombstone with its
number, its time and the SHA-256 of the original line. So every memory number still occurs exactly
once, and nobody can insert another memory in its place. Text that was derived from the words is
deleted too: a line that contains a word which only this person ever used, four of their words in a
row, their name, or the number of one of their memories.

Each file is replaced as a whole, so a process that is killed leaves either the old file or the new
one. Running the deletion again continues it. All functions here block. Call them only where no
other process has the archive open.
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
from keepsake.happening import Deed, Pose, Speech
from keepsake.json_lines import in_json, parsed
from keepsake.language.perception import COMMON_WORDS, sentences, words
from keepsake.language.perception import names as is_named
from keepsake.prompt.verbs import VERBS

FORGOTTEN = "(forgotten)"  # text and ``event`` of a deleted memory
PLUGGED = "memories"  # subfolder of an agent's folder for the files of plugged-in memory systems
_TITLED = ("people", "notes", "forgotten")  # folders whose files are named after their subject
_LEAST = 4
_RUN = 4  # fewest letters of a word, and words in a row, that count as a person's own
_LABELS = """
    asked created importance meetings memories memory model names notes place promise reason rule
    source tags through title told updated whispered written
"""
_FORMAT_WORDS = COMMON_WORDS.union(_LABELS.split(), (verb.name for verb in VERBS))
"""Words that are nobody's own, because Keepsake writes them itself, and names of commands."""
_MARK = "<!-- "  # starts a comment in which a file describes itself
_CITED = re.compile(r"\bmemor(?:y|ies) (\d[\d ,–-]*)")


@dataclass(frozen=True, slots=True)
class ForgottenPerson:
    """The person whose words are deleted."""

    key: str  # as in :attr:`Memory.source_id`
    name: str  # the current name
    # keys of the agents: when an agent mentions the person, its words come from what it heard
    agents: frozenset[str] = frozenset()


class Traces:
    """Detector of text that contains or derives from a person's words."""

    def __init__(
        self, person: ForgottenPerson, memories: Iterable[Memory], profile: str = ""
    ) -> None:
        self.person = person
        self.numbers: set[int] = set()
        mine = set[str]()
        others = {*_terms(profile), *_FORMAT_WORDS}
        memories = list(memories)
        theirs = {each.source for each in memories if each.source_id == person.key}
        known = {each.source for each in memories if each.source_id != person.key} - {person.name}
        # Former names count, unless somebody else has that name. Old Tom is not Tom.
        self._names = {person.name, *filter(None, theirs - known)}
        longer = (each for each in known if any(is_named(each, name) for name in self._names))
        self._longer = sorted(longer, key=len, reverse=True)
        mine_runs = set[tuple[str, ...]]()
        other_runs = set[tuple[str, ...]]()
        for memory in memories:
            text = _words_of(memory)
            own = memory.kind is not MemoryKind.PERCEPTION
            if not self.involves(memory):
                # An agent may have a word from the person, unless it used the word first.
                others |= set(_terms(text)) - mine if own else set(_terms(memory.text))
                other_runs |= set(_runs(text)) - mine_runs if own else set(_runs(text))
                continue
            self.numbers.add(memory.number)
            # Overheard words and the agent's answers are not the person's, nor how hearsay begins.
            if self._by_or_to(memory) and not own:
                hearsay = memory.event == HEARSAY
                text = text.partition(": ")[2] if hearsay and memory.heard else text
                mine |= set(_terms(text))
                mine_runs |= set(_runs(text))
        self._runs = mine_runs - other_runs
        self.rare = frozenset(t for t in mine - others if len(t) >= _LEAST)

    def involves(self, memory: Memory) -> bool:
        """Return whether the person said, did or was told it, or an agent mentioned them."""
        return self._by_or_to(memory) or self._overheard(memory)

    def _by_or_to(self, memory: Memory) -> bool:
        person = self.person
        # An agent that passes on what the person did stores its own act, addressed to somebody
        # else.
        if memory.event == HEARSAY and (
            person.key in (memory.about, memory.to_id) or self.named(memory.text)
        ):
            return True
        if memory.kind is MemoryKind.ACT:
            return memory.to in self._names or person.key == memory.to_id
        by_name = not memory.source_id and memory.source in self._names
        return memory.source_id == person.key or by_name

    def _overheard(self, memory: Memory) -> bool:
        person = self.person
        said = memory.heard
        if memory.kind is not MemoryKind.PERCEPTION:
            return self.named(memory.text)
        of_agent = memory.source_id in person.agents and self.named(memory.text)
        return of_agent or (said is not None and said.to_name in self._names)

    def named(self, text: str) -> bool:
        """Return whether ``text`` contains their name, other than as part of another name."""
        text = text.replace("’", "'")
        for longer in self._longer:
            text = re.sub(rf"(?<!\w){re.escape(longer)}(?!\w)", " ", text, flags=re.I)
        return any(is_named(text, name) for name in self._names)

    def matches(self, text: str, *, named: bool = True) -> bool:
        """Return whether ``text`` contains their words or, if ``named``, their name or memories."""
        if named and (self.person.key in text or self.named(text)):
            return True
        cited = {int(n) for each in _CITED.findall(text) for n in re.findall(r"\d{1,9}", each)}
        return bool(
            (named and cited & self.numbers)
            or self.rare & set(_terms(text))
            or self._runs & set(_runs(text))
        )

    def without(self, text: str) -> str:
        """Return ``text`` without the lines and sentences that contain their words or name."""
        return "\n".join(
            kept for line in text.split("\n") if (kept := self._kept(line)) is not None
        )

    def _kept(self, line: str) -> str | None:
        if line.startswith(_MARK) or not self.matches(line):
            return line
        left = " ".join(each for each in sentences(line) if not self.matches(each))
        return left if any(map(str.isalnum, left)) else None

    def cleaned(self, value: Any) -> Any:
        """Return a JSON or YAML value without their words, and without entries that hold them."""
        if isinstance(value, str):
            return self.without(value)
        if isinstance(value, list | tuple):
            return [self.cleaned(each) for each in value if not self._theirs(each)]
        if isinstance(value, dict):
            names = (k for k in value if self.person.key not in k and not self.named(k))
            return {k: self.cleaned(value[k]) for k in names}
        return value

    def _theirs(self, value: Any) -> bool:
        if isinstance(value, dict):
            return any(self._theirs(each) for each in value.values())
        if isinstance(value, list | tuple):
            return any(self._theirs(each) for each in value)
        return isinstance(value, str) and self.matches(value)


def forget(
    folder: Path,
    person: ForgottenPerson,
    profile: str = "",
    begin: Callable[[], None] = lambda: None,
) -> Traces | None:
    """Delete the person's words from an agent's folder.

    ``folder``: ``vault/agents/<name>``. No other process has its archive open. ``profile``: The
    agent's persona; its words never count as the person's own. ``begin``: Called before the first
    file is changed, if any is.

    Returns:
        The traces that were searched for; None if the agent's folder has nothing of the person.

    Raises:
        OSError: A file cannot be read or written. Running it again continues.
    """
    segments = sorted((folder / "archive").glob("*.jsonl"))
    traces = Traces(person, _memories(segments), profile)
    plugged = folder / PLUGGED
    files = [p for p in folder.rglob("*") if p.is_file() and p.parent.name != "archive"]
    files = [path for path in files if not path.is_relative_to(plugged)]
    if not traces.numbers and not any(_mentions(path, person) for path in files):
        return None
    begin()
    # Plugged-in memory systems have files of any form. They are rebuilt from the archive.
    if plugged.exists():
        shutil.rmtree(plugged)
    # Derived files come first, because the archive is needed to recognise them.
    for path in files:
        _clean_file(path, traces)
    for path in (folder / "archive").iterdir():
        if path.suffix in (".txt", ".tmp"):  # torn lines and unfinished files
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
    told = f"{_words_of(memory)} {memory.reason}"
    if not traces.involves(memory) and not (own and traces.matches(told, named=False)):
        return record
    kept = {key: record[key] for key in ("type", "n", "t", "kind", "place") if key in record}
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
    return kept | {"text": FORGOTTEN, "event": FORGOTTEN, "sha256": digest}


def _rewrite(path: Path, change: Callable[[dict[str, Any], str], dict[str, Any]]) -> None:
    """Rewrite a file of JSON lines. Unreadable lines are deleted: their owner is unknown."""
    lines = []
    # Not splitlines(): it also splits at line separators inside a text.
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
    if traces.matches(text):
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
    """Return whether a journal entry has lost its text and has only fields left."""
    lines = [line for line in section.split("\n")[1:] if line.strip()]
    return bool(lines) and all(line.startswith("- **") for line in lines)


def _mentions(path: Path, person: ForgottenPerson) -> bool:
    if path.name == ".lock":
        return False
    data = path.read_bytes()
    return person.key.encode() in data or person.name.encode() in data


def _words_of(memory: Memory) -> str:
    """Return what was said, or the text without the verb of an own act."""
    match memory.what:
        case Speech(words=words):
            return words
        case Pose(gesture=gesture) if memory.is_own:
            return gesture
        case Deed(objects=objects) if memory.is_own:
            return " ".join([*objects, memory.to])
    return memory.text


def _terms(text: str) -> Iterator[str]:
    return (word.casefold() for word in words(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    found = [*_terms(text)]
    # Four short common words in a row are nobody's own, so the run needs a minimum total length.
    for start in range(len(found) - _RUN + 1):
        run = tuple(found[start : start + _RUN])
        if sum(map(len, run)) >= _RUN * _LEAST:
            yield run


def _masked(char: str) -> str:
    """Return a masking character with the same number of bytes in UTF-8."""
    return "#·█𝄞"[len(char.encode("utf-8", "surrogateescape")) - 1]


def mask(path: Path, traces: Iterable[Traces]) -> None:
    """Overwrite the person's rare words in a log that is still being written to; blocks.

    The words are replaced character by character, so all positions in the log stay valid, in bytes
    and in characters. A compressed log of an earlier version is deleted.

    Raises:
        OSError: The log cannot be read or written.
    """
    terms = sorted({term for each in traces for term in each.rare}, key=len, reverse=True)
    if not terms:
        return
    if path.suffix == ".gz":
        path.unlink()
        return
    either = "|".join(map(re.escape, terms))
    # Keep JSON keys and the kind of an event, which readers need. ``\\n`` is JSON's line break.
    found = re.compile(rf'(?:(?<!\w)|(?<=\\n))(?<!"kind":")(?:{either})(?!\w)(?!":)', re.I)

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
