"""When two lines are nearly the same, as difflib has it."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.words import SAME, nearly_same

lines = st.lists(st.sampled_from("abcdefgh"), max_size=14)


@given(lines, lines, st.integers(0, 14), st.integers(0, 14))
def test_lines_are_nearly_the_same_where_difflib_says_so(one, other, start, end):
    for two in (other, [*one[:start], *other[:1], *one[end:]]):
        matcher = SequenceMatcher(None, one, two, autojunk=False)
        assert nearly_same(one, two) == (matcher.ratio() >= SAME)
