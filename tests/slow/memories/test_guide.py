"""The memory that the guide builds is one, and comes to a report beside others, without Evennia."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "research.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def block(language, marked):
    """The one block of the guide in a language that holds this mark."""
    blocks = re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)
    (found,) = (each for each in blocks if marked in each)
    return found


MEMORY, PLAN = block("python", "class Overlap:"), block("yaml", "seeds")
KIT = block("python", "class TestOverlap")
ALONE = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        assert name.partition(".")[0] not in ("evennia", "django"), name
        assert name != "twisted.internet.reactor"
sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture
def run(tmp_path):
    """Runs a command where the guide's memory lies, as a shell would."""
    (tmp_path / "overlap.py").write_text(MEMORY, encoding="utf-8")
    environ = {"KEEPSAKE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    environ["PYTHONPATH"] = f"{tmp_path}:{GUIDE.parents[1]}"
    (tmp_path / "sitecustomize.py").write_text(ALONE)

    def run(*command):
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return run


def test_the_guides_memory_conforms(run, tmp_path):
    assert len([line for line in MEMORY.splitlines() if line.strip()]) <= 32
    (tmp_path / "test_overlap.py").write_text(KIT, encoding="utf-8")
    options = ("--rootdir", tmp_path, "-p", "no:cacheprovider")
    found = run(sys.executable, "-m", "pytest", "-q", *options, "test_overlap.py")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "5 passed" in found.stdout


def test_the_guides_plan_runs_where_its_memory_lies(run, tmp_path):
    few = PLAN.replace("keepsake, rag, full-context", "full-context")
    (tmp_path / "plan.yaml").write_text(few.replace("[1, 2, 3]", "[1, 2]"), encoding="utf-8")
    keepsake = Path(sys.executable).with_name("keepsake")
    found = run(keepsake, "sweep", "plan.yaml", "--jobs", "2")
    assert found.returncode == 0, found.stdout + found.stderr
    report = (tmp_path / "plan" / "report.html").read_text(encoding="utf-8")
    assert "overlap:Overlap" in report
