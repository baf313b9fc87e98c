"""The files of the pages: which copy a browser may use, and for what."""

from __future__ import annotations

import pytest

from keepsake.paths import REPOSITORY

STYLE = "keepsake/dashboard.css"


@pytest.fixture
def ask(streaming):
    def ask(path: str, **headers: str):
        address = f"http://127.0.0.1:{streaming.inner}/static/{path}"
        return streaming.client.get(address, headers=headers)

    return ask


def test_a_browser_asks_each_time_and_takes_a_file_for_what_it_is(ask):
    answer = ask(STYLE)
    assert answer.status_code == 200
    assert answer.text == (REPOSITORY / "keepsake/web/static" / STYLE).read_text(encoding="utf-8")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/css"
    assert "javascript" in ask("keepsake/watch/api.js").headers["content-type"]


def test_what_has_not_changed_is_not_sent_again(ask):
    when = ask(STYLE).headers["last-modified"]
    again = ask(STYLE, **{"If-Modified-Since": when})
    assert (again.status_code, again.text) == (304, "")
    assert again.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["keepsake/", "", "keepsake/watch/"])
def test_no_folder_is_listed(ask, path):
    answer = ask(path)
    assert answer.status_code == 403
    assert "dashboard" not in answer.text
