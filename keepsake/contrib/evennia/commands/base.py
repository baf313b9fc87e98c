"""Shared parts of the builders' commands: finding agents, answers, tables, times."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils.ansi import strip_ansi
from evennia.utils.evmore import EvMore
from evennia.utils.evtable import EvTable
from evennia.utils.utils import class_from_module, time_format
from twisted.internet.defer import TimeoutError
from twisted.python.failure import Failure

from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import is_agent
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.archive.message_types import MessageType
from keepsake.archive.summaries import EDITED
from keepsake.contrib.evennia.creation import all_agents, find_agents
from keepsake.contrib.evennia.minds import mind_of, why_closed
from keepsake.contrib.evennia.wording import listed, quoted
from keepsake.errors import KeepsakeError
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.types import UNCHANGED

log = get_logger(Subsystem.COMMANDS)

COMMAND: Any = class_from_module(settings.COMMAND_DEFAULT_CLASS)
"""The game's own base class of commands."""
LINE = 78
"""The characters of a line on a plain terminal."""
TIMEOUT_SECONDS = 30.0
"""Seconds to wait for an answer. After that the command fails."""


@dataclass(frozen=True, slots=True)
class Query:
    """A builder's question about one agent's memory.

    Attributes:
        words: The text after the agent's name, or after ``=``.
        title: The text between ``/`` and ``=``: the title of a note.
        options: The switches except the one that selects the view.
    """

    agent: Body
    mind: Mind
    caller: ObjectDB
    words: str
    title: str
    options: frozenset[str]

    @property
    def name(self) -> str:
        """The agent's name."""
        return str(self.agent.key)

    def number(self, default: int) -> int:
        """Return the words as a number, ``default`` if empty; raises KeepsakeError for a text."""
        if not re.fullmatch(r"(-?\d{1,9})?", self.words):
            raise KeepsakeError(
                f"{quoted(shortened(self.words))} is not a number", "Give one, or none"
            )
        return int(self.words or default)


type View = Callable[[Query], Callable[[], str] | None]
"""Reads data from the world, and returns the work for a worker thread; None if there is none."""


class BuilderCommand(COMMAND):
    """A command for builders. It shows Keepsake's errors, with the cure."""

    locks = "cmd:perm(Builder)"
    switch_options: tuple[str, ...] = ()
    switches: list[str]
    help_category = "Agents"

    def parse(self) -> None:
        """Parse the line, but keep unknown switches: Evennia drops them and runs the command."""
        known = self.switch_options
        self.switch_options = ()
        super().parse()
        self.switch_options = known

    def func(self) -> None:
        """Run the command, and show an error if it fails."""
        try:
            self.switches = [self._switch(typed) for typed in self.switches]
            self.run()
        except KeepsakeError as error:
            tell(self.caller, refused(error))

    def run(self) -> None:
        """Do the command's work; raises KeepsakeError for the caller."""
        raise NotImplementedError

    def _switch(self, typed: str) -> str:
        found = [each for each in self.switch_options if each.startswith(typed)]
        if typed in found or len(found) == 1:
            return typed if typed in found else found[0]
        names = ", ".join(f"/{each}" for each in found or self.switch_options)
        cure = f"Use one of {names}" if names else f"{self.key} has no switches"
        raise KeepsakeError(f"There is no switch {quoted(shortened(f'/{typed}'))}", cure)

    def page(self, text: str) -> None:
        """Show a text to the caller, in pages if it is long."""
        shown = {"text_kwargs": {"type": MessageType.BUILDER}}
        EvMore(self.caller, text, always_page=False, justify_kwargs=False, **shown)

    def answer(self, work: Callable[[], str]) -> None:
        """Run ``work`` in a worker thread, then show the text that it returns."""
        runtime().in_thread(work, TIMEOUT_SECONDS).addCallbacks(self.page, self.failed)

    def failed(self, failure: Failure) -> None:
        """Show why no answer came from a worker thread."""
        error = failure.value
        if isinstance(error, TimeoutError):
            error = KeepsakeError("there was no answer in time", "Try again later")
        elif not isinstance(error, KeepsakeError):
            log.error("A command failed", command=self.key, exc_info=error)
            error = KeepsakeError("an error occurred", "See agents.log")
        tell(self.caller, refused(error))

    def agent_named(self, name: str) -> Body:
        """Return the agent that ``name`` means; the one in the room if ``name`` is empty.

        Raises:
            KeepsakeError: There is no such agent, or there are several.
        """
        if not name.strip():
            here = self.agents_here()
            if len(here) == 1:
                return here[0]
            if not (names := listed([agent.key for agent in here or all_agents()], "or")):
                raise KeepsakeError("There are no agents", "Create one: @agent/create <name>")
            raise KeepsakeError("It is not clear which agent you mean", f"Name one: {names}")
        found = find_agents(name)
        if len(found) == 1:
            return found[0]
        if found:
            names = listed([agent.key for agent in found], "or")
            raise KeepsakeError(f"{quoted(name)} may be {names}", "Write more of the name")
        names = listed([agent.key for agent in all_agents()]) or "none yet"
        raise KeepsakeError(f"There is no agent {quoted(shortened(name))}", f"There are: {names}")

    def split_agent(self, words: str) -> tuple[Body, str]:
        """Return the agent at the start of ``words``, and the rest: ``Mira Tom``, ``Mira = Tom``.

        If ``words`` are empty or begin with a number, it is the agent in the room.

        Raises:
            KeepsakeError: They do not begin with an agent's name, or the name is ambiguous.
        """
        name, sign, rest = words.partition("=")
        if sign:
            return self.agent_named(name), rest.strip()
        parts = words.split()
        for end in range(len(parts), 0, -1):  # an agent's name may have several words
            found = find_agents(" ".join(parts[:end]))
            if len(found) == 1:
                return found[0], " ".join(parts[end:])
        named = 0 if re.match(r"-?\d", words.strip()) else 1
        return self.agent_named(" ".join(parts[:named])), " ".join(parts[named:])

    def agents_here(self) -> list[Body]:
        """Return the agents in the caller's room."""
        place = self.caller.location
        return [a for a in all_agents() if place is not None and a.location == place]

    @staticmethod
    def mind(agent: Body) -> Mind:
        """Return the agent's mind.

        Raises:
            KeepsakeError: It has none now; the message says why.
        """
        if mind := mind_of(agent):
            return mind
        raise why_closed(agent)


def find_player(name: str, example: str) -> ObjectDB:
    """Return the player of that name, in any room; raises KeepsakeError if there is none."""
    found = DefaultCharacter.objects.all_family().filter(db_key__iexact=name.strip()).first()
    if found is None or is_agent(found):
        raise KeepsakeError(f"There is no player {quoted(shortened(name.strip()))}", example)
    return found


def tell(caller: ObjectDB, text: str) -> None:
    """Show the answer to a builder's command; the web client has a colour for it."""
    caller.msg((text, {"type": MessageType.BUILDER}))


def plain(text: str) -> str:
    """Return ``text`` with colour codes shown instead of obeyed."""
    return text.replace("|", "||")


def shortened(text: str, limit: int = 60) -> str:
    """Return ``text`` cut to ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def refused(error: KeepsakeError) -> str:
    """Return an error as a builder sees it."""
    return f"|rThat did not work:|n {plain(str(error))}"


def one_line(text: str, limit: int = 1_000_000) -> str:
    """Return ``text`` in one line of at most ``limit`` characters, with its colour codes shown."""
    return plain(shortened(" ".join(text.split()), limit))


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table with these headings, at most as wide as the client's default width."""
    made = EvTable(
        *(f"|w{heading}|n" for heading in headings),
        border="header",
        maxwidth=settings.CLIENT_DEFAULT_WIDTH,
    )
    for row in rows:
        made.add_row(*row)
    return str(made)


def labelled(lines: Iterable[tuple[str, str]], width: int = 18, line: int = LINE) -> str:
    """Return lines of label and text, wrapped to ``line`` characters."""
    shown = []
    wrap = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
    for label, text in lines:
        # Colour codes in the label have no width on the screen.
        head = f"  {label + ':':<{width + 1 + len(label) - len(strip_ansi(label))}}"
        indent = " " * (width + 3)
        shown.append(wrap(text, line, initial_indent=head, subsequent_indent=indent) or head)
    return "\n".join(shown)


def author_of(model: str) -> str:
    """Return who wrote a summary: ``by <model>``, or what was done instead."""
    return plain(model) if model in (EDITED, UNCHANGED) else f"by {plain(model)}"


def when(time: datetime | None, now: datetime) -> str:
    """Return a time as ``2026-05-01 12:00 (3 minutes ago)``; ``never`` for None."""
    if time is None:
        return "never"
    shown = WorldClock.of_world().shown(time)
    return f"{shown:%Y-%m-%d %H:%M} ({time_format((now - time).total_seconds(), 4)} ago)"
