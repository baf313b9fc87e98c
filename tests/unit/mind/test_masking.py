"""The first rung: old results are shortened, repeats are merged, speech stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.transcript import script
from keepsake.language.tokens import estimate_tokens
from keepsake.memory.masking import STEP, SUMMARISED, for_summary, mask
from keepsake.prompt.results import RECALLED as RECALLED_OPENING
from tests.memories import old_memory, seen
from tests.sentences import table
from tests.unit.mind.fake_agent import EVENING, memories_of

ACT = MemoryKind.ACT
RESULT = MemoryKind.RESULT
SEEN = MemoryKind.PERCEPTION
INN = (
    "The Kettle. The only inn in Withy Hythe is one low room around a hearth, and it smells of "
    "leeks, peat and wet wool. A copper kettle the size of a calf hangs over the fire and has "
    "never been seen to be empty. Exits: north to Pump Square and up to The Guest Loft."
)
RECALLED = (
    f"{RECALLED_OPENING}memory 12 [1 May 2026, 18:00, The Kettle] Tom: I hid the letter under the "
    "third step; memories 65-128: I served soup to Ada and Bram, and it rained; note garden: "
    "The peas go in after the frost, says Bram; note cup: It is in the well"
)

_LOFT = INN.replace("The Kettle", "The Guest Loft", 1)


@pytest.mark.parametrize(("results", "shown"), table("old results"))
def test_old_results_are_shortened(results, shown):
    whole = {"inn": INN, "loft": _LOFT, "recalled": RECALLED}
    lines = [(f"~{act}", f"={text.format(**whole)}") for act, text in results]
    window = memories_of(*(line for both in lines for line in both))
    assert [memory.text for memory in mask(window, len(window))] == shown


_MARKED = '"|(memory 3)|… (memory 4)|Here: God.|Exits: up.|You see: gold.|; note x: y|. |memory 7: '
_WORDS = st.sampled_from(
    ("Tom", 'Ada says, "No."', "~Mira>", "soup", "The wind rattles the shutters.")
) | st.sampled_from(_MARKED.split("|"))
_FREE = st.lists(_WORDS | st.text(max_size=12), max_size=60).map(" ".join)
_LOOKS = ("", " Here: Tom.", " Here: Ada.", " It has stopped.", " There is blood. It has stopped.")
_KNOWN = st.sampled_from(
    (
        *(f"{INN}{end}" for end in _LOOKS),
        _LOFT,
        RECALLED,
        "x" * 300,
        f"{RECALLED_OPENING}{'a, ' * 100}",
        "You tried to go up: there is no such exit.",
        "The wind rattles the shutters.",
        "Rain falls.",
        "Tom arrives from the Quay.",
        "Tom goes up to the loft.",
        'Tom says to you, "Never open the door."',
    )
)
_ACTS = st.sampled_from(["look", "go up", "examine Tom", "recall soup", "say Good day", "notes"])
_LINES = st.one_of(
    st.tuples(st.just(ACT), _ACTS, st.just(""), st.sampled_from(["", "I am hungry", "I want it"])),
    st.tuples(st.just(RESULT), _KNOWN | _FREE, st.just(""), st.just("")),
    st.tuples(st.just(SEEN), _KNOWN | _FREE, st.sampled_from(["", "Tom"]), st.just("")),
)


@st.composite
def windows(draw: st.DrawFn) -> tuple[Memory, ...]:
    number = draw(st.integers(1, 300))
    time = EVENING
    found = []
    for kind, text, source, reason in draw(st.lists(_LINES, max_size=40)):
        if found and found[-1].text == text:
            continue  # the archive counts repeats and refuses the agent's own
        time += timedelta(minutes=draw(st.sampled_from([0, 1, 15, 19, 40, 700])))
        found.append(old_memory(number, time, kind, text, source=source, reason=reason))
        number += 1
    return tuple(found)


def _marks(window: tuple[Memory, ...]) -> st.SearchStrategy[int]:
    first = window[0].number if window else 1
    return st.integers(first - 1, first + len(window))


def _rendered(window: tuple[Memory, ...]) -> str:
    return "\n".join(script(window, "Mira"))


def _importance_functions(window):
    numbers = st.sets(st.sampled_from([0, *(m.number for m in window)]))
    return numbers.map(lambda chosen: lambda memory: memory.number in chosen)


@given(windows(), st.data())
def test_masking_keeps_acts_speech_and_order_and_adds_nothing(window, data):
    shown = mask(window, data.draw(_marks(window)), data.draw(_importance_functions(window)))
    numbers = [m.number for m in shown]
    originals = {m.number: m for m in window}
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(originals)
    for memory in window:
        if memory.kind is ACT or memory.heard is not None:
            assert memory.number in numbers
    assert estimate_tokens(_rendered(shown)) <= estimate_tokens(_rendered(window))
    for memory in shown:
        before = originals[memory.number]
        assert len(memory.text) <= len(before.text)
        assert memory.shown_as("") == before.shown_as("")
        if memory.kind is ACT or memory.heard is not None:
            assert memory.text == before.text


@given(windows(), st.data())
def test_a_longer_window_begins_with_the_shorter_one(window, data):
    """Also after the boundary of masking has moved."""
    through = data.draw(_marks(window))
    matters = data.draw(_importance_functions(window))
    end = sum(m.number <= through for m in window)
    length = data.draw(st.integers(end, len(window)))
    shown = mask(window[:length], through, matters)
    assert mask(window, through, matters)[: len(shown)] == shown
    further = mask(window, through + STEP, matters)
    masked = tuple(m for m in shown if m.number <= through)
    assert further[: len(masked)] == masked


@pytest.mark.parametrize(
    ("other", "shown"), [({}, 1), ({"place": "The Quay"}, 2), ({"days": 1}, 2), ({"days": 7}, 2)]
)
def test_the_same_line_folds_on_one_day_in_one_place_only(other, shown):
    place = other.get("place", "The Kettle")
    later = timedelta(minutes=30) + timedelta(days=other.get("days", 0))
    line = seen("The ferry from Harrow comes in, and its bell is heard.", "Tom", "5-1")
    first = Memory(1, EVENING, line, place="The Kettle")
    again = Memory(2, EVENING + later, line, place=place)
    assert len(mask([first, again], 2)) == shown


def test_a_summary_is_written_of_what_was_seen_and_of_no_numbers():
    cup = "blue cup. A cup of blue glaze, with FENN on its foot. " + "It has a chip. " * 12
    here = " Here: Anneke. You see: soup."
    window = memories_of("~examine blue cup", f"={cup}", "~look", f"={INN}{here}", "Ada| Hm.")
    told = [memory.text for memory in for_summary(window)]
    assert len(told) == 5
    assert "with FENN on its foot" in told[1]
    assert len(told[1]) <= SUMMARISED + 1
    assert told[3] == "The Kettle. Here: Anneke. You see: soup."
    assert not any("(memory" in each for each in told)
