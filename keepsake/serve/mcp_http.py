"""MCP over HTTP: one server for each agent, and one for all agents of each token.

A server is made at its first request, so an agent or a token that is made later needs no restart.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keepsake.serve.gatekeeper import Gatekeeper
from keepsake.serve.mcp_server import FolderServer, one_memory
from keepsake.serve.served import HousedAgents
from keepsake.serve.tokens import Grant, Right
from keepsake.serve.tools import Asked


class McpOverHttp:
    """The MCP servers of one service.

    The service has checked the token of a request, and its right to read, before it comes here.

    Args:
        keeper: Checks what a tool may do, and writes the audit.
    """

    def __init__(self, keeper: Gatekeeper) -> None:
        self._keeper = keeper
        self._apps: dict[str | Grant, ASGIApp] = {}  # by the agent, or by what a token allows
        self._starting = asyncio.Lock()
        self._tasks: TaskGroup | None = None
        self._ending = asyncio.Event()

    def end(self) -> None:
        """End the streams of clients that listen, which have no end of their own."""
        self._ending.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests until the end of the block."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            tasks.cancel_scope.cancel()

    async def of_agent(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for the agent in its path."""
        name = scope["path_params"]["agent"]
        agents = HousedAgents(self._keeper.house, only=name)
        app = await self._app(name, lambda: one_memory(name, agents, self._check))
        await app(scope, partial(self._received, receive), send)

    async def of_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for all agents of its token."""
        grant: Grant = scope["state"]["grant"]
        agents = HousedAgents(self._keeper.house, grant)
        app = await self._app(grant, lambda: FolderServer(agents, self._check))
        await app(scope, partial(self._received, receive), send)

    async def _received(self, receive: Receive) -> Message:
        """Return what a client sends next; at the end of the service, that it is gone."""
        message = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((message, ending), return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()
            ending.cancel()

    async def _app(self, key: str | Grant, make: Callable[[], MCPServer[Any]]) -> ASGIApp:
        """Return the application of a server, made at its first request."""
        async with self._starting:
            if key not in self._apps:
                assert self._tasks is not None, "requests come while the service runs"
                server = make()
                app = _app_of(server)
                await self._tasks.start(_run, server)
                self._apps[key] = app
        return self._apps[key]

    async def _check(
        self, context: Asked, agent: str, verb: str, right: Right
    ) -> Callable[[str], None]:
        """Check a tool of a request; return what writes its end into the audit."""
        request = context.request_context.request
        assert request is not None, "over HTTP there is one"
        grant: Grant = request.state.grant
        ended = partial(self._keeper.audit, agent, f"mcp {verb}", grant, began=time.monotonic())
        await asyncio.to_thread(self._keeper.check, grant, agent, right)
        return lambda problem: ended(problem=problem)


def _app_of(server: MCPServer[Any]) -> ASGIApp:
    # The token guards it: a page in a browser has none, so DNS rebinding gains nothing.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(
        streamable_http_path="/",
        stateless_http=True,
        json_response=True,
        transport_security=security,
    )


async def _run(server: MCPServer[Any], *, task_status: TaskStatus[None]) -> None:
    """Keep what serves the requests of a server: it begins and ends in one task."""
    async with server.session_manager.run():
        task_status.started()
        await anyio.sleep_forever()
