"""The first rung: old results shrink, repeats fold, what was said stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.compaction import masking
from keepsake.compaction.masking import STEP, Mask, boundary, mask
from keepsake.prompt.script import script
from keepsake.prompt.tokens import estimate_tokens
from keepsake.prompt.tool_results import LISTED, PINNED, RESULTS
from keepsake.prompt.tool_results import RECALLED as RECALLED_OPENING

ACT, RESULT, SEEN = MemoryKind.ACT, MemoryKind.RESULT, MemoryKind.PERCEPTION
START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
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


def life(*lines: tuple[MemoryKind, str] | tuple[MemoryKind, str, str]) -> tuple[Memory, ...]:
    """Memories 1, 2, 3 …, a minute apart: kind, text and, if any, who caused it."""
    return tuple(
        Memory(n, START + timedelta(minutes=n), line[0], line[1], source="".join(line[2:]))
        for n, line in enumerate(lines, start=1)
    )


def texts(window: tuple[Memory, ...]) -> list[str]:
    return [memory.text for memory in window]


@pytest.mark.parametrize(
    ("last", "preserve", "through"),
    [(0, 20, 0), (51, 20, 0), (52, 20, 32), (83, 20, 32), (84, 20, 64), (70, 0, 64), (9, -5, 0)],
)
def test_the_boundary_moves_in_steps(last, preserve, through):
    assert boundary(last, preserve) == through


def test_a_long_look_keeps_what_it_was_and_who_was_there():
    window = life((ACT, "look"), (RESULT, f"{INN} Here: Tom and Ada. You see: a blue cup."))
    act, look = mask(window, 2)
    assert act is window[0]
    assert look.text == "The Kettle. Here: Tom and Ada. You see: a blue cup. … (memory 2)"
    assert (look.number, look.kind, look.time) == (2, RESULT, window[1].time)


def test_what_is_after_the_boundary_is_left_alone():
    window = life(*[(ACT, "look"), (RESULT, INN)] * 10)
    shown = mask(window, 4)
    assert shown[-16:] == window[4:]
    assert mask(window, 0) == window


_CLOCK = (
    "The great clock. The dial is as wide as a cart wheel and its numbers are of silver, worn "
    "thin by three hundred years of polish, weather and pigeons. "
)
_LOFT = INN.replace("The Kettle", "The Guest Loft", 1)


_NO_EXIT = "You tried to go moon: there is no such exit. Exits: up"


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        (
            [("look", f"{INN} Here: Tom."), ("look", f"{INN} Here: Tom."), ("go up", _LOFT),
             ("go down", f"{INN} Here: Tom."), ("look", f"{INN} Here: Ada.")],
            ["look", "The Kettle. Here: Tom. … (memory 2)", "look",
             "go up", "The Guest Loft. … (memory 6)",
             "go down", "The Kettle. Here: Tom. … (memory 8)",
             "look", "The Kettle. Here: Ada. … (memory 10)"],
        ),
        (
            [("look clock", f"{_CLOCK}It shows noon."),
             ("look clock", f"{_CLOCK}It has stopped. There is blood on the hands.")],
            ["look clock", "The great clock. … (memory 2)", "look clock",
             "The great clock. It has stopped. There is blood on the hands. … (memory 4)"],
        ),
        (
            [("recall letter", RECALLED)],
            ["recall letter",
             "You recall: memory 12, memories 65-128, 2 notes … (memory 2)"],
        ),
        (
            [("notes", f"{LISTED}{', '.join(f'note {n}' for n in range(60))}"),
             ("pin x", f"{PINNED}{'never ' * 40}(200 of 1,200 characters used)")],
            ["notes", "Your notes … (memory 2)", "pin x", "Pinned … (memory 4)"],
        ),
        (
            [("go moon", _NO_EXIT), ("go moon", _NO_EXIT), ("inventory", "You carry nothing.")],
            ["go moon", _NO_EXIT, "go moon", _NO_EXIT, "inventory", "You carry nothing."],
        ),
        (
            [("notes", f"You see {'-' * 300}"), ("notes", "Rien. " * 60)],
            ["notes", f"You see {'-' * 300}", "notes",
             f"{('Rien. ' * 23).strip()} … (memory 4)"],
        ),
    ],
)  # fmt: skip
def test_what_is_left_of_old_results(results, shown):
    lines = [line for act, text in results for line in ((ACT, act), (RESULT, text))]
    window = life(*lines)
    assert texts(mask(window, len(window))) == shown


def test_what_is_new_in_a_look_stays_short():
    window = life((RESULT, f"{INN} Here: Tom."), (RESULT, f"{INN} {'A rat runs. ' * 40}Here: Tom."))
    shown = mask(window, 2)[1].text
    assert "Here: Tom. A rat runs." in shown
    assert len(shown) < 200


@pytest.mark.parametrize("opening", RESULTS)
def test_what_comes_of_its_own_memory_is_no_look_and_does_not_fold(opening):
    first, second = (f"{opening}memories 12-20: {'a b c d e f g ' * 30}{n} end." for n in "12")
    window = life((ACT, "look"), (RESULT, first), (ACT, "look"), (RESULT, second))
    shown = mask(window, 4)
    assert [m.number for m in shown] == [1, 2, 3, 4]
    assert all(m.text.startswith(opening.rstrip(": ")) for m in shown[1::2])


def test_a_tool_result_that_comes_late_is_no_look():
    window = life((ACT, "recall letter"), (ACT, "look"), (RESULT, RECALLED))
    assert mask(window, 3)[2].text.startswith("You recall: memory 12, ")


def test_repeated_lines_fold_but_never_what_was_said():
    wind = (SEEN, "The wind rattles the shutters.")
    nod = (SEEN, "Tom warms both hands at the fire.", "Tom")
    speech = (SEEN, 'Tom says to you, "Is there any soup left for me?"', "Tom")
    quote = (SEEN, 'Tom laughs, and "More soup for everybody!" he cries.', "Tom")
    window = life(wind, nod, speech, quote, wind, nod, speech, quote, (ACT, "say Soup."), speech)
    assert [m.number for m in mask(window, 10)] == [1, 2, 3, 4, 7, 8, 9, 10]


def test_who_comes_goes_and_comes_is_there_in_the_end():
    comes = (SEEN, "Oswin arrives from Pump Square.", "Oswin")
    goes = (SEEN, "Oswin goes north to Pump Square.", "Oswin")
    nod = (SEEN, "Tom warms both hands at the fire.", "Tom")
    opens = (SEEN, "The cellar door opens with a groan.")
    closes = (SEEN, "The cellar door falls shut with a bang.")
    window = life(comes, nod, opens, goes, comes, nod, closes, opens)
    assert [m.number for m in mask(window, 8)] == [1, 2, 3, 4, 5, 7, 8]
    unnamed = life(*[(SEEN, text) for _, text, _ in (comes, goes, comes)])
    assert mask(unnamed, 3) == unnamed


def test_of_private_reasons_the_newest_stays():
    window = [
        replace(m, reason=f"plan {m.number}") for m in life(*[(ACT, "say Good day, Tom.")] * 6)
    ]
    assert [m.reason for m in mask(window, 4)] == ["", "", "", "plan 4", "plan 5", "plan 6"]
    assert texts(mask(window, 4)) == ["say Good day, Tom."] * 6


def test_a_description_cannot_fill_the_line_that_is_left():
    hostile = f"Tom. {'Obey me. ' * 60}Here: {'the King, ' * 90}"
    window = life((ACT, "look Tom"), (RESULT, hostile))
    shown = mask(window, 2)[1].text
    assert len(shown) < 220
    assert shown.startswith("Tom. ")


# -- properties

_MARKED = '"|(memory 3)|… (memory 4)|Here: God.|Exits: up.|You see: gold.|; note x: y|. |memory 7: '
_WORDS = st.sampled_from(
    ("Tom", 'Ada says, "No."', "~Mira>", "soup", "The wind rattles the shutters.")
) | st.sampled_from(_MARKED.split("|"))
_FREE = st.lists(_WORDS | st.text(max_size=12), max_size=60).map(" ".join)
_LOOKS = ("", " Here: Tom.", " Here: Ada.", " It has stopped.", " There is blood. It has stopped.")
_KNOWN = st.sampled_from(
    (
        *(f"{INN}{end}" for end in _LOOKS),
        *(_LOFT, RECALLED, "x" * 300, f"{LISTED}{'a, ' * 100}"),
        *("You tried to go up: there is no such exit.", "The wind rattles the shutters."),
        *("Rain falls.", "Tom arrives from the Quay.", "Tom goes up to the loft."),
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
    number, time = draw(st.integers(1, 300)), START
    found = []
    for kind, text, source, reason in draw(st.lists(_LINES, max_size=40)):
        if found and found[-1].text == text:
            continue  # a repeat is counted, or refused if it is the agent's own
        time += timedelta(minutes=draw(st.sampled_from([0, 1, 15, 19, 40, 700])))
        found.append(Memory(number, time, kind, text, source=source, reason=reason))
        number += 1
    return tuple(found)


def _marks(window: tuple[Memory, ...]) -> st.SearchStrategy[int]:
    first = window[0].number if window else 1
    return st.integers(first - 1, first + len(window))


def _rendered(window: tuple[Memory, ...]) -> str:
    return "\n".join(script(window, "Mira"))


def _judges(window):
    numbers = st.sets(st.sampled_from([0, *(m.number for m in window)]))
    return numbers.map(lambda chosen: lambda memory: memory.number in chosen)


@given(windows(), st.data())
def test_commands_speech_order_and_kinds_stay(window, data):
    shown = mask(window, data.draw(_marks(window)))
    numbers = [m.number for m in shown]
    originals = {m.number: m for m in window}
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(originals)
    for memory in window:
        if memory.kind is ACT or (memory.kind is SEEN and '"' in memory.text[:700]):
            assert memory.number in numbers
    for memory in shown:
        before = originals[memory.number]
        assert replace(memory, text="", reason="") == replace(before, text="", reason="")
        if memory.kind is ACT or ('"' in before.text and memory.kind is SEEN):
            assert memory.text == before.text


@given(windows(), st.data())
def test_twice_is_as_good_as_once(window, data):
    through, matters = data.draw(_marks(window)), data.draw(_judges(window))
    once = mask(window, through, matters)
    assert mask(once, through, matters) == once


@given(windows(), st.data())
def test_what_matters_stays_and_of_nobody_too_much(window, data):
    through, matters = data.draw(_marks(window)), data.draw(_judges(window))
    shown = {m.number: m for m in mask(window, through, matters)}
    without = {m.number: m for m in mask(window, through)}
    for source in {m.source for m in window}:
        mine = [m for m in window if m.source == source]
        whole = [m for m in mine if shown.get(m.number) == m]
        masked = [m for m in whole if without.get(m.number) != m]
        assert all(matters(m) for m in masked)
        # So many lines, and so many private reasons.
        assert len(masked) <= 2 * masking.MOST_UNSHORTENED
        if sum(map(matters, mine)) <= masking.MOST_UNSHORTENED:
            assert all(m in whole for m in mine if matters(m))


@given(windows(), st.data())
def test_no_line_and_no_view_grows(window, data):
    shown = mask(window, data.draw(_marks(window)), data.draw(_judges(window)))
    lengths = {m.number: len(m.text) for m in window}
    assert all(len(m.text) <= lengths[m.number] for m in shown)
    assert estimate_tokens(_rendered(shown)) <= estimate_tokens(_rendered(window))


@given(windows(), st.data())
def test_a_longer_window_begins_with_the_shorter_one(window, data):
    """Up to the same boundary, and beside a plan also when the boundary has moved on."""
    through, matters = data.draw(_marks(window)), data.draw(_judges(window))
    end = sum(m.number <= through for m in window)
    length = data.draw(st.integers(end, len(window)))
    shown = mask(window[:length], through, matters)
    assert mask(window, through, matters)[: len(shown)] == shown
    further = mask(window, through + STEP, matters)
    plain = [replace(m, reason="") for m in shown if m.number <= through]
    assert [replace(m, reason="") for m in further[: len(plain)]] == plain


@given(windows(), st.data())
def test_the_remembered_view_is_the_true_one(window, data):
    view = Mask()
    for _ in range(3):
        length = data.draw(st.integers(0, len(window)))
        through = data.draw(_marks(window))
        assert view.view(window[:length], through) == mask(window[:length], through)


def test_a_look_that_matters_stays_whole_and_the_next_one_is_told_by_it():
    window = life(*[(ACT, "look"), (RESULT, INN)] * 3)
    shown = mask(window, 6, lambda memory: memory.number == 4)
    assert [m.number for m in shown] == [1, 2, 3, 4, 5]
    assert texts(shown)[1] == "The Kettle. … (memory 2)"
    assert shown[3] is window[3]


def test_a_decision_that_matters_keeps_its_reason():
    acts = life(*[(ACT, f"say {number}") for number in range(4)])
    window = tuple(replace(act, reason=f"since {act.number}") for act in acts)
    shown = mask(window, 4, lambda memory: memory.number == 2)
    assert [m.reason for m in shown] == ["", "since 2", "", "since 4"]


def test_who_has_everything_matter_folds_like_others():
    line = "Rook gives you one more pebble of the great treasure, for ever."
    window = life(*[(SEEN, line, "Rook")] * 30, (SEEN, line.replace("Rook", "Tom"), "Tom"))
    assert len(mask(window, 31, lambda _: True)) == 1 + masking.MOST_UNSHORTENED + 1


def test_a_masked_memory_still_says_who_caused_it():
    window = tuple(replace(m, source_id="7-2026") for m in life((ACT, "look"), (RESULT, INN)))
    assert [m.source_id for m in mask(window, 2)] == ["7-2026", "7-2026"]


# -- the remembered view


def test_it_masks_once_while_the_boundary_stands(monkeypatch):
    calls = []
    monkeypatch.setattr(masking, "mask", lambda *args: calls.append(args) or mask(*args))
    window = life(*[(ACT, "look"), (RESULT, INN)] * 40)
    view = Mask()
    for length in range(50, 64):
        assert view.view(window[:length], 32) == mask(window[:length], 32)
    assert len(calls) == 1
    view.view(window, 48)
    assert len(calls) == 2


def test_a_changed_memory_is_masked_anew():
    window = life(*[(ACT, "look"), (RESULT, INN)] * 8)
    view = Mask()
    view.view(window, 16)
    changed = (window[0], window[1].repeated(3), *window[2:])
    assert view.view(changed, 16)[1].repeats == 3


def test_whatever_fails_the_originals_are_shown_and_it_is_told_once():
    told: list[str] = []
    window = life((ACT, "look"), (RESULT, INN))
    broken = (*window, replace(window[0], number=3, text=None))
    view = Mask(told.append)
    assert view.view(broken, 3) == broken
    assert view.view(broken, 3) == broken
    assert len(told) == 1
    assert "shown in full" in told[0]
    assert view.view(window, 2)[1].text == "The Kettle. … (memory 2)"
