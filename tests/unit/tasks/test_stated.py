"""Facts of the moment stand in the conversation where a prompt first told them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory
from keepsake.books.person_line import PersonLine
from keepsake.happening import ME, Deed, Person, Result, Speech
from keepsake.language.perception import sentences
from keepsake.language.tokens import estimate_tokens
from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import Prompt
from keepsake.tasks.scene import Scene
from keepsake.tasks.task_prompts import task_prompts
from tests.unit.mind.night_runner import Target

START = datetime(2026, 11, 26, 18, 0, tzinfo=UTC)
SHIPPED = task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG)
TOM = Person("Tom", "41-1")
KETTLE = Scene(
    name="Mira",
    persona="You are Mira.",
    moment="18:00",
    place="The Kettle",
    description="A low room around a hearth. It smells of leeks.",
    ways=("north to The Quay",),
    things=("bench",),
    belongings=("ladle",),
    here=("Tom",),
    known=(PersonLine("Tom, met 9 November: a miller"),),
    open_plans=("1. sweep",),
    may_plan=True,
    partner="Tom",
)
QUAY = replace(KETTLE, place="The Quay", description="Granite steps.", things=("net",), known=())
DRY = replace(QUAY, description="Granite steps. The sky is clear.")
WET = replace(QUAY, description="Granite steps. It rains. The stones shine.")
DESCRIBED = "[The Kettle. A low room around a hearth. It smells of leeks. "


PINS = ("Tom keeps bees.", "Nell is deaf.", "The ford is dry.")


def heard(number: int, place: str = "The Kettle") -> Memory:
    words = f"Word {number}?"
    said = Speech(speaker=TOM, words=words, to=(ME,), shown=f'Tom says to you, "{words}"')
    return Memory(number, START + timedelta(seconds=number), said, place)


def said(number: int, place: str = "The Kettle") -> Memory:
    what = Speech(speaker=ME, words=f"Yes {number}.", to=(TOM,), shown=f"say Yes {number}.")
    return Memory(number, START + timedelta(seconds=number), what, place)


def count(texts: Sequence[str]) -> int:
    return sum(map(estimate_tokens, texts))


def prompt_of(scene: Scene, *window: Memory, tokens: int = 8000) -> Prompt:
    talk = SHIPPED["talk"].current
    act = SHIPPED["act"].current
    newest = window[-1].number if window else 0
    answers = (newest,) if window and not window[-1].is_own else ()
    asked = window[-1].words if answers else ""
    scene = replace(scene, window=window, answers=answers, asked=asked)
    return form_of(Target("chat", tokens), talk, act, count).render(scene)


def after(before: Prompt, scene: Scene) -> Scene:
    """Return a scene of the agent that was sent a prompt."""
    assert before.stated is not None
    return replace(scene, stated=before.stated)


def text(prompt: Prompt) -> str:
    return prompt.request.prompt


def head(prompt: Prompt) -> str:
    """Return a prompt without what is told in each turn."""
    before = text(prompt).partition("\n[18:00, ")[0]
    return before.strip().removesuffix("[user]").strip()


WINDOW = [heard(1), said(2), heard(3), said(4), heard(5)]
ON_THE_QUAY = [replace(each, place="The Quay") for each in WINDOW]


def test_a_prompt_begins_like_the_one_before_and_tells_no_fact_again():
    first = prompt_of(KETTLE, *WINDOW[:1])
    second = prompt_of(after(first, KETTLE), *WINDOW[:3])
    assert text(second).startswith(head(first))
    for fact in (DESCRIBED, "[You carry: ladle.]", "a miller]", "[You mean to: 1. sweep]"):
        assert text(second).count(fact) == 1


def test_new_facts_stand_before_the_words_that_are_answered():
    lines = text(prompt_of(KETTLE, *WINDOW[:3])).splitlines()
    asked = lines.index('Tom says to you, "Word 3?"')
    assert lines[asked - 1] == "[You mean to: 1. sweep]"
    assert lines[asked + 2 :] == ["[18:00, The Kettle. Here: Tom.]", "[Tom waits for your answer.]"]


def test_a_prompt_that_supposes_words_begins_like_the_one_that_comes():
    """A slow model reads it ahead."""
    talk = SHIPPED["talk"].current
    act = SHIPPED["act"].current
    form = form_of(Target("chat"), talk, act, count)
    supposed = form.render(replace(KETTLE, window=(*WINDOW[:2], heard(3)), answers=(1,)))
    known = text(supposed).partition('Tom says to you, "Word 3?"')[0]
    assert "[You carry: ladle.]" in known
    assert text(prompt_of(KETTLE, *WINDOW[:3])).startswith(known)


def test_a_fact_that_has_changed_is_told_again():
    first = prompt_of(KETTLE, *WINDOW[:1])
    bare = replace(KETTLE, belongings=())
    second = prompt_of(after(first, bare), *WINDOW[:3])
    assert text(second).startswith(head(first))
    assert text(second).index("[You carry: ladle.]") < text(second).index("[You carry: nothing.]")
    again = prompt_of(after(second, KETTLE), *WINDOW)
    assert text(again).count("[You carry: ladle.]") == 2


def test_without_plans_nothing_stands_of_what_the_agent_meant_to_do():
    first = prompt_of(KETTLE, *WINDOW[:1])
    assert "1. sweep" in text(first)
    without = replace(KETTLE, open_plans=(), may_plan=False)
    assert "1. sweep" not in text(prompt_of(after(first, without), *WINDOW[:3]))
    done = replace(KETTLE, open_plans=())
    assert "1. sweep" in text(prompt_of(after(first, done), *WINDOW[:3])), "it stays as history"


def test_a_place_to_which_the_agent_comes_back_is_not_described_again():
    first = prompt_of(KETTLE, *WINDOW[:1])
    away = [*WINDOW[:2], heard(3, "The Quay"), said(4, "The Quay")]
    there = prompt_of(after(first, QUAY), *away[:3])
    assert "[The Quay. Granite steps. " in text(there)
    back = prompt_of(after(there, KETTLE), *away, heard(5))
    assert text(back).count(DESCRIBED) == 1
    assert "[18:00, The Kettle. Here: Tom.]" in text(back)


def test_of_a_place_only_the_sentences_that_are_new_are_told_again():
    first = prompt_of(DRY, *ON_THE_QUAY[:1])
    second = prompt_of(after(first, WET), *ON_THE_QUAY[:3])
    assert text(second).startswith(head(first))
    assert "\n[The Quay. It rains. The stones shine. Ways out: " in text(second)
    third = prompt_of(after(second, WET), *ON_THE_QUAY)
    assert text(third).count("It rains.") == 1, "nothing is new"
    again = prompt_of(after(third, DRY), *ON_THE_QUAY)
    assert text(again).count("Granite steps.") == 1
    assert text(again).index("It rains.") < text(again).rindex("The sky is clear.")


def test_a_place_is_told_whole_if_sentences_are_gone_and_none_is_new():
    first = prompt_of(DRY, *ON_THE_QUAY[:1])
    second = prompt_of(after(first, QUAY), *ON_THE_QUAY[:3])
    assert "[The Quay. Granite steps. Ways out: " in text(second)


def test_a_place_is_told_whole_if_what_was_told_of_it_has_left_the_window():
    first = prompt_of(DRY, *ON_THE_QUAY[:1])
    second = prompt_of(after(first, WET), *ON_THE_QUAY[:3])
    third = prompt_of(after(second, WET), *ON_THE_QUAY[2:])
    assert f"[The Quay. {WET.description} " in text(third)


def test_a_look_says_only_what_a_fact_does_not_say_and_the_other_way_round():
    look = Deed(actor=ME, verb="look", shown="look")
    shown = f"The Kettle. {KETTLE.description} Here: Tom."
    seen = Result(verb="look", act=2, shown=shown)
    act = Memory(2, START, look, "The Kettle")
    first = prompt_of(KETTLE, *WINDOW[:1])
    window = (WINDOW[0], act, Memory(3, START, seen, "The Kettle"))
    second = prompt_of(after(first, KETTLE), *window)
    assert text(second).count("It smells of leeks.") == 1
    assert "The Kettle. Here: Tom." in text(second)
    only = prompt_of(KETTLE, *window)
    assert text(only).count("It smells of leeks.") == 1
    assert "[The Kettle. Ways out: north to The Quay.]" in text(only)


def test_facts_are_told_again_when_their_place_has_left_the_window():
    first = prompt_of(KETTLE, *WINDOW[:1])
    second = prompt_of(after(first, KETTLE), *WINDOW[3:])
    assert DESCRIBED in text(second)
    assert "[You mean to: 1. sweep]" in text(second)


def test_pages_of_a_whispered_turn_do_not_stand_where_others_read_them():
    told = PersonLine("Tom, met 9 November: a miller", (("told you in confidence", ("'x'",)),))
    secret = replace(KETTLE, known=(told,), whispered=True)
    first = prompt_of(secret, *WINDOW[:1])
    assert "in confidence" in text(first)
    second = prompt_of(after(first, KETTLE), *WINDOW[:3])
    assert "in confidence" not in text(second)
    assert "a miller" in text(second)


def test_of_a_person_only_what_is_new_is_told_again():
    miller = "Tom, met 9 November: a miller"
    first = prompt_of(KETTLE, *WINDOW[:1])
    asked = PersonLine(miller, (("told you", ("'I have a boat.'", "'Ann is my sister.'")),))
    second = prompt_of(after(first, replace(KETTLE, known=(asked,))), *WINDOW[:3])
    told = f"[{miller}; told you: 'I have a boat.', 'Ann is my sister.']"
    assert told in text(second)
    more = PersonLine(miller, (("told you", ("'I have a boat.'", "'I am forty.'")),))
    third = prompt_of(after(second, replace(KETTLE, known=(more,))), *WINDOW)
    assert f"[{miller}; told you: 'I am forty.']" in text(third)
    assert text(third).count("boat") == 1
    fourth = prompt_of(after(third, KETTLE), *WINDOW, said(6), heard(7))
    assert text(fourth).count(miller) == text(third).count(miller), "nothing is new"
    corrected = PersonLine(miller, (("told you", ("'I have no boat.'",)),))
    fifth = prompt_of(after(third, replace(KETTLE, known=(corrected,))), *WINDOW)
    assert text(fifth).index("a boat") < text(fifth).index("no boat")


def test_private_plans_and_progress_do_not_stand_in_the_conversation():
    scene = replace(KETTLE, private_plans=("2. run away",), progress=("1 (begun)",))
    first = prompt_of(scene, *WINDOW[:1])
    assert "run away" in text(first)
    assert "[Still to do: 1 (begun).]" in text(first)
    second = text(prompt_of(after(first, KETTLE), *WINDOW[:3]))
    assert "run away" not in second
    assert "Still to do" not in second


PLACES = st.sampled_from(
    [KETTLE, QUAY, DRY, WET, replace(KETTLE, belongings=()), replace(QUAY, open_plans=())]
)


@given(st.lists(PLACES, min_size=1, max_size=5), st.sampled_from([600, 900, 8000]), st.data())
def test_every_prompt_tells_what_is_so_now_and_begins_like_the_one_before(scenes, tokens, data):
    """Whatever has changed, and however few lines of the window fit."""
    window = list[Memory]()
    before: Prompt | None = None
    for scene in scenes:
        for _ in range(data.draw(st.integers(1, 12))):
            number = len(window) + 1
            window.append((said if number % 2 == 0 else heard)(number, scene.place))
        kept = tuple(data.draw(st.sets(st.sampled_from(PINS))))
        now = replace(scene, kept=kept, still_kept=kept)
        now = now if before is None else after(before, now)
        prompt = prompt_of(now, *window, tokens=tokens)
        shown = text(prompt)
        carried = f"[You carry: {', '.join(scene.belongings) or 'nothing'}.]"
        for fact in (*sentences(scene.description), carried, *(x.text for x in scene.known)):
            assert fact in shown
        for told, old in ((DRY, WET), (WET, DRY)):
            if scene.description == told.description:
                weather, other = (sentences(x.description)[1] for x in (told, old))
                assert shown.rfind(weather) > shown.rfind(other), "the newest is what holds"
        assert shown.rfind("[You carry: ") == shown.rfind(carried), "the newest is what holds"
        for pin in PINS:
            holds, ended = (shown.rfind(f"remember{x}: {pin}]") for x in ("", "ed"))
            assert (holds > ended) if pin in kept else (ended >= holds), "the newest is what holds"
        if before is not None and tokens == 8000:
            assert shown.startswith(head(before))
        before = prompt
