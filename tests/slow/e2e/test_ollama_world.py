"""A running world with a fake Ollama that records all requests; the tests share the world."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from keepsake.cli import processes
from tests.fakes.model_server import FakeModelServer
from tests.slow.browser.watched import FACT
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import PATIENCE, Player, chat_until, compactions, keep_at_home
from tests.slow.e2e.running import WITH_RULES, running
from tests.unit.llm.conftest import until

TOKEN = "0123456789abcdef0123456789"


def wait(_prompt: str) -> str:
    """Answer that the agent does nothing."""
    return " wait"


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(models=["comma"], script=wait) as server:
        yield server


@pytest.fixture(scope="module")
def copy(tmp_path_factory, fake, tables) -> Iterator[Copy]:
    changes = [
        ("memory_compaction.md", "window**: 64", "window**: 5"),
        ("memory_compaction.md", "**count_from**: 0.60", "**count_from**: 0"),
        # On a busy machine a search may take longer than half a second.
        ("recall.md", "**patience**: 0.5", "**patience**: 30"),
        ("thinking.md", "**gather**: 0.6", "**gather**: 0.2"),
        ("thinking.md", "**cooldown**: 4", "**cooldown**: 0.5"),
    ]
    environ = {"OLLAMA_HOST": fake.address, "KEEPSAKE_METRICS_TOKEN": TOKEN}
    folder = tmp_path_factory.mktemp("ollama")
    with running(folder, tables, llm=WITH_RULES, changes=changes, **environ) as made:
        keep_at_home(made)
        yield made


def is_indexed(copy: Copy) -> bool:
    """Whether everything that has left Mira's window can be found by meaning."""
    status = processes.ask(copy.here, "index_status", seconds=PATIENCE)
    mira = next(each for each in status["agents"] if each["agent"] == "Mira")
    return mira["by_meaning"] and mira["memories"] and not mira["waiting"]


def prompts_of_mira(fake: FakeModelServer) -> list[str]:
    """Return the prompts of Mira's thoughts."""
    return [prompt for prompt in fake.prompts() if prompt.endswith("~Mira>")]


def test_a_fact_that_left_the_window_is_in_the_prompt_of_a_question_about_it(copy, fake):
    ada = Player.new(copy, "Ada")
    ada.see("The Kettle")
    ada.type(f"talk mira {FACT}", "You say")
    chat_until(lambda: compactions(copy) >= 3, ada)
    ada.leave()

    again = Player.back(copy, "Ada")
    again.see("The Kettle")
    until(lambda: is_indexed(copy))
    deadline = time.monotonic() + PATIENCE
    while True:  # the newest lines may have no vectors yet, and words alone find nothing
        thoughts = len(prompts_of_mira(fake))
        question = f"Where does my sibling work? It is {time.monotonic():.2f}."
        again.type(f"talk mira {question}", "You say")
        while not any(question in prompt for prompt in prompts_of_mira(fake)[thoughts:]):
            assert time.monotonic() < deadline, "she did not think about it"
            time.sleep(0.05)
        prompt = next(p for p in prompts_of_mira(fake)[thoughts:] if question in p)
        if "mends nets in Ostrey" in prompt:
            break
        assert time.monotonic() < deadline, prompt
        time.sleep(1)
    window = prompt.split("\n---\n")[1]
    assert FACT not in window, "it is recalled, or in a summary; it has left the window"
    call = next(c for c in fake.calls("/api/generate") if c.body["prompt"] == prompt)
    assert (call.body["model"], call.body["raw"]) == ("comma", True)
    assert call.body["keep_alive"]
    again.leave()


def test_metrics_need_the_token_and_strangers_get_no_events(copy):
    shown = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "192.0.2.1"}
    for port in (copy.here.ports.web, copy.here.ports.web_internal):
        address = f"http://127.0.0.1:{port}"
        refused = httpx.get(f"{address}/metrics", timeout=PATIENCE)
        assert (refused.status_code, refused.text) == (403, "")
        answer = httpx.get(f"{address}/metrics", headers=shown, timeout=PATIENCE)
        assert answer.status_code == 200
        assert "\nkeepsake_up 1.0\n" in answer.text
    assert all(TOKEN not in path.read_text() for path in copy.here.events.rglob("*.jsonl"))
    paths = ("agents", "events", "events?agent=1", "events?agent=999999&after=x")
    web = f"http://127.0.0.1:{copy.here.ports.web}"
    answers = [httpx.get(f"{web}/agents/api/{path}", timeout=PATIENCE) for path in paths]
    assert {(each.status_code, each.text) for each in answers} == {(403, answers[0].text)}
    for name in ("server.log", "portal.log", "agents.log"):
        text = (copy.here.logs / name).read_text(errors="replace")
        assert "Traceback" not in text, text[-3000:]
        assert "Unhandled" not in text, text[-3000:]
