"""The tools with which an agent writes for itself: notes, pins, facts to remember."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count

from keepsake.agent.memory.books import Books
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import is_private
from keepsake.books.kept_lines import PINNED_LIMIT
from keepsake.books.notes import after_words
from keepsake.language.perception import for_prompt
from keepsake.prompt import results
from keepsake.prompt.verbs import Command

_TEXT_LIMIT = 20_000
"""Characters of a note or a pin that are passed on. Its book has a limit of its own."""


class NoteTools:
    """The tool calls that write what the agent alone reads. A method blocks, unless it says so.

    Each takes a command and the place where the agent is, and returns its result in a line.
    """

    def __init__(self, memory: MemoryComponent, books: Books, services: Runtime) -> None:
        self._memory = memory
        self._books = books
        self._services = services

    def with_source(self, command: Command, seen: int) -> Command:
        """Return the command with who spoke since the agent's last words: it may repeat a lie.

        Quick, on the reactor thread. ``seen``: The newest memory of the prompt; 0 for any.
        """
        known = [m for m in self._memory.memory.context().window if not seen or m.number <= seen]
        since = next((m.answers or m.number for m in reversed(known) if m.said), 0)
        said = ((m.heard, m.number) for m in known if not is_private(m))
        spoke = [(words.speaker, number) for words, number in said if words is not None]
        last = {who: n for who, n in spoke if n > since} or dict(spoke[-1:])
        text = for_prompt(command.words, limit=_TEXT_LIMIT)
        if last:
            text = after_words(text, [who.name for who in last], [*last.values()])
        return replace(command, words=text)

    def note(self, command: Command, place: str) -> str:
        """Add to the note of that title, or begin it."""
        now = self._services.clock.now()
        reason = command.reason
        known = self._books.notes.find(command.thing)
        if known is not None and known.has(command.words, now.astimezone().date()):
            return f"{results.NOTED}{known.title!r}"
        note = self._books.notes.write(
            command.thing, command.words, place=place, reason=reason, now=now
        )
        how = results.ADDED if note.created != note.updated else results.KEPT
        return f"{how}{note.title!r}"

    def forget(self, command: Command, _place: str) -> str:
        """Put a note away."""
        note = self._books.notes.find(command.argument)
        aside = self._books.notes.forget(command.argument)
        return f"{results.PUT_AWAY}{note.title if note is not None else aside.stem!r} away"

    def pin(self, command: Command, _place: str) -> str:
        """Pin a line, which is in all prompts from now on."""
        line = self._books.pinned.add(command.words, own=True)
        used = sum(len(pin.text) for pin in self._books.pinned.items)
        return f"{results.PINNED}{line} ({used:,} of {PINNED_LIMIT:,} characters used)"

    def unpin(self, command: Command, _place: str) -> str:
        """Take a pin of its own away."""
        return f"{results.UNPINNED}{self._books.pinned.remove(command.argument, only_own=True)}"

    def remember(self, command: Command, place: str) -> str:
        """Keep a fact as a note of its own, with its day as the title; recall finds it."""
        now = self._services.clock.now().astimezone()
        known = self._books.notes.holding(command.words, now.date())
        if known is not None:
            return f"{results.NOTED}{known.title!r}"
        day = f"Remembered on {now.day} {now:%B %Y}"
        taken = {note.title for note in self._books.notes.all()}
        later = (f"{day} ({number})" for number in count(2))
        title = next(each for each in chain([day], later) if each not in taken)
        return self.note(replace(command, thing=title), place)

    def keep_private(self, command: Command, _place: str) -> str:
        """Keep a fact that was told in private: the memory of this act holds it, and no file.

        So those alone may be shown it, by recall too, who may know the act.
        """
        return f"{results.KEPT_PRIVATE}{command.words}"
