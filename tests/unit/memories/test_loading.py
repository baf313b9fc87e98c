"""How a memory is found by its name, and what is said of one that is none."""

import pytest

from keepsake.cli import memories as evaluating
from keepsake.errors import KeepsakeError
from keepsake.lab.plan import PROBES, TrialSource
from keepsake.memory.protocol import code_of, maker

WHOLE = """
class Whole:
    newest = 0
    def __init__(self, given): ...
    def perceive(self, memory): ...
    def context(self, budget): return []
    def recall(self, question, limit): return []
    def rest(self, *, asleep): ...
    def state(self): return {}
    def close(self): ...
"""
LESS = """
class Less:
    newest = 0
    def perceive(self, memory): ...
    def context(self, budget): return []
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that can be imported; each has a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


def test_what_a_class_lacks_is_named_before_anything_is_lived(module):
    name = module("lacking_memory", LESS)
    with pytest.raises(KeepsakeError, match="it lacks recall, rest, state, close"):
        maker(f"{name}:Less")


def test_a_class_that_is_not_there_is_no_missing_package(module):
    name = module("misnamed_memory", WHOLE)
    with pytest.raises(KeepsakeError) as refused:
        maker(f"{name}:Hole")
    assert "Name a class of misnamed_memory" in refused.value.cure
    with pytest.raises(KeepsakeError) as refused:
        maker("nowhere_to_be_found:Memory")
    assert "pip install -e" in refused.value.cure
    assert maker(f"{name}:Whole")


def test_a_changed_memory_has_another_code_and_ours_has_none(module, tmp_path):
    name = f"{module('changing_memory', WHOLE)}:Whole"
    before = code_of(name)
    assert before == code_of(name) != ""
    (tmp_path / "changing_memory.py").write_text(WHOLE.replace("{}", "{'lines': 1}"))
    assert code_of(name) not in ("", before)
    assert code_of("rag") == code_of("nowhere_to_be_found:Memory") == ""


def test_one_that_breaks_off_keeps_no_other_from_its_figures(module, capsys):
    name = module("torn_memory", WHOLE.replace("memory): ...", "memory): raise OSError('torn')"))
    cells = evaluating.cells_of(
        TrialSource(PROBES, options=(("loads", (1,)), ("days", 3))),
        [f"{name}:Whole", "sliding-window"],
        (),
    )
    found = evaluating.rows_of(cells, None)
    assert [cell.memory for cell in found] == ["sliding-window"]
    assert "torn_memory.py, line 5" in capsys.readouterr().err.replace("\n", " ")
    with pytest.raises(KeepsakeError, match="torn"):
        evaluating.rows_of(cells[:1], None)
