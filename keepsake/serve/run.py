"""Runs the service: HTTP and MCP on one port, or MCP over stdio."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from fastapi import FastAPI
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest

from keepsake.errors import KeepsakeError
from keepsake.serve.gatekeeper import Gatekeeper, ServiceLimits
from keepsake.serve.house import House, MemoryOptions, holds_agents
from keepsake.serve.http import MCP, make_app
from keepsake.serve.mcp_http import McpOverHttp
from keepsake.serve.mcp_server import FolderServer, one_memory
from keepsake.serve.served import HousedAgents, OneAgent
from keepsake.serve.tokens import ServiceTokens

_STOP_SECONDS = 10
"""Seconds that requests may take at the end; then they are given up."""


def serve(folder: Path, options: MemoryOptions, host: str, port: int, limits: ServiceLimits) -> int:
    """Serve the memories of a folder until a signal; return the exit status.

    Raises:
        KeepsakeError: The folder cannot be served.
    """
    house = House(folder, options)
    try:
        keeper = Gatekeeper(house, ServiceTokens(house.folder), limits)
        mcp = McpOverHttp(keeper)
        config = uvicorn.Config(
            service_of(keeper, mcp),
            host=host,
            port=port,
            log_level="warning",
            access_log=False,  # the audit has more
            server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
        server = _Server(config, mcp)
        # uvicorn stops at a signal and then raises it once more: the memories must be closed first.
        signal.signal(signal.SIGTERM, _go_on)
        with suppress(KeyboardInterrupt):
            server.run()
        return 0 if server.started else 1
    finally:
        house.close()


def _go_on(*_: object) -> None:
    return None


class _Server(uvicorn.Server):
    """Ends the streams that have no end of their own before it waits for requests."""

    def __init__(self, config: uvicorn.Config, mcp: McpOverHttp) -> None:
        super().__init__(config)
        self._mcp = mcp

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for the requests that run, and stop."""
        self._mcp.end()
        await super().shutdown(sockets)


def service_of(keeper: Gatekeeper, mcp: McpOverHttp) -> FastAPI:
    """Return the service as an ASGI application, with MCP for all agents and for each."""
    answers = ThreadPoolExecutor(keeper.limits.all_answers, "answer")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield
        answers.shutdown(wait=False, cancel_futures=True)

    app = make_app(keeper, answers, lifespan)
    app.mount(f"/agents/{{agent}}/{MCP}", mcp.of_agent)
    app.mount(f"/{MCP}", mcp.of_token)
    return app


def serve_stdio(folder: Path, options: MemoryOptions) -> None:
    """Serve a memory, or all of a folder, over stdio to the program that started this one.

    It returns when that program ends.

    Raises:
        KeepsakeError: The memory cannot be opened, or the folder cannot be served. A program that
            asks has been told so.
    """
    # Only MCP may write to the standard output: what anything else prints goes to the errors.
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(answer, "w", encoding="utf-8", buffering=1)
    with ExitStack() as opened:
        try:
            server = _opened(folder, options, opened)
        except KeepsakeError as error:
            if not sys.stdin.isatty():  # a person is told at once, by the caller
                anyio.run(_refuse, error)
            raise
        server.run("stdio")


async def _refuse(error: KeepsakeError) -> None:
    """Answer each request over stdio with an error, until the program that sends them ends.

    Programs show the answer to their first request, and seldom what stands on standard error. A
    server of the SDK is none for this: after one refused request of the protocol of 2026-07-28 it
    refuses the handshake of older ones with a reason of its own.
    """
    refused = ErrorData(code=INTERNAL_ERROR, message=str(error))
    async with stdio_server() as (asked, answers), answers:  # else its writer never ends
        async for message in asked:
            if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCRequest):
                number = message.message.id
                answer = JSONRPCError(jsonrpc="2.0", id=number, error=refused)
                await answers.send(SessionMessage(answer))


def _opened(folder: Path, options: MemoryOptions, opened: ExitStack) -> MCPServer[Any]:
    """Open what is in a folder, to be closed with ``opened``; return its MCP server."""
    if holds_agents(folder):
        house = opened.enter_context(closing(House(folder, options)))
        return FolderServer(HousedAgents(house))
    memory = opened.enter_context(options.open(folder))
    return one_memory(memory.name, OneAgent(memory))
