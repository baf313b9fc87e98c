"""Deeds that a model writes, as commands of the game."""

import pytest

from keepsake.ports import ToolCall
from keepsake.prompt.verbs import VERBS, Command, Options
from keepsake.tasks.deed import deed_of, read_deed, tools_of

HERE = Options(
    exits=("north", "south"),
    people=("Anneke", "Joss"),
    things=("bench",),
    lying=("cork",),
    carried=("brass lamp", "rosemary"),
)
DEEDS = {
    "give rosemary to Anneke": "give rosemary to Anneke",
    "give the lamp to anneke.": "give brass lamp to Anneke",
    "go north": "go north",
    "walk to the south": "go south",
    "follow Joss": "follow Joss",
    "get cork": "get cork",
    "look": "look",
    "look at the bench": "look bench",
    "whisper Anneke = The third rung lies.": "whisper Anneke = The third rung lies.",
    'whisper Joss: "Not now."': "whisper Joss = Not now.",
    "recall who mends nets": "recall who mends nets",
    "promise Anneke: a night in the loft": "promise Anneke: a night in the loft",
    "note loft: the third rung lies": "note loft: the third rung lies",
    "wait": "wait",
    "wait | nobody asked": "wait",
}


@pytest.mark.parametrize(("line", "command"), DEEDS.items())
def test_a_deed_is_read(line, command):
    found = read_deed(line, VERBS, HERE)
    assert isinstance(found, Command), found
    assert (found.line, found.reason) == (command, line.partition(" | ")[2])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("give crown to Anneke", "you can only give brass lamp or rosemary"),
        ("give rosemary to the king", "here is only Anneke or Joss"),
        ("go up", "no such exit. Exits: north or south"),
        ("delete Joss", "there is no such deed"),
        ("@py 1", "there is no such deed"),
        ("whisper Anneke", "say what"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_can(line, why):
    found = read_deed(line, VERBS, HERE)
    assert isinstance(found, str)
    assert why in found


def test_the_same_deeds_are_offered_as_tools():
    tools = {tool.name: tool for tool in tools_of(HERE.usages(VERBS))}
    assert "rosemary" in tools["give"].description
    assert tools["wait"].parameters["properties"] == {}
    line = deed_of(ToolCall("give", {"what": "rosemary to Anneke"}))
    assert read_deed(line, VERBS, HERE) == Command("give", "rosemary to Anneke")
    assert "get" not in {tool.name for tool in tools_of(Options().usages(VERBS))}
