"""Does what the words of an answer agree to, for a model that writes no commands.

The deeds that the talk may be about come from :mod:`keepsake.agent.turns.offers`. The model says
itself which of them its answer agrees to.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from keepsake.tasks.questions.setting_off import PART, SettingOff
from keepsake.tasks.task import Prompts, Task

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
    offers = offers_of(agent, turn.context, turn.tools, asked, spoken)
    walks = [each for each in offers if each.place and PART in prompts.parts]
    for offer in offers:
        agreed: Offer | None = None
        if offer not in walks:
            task = Agreed(prompts, str(agent.key), partner.name, asked, spoken, offer.deed)
            agreed = await _agrees(turn, task, offer)
        elif offer is walks[0]:  # one question asks for all walks
            agreed = await _sets_off(turn, prompts, walks)
        if agreed is None:
            continue
        if agreed.needs:
            show_person(turn.agent, partner, agreed.needs)
        else:
            part = AnswerPart(PartKind.DEED, agreed.deed)
            await Answering(turn, guard=None).carry_out(part)
        return


async def _agrees(turn: Turn, task: Agreed, offer: Offer) -> Offer | None:
    """Ask the model whether its answer agrees to a deed; return the deed if it does."""
    began = turn.services.seconds()
    found = await _answer_to(turn, task)
    _log(turn, offer, found, began)
    return offer if found is Assent.AGREED else None


async def _sets_off(turn: Turn, prompts: Prompts, walks: Sequence[Offer]) -> Offer | None:
    """Ask the model where the agent goes after its answer; return that walk, None for none."""
    partner = turn.context.partner
    if partner is None:
        return None
    began = turn.services.seconds()
    places = {each.place: each for each in walks}
    name = str(turn.agent.key)
    words = turn.context.words
    task = SettingOff(prompts, name, partner.name, words, turn.attempt.spoken, tuple(places))
    chosen = places.get(await _answer_to(turn, task))
    _log(turn, chosen or walks[0], Assent.AGREED if chosen else Assent.TALK, began)
    return chosen


def _log(turn: Turn, offer: Offer, found: Assent, began: float) -> None:
    """Log what the model said of a deed; ``began``: when it was asked."""
    services = turn.services
    services.events.emit(
        Agreement(
            agent=turn.thoughts.name,
            deed=offer.deed,
            found=found,
            hint=offer.needs if found is Assent.AGREED else "",
            seconds=round(services.seconds() - began, 2),
            cause=turn.attempt.impulse.memory_number,
        )
    )


async def _answer_to[T](turn: Turn, task: Task[T]) -> T:
    """Ask the model; without an answer, nothing is agreed to."""
    key = f"deed-{turn.ref.number}"
    call = ModelCall(turn.services, key, turn.priority, lambda profile, _: task.ask(profile, ""))
    try:
        outcome = await whole_answer(call, turn.wait)
        return task.read(outcome.text) if isinstance(outcome, Generation) else task.fallback()
    except KeepsakeError as error:  # no such profile, no model, or another answer
        log.info(f"It is not known what was agreed: {error}", agent=turn.ref.name)
        return task.fallback()
