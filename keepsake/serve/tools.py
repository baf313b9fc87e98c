"""Memories over MCP: tools for a model that uses them, and resources to read.

Over stdio the program that starts it may do everything. Over HTTP a token needs the right to read
for MCP at all, and each tool checks it for its own right.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from pydantic import Field

from keepsake.errors import KeepsakeError
from keepsake.happening import Manner
from keepsake.library.happenings import MOST_CHARACTERS, Speech
from keepsake.library.memory import Memory
from keepsake.serve.served import Agents
from keepsake.serve.tokens import Right

Asked = Context[Any, Any]
"""The request in which a tool is used or a resource is read."""
type Checked = Callable[[Asked, str, str, Right], Awaitable[Callable[[str], None]]]
"""Checks whether a request may use a verb of an agent; returns what takes note of its end: why it
failed, or nothing."""
type AgentName = Annotated[
    str, Field(max_length=200, description="Whose memory; may be left out if there is only one.")
]


class Tools:
    """The tools and resources of one MCP server.

    Args:
        agents: The agents that a client may name.
        checked: None if everything is allowed.
    """

    def __init__(self, agents: Agents, checked: Checked | None) -> None:
        self._agents = agents
        self._checked = checked

    async def agents(self) -> str:
        """List the agents whose memories are here."""
        return "\n".join(await self.names()) or "There are none yet"

    async def names(self) -> list[str]:
        """Return the agents that are there now."""
        return await asyncio.to_thread(self._agents.names)

    async def remember(
        self,
        context: Asked,
        speaker: Annotated[str, Field(min_length=1, max_length=200)],
        words: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)],
        *,
        to: Annotated[list[str], Field(max_length=100)] | None = None,
        in_confidence: bool = False,
        agent: AgentName = "",
    ) -> str:
        """Remember what somebody said. The agent's own name means the agent itself.

        in_confidence: only those in `to` heard it; nobody else will be told.
        """
        manner = Manner.WHISPER if in_confidence else Manner.SAY
        said = Speech(speaker, words, to or (), manner)
        number = await self._use(
            context, agent, "remember", Right.WRITE, lambda memory: memory.perceive(said)
        )
        return f"Remembered as memory {number}"

    async def recall(
        self,
        context: Asked,
        question: Annotated[str, Field(min_length=1, max_length=2000)],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        agent: AgentName = "",
    ) -> str:
        """Return the memories that answer a question or share its words, best first."""
        found = await self._use(
            context, agent, "recall", Right.READ, lambda memory: memory.recall(question, limit)
        )
        lines = (
            f"{each.number}. [{each.time.astimezone():%Y-%m-%d %H:%M}] {each.text}"
            for each in found
        )
        return "\n".join(lines) or "Nothing is remembered of that"

    async def prompt(
        self,
        context: Asked,
        words: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)],
        by: Annotated[str, Field(min_length=1, max_length=200)],
        budget: Annotated[int, Field(ge=0, le=1_000_000)] = 4000,
        agent: AgentName = "",
    ) -> str:
        """Return all that the agent should have before it answers words of somebody.

        That is its persona, summaries, newest memories, and what it recalls. Nothing is remembered.
        """
        return await self._use(
            context,
            agent,
            "prompt",
            Right.READ,
            lambda memory: memory.prompt(words, by=by, budget=budget).text,
        )

    async def forget(
        self,
        context: Asked,
        person: Annotated[str, Field(min_length=1, max_length=200)],
        agent: AgentName = "",
    ) -> str:
        """Delete what a person said and did, for good. Use it only if a person asks for it."""
        done = await self._use(
            context, agent, "forget", Right.FORGET, lambda memory: memory.forget(person)
        )
        problems = f". Not deleted yet: {'; '.join(done.problems)}" if done.problems else ""
        return f"{done.memories} memories were deleted{problems}"

    async def read(
        self, context: Asked | None, agent: str, verb: str, show: Callable[[Memory], str]
    ) -> str:
        """Return the text of a resource.

        Args:
            context: None for a resource that needs no check: who may use MCP at all may read it.

        Raises:
            ResourceError: It is not allowed, or failed; the message says why, with the cure.
        """
        try:
            return await self._do(context, agent, verb, Right.READ, show)
        except KeepsakeError as error:
            raise ResourceError(str(error)) from error

    async def _use[T](
        self,
        context: Asked,
        agent: str,
        verb: str,
        right: Right,
        work: Callable[[Memory], T],
    ) -> T:
        """Do the work of a tool.

        Raises:
            ToolError: It is not allowed, or failed; the message says why, with the cure.
        """
        try:
            return await self._do(context, agent, verb, right, work)
        except KeepsakeError as error:
            raise ToolError(str(error)) from error

    async def _do[T](
        self,
        context: Asked | None,
        agent: str,
        verb: str,
        right: Right,
        work: Callable[[Memory], T],
    ) -> T:
        """Check the request, and do the work in a thread.

        Raises:
            KeepsakeError: It is not allowed, or failed.
        """
        ended: Callable[[str], None] = _unheard
        try:
            name = await asyncio.to_thread(self._agents.named, agent)
            if self._checked is not None and context is not None:
                ended = await self._checked(context, name, verb, right)
            done = await asyncio.to_thread(lambda: work(self._agents.memory(name)))
        except KeepsakeError as error:
            ended(error.what)
            raise
        ended("")
        return done


def shown_summaries(memory: Memory) -> str:
    """Return both summaries as JSON."""
    return json.dumps(asdict(memory.summaries()), indent=1)


def shown_people(memory: Memory) -> str:
    """Return the people whom the agent knows as JSON, without what they said in confidence."""
    return json.dumps([asdict(each) for each in memory.people()], indent=1, default=str)


def _unheard(_: str) -> None:
    return None
