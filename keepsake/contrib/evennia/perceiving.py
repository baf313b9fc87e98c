"""How an agent perceives a line of the game: it becomes a memory, and perhaps a reason to think."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evennia.objects.objects import DefaultObject

from keepsake.agent.acting.acts import CurrentAct
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.turns.consent.carried import brought_by
from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.contrib.evennia.meaning import Heard, meaning_of
from keepsake.contrib.evennia.minds import Suspension, mind_of, suspension_of
from keepsake.contrib.evennia.reacting import is_seen, react
from keepsake.happening import Result, Speech, actor_of
from keepsake.language import perception
from keepsake.logs import Subsystem, get_logger, logged

log = get_logger(Subsystem.AGENTS)

_ECHOES = frozenset(
    {
        MessageType.SAY,
        MessageType.TALK,
        MessageType.WHISPER,
        MessageType.POSE,
        MessageType.SHOUT,
        MessageType.CHANNEL,
    }
)
"""Types of messages that only repeat the agent's own act, which it remembers already."""


def perceive(agent: Body, text: Any, from_obj: Any) -> None:
    """Let an agent perceive a message of Evennia; its arguments are those of ``msg``.

    Nothing is raised: the message goes to others, too, and a mistake must not keep it from them.
    """
    mind = mind_of(agent)
    if not text or (mind is None and suspension_of(agent) is None):
        return
    raw, options = text_and_options(text)
    sender = _sender_in(from_obj)
    with logged(log, "A message could not be perceived", agent=agent.key):
        _perceive(agent, mind, raw, options, sender, direct=isinstance(text, str))


def text_and_options(text: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the text of a message and its options.

    Evennia sends ``(text, {"type": "look"})``. Games also send a list of texts, of which a client
    shows the first, and numbers or objects, which a client shows as text.
    """
    if not isinstance(text, tuple | list):
        return str(text), {}
    first = text[0]
    last = text[-1]
    return str(first), last if isinstance(last, Mapping) and len(text) > 1 else {}


def _sender_in(from_obj: object) -> GameObject | None:
    """Return the object that a message is from: the first of several; None if it is a session."""
    several = from_obj if isinstance(from_obj, list | tuple) else (from_obj,)
    return next((each for each in several if isinstance(each, DefaultObject)), None)


def _perceive(
    agent: Body,
    mind: Mind | None,
    raw: str,
    options: Mapping[str, Any],
    sender: GameObject | None,
    *,
    direct: bool,
) -> None:
    """Remember a line and react to it; later, if the agent is suspended and has no mind.

    ``direct``: Whether the line was sent to this agent alone.
    """
    if str(options.get("type", "")) in agent.pictures:
        return
    line = perception.plain_line(raw, own_name=agent.key)
    if not line:
        return
    act = mind.actor.current if mind is not None else None
    if mind is not None and act is not None and sender in (None, agent):
        _perceive_result(agent, mind, act, line, options, direct=direct)
        return
    heard = meaning_of(agent, line, sender, options, direct=direct)
    if heard.again:
        return
    facts: MemoryFacts = {**heard.facts, "place": place_of(agent), "event": heard.kind}
    if mind is not None and facts.get("errand"):
        facts = {**facts, **_shared_with(agent, mind, heard)}
    heard = replace(heard, facts=facts)
    everyday = heard.kind == MessageType.SCENE and agent.is_everyday(line, options, sender)
    ignored = everyday or getattr(sender, "unannounced", False)
    if mind is not None:
        _take_in(agent, mind, heard, ignored=ignored)
    elif (suspension := suspension_of(agent)) is not None and not ignored:
        _take_in_later(agent, suspension, heard)


def _shared_with(agent: Body, mind: Mind, heard: Heard) -> MemoryFacts:
    """Return who else may know of words of an errand; see :func:`brought_by`."""
    speaker = actor_of(heard.what)
    if speaker is None or mind.memory.problem is not None:
        return MemoryFacts()
    window = mind.memory.memory.context().window
    return brought_by(heard.facts["errand"], speaker.id, identity_of(agent), window)


def _perceive_result(
    agent: Body,
    mind: Mind,
    act: CurrentAct,
    line: str,
    options: Mapping[str, Any],
    *,
    direct: bool,
) -> None:
    """Remember what the agent's own act shows it, unless that only repeats the act."""
    kind = str(options.get("type", ""))
    failed = kind == MessageType.FAILURE
    act.echoed = act.echoed or (not direct and not failed and act.has_words(line))
    if kind in _ECHOES:
        return
    command = act.command
    if failed:
        act.failed = True
        if isinstance(act.what, Speech):
            return  # the words are said in another way, or the actor says that they were not
        line = f"{f'You tried to {command.verb} {command.argument}'.rstrip()}: {line}"
    what = Result(verb=command.verb, act=act.memory_number, done=not failed, shown=line)
    place = place_of(agent)
    mind.memory.remember(what, place=place, event=kind, happening=act.happening)


def _take_in(agent: Body, mind: Mind, heard: Heard, *, ignored: bool = False) -> None:
    """Remember what an agent has perceived, and react to it.

    A sleeper does so with what it perceives in its sleep.

    ``ignored``: It is not remembered, but it may wake a sleeper.
    """
    sleeps = agent.db.asleep and not mind.sleeper.disturb(heard.sender, heard.what, heard.kind)
    if sleeps or ignored:
        return
    number = mind.memory.remember(heard.what, **heard.facts)
    _react_to_memory(agent, mind, heard, number)


def _take_in_later(agent: Body, suspension: Suspension, heard: Heard) -> None:
    """Keep what an agent has perceived on the disk, and react when it has a mind again."""
    shared = runtime()
    memory = Memory(0, shared.clock.now(), heard.what, **heard.facts)
    if agent.db.asleep or not shared.spill.keep(agent.memory_folder, memory.to_line()):
        suspension.then(lambda mind: _take_in(agent, mind, heard))
        return

    def react_then(mind: Mind) -> None:
        number = mind.memory.number_of(heard.facts["happening"])
        _react_to_memory(agent, mind, heard, number)

    suspension.then(react_then)


def _react_to_memory(agent: Body, mind: Mind, heard: Heard, number: int) -> None:
    """React to what an agent has just remembered.

    ``number``: The number of the memory; 0 if it waits for the disk.
    """
    mover = heard.sender
    if heard.kind in MOVES and is_seen(mover, agent):
        runtime().post(lambda: agent.notice_move(mover, memory=number, line=heard.line))
    react(agent, mind, heard, number)
