import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keepsake.prompt.grammars import from_json, verbs_grammar, verbs_schema
from keepsake.prompt.options import Options
from keepsake.prompt.verbs import STANDARD_VERBS, Command
from keepsake.tasks.command_line import read_command

OPTIONS = Options(("north",), ("Tom",), ("cup",), ("cup",), ("rope",))
ALL = [verb.name for verb in STANDARD_VERBS]


@pytest.mark.parametrize("count", range(1, len(STANDARD_VERBS) + 1))
def test_every_rule_of_the_grammar_is_there_once(count):
    grammar = verbs_grammar(STANDARD_VERBS[:count], OPTIONS)
    defined = re.findall(r"^(\w+) ::=", grammar, re.M)
    used = re.findall(r"\b[a-z]\w*\b", re.sub(r'"[^"]*"|\[[^\]]*\]', "", grammar))
    assert len(defined) == len(set(defined))
    assert set(used) <= set(defined)
    for verb in STANDARD_VERBS[:count]:
        assert f'"{verb.name}"' in grammar


def test_names_cannot_break_out_of_the_grammar():
    grammar = verbs_grammar(STANDARD_VERBS, Options(('no"rth\n\\',), ('T" | root',)))
    assert r'way ::= "no\U00000022rth\U0000000A\U0000005C"' in grammar
    assert r'who ::= "T\U00000022 \U0000007C root"' in grammar


def test_there_is_no_grammar_without_verbs():
    with pytest.raises(ValueError, match="verb"):
        verbs_grammar([], OPTIONS)


def test_the_schema_names_the_verbs():
    cases = [each["properties"] for each in verbs_schema(STANDARD_VERBS, OPTIONS)["anyOf"]]
    assert [name for case in cases for name in case["verb"]["enum"]] == ALL
    of = {case["verb"]["enum"][0]: case for case in cases}
    assert of["go"]["argument"]["enum"] == ["north"]
    assert of["get"]["argument"]["enum"] == ["cup"]
    assert of["look"]["argument"]["enum"] == ["", "Tom", "cup", "rope"]
    assert of["give"]["argument"]["enum"] == of["drop"]["argument"]["enum"] == ["rope"]
    assert of["give"]["to"]["enum"] == of["whisper"]["to"]["enum"] == ["Tom"]


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (replace(OPTIONS, lying=()), {"get"}),
        (replace(OPTIONS, carried=()), {"drop", "give"}),
        (replace(OPTIONS, people=()), {"whisper", "give"}),
        (replace(OPTIONS, stays=True), {"go"}),
        (replace(OPTIONS, exits=()), {"go"}),
        (Options(), {"go", "get", "drop", "give", "whisper", "examine"}),
    ],
)
def test_what_cannot_be_done_is_not_offered(options, gone):
    left = [name for name in ALL if name not in gone]
    cases = verbs_schema(STANDARD_VERBS, options)["anyOf"]
    assert [case["properties"]["verb"]["enum"][0] for case in cases] == left
    grammar = verbs_grammar(STANDARD_VERBS, options)
    assert [name for name in ALL if f' ::= "{name}"' in grammar] == left
    assert not (set(left) ^ {usage.split()[0] for usage in options.usages(STANDARD_VERBS)})


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ('{"verb": "say", "argument": "Good | day", "reason": "kind"}', "say Good / day | kind"),
        ('{"verb": "wait", "argument": ""}', "wait"),
        ('{"verb": "wait", "argument": 3, "reason": null}', "wait"),
        ('{"verb": 3}', '{"verb": 3}'),
        ('{"verb": "sa', '{"verb": "sa'),
        ('{"verb": "give", "to": "Tom", "argument": "rope"}', "give rope to Tom"),
        ('{"verb": "whisper", "to": "Tom", "argument": "Hush!"}', "whisper Tom = Hush!"),
        ("say hi", "say hi"),
        ("[1]", "[1]"),
    ],
)
def test_json_becomes_a_line(answer, line):
    assert from_json(answer) == line


@given(st.text(max_size=60))
@example('"}, {"verb": "go"} | because')
def test_whatever_is_in_the_json_a_line_of_speech_comes_of_it(text):
    line = from_json(json.dumps({"verb": "say", "argument": f"Well, {text}", "reason": ""}))
    command = read_command(line, "Mira", STANDARD_VERBS)
    assert isinstance(command, Command)
    assert command.verb == "say"
    assert not command.reason


def test_what_follows_each_verb_has_its_form():
    grammar = verbs_grammar(STANDARD_VERBS, OPTIONS)
    for form in ('"whisper" " " who " = " text', '"give" " " carried " to " who', '"wait"\n'):
        assert f" ::= {form}" in grammar
    assert '"look" (" " seen)?\n' in grammar
    assert '"look"\n' in verbs_grammar(STANDARD_VERBS, Options())
