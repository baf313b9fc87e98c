"""The dashboard's buttons. They do the same as the builders' commands in the game."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, StrictStr, StringConstraints
from twisted.python.failure import Failure

from keepsake.agent.memory.citing import cite
from keepsake.agent.mind import ActionResult, Mind
from keepsake.agent.runtime import now, runtime
from keepsake.agent.turns.prompts.prompting import Exchange
from keepsake.archive.summaries import Tier
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.audit import AUDIT, LONGEST, append
from keepsake.contrib.evennia.commands.agents import ACTIONS, change_profile
from keepsake.contrib.evennia.commands.compaction import compaction_result, undo_result
from keepsake.errors import KeepsakeError
from keepsake.events.values import Author, CompactReason
from keepsake.happening import Person
from keepsake.logs import Subsystem, get_logger
from keepsake.web.access import NotAllowed, acts, address_of, token_of
from keepsake.web.shapes import ERRORS, AsideView, Done, Refused
from keepsake.web.world import agent_with, mind_of_agent, mind_with, on_reactor

log = get_logger(Subsystem.WEB)

OUTCOME_SECONDS = 1.0
"""Seconds to wait for the end of a compaction. After that the answer says that it has begun."""

ANSWER_SECONDS = 120.0
"""Seconds to wait for an answer: a small model on a processor may need one minute."""
MOST_WITHOUT = 200
"""The most memories that a question leaves out."""
LONGEST_QUESTION = 500
"""Characters."""
LONGEST_KEY = 200
"""Characters of an identity."""
MOST_BEFORE = 20
"""The most questions that were asked before in a talk."""
LONGEST_ANSWER = 2000
"""Characters."""

type Action = Callable[[AgentMixin, Mind, str], ActionResult]
"""An action on the reactor thread, in the name of an account; returns its outcome."""

router = Router()
AGENT_PATH = "/agents/{int:number}"
"""The path of an agent's operations."""
RESPONSES = {200: Done, ERRORS: Refused}
_ANSWERS = {200: AsideView, ERRORS: Refused}


class RequestBody(BaseModel):
    """The base class of all request bodies."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class PinLine(RequestBody):
    """A line to pin; to unpin, its words or its number."""

    text: StrictStr


class NoteText(RequestBody):
    """A new note, or text to add to a note."""

    title: StrictStr
    text: StrictStr


class SummaryText(RequestBody):
    """A summary's new text."""

    tier: Tier
    text: StrictStr
    was: StrictStr
    """The text that the person began with: an edit of anything else is refused."""


class ProfileText(RequestBody):
    """An agent's new profile."""

    text: StrictStr
    was: StrictStr
    """The profile that the person began with."""


_Asked = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUESTION)]
_Answered = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ANSWER)]


class AskedBefore(RequestBody):
    """A question that was asked before in the same talk, and its answer."""

    question: _Asked
    answer: _Answered


class Question(RequestBody):
    """A question to an agent, outside the game."""

    question: _Asked
    without: Annotated[tuple[PositiveInt, ...], Field(max_length=MOST_WITHOUT)] = ()
    """The numbers of memories to leave out."""
    before: Annotated[tuple[AskedBefore, ...], Field(max_length=MOST_BEFORE)] = ()
    """What was asked before in the same talk. It is kept nowhere else."""
    by: Annotated[str, StringConstraints(max_length=LONGEST_KEY)] = ""
    """The identity of the person as whom to ask, whom the agent must know; empty for a stranger."""


def _button(name: str, description: str) -> None:
    """Add the operation of a button without a request body; ``description``: its help."""

    def press(request: HttpRequest, number: int) -> Done:
        return _run(request, number, name, ACTIONS[name])

    press.__name__ = name
    press.__doc__ = description
    router.post(f"{AGENT_PATH}/{name}", response=RESPONSES)(press)


_button("pause", "Let an agent perceive, but not think.")
_button("resume", "Let it think again.")
_button("sleep", "Send it to bed.")
_button("wake", "Wake it, or keep it awake.")


@router.post(f"{AGENT_PATH}/compact", response=RESPONSES)
def compact(request: HttpRequest, number: int) -> Done:
    """Compact an agent's memory now. Returns the outcome if it takes less than a second."""
    outcomes: SimpleQueue[Any] = SimpleQueue()

    def action(agent: AgentMixin, mind: Mind, _who: str) -> ActionResult:
        mind.compactions.compact(CompactReason.MANUAL).addCallback(outcomes.put)
        return True, f"{agent.key}'s memory is being compacted; see its compactions for the outcome"

    return _soon(outcomes, compaction_result, _run(request, number, "compact", action))


@router.post(f"{AGENT_PATH}/undo", response=RESPONSES)
def undo(request: HttpRequest, number: int) -> Done:
    """Undo an agent's last compaction. Returns the outcome if it takes less than a second."""
    outcomes: SimpleQueue[Any] = SimpleQueue()

    def action(agent: AgentMixin, mind: Mind, _who: str) -> ActionResult:
        mind.compactions.undo().addCallback(outcomes.put)
        return True, f"{agent.key}'s last compaction is being undone"

    what = "undo the last compaction of"
    return _soon(outcomes, undo_result, _run(request, number, what, action))


def _soon(outcomes: SimpleQueue[Any], describe: Callable[[Any], ActionResult], begun: Done) -> Done:
    with suppress(Empty):
        done, said = describe(outcomes.get(timeout=OUTCOME_SECONDS))
        return Done(done=done, said=said)
    return begun


@router.post(f"{AGENT_PATH}/compactions/{{int:made}}/sources", response=RESPONSES)
def ask_sources(request: HttpRequest, number: int, made: int) -> Done:
    """Ask the model once which memories the summary of a compaction tells, and keep its answer.

    Waits for the model, which may take minutes.
    """
    what = f"ask which memories compaction {made} tells, of"
    return edit_book(request, number, what, lambda mind: cite(mind.memory, runtime(), made))


@router.post(f"{AGENT_PATH}/pin", response=RESPONSES)
def pin(request: HttpRequest, number: int, body: PinLine) -> Done:
    """Pin a line: it will be in all of the agent's prompts."""
    what = f"pin {body.text!r} for"
    return edit_book(
        request, number, what, lambda mind: f"Pinned: {mind.books.pinned.add(body.text)}"
    )


@router.post(f"{AGENT_PATH}/unpin", response=RESPONSES)
def unpin(request: HttpRequest, number: int, body: PinLine) -> Done:
    """Unpin a line."""
    what = f"unpin {body.text!r} of"
    done = "Unpinned: {}".format
    return edit_book(request, number, what, lambda mind: done(mind.books.pinned.remove(body.text)))


@router.post(f"{AGENT_PATH}/note", response=RESPONSES)
def note(request: HttpRequest, number: int, body: NoteText) -> Done:
    """Write a note, or add text to a note."""

    def work(mind: Mind) -> str:
        made = mind.books.notes.write(body.title, body.text, now=now(), by=Author.BUILDER)
        return f"Written to the note {made.title}"

    return edit_book(request, number, f"note {body.title!r} = {body.text!r} for", work)


@router.post(f"{AGENT_PATH}/edit-summary", response=RESPONSES)
def edit_summary(request: HttpRequest, number: int, body: SummaryText) -> Done:
    """Edit a summary: the same as an edit of its file. Both versions stay."""
    return edit_book(
        request,
        number,
        f"edit the {body.tier} summary of",
        lambda mind: mind.memory.memory.edit_summary(body.tier, body.text, body.was),
    )


@router.post(f"{AGENT_PATH}/edit-profile", response=RESPONSES)
def edit_profile(request: HttpRequest, number: int, body: ProfileText) -> Done:
    """Change an agent's profile, as ``@agent <name> = <profile>`` does. The old one is kept."""

    def action(agent: AgentMixin, _mind: Mind, _who: str) -> ActionResult:
        if str(agent.db.profile or "").strip() != body.was.strip():
            return False, "The profile has changed meanwhile. Load the page again, then edit it"
        try:
            change_profile(agent, body.text)
        except KeepsakeError as error:
            return False, str(error)
        return True, "Profile changed. The next thought uses it"

    return _run(request, number, "change the profile of", action)


@router.post(f"{AGENT_PATH}/ask", response=_ANSWERS)
def ask(request: HttpRequest, number: int, body: Question) -> AsideView:
    """Ask an agent outside the game, perhaps as if it lacked some memories.

    Nobody hears question or answer, and neither is remembered: a talk of several questions sends
    those ``before``. Waits for the model, for two minutes at most.
    """
    outcomes: SimpleQueue[Any] = SimpleQueue()

    def action(_agent: AgentMixin, mind: Mind, _who: str) -> ActionResult:
        before = [Exchange(each.question, each.answer) for each in body.before]
        by = _known_person(mind, body.by) if body.by else None
        mind.ask_aside(body.question, body.without, before, by).addBoth(outcomes.put)
        return True, ""

    lacking = f" without the memories {body.without}" if body.without else ""
    taken = f" as {body.by}" if body.by else ""
    _run(request, number, f"ask {body.question!r}{lacking}{taken} of", action)
    try:
        answer = outcomes.get(timeout=ANSWER_SECONDS)
    except Empty as error:
        cure = "See how long the model takes in the agent's charts"
        raise KeepsakeError("The model has not answered in time", cure) from error
    if isinstance(answer, Failure):
        answer.raiseException()
    return AsideView.model_validate(answer)


def _known_person(mind: Mind, key: str) -> Person:
    page = mind.books.people.known.get(key)
    if page is None:
        raise KeepsakeError("The agent does not know this person", "Ask as somebody whom it met")
    return Person(page.name, key)


def _run(request: HttpRequest, number: int, what: str, action: Action) -> Done:
    """Do an action on the reactor thread, and log it in the audit log."""
    who = builder_of(request)

    @on_reactor
    def work() -> Done:
        agent = agent_with(number)
        mind = mind_with(number)
        done, said = action(agent, mind, who)
        audit(request, who, f"{what} {agent.key}", "" if done else said)
        return Done(done=done, said=said)

    return work()


def edit_book(request: HttpRequest, number: int, what: str, work: Callable[[Mind], str]) -> Done:
    """Do file work in the view's thread, with the same code as the in-game commands; log it."""
    who = builder_of(request)
    mind = mind_of_agent(number)
    try:
        done = True
        said = work(mind)
    except KeepsakeError as error:
        done = False
        said = str(error)
    on_reactor(audit)(request, who, f"{what} {mind.memory.name}", "" if done else said)
    return Done(done=done, said=said)


def builder_of(request: HttpRequest) -> str:
    """Return the account's name, or the token's; raises NotAllowed if it may not act."""
    if not acts(request):
        raise NotAllowed("Only builders may do this", "An administrator can make you one: @perm")
    if (token := token_of(request)) is not None:
        return f"token {token.name}"
    return str(request.user.get_username())


def audit(request: HttpRequest, who: str, what: str, problem: str = "") -> None:
    """Append an action to the audit log, which also has the in-game commands."""
    line = f"dashboard: {what}{problem and f' ({problem})'}"[:LONGEST]
    try:
        append(AUDIT, who=who, account=who, address=address_of(request), line=line)
    except OSError as error:
        log.error("The audit log could not be written", exc_info=error)
