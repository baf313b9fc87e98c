"""What the builders' commands for agents have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from django.conf import settings
from evennia.utils.evmore import EvMore
from evennia.utils.evtable import EvTable

from commands.audit import AuditedCommand
from commands.wording import counted, listed, quoted
from keepsake.agent.mind import Mind
from keepsake.agent.services import services
from keepsake.agent.tending import Tended
from keepsake.errors import KeepsakeError
from typeclasses.agents import Agent, all_agents, find_agents
from typeclasses.minds import mind_of

PATIENCE = 30.0
"""Seconds to wait for an answer before the builder is shown that it took too long."""
_TOO_LATE = "|rThat did not work:|n it took too long, or broke off. See agents.log"

_SEEN = ("sleeps", "wakes up")


class BuilderCommand(AuditedCommand):
    """A command for builders; what Keepsake refuses is told, with its cure."""

    locks = "cmd:perm(Builder)"
    switch_options = ()
    help_category = "Agents"

    def func(self) -> None:
        """Run the command and tell what went wrong."""
        try:
            self.run()
        except KeepsakeError as error:
            self.caller.msg(refused(error))

    def run(self) -> None:
        """What the command does."""
        raise NotImplementedError

    def page(self, text: str) -> None:
        """Show it to the caller, in pages if it is long."""
        EvMore(self.caller, text, always_page=False, justify_kwargs=False)

    def answer(self, work: Callable[[], str]) -> None:
        """Make the answer beside the game, in a worker thread, then show it."""

        def attempt() -> str:
            try:
                return work()
            except KeepsakeError as error:
                return refused(error)

        services().in_time(attempt, PATIENCE).then(lambda text: self.page(text or _TOO_LATE))

    def told(self, agent: Agent, outcome: Tended) -> None:
        """Show what was done to an agent, unless it was done before the caller's eyes.

        Raises:
            KeepsakeError: Nothing was.
        """
        done, said = outcome
        if not done:
            raise KeepsakeError(said, "@agent shows what agents are about")
        if agent.location != self.caller.location or not said.endswith(_SEEN):
            self.caller.msg(f"{said}.")

    def agent_named(self, name: str) -> Agent:
        """The one agent that ``name`` means; the one in the room if it is empty.

        Raises:
            KeepsakeError: There is none, or there are several.
        """
        if not name.strip():
            return self._agent_here_or_refusal()
        self.refuse_switch(name)
        found = find_agents(name)
        if len(found) == 1:
            return found[0]
        if found:
            names = listed([agent.key for agent in found], "or")
            raise KeepsakeError(f"{quoted(name)} may be {names}", "Write more of the name")
        names = listed([agent.key for agent in all_agents()]) or "none yet"
        raise KeepsakeError(f"There is no agent {quoted(shortened(name))}", f"There are: {names}")

    def refuse_switch(self, name: str) -> None:
        """Raise KeepsakeError for a switch that stands behind a name: ``mira/places``."""
        before, sign, switch = name.partition("/")
        if not sign:
            return
        known = ", ".join(f"{self.key}/{each}" for each in self.switch_options)
        cure = f"A switch stands before the name: {known}" if known else "It takes no switch"
        switch, before = (plain(shortened(each.strip())) for each in (switch, before))
        raise KeepsakeError(f"/{switch} stands behind {quoted(before)}", cure)

    def agent_then(self, words: str) -> tuple[Agent, str]:
        """The agent that ``words`` begin with, and what follows: ``Mira Tom``, ``Mira = Tom``.

        Without a name it is the one in the room.

        Raises:
            KeepsakeError: They begin with no agent, or it is not clear with which.
        """
        name, sign, rest = words.partition("=")
        if sign:
            return self.agent_named(name.strip()), rest.strip()
        parts = words.split()
        for end in range(len(parts), 1, -1):  # an agent's name may have several words
            found = find_agents(" ".join(parts[:end]))
            if len(found) == 1:
                return found[0], " ".join(parts[end:])
        return self.agent_named(" ".join(parts[:1])), " ".join(parts[1:])

    def agent_and_last(self, words: str, form: str) -> tuple[Agent, str]:
        """The agent that is named, and the last word if it has that form; empty if it has not.

        Raises:
            KeepsakeError: They name no agent, or it is not clear which.
        """
        words = words.replace("=", " ").strip()
        name, _, last = words.rpartition(" ")
        # An agent may be called "Robot 7".
        if re.fullmatch(form, last) and len(find_agents(words)) != 1:
            return self.agent_named(name), last
        return self.agent_named(words), ""

    def agent_here(self) -> Agent | None:
        """The only agent in the caller's room; None if there is none or several."""
        here = self._agents_here()
        return here[0] if len(here) == 1 else None

    def _agents_here(self) -> list[Agent]:
        place = self.caller.location
        return [a for a in all_agents() if place is not None and a.location == place]

    def _agent_here_or_refusal(self) -> Agent:
        if agent := self.agent_here():
            return agent
        names = listed([agent.key for agent in self._agents_here() or all_agents()], "or")
        raise KeepsakeError("It is not clear which agent you mean", f"Name one: {names}")

    @staticmethod
    def mind(agent: Agent) -> Mind:
        """The agent's components.

        Raises:
            KeepsakeError: The agents' services are not running.
        """
        if mind := mind_of(agent):
            return mind
        raise KeepsakeError("The agents' services are not running", "See the server's log")


def plain(text: str) -> str:
    """``text`` with colour codes shown instead of obeyed."""
    return text.replace("|", "||")


def shortened(text: str, limit: int = 60) -> str:
    """``text`` cut to ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def refused(error: KeepsakeError) -> str:
    """The refusal as a builder is shown it."""
    return f"|rThat did not work:|n {plain(str(error))}"


def one_line(text: str, limit: int) -> str:
    """``text`` in one line of at most ``limit`` characters."""
    return shortened(" ".join(text.split()), limit)


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table with these headings, as wide as what it holds and a plain terminal shows."""
    made = EvTable(
        *(f"|w{heading}|n" for heading in headings),
        border="header",
        maxwidth=settings.CLIENT_DEFAULT_WIDTH,
    )
    for row in rows:
        made.add_row(*row)
    return str(made)


def when(time: datetime | None, now: datetime) -> str:
    """``2026-05-01 12:00 (3 minutes ago)``; ``never`` for None."""
    if time is None:
        return "never"
    return f"{time:%Y-%m-%d %H:%M} UTC ({ago(time, now)})"


def ago(time: datetime | None, now: datetime) -> str:
    """How long ago in the largest unit that fits: ``3 minutes ago``; ``never`` for None."""
    if time is None:
        return "never"
    seconds = (now - time).total_seconds()
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"


def kilobytes(size: int) -> str:
    """``size`` bytes as ``12.3 kB``."""
    return f"{size / 1000:.1f} kB"
