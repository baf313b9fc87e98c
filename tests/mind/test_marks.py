"""Marks tell where each line of a prompt comes from, and change nothing in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.tasks.talk_scene import TalkScene
from keepsake.tasks.transcript import load_transcript
from tests.mind.plain_prompt import plain_prompt, shipped
from tests.mind.test_prompt import prompt_of

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
        found.append((load_transcript(path), source))
    return found


def happen(window: Window, what: str, *how: object) -> None:
    if what != "look":
        getattr(window, what)(*how)


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
    window = Window()
    for what in happened:
        happen(window, *what)
    scene = TalkScene(
        name="Mira",
        persona=said,
        pinned=("Tom owes me a loaf.",),
        recent="## Facts\n- Tom fell.\n",
        window=window.memories,
        place="The Mill",
        description=nudge,
        exits=("north",),
        here=("Tom",),
    )
    made = prompt_of(checked, scene, nudge, room=1_000_000).rendered
    text, lines = plain_prompt(source, scene, nudge)
    assert made.text == text
    assert list(made.lines) == lines
