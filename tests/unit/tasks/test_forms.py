"""The three prompt forms: one interface, and nobody else asks which form it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsake.paths import REPOSITORY
from keepsake.ports import FormName
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import LAST_LINES, PromptForm, PromptLimits
from keepsake.tasks.task_prompts import task_prompts
from tests.unit.mind.night_runner import Target

CONFIG = REPOSITORY / "vault" / "config"
SHIPPED = task_prompts(CONFIG, CONFIG)
FORMS = REPOSITORY / "keepsake" / "tasks" / "forms"
NAMES = {each.name for each in FormName}
CLASSES = {f"{each.title()}Form" for each in FormName}


def form(name: FormName, tokens: int = 8000, memory_tokens: int = 0) -> PromptForm:
    talk = SHIPPED["talk"].current
    act = SHIPPED["act"].current
    return form_of(Target(name, tokens), talk, act, len, memory_tokens)


def test_a_chat_prompt_has_room_for_the_memory_and_shows_excerpts():
    limits = form(FormName.CHAT, 6000).limits
    assert limits == PromptLimits(6000, 1500, shown_lines=0, shows_excerpts=True)


def test_a_dialogue_shows_only_the_last_lines():
    assert form(FormName.DIALOGUE).limits == PromptLimits(shown_lines=LAST_LINES)


def test_the_settings_of_the_memory_limit_a_script():
    assert form(FormName.SCRIPT).limits == PromptLimits()
    assert form(FormName.SCRIPT, 8000, memory_tokens=3000).budget == 3000
    assert form(FormName.SCRIPT, 2000, memory_tokens=3000).budget == 2000


@pytest.mark.parametrize(
    ("name", "acts", "ahead"),
    [
        (FormName.CHAT, True, False),
        (FormName.DIALOGUE, False, True),
        (FormName.SCRIPT, True, False),
    ],
)
def test_only_a_small_model_reads_ahead_and_does_nothing_unprompted(name, acts, ahead):
    assert (form(name).acts_unprompted, form(name).reads_ahead) == (acts, ahead)


def test_a_form_equals_its_name_in_the_configuration():
    assert [*FormName] == ["chat", "dialogue", "script"]
    assert FormName("chat").sends_messages


def names_a_form(node: ast.expr) -> bool:
    """Whether an expression is one form: ``CHAT``, ``FormName.CHAT``, ``"chat"``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in NAMES
        case ast.Constant(value=str(text)):
            return text in {*FormName}
        case ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts):
            return any(map(names_a_form, parts))
    return False


def conditions(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of conditions on the form of a prompt."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                if any(map(names_a_form, [left, *others])):
                    yield node.lineno
            case ast.MatchValue(value=value) if names_a_form(value):
                yield node.lineno
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                if any(isinstance(e, ast.Name) and e.id in CLASSES for e in ast.walk(kind)):
                    yield node.lineno


def test_a_condition_on_the_form_is_found():
    code = ["a = p.form == CHAT", "b = FormName.SCRIPT is f"]
    code += ["c = isinstance(f, ChatForm)", "d = 'dialogue' in x"]
    assert [*conditions(ast.parse("\n".join(code)))] == [1, 2, 3, 4]
    assert [*conditions(ast.parse("match f:\n case FormName.CHAT: pass"))] == [2]


def test_no_code_outside_the_three_classes_asks_which_form_it_is():
    found = []
    for package in ("keepsake", "game", "typeclasses", "commands", "world"):
        for path in (REPOSITORY / package).rglob("*.py"):
            if FORMS not in path.parents:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                where = path.relative_to(REPOSITORY)
                found += [f"{where}:{line}" for line in conditions(tree)]
    assert found == []


def test_the_three_classes_themselves_have_no_condition_on_the_form():
    files: list[Path] = sorted(FORMS.glob("*.py"))
    assert not any([*conditions(ast.parse(each.read_text(encoding="utf-8")))] for each in files)
