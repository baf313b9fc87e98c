"""A simulation in the dashboard's pages without being started: in its own time, unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from game.lab.forks.lab_fork import fork_lab_world
from game.lab.simulations.plan import Lab
from game.lab.simulations.simulate import resumed, run
from game.web.api.openapi import OPERATIONS
from keepsake.paths import Places
from tests.web.recorded import SHORT, lived, watching

PATIENCE = 60.0
ASKED = {"q": "good", "of": "journal"}
"""What an address needs to be told."""


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Places, Lab]:
    return lived(tmp_path_factory.mktemp("home"))


@pytest.fixture
def shown(simulation: tuple[Places, Lab]) -> Iterator[httpx.Client]:
    with (
        watching(simulation[0], SHORT.name) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        yield client


def api(client: httpx.Client, path: str, **query: Any) -> Any:
    answer = client.get(f"/agents/api{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def files(folder: Path) -> dict[str, str]:
    """All that is below a folder, with what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else ""
        for path in folder.rglob("*")
    }


def test_every_address_answers_and_nothing_is_written(
    simulation: tuple[Places, Lab], shown: httpx.Client
) -> None:
    before = files(simulation[1].folder)
    number = api(shown, "/agents")["agents"][0]["id"]
    for operation in OPERATIONS:
        path = operation.path.replace("{id}", str(number))
        asked = {each.name: ASKED[each.name] for each in operation.parameters if each.required}
        if operation.method == "get":
            assert api(shown, path, **asked), path
        else:
            assert shown.post(f"/agents/api{path}").status_code in {403, 404}, path
    for page in ("/agents/", f"/agents/{number}/", "/agents/world/", "/agents/search/"):
        assert shown.get(page).status_code == 200
    assert shown.get("/agents/999999/").status_code == 404
    assert files(simulation[1].folder) == before


def test_its_present_is_the_time_of_its_last_event(shown: httpx.Client) -> None:
    found = api(shown, "/agents")
    now = datetime.fromisoformat(found["now"])
    assert SHORT.begins < now <= SHORT.moment(SHORT.seconds) + timedelta(minutes=5)
    assert sum(each["ended"] for each in found["agents"]) > 0
    assert sum(each["memories"] for each in found["agents"]) > 0
    assert shown.get("/agents/api/agents").headers["X-Keepsake-Now"] == now.isoformat()
    points = [
        point
        for each in found["agents"]
        for point in api(shown, f"/agents/{each['id']}/series")["points"]
    ]
    assert sum(point["thoughts"] for point in points) == sum(a["ended"] for a in found["agents"])


def test_the_stream_begins_with_the_end_of_the_log(shown: httpx.Client) -> None:
    with shown.stream("GET", "/agents-live?last=5") as stream:
        lines = (line for line in stream.iter_lines() if line.startswith("data: "))
        first = json.loads(next(lines).removeprefix("data: "))
    assert first["t"].startswith(SHORT.start[:10])


def test_only_this_machine_by_its_own_name_is_answered(shown: httpx.Client) -> None:
    for path in ("/agents/", "/agents/api/agents", "/agents-live", "/static/keepsake/page.css"):
        assert shown.get(path, headers={"Host": "elsewhere.example"}).status_code == 403


def test_what_is_lived_on_meanwhile_is_seen(simulation: tuple[Places, Lab]) -> None:
    places, _ = simulation
    with (
        watching(places, SHORT.name) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        before = api(client, "/agents")
        run(resumed(places, SHORT.name, SHORT.hours + 0.3))
        after = api(client, "/agents")
    assert after["now"] > before["now"]
    assert sum(each["memories"] for each in after["agents"]) > sum(
        each["memories"] for each in before["agents"]
    )


def test_a_copy_made_by_fork_opens_beside_its_original(
    simulation: tuple[Places, Lab], tmp_path: Path
) -> None:
    places, _ = simulation
    target = tmp_path / "copy"
    fork_lab_world(places, SHORT.name, target, "", lambda _: None)
    with (
        watching(places, SHORT.name, str(target)) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        copy = client.get("/agents/api/agents", headers={"X-Keepsake-World": "1"}).json()
        assert copy == api(client, "/agents")
        assert "copy" in client.get("/agents/beside/").text


def test_what_is_not_there_is_told(simulation: tuple[Places, Lab]) -> None:
    with (
        pytest.raises(AssertionError, match="There is no simulation 'nowhere'"),
        watching(simulation[0], "nowhere"),
    ):
        pass
