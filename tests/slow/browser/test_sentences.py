"""Memories as sentences on the pages: the real script, in a real browser, without a world."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from keepsake.archive.records import Memory
from keepsake.happening import (
    ME,
    Deed,
    KnownVerb,
    Manner,
    Person,
    Pose,
    Result,
    Sight,
    Speech,
    What,
)
from keepsake.web.kinds import MODULE
from keepsake.web.shapes import MemoryView

SITE = "http://pages.test/"
TOM = Person("Tom", "7-1")
ANN = Person("Ann, the cooper", "8-1")
ACTS: list[tuple[What, str]] = [
    (Speech(speaker=ME, words="Good day."), 'says, "Good day."'),
    (
        Speech(speaker=ME, words="I said to Ann: = no", to=(TOM,)),
        'says to Tom, "I said to Ann: = no"',
    ),
    (Speech(speaker=ME, words="Sit.", to=(TOM, ANN)), 'says to Tom and Ann, the cooper, "Sit."'),
    (
        Speech(speaker=ME, words="The key.", to=(ANN,), manner=Manner.WHISPER),
        'whispers to Ann, the cooper, "The key."',
    ),
    (Speech(speaker=ME, words="Fire!", manner=Manner.SHOUT), 'shouts, "Fire!"'),
    (
        Speech(speaker=ME, words="Hi; say no", manner=Manner.CHANNEL),
        'says on a channel, "Hi; say no"',
    ),
    (Pose(actor=ME, gesture="whispers to Tom."), "whispers to Tom."),
    (
        Deed(actor=ME, verb="give", objects=("a loaf to go",), to=(TOM,)),
        "gives a loaf to go to Tom",
    ),
    (Deed(actor=ME, verb="go", objects=("north",)), "goes north"),
    (Deed(actor=ME, verb="walk", objects=("the Quay",)), "walks to the Quay"),
    (Deed(actor=ME, verb="look"), "looks around"),
    (Deed(actor=ME, verb="recall", objects=("the key",)), "searches its memory for “the key”"),
    (Deed(actor=ME, verb="recall"), "searches its memory"),
    (Deed(actor=ME, verb="plan", objects=("noon: fish",)), "plans: noon: fish"),
    (Deed(actor=ME, verb="kept", objects=("17",)), "has kept the promise of memory 17"),
    (Deed(actor=ME, verb="note", objects=("garden", "leeks")), "writes a note, garden: leeks"),
    (Deed(actor=ME, verb="promise", objects=("soup",), to=(TOM,)), "promises Tom: soup"),
    (Deed(actor=ME, verb="throw", objects=("lamp",), to=(TOM,)), "does: as it was typed"),
]
"""Own acts, and their sentences."""
PERCEIVED: list[What] = [
    Speech(speaker=TOM, words="Good day.", to=(ME,)),
    Deed(actor=TOM, verb="give", objects=("a loaf",), to=(ME,)),
    Pose(actor=TOM, gesture="nods."),
    Sight(source=TOM),
    Result(verb="look"),
]


@pytest.fixture(scope="module")
def script(browser: Browser) -> Iterator[Page]:
    """A page that has loaded the script."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(SITE)
        if name.endswith(".js"):
            body = (MODULE.parent / name).read_text(encoding="utf-8")
            route.fulfill(body=body, content_type="text/javascript")
        else:
            route.fulfill(body="<title>A page</title>", content_type="text/html")

    page = browser.new_page()
    page.route(f"{SITE}**", answer)
    page.goto(SITE)
    page.evaluate("async () => { window.told = await import('/sentences.js'); }")
    yield page
    page.close()


def told(page: Page, what: What, function: str, **facts: Any) -> Any:
    """Return what a function of the script makes of a memory."""
    memory = Memory(1, datetime(2026, 5, 1, tzinfo=UTC), what, **facts)
    view = MemoryView.model_validate(memory).model_dump(mode="json")
    return page.evaluate(f"(memory) => told.{function}(memory)", view)


def shown(what: What) -> What:
    """Return what happened with a line that no sentence may be made from."""
    return type(what)(
        **{name: getattr(what, name) for name in what.__dataclass_fields__ if name != "shown"},
        shown="as it was typed",
    )


@pytest.mark.parametrize(("what", "sentence"), ACTS, ids=[each for _, each in ACTS])
def test_an_own_act_is_told_from_its_fields(script: Page, what: What, sentence: str) -> None:
    assert told(script, shown(what), "sentence") == sentence


@pytest.mark.parametrize("what", PERCEIVED, ids=[type(each).__name__ for each in PERCEIVED])
def test_what_was_perceived_is_shown_as_it_was_read(script: Page, what: What) -> None:
    assert told(script, shown(what), "sentence") == "as it was typed"


@pytest.mark.parametrize(
    ("verb", "words", "sentence"),
    [
        ("done", "3", "has done its plan: count the 2 hives"),
        ("cancel", "3: it rains", "gives up its plan: count the 2 hives: it rains"),
    ],
)
def test_a_plan_that_ends_is_told_in_its_words(
    script: Page, verb: str, words: str, sentence: str
) -> None:
    memory = Memory(
        1, datetime(2026, 5, 1, tzinfo=UTC), Deed(actor=ME, verb=verb, objects=(words,))
    )
    view = MemoryView.model_validate(memory).model_copy(update={"plan_words": "count the 2 hives"})
    found = script.evaluate("(memory) => told.sentence(memory)", view.model_dump(mode="json"))
    assert found == sentence


def test_every_verb_of_the_library_has_a_sentence(script: Page) -> None:
    spoken = {KnownVerb.SAY, KnownVerb.TALK, KnownVerb.WHISPER, KnownVerb.SHOUT, KnownVerb.EMOTE}
    for verb in {*KnownVerb} - spoken:
        deed = Deed(actor=ME, verb=verb, objects=("lamp",), to=(TOM,), shown="as it was typed")
        assert not told(script, deed, "sentence").startswith("does"), verb


def test_it_is_said_what_is_private_and_what_is_acted_out(script: Page) -> None:
    whisper = Speech(speaker=TOM, words="The key.", to=(ME,), manner=Manner.WHISPER)
    assert told(script, whisper, "remarks") == ["whispered"]
    letter = Sight(shown="A letter.")
    assert told(script, letter, "remarks", witnesses=("8-1",)) == ["for it alone"]
    assert told(script, Pose(actor=TOM, gesture="is king."), "remarks") == ["acted out"]
    assert told(script, Pose(actor=ME, gesture="nods."), "remarks") == []
    assert told(script, Speech(speaker=TOM, words="Hi."), "remarks") == []
