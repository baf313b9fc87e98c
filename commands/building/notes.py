"""Builders read and write an agent's notes and its pinned block."""

from __future__ import annotations

from datetime import UTC, datetime

from commands.building.base import BuilderCommand, ago, one_line, plain, shortened, table
from commands.wording import counted
from keepsake.books.notes import Note, NoteBook
from keepsake.books.pins import LIMIT, Pinned
from keepsake.errors import KeepsakeError


class CmdNotes(BuilderCommand):
    """See the notes that an agent keeps.

    Usage:
      @notes <agent>

    Without a name the agent in the room is meant. The notes are files below
    |wvault/agents/<agent>/notes|n, which you may edit: the agent reads them as they
    are. One that cannot be read is named here and left alone. Notes that the agent
    forgot are in the folder |wforgotten|n.

    See also: |whelp @note|n, |whelp @pin|n, |whelp @recall|n
    """

    key = "@notes"

    def run(self) -> None:
        """List them."""
        agent = self.agent_named(self.args)
        name, book = agent.key, self.mind(agent).keeper.notes
        self.answer(lambda: _listed(name, book))


def _listed(name: str, book: NoteBook) -> str:
    notes, now = book.all(), datetime.now(UTC)
    problems = "".join(f"\n|r{plain(problem)}|n" for problem in book.problems)
    if not notes:
        return f"{name} has no notes.{problems}"
    rows = [
        (plain(each.title), ago(each.updated, now), len(each.text), plain(one_line(each.text, 80)))
        for each in notes
    ]
    shown = table(("Title", "Updated", "Size", "Text"), rows)
    return f"{shown}\n{counted(len(notes), 'note')} in {plain(str(book.folder))}{problems}"


class CmdNote(BuilderCommand):
    """Read an agent's note, or write into it.

    Usage:
      @note <agent>/<title>            read it
      @note <agent>/<title> = <text>   write it, or add an entry to it

    Without a name the agent in the room is meant: |w@note /well|n.
    What you write is the agent's own from then on: it may find it in any thought.

    Example:
      @note Mira/well = The cup lies at the bottom of the well.

    See also: |whelp @notes|n, |whelp @recall|n
    """

    key = "@note"

    def run(self) -> None:
        """Read or write one note."""
        name, sign, title = (self.lhs or "").partition("/")
        if not sign or not title.strip():
            raise KeepsakeError("Give an agent and a title", "As in: @note Mira/well = <text>")
        agent = self.agent_named(name)
        keeper, text, title = self.mind(agent).keeper, self.rhs, title.strip()
        if text is not None and not text.strip():
            cure = f"As in: @note {agent.key}/{plain(shortened(title))} = <text>"
            raise KeepsakeError("The note has no text", cure)
        owner, place = agent.key, agent.location.key if agent.location else ""

        def work() -> str:
            if text is None:
                return _shown(keeper.notes, title)
            note = keeper.write_note(title, text, place=place, by="builder")
            return f"|gWritten|n into {owner}'s note {plain(note.title)} ({plain(str(note.path))})."

        self.answer(work)


def _shown(book: NoteBook, title: str) -> str:
    note = book.find(title)
    if note is None:
        raise book.unknown(title)
    return _one(note)


def _one(note: Note) -> str:
    facts = [f"written {note.created:%Y-%m-%d %H:%M}", f"updated {note.updated:%Y-%m-%d %H:%M}"]
    facts += [f"in {note.place}"] if note.place else []
    facts += [f"because: {note.reason}"] if note.reason else []
    head = f"|w{plain(note.title)}|n ({plain('; '.join(facts))})"
    return f"{head}\n{plain(note.text)}\n|x{plain(str(note.path))}|n"


class CmdPin(BuilderCommand):
    """See or change what always stands in an agent's prompt.

    Usage:
      @pin <agent>                  the pinned block
      @pin <agent> = <text>         pin a line
      @pin/remove <agent> = <n>     take a line out, by its number or its words

    Without a name the agent in the room is meant. No compaction touches the
    block. It stands in every prompt, so it is short. What the agent pinned itself
    is marked; only that can it let go of, and if there is too little room, what
    builders pinned is shown first.

    Example:
      @pin Mira = Tom owes me six pence.

    See also: |whelp @notes|n, |whelp @memory-status|n
    """

    key = "@pin"
    aliases = ("@pins",)
    switch_options = ("remove",)

    def run(self) -> None:
        """Show the block, or change it."""
        agent = self.agent_named(self.lhs)
        name, keeper, text = agent.key, self.mind(agent).keeper, self.rhs
        remove = "remove" in self.switches
        if text is not None and not text.strip():
            what = "Nothing is named to be taken out" if remove else "There is nothing to pin"
            raise KeepsakeError(what, f"As in: @pin{'/remove' * remove} {name} = <text>")

        def work() -> str:
            told = ""
            if remove:
                told = f"|gNo longer pinned:|n {plain(keeper.unpin(text or '', by='builder'))}\n"
            elif text is not None:
                told = f"|gPinned:|n {plain(keeper.pin(text, by='builder'))}\n"
            return told + _block(name, keeper.pinned)

        self.answer(work)


def _block(name: str, pinned: Pinned) -> str:
    lines = pinned.lines
    if not lines:
        return f"Nothing is pinned for {name}."
    used, shown, own = sum(map(len, lines)), len(pinned.shown), set(pinned.own)
    rows = [
        f"{number:>3}. {plain(line)}{f' |x(by {name} itself)|n' if line in own else ''}"
        for number, line in enumerate(lines, start=1)
    ]
    over = f"\n|rOnly {shown} of them are shown to {name}.|n" if shown < len(lines) else ""
    title = f"|w{name}'s pinned block|n ({used:,} of {LIMIT:,} characters)"
    return "\n".join([title, *rows]) + over
