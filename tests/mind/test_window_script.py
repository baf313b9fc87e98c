"""Lines that are kept from one prompt to the next are those that would be made anew."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.prompt.script import RenderedMemory, script
from keepsake.prompt.template import PromptContext, Situation, kept_script, load_template
from tests.mind.plain_prompt import plain_prompt, shipped

START = datetime(2025, 3, 4, 9, 0, tzinfo=UTC)
OWN_TEMPLATES = [
    "{{ window | join(' / ') }}\n{{ cursor }}",
    "{% for line in window %}{{ loop.index }}. {{ line }}{% if not loop.last %}; {% endif %}"
    "{% endfor %}\n\n{{ cursor }}",
    "{% for line in window[-3:] %}\n{{ line | upper }}\n{% endfor %}\n{{ window | length }}\n"
    "{{ cursor }}",
    "{% set kept %}{% for line in window %}{{ line }}\n{% endfor %}{% endset %}"
    "{{ profile }}{{ kept | trim }}\n{{ kept }}{{ nudge }}\n{{ cursor }}",
    "{% for line in window %}{{ name }} {{ line }}\n{{ line }}\n{% endfor %}"
    "{% if 'a' in window[0] | default('') %}\n{{ profile }}\n{% endif %}{{ window }}\n{{ cursor }}",
    "{% macro told(line) %}\n{{ line }}\n{% endmacro %}{% for line in window | reverse %}"
    "{{ told(line) }}{% endfor %}{{ cursor }}",
    "{{ profile }}\n{% filter indent(2) %}{% for line in window %}\n{{ line }}\n{% endfor %}"
    "{% endfilter %}\n{{ cursor }}",
    "\ue00a{{ name }}\n{% for line in window %}\n{{ line }}\n{% endfor %}\uf8ff\n{{ cursor }}",
]


def rendered(memory: Memory) -> RenderedMemory:
    own = memory.kind is MemoryKind.ACT
    text = f"{memory.text} | {memory.reason}" if own and memory.reason else memory.line
    return RenderedMemory(text, memory.time, own)


@dataclass
class Window:
    """A window to which things happen as they do to an agent's."""

    memories: tuple[Memory, ...] = ()
    number: int = 0
    now: datetime = START

    def lived(self, text: str, gap: int, kind: MemoryKind) -> None:
        self.number, self.now = self.number + 1, self.now + timedelta(seconds=gap)
        self.memories += (Memory(self.number, self.now, kind, text),)

    def again(self) -> None:
        if self.memories:
            last = self.memories[-1]
            self.memories = (*self.memories[:-1], last.repeated(last.repeats + 1))

    def left(self, count: int) -> None:
        self.memories = self.memories[count:]

    def back(self, count: int) -> None:
        """As an undo does: what had left is read again, so that it is another object."""
        first = self.memories[0].number if self.memories else self.number + 1
        old = range(max(first - count, 1), first)
        found = [Memory(n, START, MemoryKind.PERCEPTION, f"old {n % 3}") for n in old]
        self.memories = (*found, *self.memories)

    def masked(self, place: int) -> None:
        if self.memories:
            place %= len(self.memories)
            short = replace(self.memories[place], text="short …", reason="")
            self.memories = (*self.memories[:place], short, *self.memories[place + 1 :])


texts = st.one_of(
    st.sampled_from(["The wind blows.", "the  WIND blows.", "Rain.", "~Mira> look", "# x"]),
    st.text("aä <>~|#[]{%}\n\u2028\ue00a\uf8ff", max_size=12),
)
happenings = st.lists(
    st.one_of(
        st.tuples(
            st.just("lived"), texts, st.integers(0, 90_000), st.sampled_from(list(MemoryKind))
        ),
        st.tuples(st.just("again")),
        st.tuples(st.sampled_from(["left", "back"]), st.integers(0, 4)),
        st.tuples(st.just("masked"), st.integers(0, 20)),
        st.tuples(st.just("look")),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "prompt.md"
    found = []
    for source in (*shipped(), *OWN_TEMPLATES):
        path.write_text(source, encoding="utf-8")
        found.append((load_template(path), source))
    return found


def happen(window: Window, what: str, *how: object) -> None:
    if what != "look":
        getattr(window, what)(*how)


@given(happenings)
def test_the_lines_are_those_of_a_script_made_anew(happened):
    window, kept = Window(), kept_script(rendered)
    for what in happened:
        happen(window, *what)
        made = kept.of(window.memories, "Mira")
        assert made.lines == script([rendered(each) for each in window.memories], "Mira")
        assert kept.of(window.memories, "Mira") is made


@settings(max_examples=100)  # for ten templates
@given(
    st.data(),
    happenings,
    st.sampled_from(["", "You bake.\nÖfen, mostly."]),
    st.sampled_from(["", "x"]),
)
def test_a_prompt_is_to_the_letter_the_one_made_in_the_plain_way(
    templates, data, happened, said, nudge
):
    checked, source = data.draw(st.sampled_from(templates))
    window, kept = Window(), kept_script(rendered)
    for what in happened:
        happen(window, *what)
        plainly = PromptContext(
            name="Mira",
            profile=said,
            pinned=("Tom owes me a loaf.",),
            recent_summary="## Facts\n- Tom fell.\n",
            window=tuple(rendered(each) for each in window.memories),
            situation=Situation("The Mill", nudge, ("north",), ("Tom",)),
            nudge=nudge,
        )
        made = checked.rendered(replace(plainly, window=kept.of(window.memories, "Mira")))
        text, lines = plain_prompt(source, plainly)
        assert made.text == text
        assert list(made.lines) == lines
        assert checked.rendered(plainly) == made


def test_under_another_name_nothing_is_kept():
    window, kept = Window(), kept_script(rendered)
    window.lived("say hi", 0, MemoryKind.ACT)
    assert kept.of(window.memories, "Mira").lines[1:] == ["~Mira> say hi"]
    assert kept.of(window.memories, "Mina").lines[1:] == ["~Mina> say hi"]


def test_only_what_is_new_is_made():
    made: list[int] = []

    def counted(memory: Memory) -> RenderedMemory:
        made.append(memory.number)
        return rendered(memory)

    window, kept = Window(), kept_script(counted)
    for number in range(20):
        window.lived(f"It is {number}.", 5, MemoryKind.PERCEPTION)
        kept.of(window.memories, "Mira")
    window.left(12)
    assert len(kept.of(window.memories, "Mira").lines) == 9
    assert made == list(range(1, 21))


class _Watched(RenderedMemory):
    """One of which it can be seen whether anybody still holds it."""


def test_what_has_left_the_window_is_let_go_of():
    held: list[weakref.ref[_Watched]] = []

    def watched(memory: Memory) -> RenderedMemory:
        seen = _Watched(memory.text, memory.time)
        held.append(weakref.ref(seen))
        return seen

    window, kept = Window(), kept_script(watched)
    for number in range(200):
        window.lived(f"It is {number}.", 5, MemoryKind.PERCEPTION)
        window.left(max(len(window.memories) - 5, 0))
        kept.of(window.memories, "Mira")
    gc.collect()
    assert sum(each() is not None for each in held) == 5
