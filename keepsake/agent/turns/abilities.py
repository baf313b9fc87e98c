"""What an agent can do in a turn: its verbs, and the people and things that they may name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import WRITES_FOR_ALL, MemoryTools
from keepsake.agent.plans.invitations import Invitation
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import names_of
from keepsake.agent.surroundings.people import hosts_guests, people_near
from keepsake.agent.surroundings.routes import find_goal
from keepsake.agent.surroundings.sights import options_of
from keepsake.agent.turns.context import TurnContext, secrecy
from keepsake.happening import KnownVerb, Person
from keepsake.prompt.verbs import ANSWERS, VERBS, WORDS, Command, Options, Verb
from keepsake.tasks.deed import read_deed


def available_verbs(
    agent: Body, context: TurnContext, tools: MemoryTools, *, holds: bool | None = None
) -> tuple[tuple[Verb, ...], Options]:
    """Return the verbs that the agent may use in this turn, and their options.

    An agent that answers somebody may leave the talk, but not the place where it hosts guests.

    Args:
        holds: Whether the prompt holds whispered words; None if that is not known.
    """
    _, confided = secrecy(agent, context, tools.memory.private, holds=holds)
    without = {KnownVerb.TALK} | WRITES_FOR_ALL if confided else set[str]()
    if invitation_to(tools, context) is None:
        without |= ANSWERS
    without |= tools.withheld
    verbs = tuple(verb for verb in VERBS if verb.name not in without)
    own: tuple[Verb, ...] = call_hook(agent, "verbs_now", tuple, ()) if agent.agent_verbs else ()
    # It is unknown who hears the free words of a game's own verb, so confided words are excluded.
    verbs += tuple(verb for verb in own if not (confided and f"<{WORDS}>" in verb.usage))
    mind = agent.mind
    must_stay = mind is not None and mind.presence.must_stay
    stays = hosts_guests(agent) if context.partner else must_stay
    if context.impulse.kind is ImpulseKind.PLAN:  # guests wait, but not somebody whom it talks with
        stays = mind is not None and mind.presence.in_talk
    options = options_of(agent, stays=stays)
    if confided:  # no words reach anybody else, by whatever verb
        near = (each for each in people_near(agent) if identity_of(each) in context.reached)
        people = names_of(near, agent)
        others = tuple(each for each in options.people if each not in people)
        options = replace(options, people=people, others=others)
    return verbs, options


_TO_ONE = frozenset({KnownVerb.TALK, KnownVerb.WHISPER, KnownVerb.GIVE})
"""The verbs of deeds that reach somebody who is here."""


def sought_by(
    line: str, agent: Body, able: tuple[tuple[Verb, ...], Options], people: Iterable[Person]
) -> str:
    """Return the name of a person whom a deed would reach, and who is elsewhere, on a known way.

    Args:
        line: The deed, as the model wrote it after ``>``: ``talk Bram = Some honey, please?``.
        able: What the agent can do here.
        people: Everybody whom the agent knows.

    Returns:
        The name; empty for another deed, and for somebody who is here or cannot be found.
    """
    verbs, options = able
    here = {*options.people, *options.others}
    away = tuple(each.name for each in people if each.name not in here)
    read = read_deed(line, verbs, replace(options, people=(*options.people, *away)))
    if not isinstance(read, Command) or read.verb not in _TO_ONE or read.to not in away:
        return ""
    goal = find_goal(agent, read.to)
    return read.to if goal is not None and goal.person is not None else ""


def invitation_to(tools: MemoryTools, context: TurnContext) -> Invitation | None:
    """Return the partner's invitation that the agent has not answered; None if there is none.

    An agent that does without plans cannot answer any.
    """
    appointments = tools.appointments
    if appointments is None or KnownVerb.AGREE in tools.withheld:
        return None
    return appointments.open_from(context.partner)
