"""Which server of a fleet takes a call: the one that has the agent's prompt, while that is wise.

A server that has read a prompt keeps it, and reads only what is new the next time. So an agent
stays where it is while that server answers and is not far behind the others: what the cache-aware
policy of SGLang's and vLLM's routers does by comparing prefixes, done by who asks.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

FAR_BEHIND = 1.0
"""Rounds of calls that an agent's server may be behind another before the agent moves there. A
move costs reading the whole prompt anew, which is about what a round of calls costs."""
MOST_HOMES = 10_000
"""Agents whose server is remembered; no server keeps so many prompts."""


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """One server, as the choice sees it."""

    well: bool  # whether it answers, as far as is known
    free: bool  # whether it has a place for this call
    behind: float  # calls under way there, and those that wait for it, by its places
    agents: float  # agents that are kept there, by its places


def choose(loads: Sequence[ServerLoad], home: int | None) -> int | None:
    """The server that takes a call now, as an index of ``loads``; None if the call is to wait.

    Where no server is well all are looked at, as Envoy does in a panic: to ask in vain costs
    less than not to ask.

    Args:
        loads: The servers that may be asked, in the order of the configuration.
        home: Which of them has the agent's prompt; None for none.
    """
    among = [i for i, each in enumerate(loads) if each.well] or list(range(len(loads)))
    if home in among:
        own = loads[home]
        if own.free:
            return home
        among = [i for i in among if own.behind - loads[i].behind > FAR_BEHIND]
    free = [i for i in among if loads[i].free]
    return min(free, key=lambda i: (loads[i].behind, loads[i].agents, i), default=None)


class Homes[S: Hashable]:
    """On which server each agent's prompt is; whoever has not asked for longest is forgotten."""

    def __init__(self, most: int = MOST_HOMES) -> None:
        self._most = most
        self._homes: OrderedDict[str, S] = OrderedDict()
        self._agents: Counter[S] = Counter()

    def of(self, agent: str | None) -> S | None:
        """Where its prompt is; None if nowhere, or nobody asks in particular."""
        return None if agent is None else self._homes.get(agent)

    def keep(self, agent: str | None, server: S) -> None:
        """Its prompt is there from now on, and nowhere else."""
        if agent is None:
            return
        self._forget(agent)
        self._homes[agent] = server
        self._agents[server] += 1
        if len(self._homes) > self._most:
            self._forget(next(iter(self._homes)))

    def agents(self, server: S) -> int:
        """How many are kept there."""
        return self._agents[server]

    def _forget(self, agent: str) -> None:
        if (server := self._homes.pop(agent, None)) is not None:
            self._agents[server] -= 1
