"""The lab's pictures: what they show is what the table says, and nothing in them is markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from keepsake.lab.intervals import MIN_CLUSTERS, Estimate
from keepsake.lab.pictures import bars, curves, differences

SURE = Estimate(0.5, 0.4, 0.75, 40, MIN_CLUSTERS)
FEW = Estimate(0.25, 0.0, 1.0, 4, MIN_CLUSTERS - 1)
HOSTILE = "<script>alert('x')</script> & more"


def elements(picture, tag, cls):
    root = ET.fromstring(picture)
    return [each for each in root.iter(tag) if cls in each.get("class", "").split()]


def test_a_bar_is_as_long_as_its_share_and_has_its_interval() -> None:
    picture = bars("right", {"all": SURE, "half": FEW, "none": None})
    one, other = elements(picture, "rect", "hue-0")
    assert float(one.get("width")) == pytest.approx(2 * float(other.get("width")))
    (interval,) = elements(picture, "path", "interval")  # four clusters make none
    left = float(interval.get("d").split()[0].removeprefix("M"))
    width = float(one.get("width")) / SURE.mean
    assert left == pytest.approx(float(one.get("x")) + SURE.low * width, abs=0.1)
    label = ET.fromstring(picture).find("svg").get("aria-label")
    assert label == "right: all 50; half 25"


def test_nothing_known_is_no_picture() -> None:
    assert bars("right", {"all": None}) == ""
    assert differences("right", {}) == ""
    assert curves("right", {"all": {}}, {1.0: "an hour", 24.0: "a day"}) == ""


def test_a_difference_is_filled_only_if_chance_is_an_unlikely_reason() -> None:
    unsure = Estimate(0.1, -0.1, 0.3, 40, MIN_CLUSTERS)
    picture = differences("right", {"a − b": SURE, "a − c": unsure}, {"a − b"})
    assert len(elements(picture, "circle", "hue-0")) == 1
    assert len(elements(picture, "circle", "unsure")) == 1
    assert len(elements(picture, "line", "zero")) == 1


def test_a_curve_goes_through_its_points_in_the_order_of_x() -> None:
    line = {168.0: FEW, 1.0: SURE, 24.0: SURE}
    picture = curves("right", {"all": line}, {1.0: "an hour", 24.0: "a day", 168.0: "a week"})
    (curve,) = elements(picture, "polyline", "curve")
    points = [tuple(map(float, each.split(","))) for each in curve.get("points").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert points[0][1] == points[1][1] < points[2][1]  # a lower share is further down
    assert len(elements(picture, "line", "spread")) == 2


def test_names_are_text() -> None:
    for picture in (
        bars(HOSTILE, {HOSTILE: SURE}),
        differences(HOSTILE, {HOSTILE: SURE}),
        curves(HOSTILE, {HOSTILE: {1.0: SURE, 24.0: SURE}}, {1.0: HOSTILE, 24.0: "a day"}),
    ):
        assert "<script" not in picture
        assert ET.fromstring(picture).find("figcaption").text == HOSTILE
