"""An agent's notes: what it decided to keep, as markdown that people may edit.

Each note is one file in ``vault/agents/<name>/notes/``, with front matter (title, created, updated,
place, reason). The game only appends to it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

import frontmatter

from keepsake.books.files import NO_OWNER, Owner, RecordStore, free_name, pages, time_of
from keepsake.errors import NoteRefused
from keepsake.events.values import Author, MemoryOp, RecalledKind
from keepsake.language.perception import one_line, shorten
from keepsake.names import folder_name

LONGEST_TITLE = 60
LONGEST_ENTRY = 1000  # characters of one entry: what an agent writes at once
LONGEST_NOTE = 8000  # characters of a note, front matter excluded; a full note takes no entries
MOST_NOTES = 3000
"""Most notes of an agent. Each fact of `> remember` is one, so an agent that keeps eight a day has
room for a year."""
_ENTRY = re.compile(
    r"(?:\A|\n\n)\[(?P<day>\d{4}-\d\d-\d\d) \d\d:\d\d[^\]\n]*\] "
    r"(?P<text>.*?)(?=\n\n\[\d{4}-\d\d-\d\d |\Z)",
    re.S,
)
"""A later entry of a note: its day, its time and place, its words."""
_SOURCE = re.compile(r"^After [^\n]+? spoke \(memory \d+(?:, memory \d+)*\): ")
"""The beginning of an entry that :func:`after_words` makes."""
FORGOTTEN = "forgotten"  # subfolder for the notes that the agent has forgotten


@dataclass(frozen=True, slots=True)
class Note:
    """One note, as in its file."""

    title: str
    text: str  # the body; later entries begin with their date in square brackets
    created: datetime
    updated: datetime
    place: str
    reason: str
    path: Path

    @property
    def key(self) -> str:
        """Its id in an index, unique among the notes of one agent."""
        return f"{RecalledKind.NOTE}:{self.path.stem}"

    @property
    def digest(self) -> str:
        """A digest of title, text and place, the parts that an index holds."""
        content = "\0".join((self.title, self.text, self.place))
        return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]

    def has(self, text: str, day: date) -> bool:
        """Return whether an entry of that day has these words, whoever had spoken before it.

        Case, punctuation and line breaks may differ.
        """
        first = _ENTRY.split(self.text, 1)[0]
        entries = [(self.created.astimezone().date().isoformat(), first)]
        entries += [(each["day"], each["text"]) for each in _ENTRY.finditer(self.text)]
        wanted = _same(without_source(text)) or text
        return any(
            written == day.isoformat() and wanted in (_same(without_source(words)), words)
            for written, words in entries
        )


class NoteBook:
    """The notes of one agent; safe to use from several threads.

    Attributes:
        store: The note files as last read.
    """

    def __init__(self, folder: Path, owner: Owner = NO_OWNER) -> None:
        self.folder = folder
        self.store = RecordStore(parse_note, owner)

    # -- reading

    def all(self) -> list[Note]:
        """Return every readable note, sorted by title; reads only files that changed."""
        notes = self.store.refresh(pages(self.folder)).values()
        return sorted(notes, key=lambda note: (note.title.casefold(), note.path.name))

    def find(self, title: str) -> Note | None:
        """Return the note of that title, ignoring case and punctuation, or of that file name."""
        wanted = _same(title)
        notes = self.all()
        names = [(_same(note.title), note) for note in notes]
        names += [(_same(note.path.stem), note) for note in notes]
        return next((note for name, note in names if wanted and name == wanted), None)

    def holding(self, text: str, day: date) -> Note | None:
        """Return a note that has these words as an entry of that day; None if there is none."""
        return next((note for note in self.all() if note.has(text, day)), None)

    def changed_since(self, known: Mapping[str, str]) -> tuple[list[Note], list[str]]:
        """Return the notes that an index has to add or update, and the keys that it has to delete.

        A file that cannot be read now is in neither list.

        ``known``: The digest that the index holds for each :attr:`Note.key`.
        """
        notes = {note.key: note for note in self.all()}
        there = notes.keys() | {
            f"{RecalledKind.NOTE}:{path.stem}" for path in self.store.problems()
        }
        changed = [note for key, note in notes.items() if known.get(key) != note.digest]
        return changed, [key for key in known if key not in there]

    @property
    def problems(self) -> list[str]:
        """The problems of files that cannot be read, one sentence each."""
        self.all()
        return list(self.store.problems().values())

    # -- writing

    def write(
        self,
        title: str,
        text: str,
        *,
        place: str = "",
        reason: str = "",
        now: datetime,
        by: Author = Author.AGENT,
    ) -> Note:
        """Write a note, or append a dated entry to the note of that title.

        An entry that the note has already, of the same day and in the same words, is not written
        again.

        Args:
            place: Where the agent writes it.
            reason: Why, in the agent's words.
            by: Who writes it, for the event log.

        Raises:
            NoteRefused: Title or text is empty or too long, the note or the book is full, or the
                file cannot be read or written.
        """
        title = check_title(title)
        text = _checked_text(text)
        there = next((note for note in self.all() if _same(note.title) == _same(title)), None)
        if there is not None and there.has(text, now.astimezone().date()):
            return there
        path = there.path if there is not None else self._new_path(title)

        def make(before: str | None, old: Note | None) -> str:
            if before is None or old is None:
                return _written(Note(title, text, now, now, place, reason, path), {})
            where = f", {place}" if place and place != old.place else ""
            entry = f"[{now.astimezone():%Y-%m-%d %H:%M}{where}] {text}"
            if len(old.text) + len(entry) > LONGEST_NOTE:
                raise NoteRefused(
                    f"The note {old.title!r} is full "
                    f"({len(old.text):,} of {LONGEST_NOTE:,} characters)",
                    "Start another title, or forget this one",
                )
            grown = replace(old, text=f"{old.text}\n\n{entry}", updated=now)
            return _written(grown, frontmatter.parse(before)[0])

        _, note = self.store.change(path, make)
        self.store.emit(MemoryOp.NOTE, by, title=shorten(note.title, LONGEST_TITLE), size=len(text))
        return note

    def forget(self, title: str) -> Path:
        """Move a note into ``forgotten/``, where recall does not find it but it is not lost.

        Returns:
            The new path.

        Raises:
            NoteRefused: There is no such note, or it cannot be moved.
        """
        note = self.find(title)
        if note is None:
            raise self.unknown(title)
        aside = self.store.move_aside(note.path, self.folder / FORGOTTEN)
        self.store.emit(MemoryOp.UNNOTE, Author.AGENT, title=shorten(note.title, LONGEST_TITLE))
        return aside

    def unknown(self, title: str) -> NoteRefused:
        """Return the error that there is no such note, with the titles that exist."""
        titles = [note.title for note in self.all()]
        more = f" and {len(titles) - 8} more" if len(titles) > 8 else ""
        cure = f"There are: {', '.join(titles[:8])}{more}" if titles else "There are none yet"
        return NoteRefused(f"There is no note called {title[:LONGEST_TITLE]!r}", cure)

    def _new_path(self, title: str) -> Path:
        if len(self.all()) >= MOST_NOTES:
            raise NoteRefused(f"There are {MOST_NOTES} notes already", "Forget one first")
        # Do not touch a file of that name that has another title or cannot be read.
        return free_name(self.folder / f"{folder_name(_same(title))}.md")


def after_words(text: str, people: Sequence[str], memories: Sequence[int]) -> str:
    """Return the text of a note that says after whose words it was written: it may repeat a lie."""
    numbers = ", ".join(f"memory {number}" for number in memories)
    return f"After {' and '.join(people)} spoke ({numbers}): {text}"


def check_title(title: str) -> str:
    """Return the title as it will be stored: one line, single-spaced.

    Raises:
        NoteRefused: The title has no letter or digit, or is too long.
    """
    clean = one_line(title[: 10 * LONGEST_TITLE]).strip(" .:#-")
    if not _same(clean):
        raise NoteRefused("A note needs a title", "Write: note <title>: <text>")
    if len(clean) > LONGEST_TITLE:
        raise NoteRefused(f"The title has {len(clean)} characters", f"Use at most {LONGEST_TITLE}")
    return clean


def parse_note(path: Path, source: str, changed: datetime) -> Note:
    """Parse a note; a file without front matter is one too.

    Args:
        source: The text of the file.
        changed: When the file was changed last: the time of a note that names none.

    Raises:
        ValueError: The front matter begins and is not closed, or holds no names.
    """
    meta, body = frontmatter.parse(source)
    if source.startswith("---") and not meta:
        raise ValueError("its front matter is not closed or holds no names")
    return Note(
        title=str(meta.get("title") or path.stem.replace("-", " ")).strip(),
        text=body.strip(),
        created=time_of(meta.get("created"), changed),
        updated=time_of(meta.get("updated"), changed),
        place=str(meta.get("place") or ""),
        reason=str(meta.get("reason") or ""),
        path=path,
    )


def _written(note: Note, meta: Mapping[str, object]) -> str:
    """Return the text of a note's file; ``meta`` is its front matter with any custom fields."""
    post = frontmatter.Post(note.text)
    post.metadata = {
        "title": note.title,
        "created": note.created.isoformat(timespec="seconds"),
        "updated": "",
        "place": note.place,
        "reason": note.reason,
        "tags": [],  # for people to fill in
        **meta,
    }
    post.metadata["updated"] = note.updated.isoformat(timespec="seconds")
    return frontmatter.dumps(post, sort_keys=False) + "\n"


def _checked_text(text: str) -> str:
    clean = "\n".join(map(one_line, text.splitlines())).strip()
    if not clean:
        raise NoteRefused("The note has no text", "Write: note <title>: <text>")
    if len(clean) > LONGEST_ENTRY:
        raise NoteRefused(
            f"That is {len(clean):,} characters", f"Write at most {LONGEST_ENTRY:,} at once"
        )
    return clean


def _same(title: str) -> str:
    """Normalise a title: two titles with the same result mean the same note."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", one_line(title)).casefold()))


def without_source(text: str) -> str:
    """Return the text of a note without the beginning that :func:`after_words` made."""
    return _SOURCE.sub("", text)
