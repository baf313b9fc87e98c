"""What an agent thinks about: which lines, arrivals and departures are a reason for a thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeGuard

from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.addressing import impulse_of, mention_in
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent, is_character
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.turns.waiting import left_unanswered
from keepsake.archive.message_types import BY_RULE
from keepsake.archive.records import Memory
from keepsake.contrib.evennia.characters import (
    answers_room,
    greeter,
    listeners,
    may_join_in,
    note_partner,
)
from keepsake.contrib.evennia.hearing import object_of
from keepsake.contrib.evennia.meaning import Heard
from keepsake.contrib.evennia.minds import mind_of
from keepsake.errors import KeepsakeError
from keepsake.happening import (
    ME,
    Manner,
    Person,
    Pose,
    Speech,
    What,
    actor_of,
    addressees_of,
)
from keepsake.language.perception import is_question, sentences

CALLED_SECONDS = 15.0
"""Seconds for which a question to the room waits for the person whom it calls, who reads and types.
Then it falls to the agents, whose answer takes as long again."""


def react(agent: Body, mind: Mind, heard: Heard, number: int) -> None:
    """Let an agent think about what it perceived, if that is worth a thought.

    ``number``: The number of the memory; 0 if it waits for the disk.
    """
    source = actor_of(heard.what)
    speaker = object_of(source.id) if source is not None else None
    if speaker is None or speaker is agent:
        return
    event = impulse_of(agent, speaker, heard.what, event=heard.kind, private=heard.private)
    if event is not None and event.from_player:
        event = _of_player(agent, mind, event, speaker, heard.what)
    if event is None:
        _heed(agent, mind, speaker, heard, number)
        return
    if _may_react(agent, heard.line, speaker, heard.kind, event.kind):
        by_agent = event.kind is ImpulseKind.ADDRESSED and not event.from_player
        # What its plan waits for is answered by the next step of the plan.
        answers_plan = by_agent and mind.plans.steps.answer(event.person)
        wanted = None if answers_plan else _worth_a_thought(agent, speaker, event, heard.what)
        if wanted is not None and wanted.called:
            ask = partial(_ask_all, agent, replace(wanted, memory_number=number))
            runtime().scheduler.later(CALLED_SECONDS, ask)
        elif wanted is not None:
            mind.thinker.notice(replace(wanted, memory_number=number))
        elif not answers_plan:
            _heed(agent, mind, speaker, heard, number, event=event)
    mind.sleeper.notice(event)


def _of_player(
    agent: Body, mind: Mind, event: Impulse, player: CharacterObject, what: What
) -> Impulse | None:
    """Return the event of a player as it is for this agent; None if it is for another one."""
    event = _with_addressee(agent, event, player, what)
    if event.aside:
        mind.thinker.drop_greeting(event.who)
        return None
    joins = may_join_in(agent, player, runtime().seconds())
    return None if event.kind is ImpulseKind.HEARD and not joins else event


def _heed(
    agent: Body,
    mind: Mind,
    speaker: CharacterObject,
    heard: Heard,
    number: int,
    *,
    event: Impulse | None = None,
) -> None:
    """Let an agent think about words that ask nothing of it, if they bear on what it means to do.

    Words that the world speaks by rule are no such reason. One agent heeds a line, so that it costs
    one more call at most: in a company, all may mean to do the same.

    Args:
        number: The number of the memory of the words.
        event: The impulse of words of another agent to this one; None for words to others.
    """
    what = heard.what
    if not isinstance(what, Speech) or what.manner not in (Manner.SAY, Manner.SHOUT):
        return
    room = agent.location
    happening = heard.facts.get("happening", "")
    if heard.kind in BY_RULE or heard.private or room is None or room.ndb.heeded == happening:
        return
    wishes = call_hook(agent, "wishes", list | tuple | set | frozenset, ())
    why = mind.thinker.unprompted.concern_in(agent, what.words, [*map(str, wishes)])
    if not why:
        return
    room.ndb.heeded = happening
    if event is None:
        player = bool(speaker.has_account)
        who = identity_of(speaker)
        event = Impulse(ImpulseKind.HEARD, player, name_of(speaker, agent), source_id=who)
        if not _may_react(agent, heard.line, speaker, heard.kind, event.kind):
            return
    mind.thinker.notice(replace(event, memory_number=number, why=why))


def _may_react(
    agent: Body, line: str, speaker: CharacterObject, kind: str, event: ImpulseKind
) -> bool:
    """Whether the game's hook allows a thought about what the agent heard."""
    heard = (line, speaker, kind, event in (ImpulseKind.ADDRESSED, ImpulseKind.GIVEN))
    return call_hook(agent, "at_agent_heard", bool | None, True, *heard) is not False


def _with_addressee(agent: Body, event: Impulse, player: CharacterObject, what: What) -> Impulse:
    """Return the event, as addressed if the player's words to the room are for this agent."""
    to = addressees_of(what)
    to_room = event.kind is ImpulseKind.HEARD and not event.aside and not to
    if to_room and isinstance(what, Speech) and what.manner is Manner.SAY:
        event = _said_to_room(agent, event, player, what.words)
    if event.kind is ImpulseKind.ADDRESSED:
        note_partner(player, agent)
    elif to and ME not in to and (player.ndb.spoken_to or [None])[0] is agent:
        player.ndb.spoken_to = None
    return event


def _said_to_room(agent: Body, event: Impulse, player: CharacterObject, words: str) -> Impulse:
    """Return the event of a player's words to the room that may name somebody else here.

    Words that call somebody are for them; a question falls to the agents if it stays unanswered.
    Words that only name somebody are still for all: a question for anybody, and anything else for
    the partner of the player's talk.
    """
    event = replace(event, to_all=_asks_in(words))
    mention = mention_in(agent, player, words)
    if mention is not None and mention.is_called:
        return replace(event, called=mention.who, aside=not event.to_all)
    if answers_room(agent, player, runtime().seconds()):
        return replace(event, kind=ImpulseKind.ADDRESSED)
    return replace(event, aside=mention is not None and not event.to_all)


def _asks(what: What) -> bool:
    """Whether it is speech with a question."""
    return isinstance(what, Speech) and _asks_in(what.words)


def _asks_in(words: str) -> bool:
    """Whether words have a question."""
    return any(map(is_question, sentences(words)))


def _worth_a_thought(
    agent: Body, speaker: CharacterObject, event: Impulse, what: What
) -> Impulse | None:
    """Return the event, as an errand if it is one; None if it asks nothing of the agent.

    What an agent says or shows to another one asks something if it is a question, or if it is the
    step of a plan: then an answer is certain, once for each step that asks, and once for a plan
    that tells something to somebody whom it names. Talk among agents ends by itself so. If the
    speaker writes that it waits for an answer, it gets one too; see ``follow_plan``.
    """
    if event.from_player or not is_agent(speaker) or not isinstance(what, Speech | Pose):
        return event
    asks = _asks(what)
    if event.kind is ImpulseKind.HEARD:
        return event if asks and not event.aside else None
    mind = mind_of(speaker)
    act = mind.actor.current if mind is not None else None
    plan = mind.plans.named(act.plan) if mind is not None and act is not None else None
    if mind is None or plan is None:
        return event if asks else _if_plan_hears(agent, event)
    listener = Person(name_of(agent, speaker), identity_of(agent))
    if not asks and not mind.plans.steps.tells(plan, listener):
        return None
    return replace(event, errand=mind.plans.may_ask(listener.id))


def _if_plan_hears(agent: Body, event: Impulse) -> Impulse | None:
    """Return the event if a plan of the agent that was begun is to hear it; else None.

    It counts as a thought about that plan.
    """
    mind = mind_of(agent)
    person = event.person
    if mind is None or not left_unanswered(_window_of(agent), person):
        return None
    if not mind.plans.steps.hears(person):
        return None
    return replace(event, errand=mind.plans.take_thought())


def _ask_all(agent: Body, question: Impulse) -> None:
    """Let an agent think about a question to everybody that calls somebody who has not answered.

    If the agent is no longer with the player who asked, it falls to the next one who is.
    """
    mind = mind_of(agent)
    player = object_of(question.source_id)
    if mind is None or player is None:
        return
    asked = _memory_of(agent, question.memory_number)
    if asked is not None and (_is_answered(agent, asked) or _has_spoken(agent, question)):
        return
    question = replace(question, called="")
    if player.location is agent.location:
        mind.thinker.notice(question)
    else:
        pass_on(agent, question)


def _has_spoken(agent: Body, question: Impulse) -> bool:
    """Whether who is called in a question has said or shown something since, to anybody."""
    return any(
        each.number > question.memory_number
        and each.source_id == question.called
        and isinstance(each.what, Speech | Pose)
        for each in _window_of(agent)
    )


def pass_on(agent: Body, question: Impulse) -> bool:
    """Let the next agent think about a player's question to everybody, which this one cannot.

    It is the next of :func:`listeners` who heard the question and was not asked before. Each agent
    is asked once, so a question costs at most one call of a model for each who could not answer.

    Returns:
        Whether somebody thinks about it, or has answered it.
    """
    player = object_of(question.source_id)
    asked = _memory_of(agent, question.memory_number)
    if player is None or asked is None or not asked.happening:
        return False
    tried = question.tried | {identity_of(agent)}
    for each in listeners(player, player.location):
        mind = mind_of(each)
        if mind is None or identity_of(each) in tried or mind.presence.is_leaving:
            continue
        number = mind.memory.number_of(asked.happening)
        heard = _memory_of(each, number)
        if heard is None:
            continue
        if _is_answered(each, heard):
            return True
        name = name_of(player, each)
        event = replace(question, source=name, memory_number=number, earlier=0, tried=tried)
        if not _may_react(each, heard.line, player, heard.event, event.kind):
            continue
        if event.kind is ImpulseKind.ADDRESSED:
            note_partner(player, each)
        mind.thinker.notice(event)
        mind.sleeper.notice(event)
        return True
    return False


def _memory_of(agent: Body, number: int) -> Memory | None:
    """Return the memory of that number, if the agent's window has it."""
    return next((each for each in _window_of(agent) if each.number == number), None)


def _is_answered(agent: Body, question: Memory) -> bool:
    """Whether this agent has heard another one speak to the asker, or to all, since a question."""
    for each in reversed(_window_of(agent)):
        if each.number <= question.number:
            return False
        said = each.heard
        speaker = object_of(said.speaker.id) if said is not None else None
        if said is None or speaker is None or not is_agent(speaker):
            continue
        if not said.to or question.source_id in {to.id for to in said.to}:
            return True
    return False


def _window_of(agent: Body) -> Sequence[Memory]:
    """Return the agent's window; empty while its archive cannot be read."""
    mind = mind_of(agent)
    try:
        return mind.memory.memory.context().window if mind is not None else ()
    except KeepsakeError:
        return ()


# -- arrivals and departures


def is_seen(mover: GameObject | None, agent: Body) -> TypeGuard[CharacterObject]:
    """Whether it is a character whose arrivals and departures the agent notices."""
    unseen = getattr(mover, "unannounced", False)
    return is_character(mover) and mover is not agent and not unseen


def react_to_move(agent: Body, mover: CharacterObject, *, memory: int, line: str) -> None:
    """Let an agent think about a character that has come or left, or turn to another thought.

    Another agent who comes is no reason to think: if they have something to tell each other, one of
    them begins a talk by itself.

    Args:
        memory: The number of its memory of that; 0 without one.
        line: The line of that memory; empty without one.
    """
    mind = mind_of(agent)
    if mind is None:
        return
    came = mover.location is agent.location
    if came and mover.has_account:
        mind.thinker.read_ahead(mover)
    if not came or is_agent(mover) or greeter(agent.location, mover) is not agent:
        mind.thinker.schedule()
        return
    arrival = ImpulseKind.ARRIVAL
    if _may_react(agent, line, mover, arrival.value, arrival):
        name = name_of(mover, agent)
        mind.thinker.notice(Impulse(arrival, True, name, memory, identity_of(mover)))


def notice_login(sender: CharacterObject, **_: object) -> None:
    """Let the agents in the room notice that a player has entered or left the game."""
    room = sender.location or sender.db.prelogout_location
    for each in room.contents_get(content_type="character") if room else ():
        if is_agent(each) and is_seen(sender, each):
            each.notice_move(sender)
