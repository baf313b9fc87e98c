"""Runs the service: HTTP and MCP on one port, or MCP over stdio."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings

from keepsake.library.memory import Memory
from keepsake.serve.gatekeeper import Gatekeeper, ServiceLimits
from keepsake.serve.house import House, MemoryOptions
from keepsake.serve.http import MCP, make_app
from keepsake.serve.tokens import Right, ServiceTokens
from keepsake.serve.tools import memory_server

_STOP_SECONDS = 10
"""Seconds that requests may take at the end; then they are given up."""


def serve(folder: Path, options: MemoryOptions, host: str, port: int, limits: ServiceLimits) -> int:
    """Serve the memories of a folder until a signal; return the exit status.

    Raises:
        KeepsakeError: The folder cannot be served.
    """
    house = House(folder, options)
    try:
        app = service_of(house, limits)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level="warning",
            access_log=False,  # the audit has more
            server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
        server = uvicorn.Server(config)
        # uvicorn stops at a signal and then raises it once more: the memories must be closed first.
        signal.signal(signal.SIGTERM, _go_on)
        with suppress(KeyboardInterrupt):
            server.run()
        return 0 if server.started else 1
    finally:
        house.close()


def _go_on(*_: object) -> None:
    return None


def service_of(house: House, limits: ServiceLimits) -> FastAPI:
    """Return the service as an ASGI application, with MCP for each agent that is there now."""
    keeper = Gatekeeper(house, ServiceTokens(house.folder), limits)
    answers = ThreadPoolExecutor(limits.all_answers, "answer")
    servers = {
        name: memory_server(name, partial(house.memory, name), _checks(keeper, name))
        for name in house.names()
    }

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            for server in servers.values():
                await held.enter_async_context(server.session_manager.run())
            yield
        answers.shutdown(wait=False, cancel_futures=True)

    app = make_app(keeper, answers, lifespan)
    for name, server in servers.items():
        app.mount(f"/agents/{name}/{MCP}", _http_app(server))
    return app


def _http_app(server: MCPServer) -> Any:
    # The token guards it: a page in a browser has none, so DNS rebinding gains nothing.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(
        streamable_http_path="/",
        stateless_http=True,
        json_response=True,
        transport_security=security,
    )


def _checks(keeper: Gatekeeper, agent: str) -> Callable[..., Any]:
    """Return what checks the tools of one agent over HTTP, and writes their audit."""

    async def check(context: Context[Any, Any], verb: str, right: Right) -> Callable[[str], None]:
        request = context.request_context.request
        assert request is not None, "over HTTP there is one"
        grant = request.state.grant  # checked by the service before MCP sees the request
        began = time.monotonic()
        ended = partial(keeper.audit, agent, f"mcp {verb}", grant, began=began)
        await asyncio.to_thread(keeper.check, grant, agent, right)
        return lambda problem: ended(problem=problem)

    return check


def serve_stdio(folder: Path, options: MemoryOptions) -> None:
    """Serve one memory over stdio to the program that started this one, until it ends.

    Raises:
        KeepsakeError: The memory cannot be opened.
    """
    # Only MCP may write to the standard output: what anything else prints goes to the errors.
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(answer, "w", encoding="utf-8", buffering=1)
    with Memory(
        folder,
        model=options.model,
        embedder=options.embedder,
        prompt_tokens=options.prompt_tokens,
        settings=options.settings,
    ) as memory:
        memory_server(memory.name, lambda: memory).run("stdio")
