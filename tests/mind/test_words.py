"""When two lines are nearly the same, as difflib has it; what is typed in haste."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.words import SAME, nearly_same, spelled_out

lines = st.lists(st.sampled_from("abcdefgh"), max_size=14)


@given(lines, lines, st.integers(0, 14), st.integers(0, 14))
def test_lines_are_nearly_the_same_where_difflib_says_so(one, other, start, end):
    for two in (other, [*one[:start], *other[:1], *one[end:]]):
        matcher = SequenceMatcher(None, one, two, autojunk=False)
        assert nearly_same(one, two) == (matcher.ratio() >= SAME)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("wat did u do wen u were young", "what did you do when you were young"),
        ("im savin up n i cant stop", "I'm savin up and I can't stop"),
        ("shes yours, i think", "she's yours, I think"),
        ("R. and N went, i.e. not U", "R. and N went, i.e. not U"),
        ("b4 tmrw nite?", "before tomorrow night?"),
        ("n where r u", "and where are you"),
        ("head n, then w: two days n of row r", "head n, then w: two days n of row r"),
        ("room b4", "room b4"),
        ("http://a.b/u?i=r", "http://a.b/u?i=r"),
        ("rock'n'roll and an i-beam", "rock'n'roll and an i-beam"),
    ],
)
def test_what_is_typed_in_haste_is_read_as_words(typed, read):
    assert spelled_out(typed) == read
    assert spelled_out(read) == read
