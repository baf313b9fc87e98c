"""What the buttons do: the same as the builders' commands in the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from django.http import HttpRequest

from game.web.api.answers import NotAllowed
from game.web.api.on_reactor import on_reactor
from game.web.api.openapi import BadRequest
from game.web.api.shapes import Done, iso
from game.web.api.snapshots import agent_with, mind_with, state_of
from game.web.site.access import may_act
from game.web.site.log_in import address_of
from keepsake.agent import tending
from keepsake.agent.agent_log import log
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import Compacted
from keepsake.agent.mind import Mind
from keepsake.agent_memory import AgentMemory
from keepsake.archive.records import Summary, Tier
from keepsake.compaction.cascade import CascadeMemory
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.memory import CompactReason, Outcome, Undone
from keepsake.summaries.files import SummaryFolder
from typeclasses.agents import Agent
from typeclasses.written_down import AUDIT, LONGEST, keep

HASTE = 1.0
"""Seconds in which a compaction may end before it is only told that it has begun."""

BUILDER = "builder"
"""Who writes, as the commands say it."""

type Deed = Callable[[Agent, Mind, str], tending.Tended]
"""What is done on the reactor thread for whoever bears that name."""


def agent_pause(request: HttpRequest, number: int) -> Done:
    """Let an agent perceive and remember, but not think."""
    return _done(request, number, "pause", lambda agent, mind, _: tending.pause(agent, mind))


def agent_resume(request: HttpRequest, number: int) -> Done:
    """Let it think again."""
    return _done(request, number, "resume", lambda agent, mind, _: tending.resume(agent, mind))


def agent_sleep(request: HttpRequest, number: int, here: bool) -> Done:
    """Send it to bed, or have it lie down where it is."""
    return _done(request, number, "sleep", partial(tending.put_to_bed, here=here))


def agent_wake(request: HttpRequest, number: int) -> Done:
    """Wake it, or keep it from going to bed."""
    return _done(request, number, "wake", tending.wake)


def agent_compact(request: HttpRequest, number: int) -> Done:
    """Compact its memory now; what comes of it is told if it comes soon."""

    def deed(agent: Agent, mind: Mind, tell: Callable[[Compacted], None]) -> str:
        mind.memory.compact(CompactReason.MANUAL, tell)
        return f"{agent.key}'s memory is being compacted; its compactions tell the outcome"

    return _awaited(request, number, "compact", deed, _compacted)


def agent_undo(request: HttpRequest, number: int) -> Done:
    """Take its last compaction back; what comes of it is told if it comes soon."""

    def deed(agent: Agent, mind: Mind, tell: Callable[[Undone | CompactionError], None]) -> str:
        mind.memory.undo(tell)
        return f"{agent.key}'s last compaction is being taken back"

    return _awaited(request, number, "undo the last compaction of", deed, _undone)


def _awaited[T](
    request: HttpRequest,
    number: int,
    what: str,
    deed: Callable[[Agent, Mind, Callable[[T], None]], str],
    in_words: Callable[[T], tending.Tended],
) -> Done:
    """Begin it, and wait a moment for what comes of it."""
    outcomes: SimpleQueue[T] = SimpleQueue()
    begun = _done(
        request, number, what, lambda agent, mind, _: (True, deed(agent, mind, outcomes.put))
    )
    try:
        done, said = in_words(outcomes.get(timeout=HASTE))
    except Empty:
        return begun
    return Done(done=done, said=said, state=begun.state)


def _compacted(outcome: Compacted) -> tuple[bool, str]:
    if isinstance(outcome, CompactionError):
        return False, f"Nothing was compacted: {outcome}"
    if outcome.outcome is Outcome.NOTHING:
        return False, f"Nothing to compact: {outcome.detail}"
    before, after = outcome.tokens_before, outcome.tokens_after
    return True, f"Compacted: {outcome.detail}; {before:,} tokens before, {after:,} now"


def _undone(outcome: Undone | CompactionError) -> tuple[bool, str]:
    if isinstance(outcome, CompactionError):
        return False, f"Nothing was taken back: {outcome}"
    left = f"{outcome.left} more can be taken back" if outcome.left else "No other is left"
    return True, f"Took back compaction {outcome.number}: {outcome.detail}. {left}"


# -- what it keeps: written in the view's thread, as it is a file


def agent_pin(request: HttpRequest, number: int, text: str) -> Done:
    """Pin a line."""
    return _kept(
        request, number, f"pin {text!r} for", lambda a: f"Pinned: {a.keeper.pin(text, by=BUILDER)}"
    )


def agent_unpin(request: HttpRequest, number: int, text: str) -> Done:
    """Take a pinned line out."""

    def work(book: _Books) -> str:
        return f"No longer pinned: {book.keeper.unpin(text, by=BUILDER)}"

    return _kept(request, number, f"unpin {text!r} of", work)


def agent_note(request: HttpRequest, number: int, title: str, text: str) -> Done:
    """Write a note, or add to it."""

    def work(book: _Books) -> str:
        note = book.keeper.write_note(title, text, place=book.place, by=BUILDER)
        return f"Written into the note {note.title}"

    return _kept(request, number, f"note {title!r} = {text!r} for", work)


def agent_summary(request: HttpRequest, number: int, kind: str, at: str, text: str) -> Done:
    """Change a summary in its file, as a person would, and have that taken over."""
    if kind not in [each.value for each in Tier]:
        raise BadRequest(f"kind cannot be {kind[:40]!r}", "Give longterm or recent")

    def work(book: _Books) -> str:
        if not text.strip():
            raise KeepsakeError("A summary has words", "To be rid of it, undo the compaction")
        _adopt_edits(book)  # what somebody has just written into the file is not written over
        context = book.memory.context()
        found = context.longterm if kind == Tier.LONGTERM.value else context.recent
        if found is None or iso(found.time) != at or not _stands_in_file(book, found):
            raise KeepsakeError("Another summary stands there by now", "Load it, and change that")
        book.summaries.edit(Tier(kind), text)
        notes = _adopt_edits(book)
        return "; ".join(notes) or "Written into its file, which the next compaction takes over"

    return _kept(request, number, f"change the {kind} summary of", work)


def _adopt_edits(book: _Books) -> list[str]:
    return book.memory.adopt_edits() if isinstance(book.memory, CascadeMemory) else []


def _stands_in_file(book: _Books, summary: Summary) -> bool:
    try:
        file = book.summaries.read(summary.tier)
    except ValueError as error:
        raise KeepsakeError(str(error), "Mend the file") from error
    return file is not None and file.text == summary.text.strip()


@dataclass(frozen=True, slots=True)
class _Books:
    """What a view's thread needs to write for an agent."""

    name: str
    keeper: MemoryTools
    memory: AgentMemory
    summaries: SummaryFolder
    place: str  # the room that it is in
    state: str


def _books(number: int) -> _Books:
    agent, mind = agent_with(number), mind_with(number)
    place = agent.location.key if agent.location else ""
    memory = mind.memory
    return _Books(agent.key, mind.keeper, memory.memory, memory.summaries, place, state_of(mind))


def _kept(request: HttpRequest, number: int, what: str, work: Callable[[_Books], str]) -> Done:
    """Do it here, in the view's thread, by what the commands in the game use as well."""
    who = _builder(request)
    books = on_reactor(lambda: _books(number))
    try:
        done, said = True, work(books)
    except KeepsakeError as error:
        done, said = False, str(error)
    on_reactor(lambda: _write_down(request, who, f"{what} {books.name}", "" if done else said))
    return Done(done=done, said=said, state=books.state)


def _builder(request: HttpRequest) -> str:
    """Who asks.

    Raises:
        NotAllowed: They are no builder.
    """
    if not may_act(request.user):
        raise NotAllowed("That is for builders", "Ask one, or to be made one: @perm")
    return str(request.user.get_username())


def _done(request: HttpRequest, number: int, what: str, deed: Deed) -> Done:
    """Do it on the reactor thread, and have it written down who did it."""
    who = _builder(request)

    def work() -> Done:
        agent, mind = agent_with(number), mind_with(number)
        done, said = deed(agent, mind, who)
        _write_down(request, who, f"{what} {agent.key}", "" if done else said)
        return Done(done=done, said=said, state=state_of(mind))

    return on_reactor(work)


def _write_down(request: HttpRequest, who: str, what: str, problem: str) -> None:
    """Into the agents' log, and into the audit log as the commands are."""
    log(f"[Dashboard] {who}: {what}" + (f" ({problem})" if problem else ""))
    line = f"dashboard: {what}"[:LONGEST]
    try:
        keep(AUDIT, who=who, account=who, address=address_of(request), line=line)
    except OSError as error:
        log(f"[Dashboard] This was not written into the audit log: {error.strerror}")
