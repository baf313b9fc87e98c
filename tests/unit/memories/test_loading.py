"""How a memory is found by its name, and what is said of one that is none."""

import pytest

from keepsake.errors import KeepsakeError
from keepsake.memory.protocol import maker

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


def test_what_is_no_memory_is_named_before_anything_is_lived(module):
    lacking, misnamed = module("lacking_memory", LESS), module("misnamed_memory", WHOLE)
    for name, told in (
        (f"{lacking}:Less", "it lacks recall, rest, state, close"),
        (f"{misnamed}:Hole", "Name a class of misnamed_memory"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ):
        with pytest.raises(KeepsakeError) as refused:
            maker(name)
        assert told in str(refused.value)
    assert maker(f"{misnamed}:Whole")
