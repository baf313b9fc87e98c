"""The files of the pages: which copy a browser may use, and for what."""

from __future__ import annotations

import pytest

from game.web.site.asset_urls import stamp
from keepsake.paths import REPOSITORY

STYLE = "keepsake/dashboard.css"


@pytest.fixture
def ask(streaming):
    def ask(path: str, method: str = "GET", **headers: str):
        address = f"http://127.0.0.1:{streaming.inner}/static/{path}"
        return streaming.client.request(method, address, headers=headers)

    return ask


def test_a_browser_asks_each_time_and_takes_a_file_for_what_it_is(ask):
    answer = ask(STYLE)
    assert answer.status_code == 200
    assert answer.text == (REPOSITORY / "game/web/static" / STYLE).read_text(encoding="utf-8")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/css"
    assert "javascript" in ask("keepsake/watch/api.js").headers["content-type"]


def test_what_has_not_changed_is_not_sent_again(ask):
    when = ask(STYLE).headers["last-modified"]
    again = ask(STYLE, **{"If-Modified-Since": when})
    assert (again.status_code, again.text) == (304, "")
    assert again.headers["cache-control"] == "no-cache"


def test_an_address_that_changes_with_the_files_is_kept_and_never_asked_for_again(ask):
    page = REPOSITORY / "game/web/static/keepsake"
    answer = ask(f"keepsake-{stamp(page)}/watch/api.js")
    assert answer.status_code == 200
    assert answer.text == (page / "watch/api.js").read_text(encoding="utf-8")
    assert "immutable" in answer.headers["cache-control"]
    assert "javascript" in answer.headers["content-type"]
    assert ask(f"keepsake-{stamp(page)}/watch/").status_code == 403
    assert ask(f"keepsake-{stamp(page)}/../secret-key").status_code == 404
    older = ask("keepsake-0123456789ab/watch/api.js")  # a page that was opened before an upgrade
    assert (older.status_code, older.headers["cache-control"]) == (200, "no-cache")


def test_the_address_is_another_one_as_soon_as_a_file_is(tmp_path):
    found = []
    for name, text in (("a.js", "1"), ("a.js", "2"), ("b.js", "2")):
        folder = tmp_path / str(len(found))
        (folder / "watch").mkdir(parents=True)
        (folder / "watch" / name).write_text(text)
        found.append(stamp(folder))
    assert len(set(found)) == 3


def test_head_is_as_get_but_for_the_body(ask):
    head, get = ask(STYLE, "HEAD"), ask(STYLE)
    assert (head.status_code, head.text) == (200, "")
    assert head.headers.keys() == get.headers.keys()


@pytest.mark.parametrize("path", ["keepsake/", "", "keepsake/watch/"])
def test_no_folder_is_listed(ask, path):
    answer = ask(path)
    assert answer.status_code == 403
    assert "dashboard" not in answer.text
