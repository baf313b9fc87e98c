"""An empty page of a site that has the scripts of the dashboard, and no world."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from keepsake.web.kinds import MODULE

SITE = "http://pages.test/"

ZONE = "Europe/Amsterdam"
"""The world's time zone; the reader is in Tokyo."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of a site that has the scripts, and no world."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(SITE)
        if name.endswith(".js"):
            body = (MODULE.parent / name).read_text(encoding="utf-8")
            route.fulfill(body=body, content_type="text/javascript")
        else:
            head = f"<html data-zone={ZONE}><title>A page</title>"
            body = f"{head}<p id=said></p><p id=then></p><p id=outcome></p><main></main>"
            route.fulfill(body=body, content_type="text/html")

    opened = browser.new_page(timezone_id="Asia/Tokyo")
    opened.route(f"{SITE}**", answer)
    opened.goto(SITE)
    yield opened
    opened.close()
