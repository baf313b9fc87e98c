"""Builders copy what is in the world; a copy of an agent is somebody else."""

from __future__ import annotations

from evennia.commands.default import building

from keepsake.contrib.evennia.commands.base import refused
from keepsake.contrib.evennia.creation import free_name
from keepsake.errors import KeepsakeError
from typeclasses.agents import Agent


class CmdCopy(building.CmdCopy):
    """Copy an object or an agent, with its properties.

    Usage:
      @copy <object> [= <new name>[;<alias>..][:<new location>][, ..]]
      @copy <agent> = <new name>[, <new name>..]

    The copy of an agent has the same profile and a memory of its own, in which
    there is nothing yet; it is awake. It needs a name that nobody has.

    Example:
      @copy Mira = Wenna
    """

    def func(self) -> None:
        """Copy an agent as agents are copied, and all else as Evennia does."""
        agent = self._agent()
        if agent is None:
            super().func()
            return
        try:
            self._copy(agent)
        except KeepsakeError as error:
            self.caller.msg(refused(error))

    def _agent(self) -> Agent | None:
        if not self.args:
            return None
        name = self.lhs_objs[0]["name"] if self.rhs else self.args
        found = self.caller.search(name, quiet=True)
        return found[0] if len(found) == 1 and isinstance(found[0], Agent) else None

    def _copy(self, agent: Agent) -> None:
        if not self.rhs:
            raise KeepsakeError(
                "It is not clear what the copy is called", "As in: @copy Mira = Ada"
            )
        for target in self.rhs_objs:
            place = agent.location
            if target["option"] and not (place := self.caller.search(target["option"])):
                return
            name = free_name(target["name"])
            agent.copy(new_key=name, new_location=place, new_aliases=target["aliases"])
            self.caller.msg(f"{name} is a copy of {agent.key}, with a memory of its own.")
