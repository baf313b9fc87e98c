"""The wheel for research without a MUD: the guide's own memory is evaluated to a report."""

from __future__ import annotations

import os
import re
import shutil

import pytest

from keepsake.paths import REPOSITORY
from tests.slow.wheel.game import install, run

TEXT = (REPOSITORY / "docs" / "research.md").read_text(encoding="utf-8")
FRAMEWORKS = ("evennia", "django", "twisted", "chromadb", "ninja")


def block(language, marked):
    """Return the guide's only code block in a language with this text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)
    (found,) = (each for each in blocks if marked in each)
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("research")
    yield install(folder, "[lab]")
    shutil.rmtree(folder)


@pytest.fixture
def call(programs, tmp_path):
    """A function that runs a program in a folder with the guide's memory."""
    (tmp_path / "overlap.py").write_text(block("python", "class Overlap:"), encoding="utf-8")
    ours = ("KEEPSAKE_", "PYTHON", "DJANGO_")
    environ = {name: each for name, each in os.environ.items() if not name.startswith(ours)}

    def call(command, *arguments, fails=False):
        return run([programs / command, *arguments], tmp_path, fails, env=environ)

    return call


def test_no_package_of_a_mud_is_installed(call):
    found = f"from importlib.util import find_spec; print(*map(find_spec, {FRAMEWORKS}))"
    assert call("python", "-c", found).split() == ["None"] * len(FRAMEWORKS)


def test_the_guides_memory_conforms_and_is_in_the_report(call, tmp_path):
    said = call("keepsake", "eval", "--check", "overlap:Overlap")
    assert said.count("✓") == 6
    few = block("yaml", "seeds").replace("keepsake, rag, full-context", "keepsake")
    (tmp_path / "plan.yaml").write_text(few.replace("[1, 2, 3]", "[1]"), encoding="utf-8")
    call("keepsake", "sweep", "plan.yaml", "--jobs", "2")
    report = (tmp_path / "plan" / "report.html").read_text(encoding="utf-8")
    assert "overlap:Overlap" in report


def test_commands_that_need_a_mud_say_so(call, tmp_path):
    assert "clone" in call("keepsake", "simulate", "market", fails=True)
    settings = tmp_path / "server" / "conf" / "settings.py"
    settings.parent.mkdir(parents=True)
    settings.touch()
    assert 'pip install "evennia-keepsake[evennia]"' in call("keepsake", "doctor", fails=True)


def test_an_evaluation_names_the_extra_that_it_needs(tmp_path):
    said = run([install(tmp_path) / "keepsake", "eval", "probes"], tmp_path, fails=True)
    assert 'pip install "evennia-keepsake[lab]"' in said
