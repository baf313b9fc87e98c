"""The same memory for asyncio."""

import asyncio
import inspect
import threading

import pytest

from keepsake import Answer, AsyncMemory, KeepsakeError, Memory, Speech
from tests.fakes.model_server import Reply
from tests.unit.library.conftest import CHAT


def run(tmp_path, server, work):
    async def main():
        model = f"openai:fake@{server.address}"
        async with AsyncMemory(tmp_path / "mira", model=model) as mira:
            return await work(mira)

    return asyncio.run(main())


def test_every_verb_is_awaited(tmp_path, server):
    async def work(mira):
        assert await mira.perceive(Speech("Anneke", "Liesbet drowned.", to=["Mira"])) == 1
        assert (await mira.prompt("Who drowned?", by="Anneke")).messages
        assert (await mira.answer("Who drowned?", by="Anneke")).text == "Good day to you."
        assert [each.number for each in await mira.recall("Liesbet", limit=1)] == [1]
        await mira.compact()
        with pytest.raises(KeepsakeError):
            await mira.undo()
        assert (await mira.plan("light a candle")).number == 1
        assert (await mira.end_plan(1, done=False, why="no time")).state == "dropped"
        assert len(await mira.plans(ended=True)) == 1
        assert [each.name for each in await mira.people()] == ["Anneke"]
        assert (await mira.summaries()).window == (1, 3)
        assert (await mira.forget("Anneke")).memories == 3
        return (await mira.status()).memories

    assert run(tmp_path, server, work) == 3


def test_every_verb_of_a_memory_has_a_coroutine_with_its_arguments_and_docstring():
    verbs = {name: verb for name, verb in inspect.getmembers(Memory, callable) if name[0] != "_"}
    assert {"perceive", "answer", "forget"} <= verbs.keys()
    for name, verb in verbs.items():
        twin = getattr(AsyncMemory, name)
        assert inspect.iscoroutinefunction(twin)
        if name not in {"answer", "close"}:  # these do more than wait
            assert inspect.signature(twin) == inspect.signature(verb)
            assert inspect.getdoc(twin) == inspect.getdoc(verb)


def test_lines_are_streamed_before_the_answer(tmp_path, server):
    server.plan(CHAT, Reply("It is late.\nGood night."))

    async def work(mira):
        return [each async for each in mira.stream("Well?", by="Anneke")]

    *lines, answer = run(tmp_path, server, work)
    assert " ".join(lines) == "It is late. Good night."
    assert isinstance(answer, Answer)


def test_a_cancelled_task_gives_up_its_answer(tmp_path, server):
    gate = threading.Event()
    server.always(CHAT, Reply("Late.", gate=gate))

    async def work(mira):
        task = asyncio.create_task(mira.answer("What?", by="Anneke"))
        while not server.calls(CHAT):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.set()
        server.always(CHAT, Reply("Here I am."))
        return (await mira.answer("And now?", by="Anneke")).text

    assert run(tmp_path, server, work) == "Here I am."


def test_a_memory_that_is_not_open_says_how_to_open_it(tmp_path):
    with pytest.raises(RuntimeError, match="async with"):
        _ = AsyncMemory(tmp_path / "mira").memory
