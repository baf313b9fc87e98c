"""Lines near to typed words, or to lines that were chosen: a person says which they mean; blocks.

They are those of the search in the memories of all agents (:mod:`keepsake.web.searching`), by
meaning and words: the vectors are those of the agents' indexes, so only the typed words are
embedded. Lines with the rarest typed words are beside them, for a search by meaning may miss the
one word that matters. All lists are merged by reciprocal ranks (Cormack et al., 2009).

What says the same as a chosen line in other words, or in another language, is near to that line,
has its names and numbers, or rests on it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from keepsake.archive.records import Memory
from keepsake.happening import Speech
from keepsake.language.capitals import capitalised
from keepsake.tracing.bases import is_reply
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import memories_at
from keepsake.tracing.typed.gathering import Line, heard, id_of
from keepsake.tracing.typed.rarest import with_rarest
from keepsake.tracing.typed.strands import Strand, strand_of
from keepsake.tracing.wording import MOST_WORDS, Wording
from keepsake.web.searching import Searched, best_by_meaning

MOST_NEAR = 5
"""The most lines that are offered: people read five, and more hardly ever have the right one."""
MOST_LIKE = 10
"""The most lines like chosen ones: the page leaves out what counts already."""
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
_NUMBER = re.compile(r"\d+")

type _Ranked = tuple[int, Sequence[Line]]
"""The most happenings of a list that count, and the lines, best first."""


def near_to(
    agents: Sequence[Searched],
    archives: Mapping[str, Archived],
    words: str,
    chosen: Collection[Line],
) -> Sequence[Strand]:
    """Return the lines nearest to the chosen ones, or to typed words if none is; best first.

    Raises:
        KeepsakeError: There is no word, or there are too many.
    """
    if chosen:
        return lines_like(agents, archives, chosen)
    return lines_near(agents, archives, words)


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
    rarest = with_rarest(archives, Wording.of(words), _FOUND)
    lists = ((_RANKED, _by_meaning(agents, words.replace("|", " "))), (_RAREST, rarest))
    return _merged(archives, lists, MOST_NEAR)


def lines_like(
    agents: Sequence[Searched], archives: Mapping[str, Archived], chosen: Collection[Line]
) -> Sequence[Strand]:
    """Return lines that may say the same as chosen ones in other words, best first.

    Args:
        archives: The agents' archives, by key.
        chosen: The lines; they themselves are not returned.
    """
    lists: list[_Ranked] = []
    known = set[str]()
    for key, number in chosen:
        remembered = [*heard(archives, (key, number))]
        known |= {id_of(each, memory) for each, memory in remembered}
        own = (memory for each, memory in remembered if (each, memory.number) == (key, number))
        text = next((memory.words or memory.text for memory in own), "")
        if text:
            lists.append((_RANKED, _by_meaning(agents, text)))
            lists.append((_RAREST, _with_names(archives, text)))
            lists.append((_RAREST, [*_resting(archives, remembered)]))
    return _merged(archives, lists, MOST_LIKE, known)


def _by_meaning(agents: Sequence[Searched], text: str) -> Sequence[Line]:
    found = best_by_meaning(agents, text, _FOUND) or ()
    return [(str(agent[0]), number) for agent, number in found]


def _with_names(archives: Mapping[str, Archived], text: str) -> Sequence[Line]:
    """Return lines with the names and numbers of a text: these are the same in any words."""
    telling = (*capitalised(text), *_NUMBER.findall(text))
    wanted = [*dict.fromkeys(telling)][:MOST_WORDS]
    return with_rarest(archives, Wording.of(" ".join(wanted)), _FOUND) if wanted else ()


def _resting(
    archives: Mapping[str, Archived], remembered: Sequence[tuple[str, Memory]]
) -> Iterator[Line]:
    """Yield what agents who heard a line said to others because of it, the newest first.

    Whoever only answers the one who told it says another thing.

    ``remembered``: Who remembers the line, by key, and the memories.
    """
    for key, basis in remembered:
        if not isinstance(basis.what, Speech):
            continue  # who only saw that somebody whispered has nothing to tell
        own = archives[key]
        acts = sorted(own.past.resting_on(basis.number), reverse=True)[:_FOUND]
        for act in memories_at(own.texts.of(own.folder), acts) if acts else ():
            if act.own_words is not None and not is_reply(act, basis):
                yield key, act.number


def _merged(
    archives: Mapping[str, Archived],
    lists: Sequence[_Ranked],
    most: int,
    known: Collection[str] = (),
) -> Sequence[Strand]:
    """Return the best lines of ranked lists, but for known happenings."""
    scores = defaultdict[str, float](float)
    line_of = dict[str, Line]()
    for taken, lines in lists:
        said = ((each, line) for each, line in _said(archives, lines) if each not in known)
        for rank, (happening, line) in enumerate(islice(said, taken)):
            scores[happening] += 1 / (_BEFORE_FIRST + rank)
            line_of[happening] = line
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:most]
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
