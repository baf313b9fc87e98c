"""Answers a person by rule, for an agent without a model or for one that cannot act."""

from __future__ import annotations

from functools import partial
from random import Random

from keepsake.agent.acting.acts import Basis
from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import TOOL_SECONDS, MemoryTools
from keepsake.agent.plans.invitations import Invitation
from keepsake.agent.surroundings.routes import place_names
from keepsake.agent.surroundings.showing import show_person
from keepsake.agent.turns.abilities import invitation_to
from keepsake.agent.turns.answers.answering import Answering
from keepsake.agent.turns.attempt import AttemptState, TurnDropped
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.ending import end_answered
from keepsake.agent.turns.state import Turn
from keepsake.books.persona import open_lines
from keepsake.errors import KeepsakeError
from keepsake.happening import Person, Pose
from keepsake.language.perception import names
from keepsake.language.when import names_an_hour
from keepsake.logs import Subsystem, get_logger
from keepsake.prompt.verbs import bare_name
from keepsake.recall.documents import DocumentKind
from keepsake.recall.finding import SearchResult
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.fallback import FallbackLine, answer

log = get_logger(Subsystem.THOUGHTS)


async def answer_by_rule(turn: Turn, recalled: SearchResult | None) -> None:
    """Answer the partner of a turn by rule: an invitation with yes or no, else with a reply.

    Raises:
        TurnDropped: Nobody waits for an answer any more, or the turn has ended.
    """
    wanted = turn.take_newer()
    if wanted is None:
        raise TurnDropped
    turn.take_in(wanted)
    partner = turn.context.partner
    if partner is None:
        raise TurnDropped
    basis = basis_of_rule(turn.impulse, recalled)
    turn.attempt = AttemptState(number=1, impulse=turn.impulse, basis=basis)
    invitation = invitation_to(turn.tools, turn.context)
    if invitation is None:
        part = reply_by_rule(turn.agent, turn.context, partner, recalled, turn.tools)
        hint = hint_to_meet(turn.agent, turn.context.words)
        if hint:
            show_person(turn.agent, partner, hint)
    else:
        words = await _settle(turn, invitation, partner)
        part = AnswerPart(PartKind.SPEECH, words)
    await Answering(turn, guard=None).carry_out(part)
    end_answered(turn, turn.attempt.as_attempt())


async def _settle(turn: Turn, invitation: Invitation, partner: Person) -> str:
    """Answer an invitation by rule, and return the words: yes if the agent is free then."""
    appointments = turn.tools.appointments
    assert appointments is not None  # it has the invitation
    agrees = appointments.is_free(invitation.at)
    settle = partial(appointments.settle, partner, agrees=agrees)
    try:
        await turn.wait(turn.services.in_thread(settle, TOOL_SECONDS))
    except KeepsakeError as error:
        log.warning("An invitation failed", agent=turn.agent.key, exc_info=error)
        agrees = False
    return appointments.answer_line(invitation, turn.context.words, agrees=agrees)


def basis_of_rule(impulse: Impulse, recalled: SearchResult | None) -> Basis:
    """Return what a reply by rule rests on: the words that it answers, and what was recalled."""
    hits = recalled.of(DocumentKind.MEMORY) if recalled else []
    numbers = {hit.document.first for hit in hits} | {impulse.memory_number}
    return Basis(rests_on=tuple(sorted(numbers - {0})))


def hint_to_meet(agent: Body, words: str) -> str:
    """Return how a player asks an agent to meet, if the words name a place and an hour; else empty.

    A rule does not understand a request in free words. It does not guess what was asked, and says
    how to ask.
    """
    if not names_an_hour(words):
        return ""
    place = next((each for each in sorted(place_names(agent)) if names(words, bare_name(each))), "")
    command = f"meet {agent.key.casefold()} at {place} <when>"
    nobody = f"No model thinks for {agent.key} now"
    return f"({nobody}. To ask {agent.key} to meet you: {command})" if place else ""


def reply_by_rule(
    agent: Body,
    context: TurnContext,
    partner: Person,
    recalled: SearchResult | None,
    tools: MemoryTools,
) -> AnswerPart:
    """Return a reply to the partner, for when there is no model.

    It uses the agent's persona, and what this partner said before.
    """
    memory = tools.memory
    window = memory.private.heard_by(memory.memory.context().window, context.audience)
    hits = recalled.of(DocumentKind.MEMORY) if recalled else []
    scores = {hit.document.first: hit.score for hit in hits}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    for each in (*(hit.document.memory() for hit in hits), *window):
        told = each.heard if each.number < context.impulse.memory_number else None
        if told is not None and told.speaker.is_same(partner):
            score = scores.get(each.number, 0.0)
            whole = told.words == told.shown
            lines.append(FallbackLine(told.words, each.number, score, whole))
    kind = context.impulse.kind
    own = [each for each in window if each.is_own]
    said_before = [each.what.gesture if isinstance(each.what, Pose) else each.words for each in own]
    return answer(
        context.words,
        agent=agent.key,
        partner=", ".join([partner.name, *(each.name for each in context.impulse.others)]),
        said_before=said_before,
        lines=lines,
        rng=Random(memory.newest),
        arrival=kind is ImpulseKind.ARRIVAL and not context.words,
        asks_to_meet=bool(hint_to_meet(agent, context.words)),
        given="something" if kind is ImpulseKind.GIVEN and not context.words else "",
        page=_lines_of_page(context, partner, tools),
    )


def _lines_of_page(context: TurnContext, partner: Person, tools: MemoryTools) -> list[FallbackLine]:
    """Return what the partner said before, as their page has it and the audience may hear it."""
    page = tools.books.people.known.get(partner.key)
    if page is None:
        return []
    private = tools.memory.private
    return [
        FallbackLine(each.text, each.numbers[-1])
        for each in page.lines
        if each.said
        and each.numbers[-1] < context.impulse.memory_number
        and private.may_hear(each.numbers, context.audience)
    ]
