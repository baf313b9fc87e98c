"""What the buttons do: the same as the builders' commands in the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal

from django.http import HttpRequest
from ninja import Router
from pydantic import BaseModel, ConfigDict, StrictStr

from keepsake.agent.agent_log import log
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import Compacted
from keepsake.agent.mind import Mind, Tended
from keepsake.archive.records import Summary, Tier
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.audit import AUDIT, LONGEST, keep
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.cascade import CascadeMemory
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactReason, Outcome, Undone
from keepsake.web.access import NotAllowed, address_of, may_act
from keepsake.web.on_reactor import on_reactor
from keepsake.web.shapes import Done, Refused, iso
from keepsake.web.world import agent_with, mind_with, state_of

HASTE = 1.0
"""Seconds in which a compaction may end; after them the answer says only that it has begun."""

BUILDER = "builder"
"""Who writes, as the commands say it."""

type Deed = Callable[[AgentMixin, Mind, str], Tended]
"""What is done on the reactor thread for the account of that name."""

router = Router()
ONE = "/agents/{int:number}"
"""The address of an agent."""
_RESPONSES = {200: Done, frozenset({400, 403, 404, 405, 413, 415, 502, 503}): Refused}


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class PinLine(_Body):
    """A line to pin, or to unpin by its words or its number."""

    text: StrictStr


class NoteText(_Body):
    """A new note, or what to add to one."""

    title: StrictStr
    text: StrictStr


class SummaryEdit(_Body):
    """All new words of a summary."""

    kind: Literal["longterm", "recent"]
    at: StrictStr
    """When the summary that is changed was written, as it was shown: another is left alone."""
    text: StrictStr


# -- how it is


def _button(name: str, told: str, deed: Deed) -> None:
    """Add the address of a button that sends nothing but its name."""

    def press(request: HttpRequest, number: int) -> Done:
        return _done(request, number, name, deed)

    press.__name__, press.__doc__ = name, told
    router.post(f"{ONE}/{name}", response=_RESPONSES)(press)


_button("pause", "Let an agent perceive, but not think.", lambda agent, mind, _: mind.pause(agent))
_button("resume", "Let it think again.", lambda agent, mind, _: mind.resume(agent))
_button(
    "sleep", "Send it to bed.", lambda agent, mind, who: mind.put_to_bed(agent, who, here=False)
)
_button("wake", "Wake it, or keep it up.", lambda agent, mind, who: mind.wake(agent, who))


@router.post(f"{ONE}/compact", response=_RESPONSES)
def compact(request: HttpRequest, number: int) -> Done:
    """Compact its memory now; the outcome is told if it comes soon."""

    def deed(agent: AgentMixin, mind: Mind, tell: Callable[[Compacted], None]) -> str:
        mind.memory.compact(CompactReason.MANUAL, tell)
        return f"{agent.key}'s memory is being compacted; its compactions tell the outcome"

    return _awaited(request, number, "compact", deed, _compacted)


@router.post(f"{ONE}/undo", response=_RESPONSES)
def undo(request: HttpRequest, number: int) -> Done:
    """Take its last compaction back; the outcome is told if it comes soon."""

    def deed(
        agent: AgentMixin, mind: Mind, tell: Callable[[Undone | CompactionError], None]
    ) -> str:
        mind.memory.undo(tell)
        return f"{agent.key}'s last compaction is being taken back"

    return _awaited(request, number, "undo the last compaction of", deed, _undone)


def _awaited[T](
    request: HttpRequest,
    number: int,
    what: str,
    deed: Callable[[AgentMixin, Mind, Callable[[T], None]], str],
    in_words: Callable[[T], Tended],
) -> Done:
    """Begin it, and wait a moment for the outcome."""
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


@router.post(f"{ONE}/pin", response=_RESPONSES)
def pin(request: HttpRequest, number: int, body: PinLine) -> Done:
    """Pin a line: it is in all of its prompts."""

    def work(book: _Books) -> str:
        return f"Pinned: {book.keeper.pinned.add(body.text)}"

    return _kept(request, number, f"pin {body.text!r} for", work)


@router.post(f"{ONE}/unpin", response=_RESPONSES)
def unpin(request: HttpRequest, number: int, body: PinLine) -> Done:
    """Take a pinned line out."""

    def work(book: _Books) -> str:
        return f"No longer pinned: {book.keeper.pinned.remove(body.text)}"

    return _kept(request, number, f"unpin {body.text!r} of", work)


@router.post(f"{ONE}/note", response=_RESPONSES)
def note(request: HttpRequest, number: int, body: NoteText) -> Done:
    """Write a note, or add to it."""

    def work(book: _Books) -> str:
        made = book.keeper.write_note(body.title, body.text, place=book.place, by=BUILDER)
        return f"Written into the note {made.title}"

    return _kept(request, number, f"note {body.title!r} = {body.text!r} for", work)


@router.post(f"{ONE}/summary", response=_RESPONSES)
def summary(request: HttpRequest, number: int, body: SummaryEdit) -> Done:
    """Change a summary in its file, as a person would, and have that taken over."""

    def work(book: _Books) -> str:
        if not body.text.strip():
            raise KeepsakeError("A summary has words", "To be rid of it, undo the compaction")
        _adopt_edits(book)  # what somebody has just written into the file is not written over
        context = book.memory.context()
        found = context.longterm if body.kind == Tier.LONGTERM.value else context.recent
        if found is None or iso(found.time) != body.at or not _is_in_file(book, found):
            raise KeepsakeError("Another summary stands there by now", "Load it, and change that")
        book.summaries.edit(Tier(body.kind), body.text)
        notes = _adopt_edits(book)
        return "; ".join(notes) or "Written into its file, which the next compaction takes over"

    return _kept(request, number, f"change the {body.kind} summary of", work)


def _adopt_edits(book: _Books) -> list[str]:
    return book.memory.adopt_edits() if isinstance(book.memory, CascadeMemory) else []


def _is_in_file(book: _Books, summary: Summary) -> bool:
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
    """The account's name.

    Raises:
        NotAllowed: It is no builder's.
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
