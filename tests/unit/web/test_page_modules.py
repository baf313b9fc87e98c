"""Pages name every module that they need, so that a browser asks for all of them at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keepsake.web import templatetags
from keepsake.web.templatetags.pages import MODULES, needed_by

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
