"""Lines that an agent shows in its room: to everybody, to the players, or to one person."""

from __future__ import annotations

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.people import people_near
from keepsake.events.values import Urgency
from keepsake.happening import Person


def show(
    agent: Body,
    text: str,
    kind: str,
    *,
    hidden_from: tuple[GameObject, ...] = (),
    **facts: object,
) -> None:
    """Show a line to everybody in the agent's room, except to itself and ``hidden_from``."""
    if agent.location is not None:
        # Evennia formats the message as a template, so the text is passed as a value.
        agent.location.msg_contents(
            ("{shown}", {"type": kind, **facts}),
            exclude=[agent, *hidden_from],
            from_obj=agent,
            mapping={"shown": text},
        )


def show_players(agent: Body, text: str) -> None:
    """Show a line to the players in the room, not to agents, which would only remember it."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)


def show_person(agent: Body, person: Person, text: str) -> None:
    """Show a line to one person in the agent's room; nobody else perceives it."""
    for each in people_near(agent):
        if identity_of(each) == person.id:
            each.msg((text, {"type": "hint"}))


def show_no_answer(agent: Body, impulse: Impulse, *, alone: bool = False) -> bool:
    """Tell a waiting player who is still here that no answer will come, as no model gave one.

    ``alone``: Whether the other players here are not told.

    Returns:
        Whether anybody was told.
    """
    line = f"{agent.key} seems far away, and does not answer."
    return _show_waiting(agent, impulse, line, alone=alone)


def show_silence(agent: Body, impulse: Impulse) -> None:
    """Show a waiting player who is still here that the agent says nothing: it has no good words."""
    _show_waiting(agent, impulse, f"{agent.key} shrugs, and says nothing.")


def _show_waiting(agent: Body, impulse: Impulse, line: str, *, alone: bool = False) -> bool:
    here = [identity_of(person) for person in people_near(agent)]
    waits = impulse.priority is Urgency.PLAYER and impulse.who in here
    if waits and alone:
        show_person(agent, impulse.person, line)
    elif waits:
        show_players(agent, line)
    return waits
