"""The kinds and outcomes in the dashboard's pages are those of the library."""

from __future__ import annotations

import json
import re

from keepsake.web.kinds import MODULE, SCRIPT

_EXPORT = re.compile(r"export const (\w+) = Object\.freeze\((\{.*?\})\);", re.DOTALL)


def test_the_module_is_the_one_that_the_library_writes() -> None:
    assert MODULE.read_text(encoding="utf-8") == SCRIPT, "python -m keepsake.web.kinds"


def test_the_pages_use_no_kind_that_does_not_exist() -> None:
    known = {name: json.loads(members) for name, members in _EXPORT.findall(SCRIPT)}
    use = re.compile(rf"\b({'|'.join(known)})\.(\w+)")
    used = [
        (path.name, name, member)
        for path in MODULE.parent.glob("*.js")
        for name, member in use.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(used) > 10
    assert not [each for each in used if each[2] not in known[each[1]]]
