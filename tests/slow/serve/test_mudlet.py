"""The script for Mudlet on docs/other-programs.md runs in Mudlet's Lua, against a real service.

Only Mudlet's own functions are made up. Mudlet's Lua is 5.1, which comes with the package ``lupa``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from lupa import lua51 as lupa

from tests.doc_blocks import blocks

[SCRIPT] = blocks("other-programs.md", "lua")


def as_python(value: Any) -> Any:
    """Return a table of Lua as a dict."""
    if lupa.lua_type(value) != "table":
        return value
    return {key: as_python(each) for key, each in value.items()}


class Mudlet:
    """The functions of Mudlet that the script calls.

    Attributes:
        shown: What stands in the main window.
    """

    def __init__(self, home: str) -> None:
        self._lua = lupa.LuaRuntime(unpack_returned_tuples=True)
        self._handlers: dict[str, list[Callable[..., object]]] = {}
        self._raised: list[tuple[str, ...]] = []
        self.shown = ""
        names = self._lua.globals()
        names.getMudletHomeDir = lambda: home
        names.registerAnonymousEventHandler = self._register
        names.postHTTP = self._post
        names.echo = self._echo
        names.yajl = self._lua.table_from(
            {"to_string": lambda table: json.dumps(as_python(table)), "to_value": self._to_value}
        )

    def _register(self, event: str, handler: Callable[..., object]) -> None:
        self._handlers.setdefault(event, []).append(handler)

    def _to_value(self, text: str) -> Any:
        return self._lua.table_from(json.loads(text), recursive=True)

    def _echo(self, text: str) -> None:
        self.shown += text

    def _post(self, body: str, url: str, headers: Any) -> None:
        """Post at once; the event comes after the script, as in Mudlet."""
        answer = httpx.post(url, content=body.encode(), headers=as_python(headers), timeout=60)
        done = ("sysPostHttpDone", url, answer.text)
        failed = ("sysPostHttpError", f"{answer.status_code}", url, answer.text)
        self._raised.append(done if answer.is_success else failed)

    def run(self, script: str) -> None:
        """Run a script, and then the handlers of the events that it caused."""
        self._lua.execute(script)
        for event in self._raised:
            for handler in self._handlers[event[0]]:
                handler(*event)


@pytest.mark.parametrize(
    ("right", "shown"), [(True, "Good day to you.\n"), (False, "Keepsake: 401\n")]
)
def test_an_answer_and_an_error_are_shown_in_the_main_window(
    service, tmp_path, monkeypatch, right, shown
):
    monkeypatch.setenv("KEEPSAKE", service.address)
    token = service.token("mira") if right else "ks_wrong"
    (tmp_path / "token").write_text(f"{token}\n", encoding="utf-8")
    mudlet = Mudlet(str(tmp_path))
    mudlet.run(SCRIPT)
    assert mudlet.shown == shown
