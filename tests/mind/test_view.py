"""The context that is kept is the one that would be made anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, Summary, Tier
from keepsake.archive.tiers import Tiers
from keepsake.compaction import masking
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies, MemoryParts
from keepsake.compaction.view import View
from keepsake.memory import MemoryContext
from tests.mind.lives import ManualClock, WordTokens

NOW = ManualClock().now()
ROOM = f"The Mill. {'It is old and it turns. ' * 12}Exits: north. Here: Tom."
CONFIG = CompactionConfig(preserve_memories=2, preserve_share=0.0)

STEPS = st.lists(
    st.sampled_from(["add", "look", "again", "compacted", "edited", "cleared", "unmasked", "far"]),
    max_size=60,
)


def memory(number: int, text: str) -> Memory:
    kind = MemoryKind.RESULT if text == ROOM else MemoryKind.PERCEPTION
    return Memory(number, NOW, kind, text)


def view_of(tiers: Tiers, config: Callable[[], CompactionConfig]) -> View:
    tokens, clock = WordTokens(), ManualClock()
    outside = Dependencies(clock=clock, config=config, tokens=tokens, importance=lambda _: 1)
    return View(MemoryParts("Mira", cast(Archive, None), tiers, outside))


@given(STEPS)
def test_the_context_is_made_anew_whenever_something_of_it_has_changed(steps):
    tiers, config = Tiers(), [CONFIG]
    view = view_of(tiers, lambda: config[0])
    for _ in range(34):
        tiers.add(memory(tiers.last_number + 1, ROOM))
    for step in steps:
        _step(step, tiers, view, config)
        made = view.context()
        assert made.window == tuple(tiers.window)
        assert (made.longterm, made.recent) == (tiers.state.longterm, tiers.state.recent)
        assert made.masked == _masked(tiers, view, config[0])
        assert view.context() is made


def _masked(tiers: Tiers, view: View, config: CompactionConfig) -> tuple[Memory, ...] | None:
    return masking.mask(tiers.window, view._through) if config.mask else None


def _step(step: str, tiers: Tiers, view: View, config: list[CompactionConfig]) -> None:
    match step:
        case "add" | "look":
            text = ROOM if step == "look" else "Tom waves."
            tiers.add(memory(tiers.last_number + 1, text))
        case "again" if tiers.window:
            tiers.repeat_last(tiers.window[-1].repeats + 1)
        case "compacted" if tiers.window:
            last = tiers.window[len(tiers.window) // 2].number
            recent = Summary(Tier.RECENT, 1, last, "It was.", "test", NOW)
            tiers.state = replace(tiers.state, recent=recent)
            tiers.window = [each for each in tiers.window if each.number > last]
        case "edited" if recent := tiers.state.recent:
            tiers.state = tiers.state.edited(Tier.RECENT, f"{recent.text} Quite.", NOW)
        case "cleared":
            tiers.clear(tiers.last_number)
        case "unmasked":
            config[0] = replace(config[0], mask=not config[0].mask)
        case "far":
            view.mask_as_far_as_it_goes()


def test_an_empty_memory_has_an_empty_context():
    assert view_of(Tiers(), lambda: CONFIG).context() == MemoryContext(None, None, (), ())
