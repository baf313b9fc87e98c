"""A turn of an agent, from its impulse to its deeds.

    Impulse → context → recall → Scene → Prompt → Attempt → [AnswerPart] → [Act] → Thought

The steps are functions over one :class:`~keepsake.agent.turns.state.Turn`, which holds what
changes. A thought waits in the model queue; its prompt is built when the queue reaches it, and its
answer is applied to the agent as it is by then. Everything runs on the reactor thread.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.showing import show_silence
from keepsake.agent.turns.abilities import invitation_to
from keepsake.agent.turns.attempt import Attempt, AttemptState, TurnDropped
from keepsake.agent.turns.by_model import attempt_by_model
from keepsake.agent.turns.by_rule import answer_by_rule
from keepsake.agent.turns.context import context_of
from keepsake.agent.turns.ending import end_answered, end_early, end_unanswered
from keepsake.agent.turns.prompts.recalling import recall_for_turn
from keepsake.agent.turns.prompts.rereading import reread
from keepsake.agent.turns.state import Turn
from keepsake.errors import KeepsakeError
from keepsake.events.values import ThoughtOutcome
from keepsake.logs import Subsystem, get_logger
from keepsake.recall.finding import SearchResult
from keepsake.tasks.task import TRIES

log = get_logger(Subsystem.THOUGHTS)

MOST_LOOKUPS = 3
"""How many times a look-up may return its result to the model within one turn."""


async def run_turn(turn: Turn) -> None:
    """Answer somebody, or act unprompted.

    Every exception is logged and suppressed, so that the agent can think again.
    """
    try:
        await _think(turn)
    except TurnDropped:
        if not turn.dropped:
            end_early(turn, ThoughtOutcome.DROPPED)
    except Exception as error:
        # A bug must not keep the agent from thinking again.
        log.error("The thought failed", agent=turn.agent.key, exc_info=error)
        end_early(turn, ThoughtOutcome.BROKE_OFF, repr(error))


def drop_turn(turn: Turn) -> None:
    """Cancel a turn. If an answer still arrives, it is dropped."""
    turn.dropped = True
    if turn.call is not None:
        turn.call.cancel()
    end_early(turn, ThoughtOutcome.DROPPED)


async def _think(turn: Turn) -> None:
    """Recall, ask the model, and do what it answers.

    The model sees the result of a look-up and goes on. The context is found once; each request
    brings it up to date (:meth:`Turn.take_in`).
    """
    has_model = _find_model(turn.services)
    turn.impulse = turn.as_planned(turn.impulse)
    turn.take_context(context_of(turn.agent, turn.impulse, turn.tools.memory))
    if turn.context.answered or turn.is_plan_gone:  # an earlier answer covered it already
        raise TurnDropped
    if not (has_model or turn.context.partner):
        raise TurnDropped  # without a model, an agent does nothing unprompted
    invited = invitation_to(turn.tools, turn.context) is not None
    by_rule = not has_model or (invited and not turn.services.acts_unprompted)
    for _ in range(1 + MOST_LOOKUPS):
        recalled = await turn.wait(recall_for_turn(turn.agent, turn.context, turn.tools))
        if by_rule:
            await answer_by_rule(turn, recalled)
            return
        recalled = await reread(turn, recalled)
        last = await _answer_by_model(turn, recalled)
        if not last.looked_up:
            return
        looked_up = (*turn.context.looked_up, *last.looked_up)
        turn.context = replace(turn.context, looked_up=looked_up)


def _find_model(services: Runtime) -> bool:
    """Publish the limits of the agents' model; return whether there is one, or rules answer."""
    try:
        services.update_limits()
        return services.agent_profile is not None
    except KeepsakeError:
        return True  # the model call reports a profile that cannot be used


async def _answer_by_model(turn: Turn, recalled: SearchResult | None) -> Attempt:
    """Ask the model, and do what it answers: one attempt, or two.

    A second one follows a refusal, and tells the model why the first part of its answer was
    refused; or a prompt that was too large.
    """
    refused = ""
    compactions = turn.tools.compactions
    for number in range(1, TRIES + 1):
        turn.attempt = AttemptState(number=number, impulse=turn.impulse)
        await turn.wait(compactions.make_room())
        attempt = await attempt_by_model(turn, recalled, refused)
        refused = attempt.fault
        if attempt.too_large and number < TRIES and compactions.no_room is None:
            continue  # its size is known now, so a compaction may make room
        if not attempt.has_answer:
            end_unanswered(turn, attempt)
            return attempt
        end_answered(turn, attempt)
        if not attempt.goes_again:
            return attempt
    if not attempt.vetoed:  # a game that forbids an answer wants silence
        show_silence(turn.agent, turn.impulse)
    return attempt
