"""MCP with the SDK's own client: over stdio, and over HTTP with a token."""

import asyncio
import re
import subprocess
import sys

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from keepsake import Memory
from keepsake.serve.tokens import Right
from tests.slow.serve.conftest import environ

IN_USE = {"": "Another service serves .*Ask that one", "mira": "is open already.*`keepsake serve`"}
"""What is told of a folder that is served already, and of one memory of it."""


def text_of(result):
    return result.content[0].text


async def use(client):
    async with client:
        names = {each.name for each in (await client.list_tools()).tools}
        assert names == {"remember", "recall", "prompt", "forget"}
        said = {"speaker": "Anneke", "words": "My sister Liesbet drowned.", "to": ["Mira"]}
        assert "memory 1" in text_of(await client.call_tool("remember", said))
        found = await client.call_tool("recall", {"question": "sister"})
        assert "Liesbet drowned" in text_of(found)
        asked = {"words": "What of my sister?", "by": "Anneke"}
        assert "Liesbet drowned" in text_of(await client.call_tool("prompt", asked))
        resources = {str(each.uri) for each in (await client.list_resources()).resources}
        assert resources == {"keepsake://summaries", "keepsake://people"}
        people = await client.read_resource("keepsake://people")
        assert "Anneke" in people.contents[0].text
        assert "window" in (await client.read_resource("keepsake://summaries")).contents[0].text
        wrong = await client.call_tool("remember", {"speaker": "", "words": "x"})
        assert wrong.is_error
        return await client.call_tool("forget", {"person": "Anneke"})


def test_over_stdio_a_program_remembers_recalls_and_forgets(tmp_path):
    folder = tmp_path / "mira"
    command = ["-m", "keepsake", "mcp", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=command)
    assert "1 memories were deleted" in text_of(asyncio.run(use(Client(server))))
    with Memory(folder) as mira:
        assert mira.status().memories == 1
        assert mira.recall("Liesbet") == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("served", ["", "mira"])
def test_over_stdio_a_client_is_told_why_a_memory_cannot_be_opened(service, mode, served):
    with service.client("mira") as mira:  # the service has the memory open
        assert mira.get("/mira/status").is_success
    command = ["-m", "keepsake", "mcp", str(service.folder / served)]

    async def main():
        server = StdioServerParameters(command=sys.executable, args=command)
        async with Client(server, mode=mode):
            pass

    told = pytest.RaisesExc(MCPError, match=IN_USE[served])
    with pytest.RaisesGroup(told, allow_unwrapped=True, flatten_subgroups=True):
        asyncio.run(main())
    by_hand = [sys.executable, *command]
    done = subprocess.run(
        by_hand,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environ() | {"KEEPSAKE_MODEL": "none"},
    )
    assert done.returncode == 1
    assert re.search(IN_USE[served], done.stderr.decode())


@pytest.mark.parametrize("rights", [list(Right), [Right.READ, Right.WRITE]])
def test_over_http_a_token_decides_what_a_tool_may_do(service, rights):
    async def main():
        headers = {"Authorization": f"Bearer {service.token(rights=rights)}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            address = f"{service.address}/agents/mira/mcp/"
            client = Client(streamable_http_client(address, http_client=http))
            return await use(client)

    result = asyncio.run(main())
    if Right.FORGET in rights:
        assert "1 memories were deleted" in text_of(result)
    else:
        assert result.is_error
        assert "no right to forget" in text_of(result)
