"""MCP for all agents of a folder, also for those that are made while it is served."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceListChangedNotification

from keepsake import Memory
from keepsake.serve.house import make_agent
from keepsake.serve.tokens import ALL as EVERYBODY
from keepsake.serve.tokens import Right
from tests.slow.serve.conftest import Service

NEW = "Anna Łucja"
SAID = {"speaker": "Anneke", "words": "The tide turns at nine.", "to": ["Tess"]}


def add_agent(folder, name):
    command = [sys.executable, "-m", "keepsake", "service", "add-agent", str(folder), name]
    subprocess.run([*command, "--persona", "You are new here."], check=True, capture_output=True)


def text_of(result):
    return result.content[0].text


@asynccontextmanager
async def over_http(service: Service, path: str, *agents: str, **more) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {service.token(*agents, **more)}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        address = f"{service.address}{path}"
        async with Client(streamable_http_client(address, http_client=http)) as client:
            yield client


async def addresses(client):
    return {str(each.uri) for each in (await client.list_resources()).resources}


async def meet(client, folder, name, begin):
    """Make an agent while a client listens, and use its tools and resources."""
    assert await addresses(client) == {f"keepsake://agents/{each}" for each in begin}
    async with client.listen(resources_list_changed=True) as changes:
        await asyncio.to_thread(add_agent, folder, name)
        async with asyncio.timeout(60):
            await anext(aiter(changes))
    found = await addresses(client) - {f"keepsake://agents/{each}" for each in begin}
    assert len(found) == 2
    assert name in text_of(await client.call_tool("agents", {})).splitlines()
    said = await client.call_tool("remember", SAID | {"agent": name.casefold()})
    assert "memory 1" in text_of(said)
    recalled = await client.call_tool("recall", {"question": "tide", "agent": name})
    assert "turns at nine" in text_of(recalled)
    people = next(each for each in found if each.endswith("people"))
    assert "Anneke" in (await client.read_resource(people)).contents[0].text
    unclear = await client.call_tool("recall", {"question": "tide"})
    assert unclear.is_error
    assert name in text_of(unclear)


def kinds(*names):
    return [f"{each}/{kind}" for each in names for kind in ("summaries", "people")]


def test_over_stdio_an_agent_that_is_made_later_is_there_at_once(tmp_path):
    folder = tmp_path / "memories"
    make_agent(folder, "mira", "You are Mira.")

    async def main():
        command = ["-m", "keepsake", "mcp", str(folder)]
        server = StdioServerParameters(command=sys.executable, args=command)
        async with Client(server) as client:
            only = await client.call_tool("recall", {"question": "tide"})
            assert "Nothing is remembered" in text_of(only)
            await meet(client, folder, NEW, kinds("mira"))

    asyncio.run(main())
    assert not (folder / "archive").exists()
    with Memory(folder / NEW) as memory:
        assert memory.status().memories == 1


def test_over_stdio_a_client_of_the_older_protocol_is_told_of_a_new_agent_too(tmp_path):
    folder = tmp_path / "memories"
    make_agent(folder, "mira", "You are Mira.")

    async def main():
        told = asyncio.Event()

        async def take(message):
            if isinstance(message, ResourceListChangedNotification):
                told.set()

        command = ["-m", "keepsake", "mcp", str(folder)]
        server = StdioServerParameters(command=sys.executable, args=command)
        async with Client(server, mode="legacy", message_handler=take) as client:
            assert len(await addresses(client)) == 2
            await asyncio.to_thread(add_agent, folder, NEW)
            async with asyncio.timeout(60):
                await told.wait()
            assert len(await addresses(client)) == 4

    asyncio.run(main())


def test_over_http_an_agent_that_is_made_later_is_there_at_once(service):
    async def main():
        async with over_http(service, "/mcp/", EVERYBODY) as client:
            await meet(client, service.folder, NEW, kinds("bram", "mira"))
        async with over_http(service, f"/agents/{NEW}/mcp/", NEW) as client:
            assert await addresses(client) == {"keepsake://summaries", "keepsake://people"}
            found = await client.call_tool("recall", {"question": "tide"})
            assert "turns at nine" in text_of(found)
            people = await client.read_resource("keepsake://people")
            assert "Anneke" in people.contents[0].text

    asyncio.run(main())


def test_a_token_sees_and_hears_nothing_of_agents_that_it_is_not_for(service):
    async def main():
        async with over_http(service, "/mcp/", "mira", rights=[Right.READ]) as client:
            mine = {f"keepsake://agents/{each}" for each in kinds("mira")}
            assert await addresses(client) == mine
            async with client.listen(resources_list_changed=True) as changes:
                await asyncio.to_thread(add_agent, service.folder, "tess")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(4):
                        await anext(aiter(changes))
            assert await addresses(client) == mine
            for name in ("bram", "tess", "nobody"):
                refused = await client.call_tool("recall", {"question": "tide", "agent": name})
                assert refused.is_error
                told = f"There is no agent '{name}'. Name one of these as `agent`: mira"
                assert text_of(refused).endswith(told)
                with pytest.raises(MCPError):
                    await client.read_resource(f"keepsake://agents/{name}/people")
            written = await client.call_tool("remember", SAID)
            assert written.is_error
            assert "no right to write" in text_of(written)

    asyncio.run(main())
    with service.client("mira", rights=[Right.FORGET]) as client:
        assert client.post(f"{service.address}/mcp/", json={}).status_code == 403
    assert httpx.post(f"{service.address}/mcp/", json={}).status_code == 401


def test_a_client_that_listens_does_not_hold_up_the_end_of_the_service(service):
    async def main():
        async with (
            over_http(service, "/mcp/", EVERYBODY) as client,
            client.listen(resources_list_changed=True) as changes,
        ):
            ending = asyncio.create_task(asyncio.to_thread(service.stop))
            with pytest.raises(SubscriptionLost):
                await anext(aiter(changes))
            assert await ending == 0

    asyncio.run(main())
    assert "graceful shutdown exceeded" not in (service.folder.parent / "serve.log").read_text()
