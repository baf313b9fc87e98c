"""Asks the model whether words may reach somebody who does not know what was whispered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.agent.turns.asking import ModelCall, whole_answer
from keepsake.agent.turns.consent.shown import Untold, untold_to
from keepsake.agent.turns.consent.wanted import WordsFor
from keepsake.agent.turns.state import Turn
from keepsake.archive.privacy import Audience
from keepsake.errors import KeepsakeError
from keepsake.events.types import Consent
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.tasks.questions.passing_on import PassedOn, PassingOn
from keepsake.tasks.task import AnswerRefused

MOST_QUESTIONS = 2
"""The most questions of a turn: an errand leads to one person, and back to who sent the agent."""

log = get_logger(Subsystem.THOUGHTS)


@dataclass(frozen=True, slots=True)
class Leave:
    """The leave to say words to somebody.

    Attributes:
        givers: The identities of those who allow it: they know all that the prompt held in private
            and that person does not know.
        number: The memory that asks for it; 0 for none.
        tells: Whether the words may tell of what was said in private, as that memory asks. Else
            they hold nothing of it, or an open request asks for them.
    """

    givers: Audience
    number: int = 0
    tells: bool = True


async def leave_for(turn: Turn, wanted: WordsFor, words: Sequence[str]) -> Leave | None:
    """Return the leave to say words to a person; None without it.

    The model is asked once for the same words while nothing more was said in private.

    Args:
        wanted: For whom they are.
        words: All that the answer would say to that person.
    """
    to = wanted.to
    untold = await untold_to(turn, wanted)
    if untold is None:
        return None
    asked = turn.tools.consents
    keys = [(to.id, each, untold.heard, wanted.aloud) for each in words]
    found = {each: asked[each] for each in keys if each in asked}
    answer: PassedOn | None = None
    if len(found) == len(keys):
        answer = next((each for each in found.values() if not each.may), found[keys[0]])
    elif turn.questions < MOST_QUESTIONS:
        turn.questions += 1
        answer = await _ask(turn, wanted, words, untold)
        if answer is not None:
            asked.update(dict.fromkeys(keys, answer))
    if answer is None or not answer.may:
        return None
    number = 0 if answer.line is None else untold.numbers[answer.line]
    private = turn.tools.memory.private
    # The plan that is due has no number, and may be private.
    is_open = bool(number) and private.confidants(number) is None
    return Leave(untold.givers, number, tells=answer.line is not None and not is_open)


async def _why_unasked(turn: Turn) -> str:
    """Return why the agents' model may not decide it; empty if it has been found to keep secrets.

    Raises:
        KeepsakeError: There is no such profile, or no model.
    """
    found = await turn.wait(turn.services.secret_trial.result(turn.priority))
    if found is None:
        return "it is not known yet whether it keeps secrets"
    return "" if found.keeps_secrets else f"does it keep secrets? {found}"


async def _ask(
    turn: Turn, wanted: WordsFor, words: Sequence[str], untold: Untold
) -> PassedOn | None:
    """Ask the model, and log what it says. An unclear answer is no; None without any.

    A model that does not keep secrets (:class:`SecretTrial`) is not asked.
    """
    services = turn.services
    began = services.seconds()
    task = PassingOn(
        services.prompts["passing_on"].current,
        str(turn.agent.key),
        wanted.to.name,
        untold.lines,
        words,
        untold.sent,
        wanted.aloud,
    )

    def request(profile: ModelProfile, _: float) -> GenerationRequest:
        return profile.request(task.ask(profile, ""))

    found: PassedOn | None = None
    unasked = ""
    try:
        unasked = await _why_unasked(turn)
        if not unasked:
            call = ModelCall(services, f"consent-{turn.ref.number}", turn.priority, request)
            turn.call = call
            outcome = await whole_answer(call, turn.wait)
            if isinstance(outcome, Generation):
                found = task.read(outcome.text)
            else:
                unasked = str(outcome or "the call was cancelled")
    except AnswerRefused as refused:
        found = task.fallback()
        log.info(f"It is not said: {refused}", agent=task.who)
    except KeepsakeError as error:  # no such profile, no model
        unasked = str(error)
    if unasked:
        log.info(f"It is not said, for the agents' model was not asked: {unasked}", agent=task.who)
    names = {each.id: each.name for each in turn.tools.people_known}
    said = found or task.fallback()
    first = () if said.line is None else (untold.numbers[said.line],)
    services.events.emit(
        Consent(
            agent=turn.thoughts.name,
            to=wanted.to.name,
            words="\n".join(words),
            found=said.found,
            of=tuple(names.get(each, each) for each in sorted(untold.givers)),
            memories=tuple(filter(None, dict.fromkeys((*first, *untold.numbers)))),
            seconds=round(services.seconds() - began, 2),
            cause=turn.attempt.impulse.memory_number,
            unasked=unasked,
        )
    )
    return found
