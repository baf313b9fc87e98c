"""Lines near to typed words, of which a person says which they mean; blocks.

They are those of the search in the memories of all agents (:mod:`keepsake.web.searching`), by
meaning and words: the vectors are those of the agents' indexes, so only the typed words are
embedded. Lines with the rarest typed words are beside them, for a search by meaning may miss the
one word that matters. Both lists are merged by reciprocal ranks (Cormack et al., 2009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from keepsake.happening import Speech
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import memories_at
from keepsake.tracing.typed.gathering import Line, heard, id_of
from keepsake.tracing.typed.rarest import with_rarest
from keepsake.tracing.typed.strands import Strand, strand_of
from keepsake.tracing.wording import Wording
from keepsake.web.searching import Searched, best_by_meaning

MOST_NEAR = 5
"""The most lines that are offered: people read five, and more hardly ever have the right one."""
_RANKED = 10
_RAREST = 3
"""The most lines of the search, and with the rarest words, that are merged: of more of these, all
that have a common word would be before what the search finds first."""
_FOUND = 20
"""The most memories of each agent that the search finds, and of all that have the rarest words: a
line may be found with several agents, and deeds are left out."""
_BEFORE_FIRST = 10
"""What is added to each rank, so that the first of one list is not all. From 2 to 30 it makes no
difference in two played evenings."""


def lines_near(
    agents: Sequence[Searched], archives: Mapping[str, Archived], words: str
) -> Sequence[Strand]:
    """Return the lines that are nearest to typed words, best first, each with all who heard it.

    Args:
        archives: The agents' archives, by key.
        words: What was typed; ``|`` stands between two ways of saying it.

    Raises:
        KeepsakeError: There is no word, or there are too many.
    """
    by_meaning = best_by_meaning(agents, words.replace("|", " "), _FOUND) or ()
    rarest = with_rarest(archives, Wording.of(words), _FOUND)
    lists = (
        (_RANKED, [(str(agent[0]), number) for agent, number in by_meaning]),
        (_RAREST, rarest),
    )
    scores = defaultdict[str, float](float)
    line_of = dict[str, Line]()
    for most, lines in lists:
        for rank, (happening, line) in enumerate(islice(_said(archives, lines), most)):
            scores[happening] += 1 / (_BEFORE_FIRST + rank)
            line_of[happening] = line
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:MOST_NEAR]
    return [strand_of([[*heard(archives, line_of[each])]], likely=False) for each in best]


def _said(archives: Mapping[str, Archived], lines: Sequence[Line]) -> Iterator[tuple[str, Line]]:
    """Yield the happenings of lines in which somebody said something, each once, in order."""
    segments = {key: each.texts.of(each.folder) for key, each in archives.items()}
    found = set[str]()
    for key, number in lines:
        memory = next(memories_at(segments.get(key, ()), [number]), None)
        if memory is None or not isinstance(memory.what, Speech):
            continue
        happening = id_of(key, memory)
        if happening not in found:
            found.add(happening)
            yield happening, (key, number)
