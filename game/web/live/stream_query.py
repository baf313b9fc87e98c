"""What a live stream is asked for: its query, and how far the browser had come."""

from __future__ import annotations

import re
from dataclasses import dataclass

from twisted.web.http import Request

from game.web.live.hub import StreamRecord
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names
from keepsake.events.types import KINDS

_MOST_LAST = 500
_NUMBER = re.compile(r"[0-9]{1,16}")


class BadQuery(KeepsakeError):
    """A stream was asked for in a way that means nothing."""


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """What a stream shows."""

    # database number of the agent; None for all, and for what concerns nobody
    agent: int | None = None
    kinds: frozenset[str] = frozenset()  # kinds of events; all when empty
    last: int = 0  # records of before that it begins with
    # the last record that the browser has; None if it comes for the first time
    after: int | None = None

    @classmethod
    def of(cls, request: Request) -> StreamQuery:
        """Read the query and the header ``Last-Event-ID``.

        Raises:
            BadQuery: Something in it means nothing.
        """
        args = {name.decode("latin-1"): values for name, values in request.args.items()}
        if unknown := sorted(args.keys() - {"agent", "kinds", "last"}):
            raise BadQuery(f"There is no {unknown[0]!r}", "Ask for agent, kinds and last")
        named = {name: values[-1].decode("utf-8", "replace") for name, values in args.items()}
        after = request.getHeader("last-event-id") or ""
        return cls(
            agent=_number("agent", named["agent"]) if "agent" in named else None,
            kinds=_kinds(named.get("kinds", "")),
            last=min(_number("last", named.get("last", "0")), _MOST_LAST),
            # A browser sends back what it was sent; whatever else stands there means nothing.
            after=int(after) if _NUMBER.fullmatch(after) else None,
        )

    def takes(self, record: StreamRecord, names: Names | None) -> bool:
        """Whether it shows this record; ``names`` are what the agent is and was called."""
        if self.kinds and record.kind not in self.kinds:
            return False
        if self.agent is None:
            return True
        return names is not None and names.bore(record.agent, record.at, record.agent_id)


def _number(name: str, given: str) -> int:
    if _NUMBER.fullmatch(given):
        return int(given)
    raise BadQuery(f"{name} is {given[:40]!r}", "Give it a whole number")


def _kinds(given: str) -> frozenset[str]:
    kinds = frozenset(each for each in given.split(",") if each)
    if unknown := sorted(kinds - KINDS.keys()):
        raise BadQuery(f"There is no kind {unknown[0][:40]!r}", f"Ask for {', '.join(KINDS)}")
    return kinds
