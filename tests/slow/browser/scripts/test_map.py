"""The map of the world: its rooms with many people, and the tellings of a fact."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

MAP = """async ([people, tellings]) => {
    const { WorldMap } = await import("/map.js");
    document.querySelector("main").innerHTML = "<div style='width: 700px'><svg id=map></svg></div>";
    const rooms = [{ id: 1, name: "The Kettle", x: 0, y: 0, exits: [] },
        { id: 2, name: "The Quay", x: 1, y: 0, exits: [] }];
    window.chosen = [];
    window.map = new WorldMap(document.getElementById("map"), rooms, (id) => chosen.push(id));
    map.drawFaces(people);
    map.drawTellings(tellings, (number) => chosen.push(number));
    map.showTellings(1000, 0);
}"""


def crowd(number: int) -> list[dict[str, Any]]:
    """So many people in one room, of whom the last knows something."""
    person = {"place": "The Kettle", "ring": "unknowing", "words": "does not know it"}
    others = [{**person, "id": each, "name": f"P{each}"} for each in range(1, number)]
    return [*others, {**person, "id": number, "name": f"P{number}", "ring": "window told"}]


def test_a_crowd_keeps_in_its_room_and_a_sign_lists_the_others(page: Page) -> None:
    page.evaluate(MAP, [crowd(44), []])
    faces = page.locator("#map .faces .face").locator("visible=true")
    sign = page.locator("#map .others .face")
    expect(sign.locator("text")).to_have_text(f"+{44 - faces.count()}")
    room = page.locator("#map .room rect").first.bounding_box()
    assert room is not None
    for face in [*faces.all(), sign]:
        box = face.locator("circle").bounding_box()
        assert box is not None
        assert box["x"] >= room["x"] - 2
        assert box["x"] + box["width"] <= room["x"] + room["width"] + 2
        assert box["y"] + box["height"] <= room["y"] + room["height"] + 2
        assert box["width"] >= 14  # a face that can be clicked
    expect(page.locator("#map .face.window")).to_be_visible()
    sign.focus()
    page.keyboard.press("Enter")
    names = page.locator(".crowd button")
    expect(names).to_have_count(44)
    expect(names.first).to_be_focused()
    expect(names.first).to_contain_text("P44")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".crowd")).to_be_hidden()
    assert page.evaluate("chosen") == [1]
    sign.click()
    page.keyboard.press("Escape")
    expect(page.locator(".crowd")).to_be_hidden()
    page.evaluate("people => map.drawFaces(people)", crowd(8))
    expect(sign).to_be_hidden()
    expect(page.locator("#map .faces .face")).to_have_count(8)


def told_on(number: int, speakers: int) -> list[dict[str, Any]]:
    """So many tellings in one room, each from the one before; and one elsewhere, from the first."""
    telling = {"place": "The Kettle", "speaker": "", "kind": "said", "title": "It is said."}
    here = [
        {**telling, "number": each, "at": 10 * each, "id": each % speakers + 1, "from": each - 1}
        for each in range(1, number)
    ]
    last = {"number": number, "at": 10 * number, "id": 99, "from": 1, "place": "The Quay"}
    return [*here, {**telling, **last}]


def test_tellings_for_which_a_room_has_no_place_have_a_mark_for_each_speaker(page: Page) -> None:
    page.evaluate(MAP, [crowd(3), told_on(24, speakers=4)])
    marks = page.locator("#map .mark")
    expect(marks).to_have_count(5)
    expect(marks.first.locator(".times")).to_have_text("×6")
    # One way for all tellings that go the same way.
    expect(page.locator("#map .way path").locator("visible=true")).to_have_count(5)
    page.evaluate("map.showTellings(50, 5)")
    expect(marks.locator("visible=true")).to_have_count(4)
    expect(marks.first.locator(".times")).to_have_text("×2")
    expect(marks.nth(1).locator(".times")).to_be_empty()
    expect(page.locator("#map .mark.chosen text").first).to_have_text("1")
    page.evaluate(MAP, [crowd(3), told_on(24, speakers=23)])
    assert marks.count() <= 8
    expect(page.locator("#map .mark .times", has_text="×")).to_have_count(1)


def test_forty_tellings_leave_the_map_to_be_seen(page: Page) -> None:
    page.evaluate(MAP, [crowd(3), told_on(40, speakers=30)])
    marks = page.locator("#map .mark")
    expect(marks).to_have_count(2)
    expect(marks.first.locator(".times")).to_have_text("×39")
    expect(page.locator("#map .way path").locator("visible=true")).to_have_count(1)
    marks.first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("chosen") == [1]


def test_a_long_name_keeps_in_its_room(page: Page) -> None:
    page.evaluate(
        """async () => {
            const { WorldMap } = await import("/map.js");
            document.querySelector("main").innerHTML =
              "<div style='width: 380px'><svg id=map></svg></div>";
            const names = ["Tomb of the crowned queen", "WOMANHOOD MWMWMWM", "The Quay", "Inn"];
            const rooms = names.map((name, i) => ({ id: i + 1, name, x: i, y: 0, exits: [] }));
            new WorldMap(document.getElementById("map"), rooms, () => {});
        }"""
    )
    rooms = page.locator("#map .room")
    expect(rooms).to_have_count(4)
    for room in rooms.all():
        box = room.locator("rect").bounding_box()
        name = room.locator("text").bounding_box()
        assert box is not None
        assert name is not None
        assert name["x"] >= box["x"] - 1
        assert name["x"] + name["width"] <= box["x"] + box["width"] + 1
