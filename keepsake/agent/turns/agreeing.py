"""Does what the words of an answer agree to, for a model that writes no commands.

The deeds that the talk may be about come from :mod:`keepsake.agent.turns.offers`. The model says
itself which of them its answer agrees to.
"""

from __future__ import annotations

from keepsake.agent.surroundings.showing import show_person
from keepsake.agent.turns.answers.answering import Answering
from keepsake.agent.turns.asking import ModelCall, whole_answer
from keepsake.agent.turns.offers import Offer, offers_of
from keepsake.agent.turns.state import Turn
from keepsake.errors import KeepsakeError
from keepsake.events.types import Agreement
from keepsake.events.values import Assent
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Generation
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.questions.agreed import Agreed

log = get_logger(Subsystem.THOUGHTS)


async def do_agreed(turn: Turn) -> None:
    """Do the first deed that the words of the answer agree to, or say what it needs."""
    attempt = turn.attempt
    partner = turn.context.partner
    spoken = attempt.spoken
    if attempt.writes_deeds or partner is None or not spoken:
        return
    agent = turn.agent
    asked = turn.context.words
    prompts = turn.services.prompts["agreed"].current
    for offer in offers_of(agent, turn.context, turn.tools, asked, spoken):
        task = Agreed(prompts, str(agent.key), partner.name, asked, spoken, offer.deed)
        if not await _agrees(turn, task, offer):
            continue
        if offer.needs:
            show_person(turn.agent, partner, offer.needs)
        else:
            part = AnswerPart(PartKind.DEED, offer.deed)
            await Answering(turn, guard=None).carry_out(part)
        return


async def _agrees(turn: Turn, task: Agreed, offer: Offer) -> bool:
    """Ask the model whether its answer agrees to a deed, and log what it says."""
    services = turn.services
    began = services.seconds()
    found = await _assent(turn, task)
    agreed = found is Assent.AGREED
    services.events.emit(
        Agreement(
            agent=turn.thoughts.name,
            deed=offer.deed,
            found=found,
            hint=offer.needs if agreed else "",
            seconds=round(services.seconds() - began, 2),
            cause=turn.attempt.impulse.memory_number,
        )
    )
    return agreed


async def _assent(turn: Turn, task: Agreed) -> Assent:
    """Ask the model; without an answer, nothing is agreed to."""
    key = f"deed-{turn.ref.number}"
    call = ModelCall(turn.services, key, turn.priority, lambda profile, _: task.ask(profile, ""))
    try:
        outcome = await whole_answer(call, turn.wait)
        return task.read(outcome.text) if isinstance(outcome, Generation) else task.fallback()
    except KeepsakeError as error:  # no such profile, no model, or another answer
        log.info(f"It is not known what was agreed: {error}", agent=task.who)
        return task.fallback()
