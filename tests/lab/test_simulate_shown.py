"""What a terminal shows of a simulation, however narrow it is and however it ends."""

import io
import re

import pytest
from rich.console import Console

from game.cli.lab.simulate import _RunDisplay, show
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.simulate import SimulationReport, create
from game.paths import REPOSITORY, Places, Ports
from tests.fakes.model_server import FakeModelServer, Reply


@pytest.fixture
def places(tmp_path):
    (tmp_path / "home").mkdir()
    return Places(tmp_path / "home", REPOSITORY / "vault", Ports(21200))


def screen(width):
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_name_bar_share_and_speed_are_there_in_every_width(places, width):
    out = screen(width)
    shown = _RunDisplay(out, create(places, SimulationPlan("market", hours=24)))
    counts = {"thoughts": 1234, "tokens": 2_345_678}
    with shown.bar():
        shown.take(SimulationReport("going back", 0.0, "", {}))
        shown.take(SimulationReport("at", 43_200.0, "", counts))
        shown.bar().refresh()
    newest = [line for line in out.file.getvalue().splitlines() if "50%" in line][-1]
    assert re.search(r"market ━+.* 50% .*1,234 thoughts.* \d+x", newest), newest
    assert ("2,345,678 tokens" in newest) is (width == 200)


def test_a_simulation_in_which_nobody_was_answered_says_why_and_is_no_success(places):
    out = screen(100)
    with FakeModelServer() as fake:
        fake.always("/api/generate", Reply(status=400, raw=b'{"error": "it has hiccups"}'))
        plan = SimulationPlan(
            "hiccups", agents=1, hours=0.2, visitors=0, model=f"ollama:fake@{fake.address}"
        )
        lab = create(places, plan)
        thinking = lab.vault / "config" / "thinking.md"
        text = re.sub(r"(\*\*idle_away_factor\*\*): .*", r"\1: 1", thinking.read_text())
        thinking.write_text(re.sub(r"(\*\*idle_interval\*\*): .*", r"\1: 180", text))
        assert show(out, lab) is False
    assert lab.lived() == lab.plan().seconds
    said = " ".join(out.file.getvalue().split())
    assert "No thought was answered: " in said
    assert "it has hiccups" in said
