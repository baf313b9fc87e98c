"""Builders see who told agents to keep to what, and drop all of one person's."""

from __future__ import annotations

from collections.abc import Sequence

from commands.building.base import BuilderCommand, plain, shortened, table
from commands.wording import counted
from keepsake.books.commitments import Commitments
from keepsake.books.noticing import Noticed, NoticedKind
from keepsake.errors import KeepsakeError
from typeclasses.agents import all_agents


class CmdRules(BuilderCommand):
    """See which rules agents were given, and by whom; drop those of one person.

    Usage:
      @rules                 of all agents
      @rules <agent>         of one
      @rules/drop <person>   drop all of that person's, in every agent

    A person is a name or a key: a character keeps its key when it is renamed.
    A key ends with the day and time when the character was made. Rules of
    characters that were less than a day old have a quarter of the room at
    most, all together, and give way to those of others.

    See also: |whelp @memory-status|n
    """

    key = "@rules"
    switch_options = ("drop",)

    def run(self) -> None:
        """List them, or drop them."""
        wanted = self.args.strip()
        dropping = "drop" in self.switches
        if dropping and not wanted:
            raise KeepsakeError("Whose rules?", "As in: @rules/drop Tom")
        named = wanted and not dropping
        agents = [self.agent_named(wanted)] if named else all_agents()
        blocks = [(agent.key, self.mind(agent).memory.noticed.block) for agent in agents]
        self.answer(lambda: _dropped(blocks, wanted) if dropping else _listed(blocks))


def _listed(blocks: Sequence[tuple[str, Commitments]]) -> str:
    rows = [
        _row(name, each)
        for name, block in blocks
        for each in block.items
        if each.kind is NoticedKind.RULE
    ]
    shown = table(("Agent", "From", "Key", "Memory", "Rule"), rows)
    return f"{shown}\n{counted(len(rows), 'rule')}" if rows else "No agent was given a rule."


def _row(name: str, rule: Noticed) -> tuple[object, ...]:
    who = f"{plain(rule.who)}{' (new)' if rule.by_newcomer else ''}"
    return name, who, rule.key, rule.number, plain(shortened(rule.text, 60))


def _dropped(blocks: Sequence[tuple[str, Commitments]], person: str) -> str:
    wanted = person.casefold()

    def theirs(rule: Noticed) -> bool:
        mine = wanted in (rule.key.casefold(), rule.who.casefold())
        return mine and rule.kind is NoticedKind.RULE

    gone = {name: count for name, block in blocks if (count := block.drop(theirs))}
    if not gone:
        raise KeepsakeError(f"No agent keeps a rule of {plain(person)}", "See them: @rules")
    told = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n the rules of {plain(person)}: {told}."
