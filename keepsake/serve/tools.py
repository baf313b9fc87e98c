"""One memory over MCP: tools for a model that uses it, and resources to read.

Over stdio the program that starts it may do everything. Over HTTP a token needs the right to read
for MCP at all, and each tool checks it for its own right.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from keepsake.errors import KeepsakeError
from keepsake.happening import Manner
from keepsake.library.happenings import MOST_CHARACTERS, Speech
from keepsake.library.memory import Memory
from keepsake.serve.tokens import Right

type Checked = Callable[[Context[Any, Any], str, Right], Awaitable[Callable[[str], None]]]
"""Checks whether a request may use a tool; returns what takes note of its end: why it failed."""

_ABOUT = """The memory of {name}, which lasts over restarts. Use `recall` before you answer about
the past, `remember` for what is said and happens, `prompt` for all that {name} should have before
an answer, and `forget` if a person asks for it."""


def memory_server(
    name: str, memory: Callable[[], Memory], checked: Checked | None = None
) -> MCPServer:
    """Return the MCP server of one memory.

    Args:
        name: The agent's name.
        memory: Returns the memory; may block.
        checked: None if everything is allowed.
    """
    server = MCPServer(
        f"keepsake-{name}", instructions=_ABOUT.format(name=name), log_level="WARNING"
    )
    tools = _Tools(memory, checked)
    for tool in (tools.remember, tools.recall, tools.prompt, tools.forget):
        server.add_tool(tool)
    for address, read in (("summaries", tools.summaries), ("people", tools.people)):
        server.resource(f"keepsake://{address}", mime_type="application/json")(read)
    return server


class _Tools:
    """The tools and resources of one memory."""

    def __init__(self, memory: Callable[[], Memory], checked: Checked | None) -> None:
        self._memory = memory
        self._checked = checked

    async def _do[T](
        self, context: Context[Any, Any], verb: str, right: Right, work: Callable[[Memory], T]
    ) -> T:
        """Check the request, and do the work in a thread.

        Raises:
            ToolError: It is not allowed, or failed; the message says why, with the cure.
        """
        ended: Callable[[str], None] = _unheard
        try:
            if self._checked is not None:
                ended = await self._checked(context, verb, right)
            done = await asyncio.to_thread(lambda: work(self._memory()))
        except KeepsakeError as error:
            ended(error.what)
            raise ToolError(str(error)) from error
        ended("")
        return done

    async def remember(
        self,
        context: Context[Any, Any],
        speaker: Annotated[str, Field(min_length=1, max_length=200)],
        words: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)],
        to: Annotated[list[str], Field(max_length=100)] | None = None,
        in_confidence: bool = False,
    ) -> str:
        """Remember what somebody said. The agent's own name means the agent itself.

        in_confidence: only those in `to` heard it; nobody else will be told.
        """
        manner = Manner.WHISPER if in_confidence else Manner.SAY
        said = Speech(speaker, words, to or (), manner)
        number = await self._do(context, "remember", Right.WRITE, lambda m: m.perceive(said))
        return f"Remembered as memory {number}"

    async def recall(
        self,
        context: Context[Any, Any],
        question: Annotated[str, Field(min_length=1, max_length=2000)],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> str:
        """Return the memories that answer a question or share its words, best first."""
        found = await self._do(
            context, "recall", Right.READ, lambda memory: memory.recall(question, limit)
        )
        lines = (
            f"{each.number}. [{each.time.astimezone():%Y-%m-%d %H:%M}] {each.text}"
            for each in found
        )
        return "\n".join(lines) or "Nothing is remembered of that"

    async def prompt(
        self,
        context: Context[Any, Any],
        words: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)],
        by: Annotated[str, Field(min_length=1, max_length=200)],
        budget: Annotated[int, Field(ge=0, le=1_000_000)] = 4000,
    ) -> str:
        """Return all that the agent should have before it answers words of somebody.

        That is its persona, summaries, newest memories, and what it recalls. Nothing is remembered.
        """
        return await self._do(
            context,
            "prompt",
            Right.READ,
            lambda memory: memory.prompt(words, by=by, budget=budget).text,
        )

    async def forget(
        self,
        context: Context[Any, Any],
        person: Annotated[str, Field(min_length=1, max_length=200)],
    ) -> str:
        """Delete what a person said and did, for good. Use it only if a person asks for it."""
        done = await self._do(context, "forget", Right.FORGET, lambda memory: memory.forget(person))
        problems = f". Not deleted yet: {'; '.join(done.problems)}" if done.problems else ""
        return f"{done.memories} memories were deleted{problems}"

    async def summaries(self) -> str:
        """Both summaries. Who may use MCP at all may read them."""
        found = await asyncio.to_thread(lambda: self._memory().summaries())
        return json.dumps(asdict(found), indent=1)

    async def people(self) -> str:
        """The people whom the agent knows, without what they said in confidence."""
        found = await asyncio.to_thread(lambda: self._memory().people())
        return json.dumps([asdict(each) for each in found], indent=1, default=str)


def _unheard(_: str) -> None:
    return None
