"""Which of the best candidates an answer in a talk can use: the game's prompt shows these."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import median

from keepsake.archive.records import Memory
from keepsake.archive.replies import REACH, goes_on, replies_to
from keepsake.happening import Manner, Person, Speech
from keepsake.language.languages import length_in_words, number_of_words, telling_terms
from keepsake.recall.documents import SAME_SCENE
from keepsake.recall.ranking.candidates import CandidateList
from keepsake.recall.ranking.exchanges import AnsweredLine, ExchangeSignals, exchange_signals
from keepsake.recall.ranking.floor import split
from keepsake.recall.ranking.usefulness import (
    SEVERAL,
    USEFUL,
    Signals,
    new_words,
    other_talks,
)
from keepsake.recall.ranking.word_vectors import Compared


def judge_alone(
    among: CandidateList,
    shares: Mapping[int, float],
    scores: Sequence[float],
    content: Sequence[float],
    *,
    asker: Person | None,
) -> Mapping[int, Signals]:
    """Return what is known of each memory by itself, by place.

    Args:
        shares: The share of the query's terms in each memory that is judged, by place.
    """
    middle = median(content)
    upper = split([scores[place] for place in shares])
    known = telling_terms(among.question.text)
    terms = number_of_words(among.question.terms)
    found = dict[int, Signals]()
    for place, share in shares.items():
        document = among.documents[place]
        found[place] = Signals(
            above=content[place] - middle,
            share=share,
            heard=among.traits[place].heard,
            by_asker=asker is not None and document.is_by(asker),
            new_words=new_words(document, known),
            terms=terms,
            upper=scores[place] >= upper,
        )
    return found


def judge_exchanges(
    among: CandidateList, alone: Mapping[int, Signals], alike: Compared
) -> Mapping[int, ExchangeSignals]:
    """Return what is known of each memory with its exchange, by place.

    Args:
        alone: What is known of each by itself, by place, best rank first.
        alike: The words of what is said beside those of the candidates.
    """
    together = _exchanges(among, alone)
    likeness = alike.likeness()
    middle = math.fsum(likeness.values()) / len(likeness)
    return exchange_signals(
        {place: signals.logit() for place, signals in alone.items()},
        {place: likeness.get(among.rows[place], middle) for place in alone},
        {n: alike.gain([among.rows[each] for each in whole]) for n, whole in together.items()},
        together,
        AnsweredLine(int(length_in_words(among.question.text)), alike.need),
        whispered=[place for place in alone if _is_whispered(among.traits[place].memory)],
    )


def _is_whispered(memory: Memory | None) -> bool:
    said = memory.what if memory is not None else None
    return isinstance(said, Speech) and said.manner is Manner.WHISPER


def _exchanges(among: CandidateList, judged: Collection[int]) -> Mapping[int, Sequence[int]]:
    """Return which of the judged places are of one exchange, by place.

    They are what answers a memory, what it answers, and what else its speaker says there.
    """
    places = {among.documents[place].first: place for place in judged}
    following = among.memories_after(places, REACH)
    together = {place: {place} for place in judged}
    for number, place in places.items():
        memory = following[number]
        for other in (*goes_on(memory, following), *replies_to(memory, following)):
            if other in places:
                together[place].add(places[other])
                together[places[other]].add(place)
    return {place: sorted(found) for place, found in together.items()}


def usable(
    among: CandidateList,
    alone: Mapping[int, Signals],
    alike: Compared | None,
    now: datetime,
) -> set[int]:
    """Return the memories that an answer in a talk can probably use.

    With its exchange a memory is judged better than by itself. But the limit was learned from
    evenings, which the prompt sums up. A question to which memories of other talks bear by
    themselves may need several, which stand in no prompt: it keeps the limit that misses fewer.

    Args:
        alone: What is known of each by itself, by place, best rank first.
        alike: The query's words beside those of the candidates; None if it is not said, or its
            words are not known.
        now: The time of the query.
    """
    found = {place for place, each in alone.items() if each.probability() >= USEFUL}
    if alike is None:
        return found
    exchanges = judge_exchanges(among, alone, alike)
    bears = {place for place, each in exchanges.items() if each.bears}
    begins = now - SAME_SCENE
    is_of_others = any(among.documents[place].time < begins for place in found)
    return bears | found if among.question.asks and is_of_others else bears


def filling(
    among: CandidateList,
    alone: Mapping[int, Signals],
    lines: Sequence[int],
    bears: Collection[int],
) -> set[int]:
    """Return the memories that bear, too, if useful ones are to be expected in several talks.

    Args:
        alone: What is known of each memory by itself, by place.
        lines: The places of all memories.
        bears: The places of what bears by itself.
    """
    found = [(among.documents[place].time, each.probability()) for place, each in alone.items()]
    several = among.question.asks and other_talks(found) >= SEVERAL
    return {*lines}.difference(bears) if several else set()
