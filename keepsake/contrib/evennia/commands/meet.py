"""`meet`: players make an appointment with an agent."""

from __future__ import annotations

from functools import partial

from twisted.python.failure import Failure

from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.plans.invitations import Invitation, read_invitation
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import is_agent
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.surroundings.routes import place_names
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.hearing import person_of
from keepsake.contrib.evennia.minds import mind_of
from keepsake.contrib.evennia.speaking import speak_to
from keepsake.errors import KeepsakeError
from keepsake.happening import Person
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.PLANS)

READ_SECONDS = 10.0
"""Seconds to read a time. The library that reads dates takes a third of a second to load."""
UNSETTLED_SECONDS = 60.0
"""Seconds after which a player is told that the agent has said neither yes nor no."""


class CmdMeet(AuditedCommand):
    """Ask somebody who lives here to meet you later.

    Usage:
      meet <name> [at <place>] <when>

    Examples:
      meet mira at the quay tomorrow 12:00
      meet mira in 20 minutes
      meet oswin at the kettle saturday evening

    You ask aloud. If they agree, they come, and what they mean to do with you
    stands on your page at /agents/mine/. Without a place it is where you are.
    """

    key = "meet"
    help_category = "General"
    locks = "cmd:all()"
    arg_regex = r"\s|$"

    def func(self) -> None:
        """Read place and time in a worker thread, then ask."""
        caller = self.caller
        name, _, rest = self.args.strip().partition(" ")
        rest = rest.strip()
        if not name or not rest:
            self._refuse("Meet whom, where and when? meet mira at the quay tomorrow 12:00")
            return
        agent = self._agent(name)
        mind = mind_of(agent) if agent is not None else None
        if agent is None or mind is None:
            return
        if agent.db.asleep or agent.db.paused:
            self._refuse(f"{agent.get_display_name(caller)} cannot answer now.")
            return
        by = Person(name_of(caller, agent), person_of(caller).id)
        now = runtime().clock.now().astimezone()
        read = partial(read_invitation, rest, by, place_of(agent), place_names(agent), now)
        found = runtime().in_thread(read, READ_SECONDS)
        found.addCallbacks(partial(self._ask, agent, mind, rest), self._failed)

    def _agent(self, name: str) -> Body | None:
        """Return the agent here with that name; None if there is none, and the player is told."""
        here = [each for each in people_near(self.caller) if is_agent(each)]
        found = self.caller.search(name, candidates=here, quiet=True) or []
        if len(found) == 1:
            return found[0]
        known = ", ".join(str(each.get_display_name(self.caller)) for each in found or here)
        which = "Which one do you mean" if found else "Nobody of that name can be asked here"
        self._refuse(f"{which}: {known}?" if found else f"{which}. Here: {known or 'nobody'}.")
        return None

    def _ask(self, agent: Body, mind: Mind, words: str, invitation: Invitation) -> None:
        """Ask the agent aloud; its answer settles the invitation."""
        caller = self.caller
        if agent.location is not caller.location or agent.location is None:
            self._refuse(f"{agent.get_display_name(caller)} has gone.")
            return
        settled = partial(self._tell, agent, invitation)
        asked = Invitation(invitation.by, invitation.where, invitation.at, settled)
        mind.appointments.invite(asked)
        speak_to(caller, agent, f"Will you meet me {words.rstrip(' ?.!')}?")
        runtime().scheduler.later(UNSETTLED_SECONDS, partial(self._remind, agent, mind, asked))

    def _tell(self, agent: Body, invitation: Invitation, agrees: bool) -> None:
        name = agent.get_display_name(self.caller)
        how = "agrees" if agrees else "does not agree"
        self.msg((f"{name} {how} to meet you: {invitation.line}.", {"type": "meet"}))

    def _remind(self, agent: Body, mind: Mind, asked: Invitation) -> None:
        if mind.appointments.open_from(asked.by) is asked:
            name = agent.get_display_name(self.caller)
            told = f"{name} has said neither yes nor no. Ask again, or agree on it in words."
            self.msg((told, {"type": "meet"}))

    def _failed(self, failure: Failure) -> None:
        if not isinstance(failure.value, KeepsakeError):
            log.error("An appointment could not be read", exc_info=failure.value)
            self._refuse("That could not be read. Try again.")
            return
        self._refuse(str(failure.value))

    def _refuse(self, why: str) -> None:
        self.msg((why, {"type": "failure"}))
