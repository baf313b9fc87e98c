"""The moving picture of a terminal: all lines in order, within its time, and nothing as markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from tests.pictures.cast import COLUMNS, HIGH, ROWS, SECONDS, cast

TALK = [("look <b>", "The Kettle & more\r\n\r\nExits: north"), ("say hi", "word " * 400)]


def test_every_line_is_shown_in_order_within_the_time() -> None:
    page = cast(TALK, "A <talk>")
    root = ET.fromstring(page)
    space = "{http://www.w3.org/2000/svg}"
    lines = list(root.iter(f"{space}text"))
    assert lines[0].text == "> look <b>"
    assert lines[1].text == "The Kettle & more"
    assert sum(len((each.text or "").split()) for each in lines if "word" in each.text) == 400
    assert max(len(each.text or "") for each in lines) <= COLUMNS
    delays = [float(each) for each in re.findall(r"animation-delay:([\d.]+)s", page)]
    assert delays == sorted(delays)
    assert delays[-1] <= SECONDS
    heights = [int(each.get("y") or 0) for each in lines]
    assert heights == sorted(set(heights))


def test_only_a_long_talk_scrolls_and_ends_at_its_last_line() -> None:
    assert "#page {transform:translateY(0px)" in cast([("look", "The Kettle")], "short")
    long = cast(TALK, "long")
    (end,) = re.findall(r"#page \{transform:translateY\((-\d+)px\)", long)
    last = max(int(each) for each in re.findall(r' y="(\d+)"', long))
    assert 0 < last + int(end) <= (ROWS + 1) * HIGH
