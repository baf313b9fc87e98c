"""Which of the best candidates an answer in a talk can use: the game's prompt shows these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import median

from keepsake.happening import Person
from keepsake.language.languages import number_of_words, telling_terms
from keepsake.recall.ranking.candidates import CandidateList
from keepsake.recall.ranking.floor import noise, split
from keepsake.recall.ranking.usefulness import (
    SEVERAL,
    USEFUL,
    Signals,
    new_words,
    other_talks,
)


def probabilities(
    among: CandidateList,
    shares: Mapping[int, float],
    scores: Sequence[float],
    content: Sequence[float],
    *,
    asker: Person | None,
) -> Mapping[int, float]:
    """Return how probable it is that an answer in a talk can use each memory, by place.

    Args:
        shares: The share of the query's terms in each memory that is judged, by place.
    """
    middle = median(content)
    upper = split([scores[place] for place in shares])
    known = telling_terms(among.question.text)
    terms = number_of_words(among.question.terms)
    found = dict[int, float]()
    for place, share in shares.items():
        document = among.documents[place]
        signals = Signals(
            above=content[place] - middle,
            share=share,
            heard=among.traits[place].heard,
            by_asker=asker is not None and document.is_by(asker),
            new_words=new_words(document, known),
            terms=terms,
            upper=scores[place] >= upper,
        )
        found[place] = signals.probability()
    return found


def usable(
    chosen: Sequence[int],
    lines: Sequence[int],
    probable: Mapping[int, float],
    content: Sequence[float],
) -> set[int]:
    """Return which of the chosen places an answer in a talk can probably use.

    Args:
        lines: Those of them that are memories.
        probable: How probable it is that an answer can use each memory, by place.
        content: What words, meaning and time give each candidate.
    """
    least = noise(content)
    bears = {place for place in {*chosen}.difference(lines) if content[place] >= least}
    bears.update(place for place, each in probable.items() if each >= USEFUL)
    return bears


def filling(
    among: CandidateList,
    probable: Mapping[int, float],
    lines: Sequence[int],
    bears: Collection[int],
) -> set[int]:
    """Return the memories that bear, too, if useful ones are to be expected in several talks.

    Args:
        probable: How probable it is that an answer can use each, by place.
        lines: The places of all memories.
        bears: The places of what bears by itself.
    """
    found = [(among.documents[place].time, each) for place, each in probable.items()]
    several = among.question.asks and other_talks(found) >= SEVERAL
    return {*lines}.difference(bears) if several else set()
