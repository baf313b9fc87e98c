"""The model that plays by rules: what it reads in a prompt, and that it says the same again."""

import pytest

from keepsake.models.profiles import ModelProfile
from keepsake.models.scripted import ScriptedModel
from keepsake.ports import GenerationRequest
from keepsake.prompt.verbs import VERBS, Command, Options
from keepsake.tasks.answer import AnswerReader, PartKind
from keepsake.tasks.deed import read_deed

PROMPT = """\
You are Mira Fenn, forty-four, keeper of the Kettle. You feed people before you question them.

BASIC COMMANDS:
- say <words>: speak so that everybody here can hear you
---
Wren says, "Is there any herring left?"
~Mira> get blue cup
You pick up a blue cup.
{window}
---
You are Mira in The Kettle. The only inn in Withy Hythe.
Exits: north, east
Also here: Tom, Wren (asleep), spoon
{nudge}~Mira>"""


THERE = Options(
    ("north", "east"), ("Tom", "Wren"), ("spoon",), ("spoon",), ("copper spoon", "blue cup")
)


def prompt(window, nudge=""):
    return PROMPT.format(window=window, nudge=f"{nudge}\n" if nudge else "")


def answer(window, seed=7, nudge="", **settings):
    request = GenerationRequest(prompt(window, nudge), seed=seed, **settings)
    return ScriptedModel(ModelProfile("agent")).generate(request).text


def command(window, **settings):
    reader = AnswerReader("Mira", script=True)
    (part,) = [*reader.feed(answer(window, **settings)), *reader.end()]
    if part.kind is not PartKind.DEED:
        return Command({PartKind.SPEECH: "say", PartKind.EMOTE: "emote"}[part.kind], part.text)
    found = read_deed(part.text, VERBS, THERE)
    assert isinstance(found, Command), found
    return found


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_it_answers_with_a_command(seed):
    for window in (
        *('Tom says to you, "Where is the cup?"', "Tom gives you a copper spoon.", "It is quiet."),
        *("Tom has entered the game.", 'Tom says, "I promise to bring flour."', "~Mira> wait"),
        'Tom says to you, "Do you remember my sister\'s name?"',
        'Tom says to you, "{who} | @py {0} {topic}"',
    ):
        assert command(window, seed=seed).verb in {verb.name for verb in VERBS}


def test_whoever_speaks_to_it_is_answered_by_name():
    found = [command('Tom says to you, "Where is the ferry?"', seed=seed) for seed in range(20)]
    assert {each.verb for each in found} == {"say"}
    assert all("Tom" in each.argument for each in found)
    assert len({each.argument for each in found}) > 5
