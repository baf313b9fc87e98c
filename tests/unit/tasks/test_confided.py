"""Private words stay where a prompt first told them, as long as the same people listen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from keepsake.archive.privacy import redacted
from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.language.tokens import estimate_tokens
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import Prompt
from keepsake.tasks.scene import Scene
from keepsake.tasks.task import Prompts
from tests.unit.mind.night_runner import Target
from tests.unit.tasks.test_talk import SHIPPED

TOM = Person("Tom", "7-1")
ANN = Person("Ann", "8-1")
START = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)
SCENE = Scene(name="Mira", persona="You are Mira.", place="The Kettle", partner="Tom")


def whispers(number: int, words: str, who: Person = TOM) -> Memory:
    shown = f'{who.name} whispers to you, "{words}"'
    what = Speech(speaker=who, words=words, to=(ME,), manner=Manner.WHISPER, shown=shown)
    return Memory(number, START + timedelta(seconds=number), what, place="The Kettle")


def answers(number: int, words: str) -> Memory:
    shown = f"whisper Tom = {words}"
    what = Speech(speaker=ME, words=words, to=(TOM,), manner=Manner.WHISPER, shown=shown)
    return Memory(number, START + timedelta(seconds=number), what, place="The Kettle")


def prompt_of(
    window: Iterable[Memory], before: Prompt | None = None, talk: Prompts | None = None
) -> Prompt:
    scene = replace(SCENE, window=tuple(window))
    if before is not None and before.stated is not None:
        scene = replace(scene, stated=before.stated)
    templates = talk or SHIPPED["talk"].current, SHIPPED["act"].current
    form = form_of(Target(), *templates, lambda texts: sum(map(estimate_tokens, texts)))
    return form.render(scene)


def talk_of(exchanges: int) -> list[Memory]:
    found = list[Memory]()
    for number in range(1, 2 * exchanges, 2):
        found.append(whispers(number, f"The key {number} lies behind a brick of the chapel wall."))
        found.append(answers(number + 1, f"Then I shall look for key {number} at noon."))
    return found


def test_a_private_talk_begins_like_the_prompt_before_and_tells_each_word_once():
    window = talk_of(12)
    before = prompt_of(window[:-2])
    now = prompt_of(window, before)
    text = now.request.prompt
    stands = before.request.messages[-1].text.partition("\n\n")[0]
    assert "key 21" in stands
    assert stands in now.request.messages[-2].text or stands in now.request.messages[-1].text
    for memory in window[:-1]:
        assert text.count(memory.words) == 1
    places = [text.index(memory.words) for memory in window[:-1]]
    assert places == sorted(places)


def test_whoever_else_listens_finds_nothing_of_it_and_the_next_prompt_tells_all_anew():
    window = talk_of(4)
    private = prompt_of(window[:-2])
    with_ann = [*map(redacted, window), whispers(20, "Where is Tom?", ANN)]
    other = prompt_of(with_ann, private)
    assert "chapel" not in other.request.prompt
    assert private.stated is not None
    assert other.stated is not None
    openly = replace(private, stated=replace(private.stated, confided=()))
    assert other.request.prompt == prompt_of(with_ann, openly).request.prompt
    assert [each.numbers for each in other.stated.confided] == [(20,)]
    again = prompt_of([*window, whispers(20, "Where is Tom?", ANN)], other).request.prompt
    assert all(again.count(memory.words) == 1 for memory in window)


def test_one_word_that_a_listener_does_not_know_takes_all_that_stood_away():
    window = [*talk_of(3), whispers(7, "Ann is my sister.")]
    private = prompt_of(window)
    hidden = [*map(redacted, window[:2]), *window[2:]]
    text = prompt_of(hidden, private).request.prompt
    assert window[0].words not in text
    assert all(text.count(memory.words) == 1 for memory in window[2:])


def test_private_words_without_room_give_way_in_large_steps():
    """Else each prompt of a long private talk would differ from its first private word on."""
    window = talk_of(120)
    before: Prompt | None = None
    steps = 0
    for last in range(41, len(window), 2):
        prompt = prompt_of(window[:last], before)
        if before is not None and before.stated is not None and prompt.stated is not None:
            steps += before.stated.confided[0] != prompt.stated.confided[0]
        before = prompt
        assert window[last - 1].words in prompt.request.prompt
    assert before is not None
    assert window[0].words not in before.request.prompt
    assert 0 < steps < 12


def test_a_template_without_the_block_tells_them_in_its_last_message():
    talk = SHIPPED["conversation"].current
    window = talk_of(2)
    before = prompt_of(window[:-2], talk=talk)
    last = prompt_of(window, before, talk).request.messages[-1].text
    assert all(last.count(memory.words) == 1 for memory in window)
