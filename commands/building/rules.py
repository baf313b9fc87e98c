"""Builders see what agents have promised and which rules they keep to, and drop one person's."""

from __future__ import annotations

from collections.abc import Sequence

from commands.building.base import BuilderCommand, plain, shortened, table
from commands.wording import counted
from keepsake.books.commitments import Commitment, Commitments
from keepsake.errors import KeepsakeError
from typeclasses.agents import all_agents


class CmdRules(BuilderCommand):
    """See what agents have promised, and which rules they keep to; drop those of one person.

    Usage:
      @rules                 of all agents
      @rules <agent>         of one
      @rules/drop <person>   drop all of that person's, in every agent

    An agent writes down its promises itself, with its verb |wpromise|n. The list is
    |wnoticed.md|n in its folder, which you may edit: a rule is a line such as
    |w- rule from Ada: never open the cellar door|n. A person is a name or a key: a
    character keeps its key when it is renamed.

    See also: |whelp @memory-status|n, |whelp @pin|n
    """

    key = "@rules"
    switch_options = ("drop",)

    def run(self) -> None:
        """List them, or drop them."""
        wanted = self.args.strip()
        dropping = "drop" in self.switches
        if dropping and not wanted:
            raise KeepsakeError("Whose?", "As in: @rules/drop Tom")
        named = wanted and not dropping
        agents = [self.agent_named(wanted)] if named else all_agents()
        lists = [(agent.key, self.mind(agent).memory.commitments) for agent in agents]
        self.answer(lambda: _dropped(lists, wanted) if dropping else _listed(lists))


def _listed(lists: Sequence[tuple[str, Commitments]]) -> str:
    rows = [
        (name, each.kind.value, plain(each.who), each.number, plain(shortened(each.text, 60)))
        for name, book in lists
        for each in book.items
    ]
    shown = table(("Agent", "What", "Who", "Memory", "Words"), rows)
    return f"{shown}\n{counted(len(rows), 'line')}" if rows else "No promise or rule is open."


def _dropped(lists: Sequence[tuple[str, Commitments]], person: str) -> str:
    wanted = person.casefold()

    def theirs(each: Commitment) -> bool:
        return wanted in (each.key.casefold(), each.who.casefold())

    gone = {name: count for name, book in lists if (count := book.drop(theirs))}
    if not gone:
        raise KeepsakeError(f"No agent has one of {plain(person)}", "See them: @rules")
    told = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n what was open with {plain(person)}: {told}."
