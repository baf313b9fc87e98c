"""Does what the words of an answer agree to, for a small model, which leaves the deeds out.

The deeds that the talk may be about come from :mod:`keepsake.agent.turns.offers`. The model says
itself which of them its answer agrees to. One that writes its deeds is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.acting.acts import SPEECH, Basis
from keepsake.agent.surroundings.people import hosts_guests
from keepsake.agent.surroundings.showing import show_person
from keepsake.agent.turns.answers.answering import Answering
from keepsake.agent.turns.asking import ModelCall, whole_answer
from keepsake.agent.turns.offers import Offer, offers_of
from keepsake.agent.turns.state import Turn
from keepsake.errors import KeepsakeError
from keepsake.events.types import Agreement
from keepsake.events.values import Assent
from keepsake.happening import KnownVerb, Person
from keepsake.language.perception import one_line
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Generation
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import spoken_to
from keepsake.tasks.questions.agreed import Agreed
from keepsake.tasks.questions.passing_word import PART as ERRAND
from keepsake.tasks.questions.passing_word import PassingWord
from keepsake.tasks.questions.sent_to import PART as SENT
from keepsake.tasks.questions.sent_to import SentTo
from keepsake.tasks.questions.setting_off import PART, SettingOff
from keepsake.tasks.task import Prompts, Task

log = get_logger(Subsystem.THOUGHTS)

_TALK = SPEECH | {KnownVerb.EMOTE}
"""Verbs after which an answer may still lack the deed that its words agree to."""


async def do_agreed(turn: Turn) -> None:
    """Do the first deed that the words of the answer agree to, or say what it needs."""
    attempt = turn.attempt
    partner = turn.context.partner
    spoken = attempt.spoken
    if not _may_lack_deeds(turn) or partner is None or not spoken:
        return
    agent = turn.agent
    asked = turn.context.words
    prompts = turn.services.prompts["agreed"].current
    offers = offers_of(agent, turn.context, turn.tools, asked, spoken)
    may_send = {SENT, ERRAND} <= {*prompts.parts} and turn.services.secret_trial.knows_errands
    offers = [each for each in offers if each.errand is None or may_send]
    walks = [each for each in offers if each.place and PART in prompts.parts]
    errands = [each for each in offers if each.errand is not None]
    for offer in offers:
        agreed: Offer | None = None
        group = next((each for each in (walks, errands) if offer in each), None)
        if group is None:
            task = Agreed(prompts, str(agent.key), partner.name, asked, spoken, offer.deed)
            agreed = await _agrees(turn, task, offer)
        elif offer is group[0]:  # one question asks for all walks, one for all errands
            agreed = await _sets_off(turn, prompts, group)
        if agreed is None:
            continue
        await _do(turn, prompts, agreed, partner)
        return


def _may_lack_deeds(turn: Turn) -> bool:
    """Whether the words of an answer may agree to a deed that the model has not written.

    A chat model can write it. One that has failed the trial may not have, if it has only talked.
    """
    if not turn.attempt.writes_deeds:
        return True
    done = {act.command.verb for act in turn.attempt.acts if act.command is not None}
    return done <= _TALK and turn.services.secret_trial.is_failed


async def _do(turn: Turn, prompts: Prompts, agreed: Offer, partner: Person) -> None:
    """Do what the answer agrees to."""
    if agreed.needs:
        show_person(turn.agent, partner, agreed.needs)
    elif agreed.errand is not None:
        await _plan_errand(turn, prompts, agreed.errand, partner)
    else:
        part = AnswerPart(PartKind.DEED, agreed.deed)
        await Answering(turn, guard=None).carry_out(part)


async def _plan_errand(turn: Turn, prompts: Prompts, to: Person, partner: Person) -> None:
    """Plan to tell somebody elsewhere what the partner asks for, and begin with it.

    An agent that stays with its guests tells them when they come. The words are made of the request
    alone, which was aloud: the plan can tell nothing that its prompt held in private.
    """
    agent = turn.agent
    name = str(agent.key)
    asked = turn.context.words
    words = await _answer_to(turn, PassingWord(prompts, name, partner.name, asked, to.name))
    when = f"when {to.name} comes" if hosts_guests(agent) else "now"
    line = f"{when}, {to.name}: {spoken_to(KnownVerb.TALK, to.name, one_line(words)).line}"
    impulse = turn.attempt.impulse
    basis = Basis(rests_on=tuple(filter(None, [impulse.memory_number])), partner=partner.id)
    act = turn.actor.do(agent, Command(KnownVerb.PLAN, line, words=line), basis=basis)
    turn.attempt.acts.append(act)
    if act.result is not None:
        await turn.wait(act.result)
    if turn.tools.plans is not None:
        turn.tools.plans.check()


async def _agrees(turn: Turn, task: Agreed, offer: Offer) -> Offer | None:
    """Ask the model whether its answer agrees to a deed; return the deed if it does."""
    began = turn.services.seconds()
    found = await _answer_to(turn, task)
    _log(turn, offer, found, began)
    return offer if found is Assent.AGREED else None


async def _sets_off(turn: Turn, prompts: Prompts, walks: Sequence[Offer]) -> Offer | None:
    """Ask the model where or to whom the agent goes after its answer; None: it stays.

    ``walks``: Walks to places, or else walks to people.
    """
    partner = turn.context.partner
    if partner is None:
        return None
    began = turn.services.seconds()
    goals = {each.goal: each for each in walks}
    ask = SettingOff if walks[0].place else SentTo
    name = str(turn.agent.key)
    words = turn.context.words
    task = ask(prompts, name, partner.name, words, turn.attempt.spoken, tuple(goals))
    chosen = goals.get(await _answer_to(turn, task))
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
