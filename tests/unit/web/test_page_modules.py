"""Pages name every module that they need, so that a browser asks for all of them at once."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from keepsake.web import templatetags
from keepsake.web.templatetags.pages import MODULES, needed_by, query_of

TEMPLATES = Path(templatetags.__file__).parents[1] / "templates" / "keepsake"
SCRIPTS = {
    path.name: re.findall(r'page_script "(\w+)"', path.read_text())
    for path in TEMPLATES.glob("*.html")
}


@pytest.mark.parametrize("name", sorted({each for found in SCRIPTS.values() for each in found}))
def test_all_that_a_page_imports_is_named(name):
    needed = {name, *needed_by(name)}
    for each in needed:
        text = (MODULES / f"{each}.js").read_text()
        assert {*re.findall(r"[\"']\./(\w+)\.js", text)} <= needed


def test_no_page_loads_a_module_in_another_way():
    assert sum(map(len, SCRIPTS.values())) > 8
    for path in TEMPLATES.glob("*.html"):
        assert "keepsake/watch/" not in path.read_text(), path.name


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("", ""),
        ("q=", ""),
        ("q=silver+spoons%20~*%C3%BC%26", "q=silver+spoons+%7E*%C3%BC%26"),
        ("n=5&agent=7&q=a&q=b&other=1", "q=a&agent=7&n=5"),
        ("q=&agent=7", "q=&agent=7"),
    ],
)
def test_a_page_asks_ahead_as_its_script_will_ask(address, asked):
    given = parse_qs(address, keep_blank_values=True)
    assert query_of(given, ("q", "agent", "n")) == asked


def test_a_page_may_ask_by_another_name_than_its_address_has():
    given = parse_qs("agent=7&name=Tom")
    assert query_of(given, ("key", "name", "id=agent")) == "name=Tom&id=7"
