"""MCP servers: of one memory, or of all agents of a folder, also of those that are made later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote

import anyio
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged
from mcp.types import Resource

from keepsake.library.memory import Memory
from keepsake.serve.served import Agents
from keepsake.serve.tools import Asked, Checked, Tools, shown_people, shown_summaries

_LOOK_SECONDS = 1.0
"""Seconds between two looks for agents that another process made; a look lists one folder."""
_JSON = "application/json"
_SCHEME = "keepsake://"
_AGENTS = "agents"
"""The part of an address before the agent's name, as in the paths over HTTP."""
_ONE = """The memory of {name}, which lasts over restarts. Use `recall` before you answer about
the past, `remember` for what is said and happens, `prompt` for all that {name} should have before
an answer, and `forget` if a person asks for it."""
_ALL = """The memories of several agents, which last over restarts; `agents` lists them. Name one
as `agent` in each call. Use `recall` before you answer about the past, `remember` for what is said
and happens, `prompt` for all that an agent should have before an answer, and `forget` if a person
asks for it."""
_SHOWN: Mapping[str, tuple[Callable[[Memory], str], str]] = {
    "summaries": (shown_summaries, "Both summaries of older memories."),
    "people": (shown_people, "The people whom the agent knows, without what is confidential."),
}
"""The resources of each memory: what shows it, and what it is."""


def one_memory(name: str, agents: Agents, checked: Checked | None = None) -> MCPServer[Any]:
    """Return the MCP server of one memory.

    Args:
        name: The agent's name.
        agents: That agent alone.
        checked: None if everything is allowed.
    """
    server = MCPServer[Any](
        f"keepsake-{name}", instructions=_ONE.format(name=name), log_level="WARNING"
    )
    tools = Tools(agents, checked)
    _add_tools(server, tools)
    for kind in _SHOWN:
        address = f"{_SCHEME}{kind}"
        server.resource(address, mime_type=_JSON)(_reads_one(tools, name, kind))
    return server


class FolderServer(MCPServer[Any]):
    """The MCP server of all agents of a folder that a client may name.

    Its list of resources is that of the agents who are there now. A client is told when it
    changes: one that listens, and over stdio also one of the protocol before 2026-07-28.

    Args:
        agents: The agents.
        checked: None if everything is allowed.
    """

    def __init__(self, agents: Agents, checked: Checked | None = None) -> None:
        self._changes = InMemorySubscriptionBus()
        self._client: ServerSession | None = None  # over stdio there is one
        super().__init__(
            "keepsake",
            instructions=_ALL,
            log_level="WARNING",
            lifespan=_watched,
            subscriptions=self._changes,
            middleware=[self._meet],
        )
        self._tools = Tools(agents, checked)
        self.add_tool(self._tools.agents)
        _add_tools(self, self._tools)
        for kind in _SHOWN:
            address = f"{_SCHEME}{_AGENTS}/{{agent}}/{kind}"
            self.resource(address, mime_type=_JSON)(_reads_named(self._tools, kind))

    async def list_resources(self) -> list[Resource]:
        """List the resources of the agents who are there now."""
        return [
            Resource(
                uri=f"{_SCHEME}{_AGENTS}/{quote(name, safe='')}/{kind}",
                name=f"{kind} of {name}",
                description=told,
                mime_type=_JSON,
            )
            for name in await self._tools.names()
            for kind, (_, told) in _SHOWN.items()
        ]

    async def watch(self) -> None:
        """Tell clients when agents come or go, until this is cancelled."""
        known = await self._tools.names()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(OSError):  # a disk that is away for a while
                names = await self._tools.names()
                if names != known:
                    known = names
                    await self._tell()

    async def _meet(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Take note of who asks, and go on; the SDK names the arguments."""
        self._client = ctx.session
        return await call_next(ctx)

    async def _tell(self) -> None:
        """Tell clients that the list of resources has changed."""
        await self._changes.publish(ResourcesListChanged())
        if self._client is not None:
            # The SDK sends it to a client of the older protocol that is still connected.
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._client.send_resource_list_changed()


def _add_tools(server: MCPServer[Any], tools: Tools) -> None:
    for tool in (tools.remember, tools.recall, tools.prompt, tools.forget):
        server.add_tool(tool)


def _reads_one(tools: Tools, name: str, kind: str) -> Callable[[], Awaitable[str]]:
    """Return what reads a resource of the only memory."""
    show, told = _SHOWN[kind]

    async def read() -> str:
        return await tools.read(None, name, kind, show)

    read.__name__ = kind
    read.__doc__ = told
    return read


def _reads_named(tools: Tools, kind: str) -> Callable[[str, Asked], Awaitable[str]]:
    """Return what reads a resource of the agent in its address."""
    show, told = _SHOWN[kind]

    async def read(agent: str, context: Asked) -> str:
        return await tools.read(context, agent, kind, show)

    read.__name__ = kind
    read.__doc__ = told
    return read


@asynccontextmanager
async def _watched(server: MCPServer[Any]) -> AsyncIterator[None]:
    """Watch for new agents as long as the server runs."""
    assert isinstance(server, FolderServer)
    watching = asyncio.create_task(server.watch())
    try:
        yield
    finally:
        watching.cancel()
