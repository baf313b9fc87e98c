"""What a candidate's speaker, time, length and questions add to its score, or take off.

The unit of all weights is a standard deviation of the similarity of meaning.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import datetime, timedelta

from keepsake.recall.ranking.candidates import CandidateList, Traits
from keepsake.recall.times import mentions_time

_MAY_TELL = 60
"""The number of best candidates that are searched for a time; to search 300 takes 20 ms."""
_SPEAKER = 2.5
"""For a line said, or an act done, by a person whom the question names."""
_ASKER = 8.0
"""For a line said by the person who asks about their own life."""
_TIME = 3.5
"""For a memory from a time that the question names."""
_WHEN = 0.75
"""For a text that names a time, if the question asks for one."""
_OWN = 1.0
"""Subtracted from the agent's own speech: it may be a model's nonsense, or repeat what somebody
else said."""
_ASKING = 0.8
"""Subtracted from a line that only asks, unless the query is a scene."""
_FULL = 2.0
"""For a line that is not short; less for a shorter one."""
_ANSWER = 0.1
"""The part of the score of a line that asks which the next line gets in addition."""
_RECENT = 0.6
_HALF_LIFE = timedelta(days=3).total_seconds()
"""For the newest memory, if the query is a scene; and the seconds in which that falls by half."""


def by_signals(among: CandidateList, now: datetime, *, unprompted: bool) -> list[float]:
    """Return the score of each document for people and times of the question, length and age."""
    question = among.question
    documents = among.documents
    people = dict.fromkeys(question.names, _SPEAKER)
    asker = question.asker
    scores = [
        people.get(own.speaker, 0.0)
        + (_ASKER if asker is not None and document.is_by(asker) else 0.0)
        + timed
        + given_for_length(own)
        for document, own, timed in zip(
            documents, among.traits, given_for_times(among), strict=True
        )
    ]
    if unprompted:
        moment = now.timestamp()
        latest = moment
        for place in sorted(range(len(documents)), key=lambda n: -documents[n].last):
            # A clock may be set back: no memory counts as newer than a later one.
            document = documents[place]
            latest = min(latest if document.last else moment, document.time.timestamp())
            scores[place] += _RECENT * 2.0 ** -max((moment - latest) / _HALF_LIFE, 0.0)
    return scores


def given_for_times(among: CandidateList) -> list[float]:
    """Return what each document gets for a time that the question names."""
    times = among.question.times
    if not times:
        return [0.0] * len(among.documents)
    moments = [document.time for document in among.documents]
    return [_TIME if any(a <= each < b for a, b in times) else 0.0 for each in moments]


def given_for_length(own: Traits) -> float:
    """Return what a document gets for its length."""
    return _FULL * own.length


def take_off(among: CandidateList, scores: list[float], agent: str, *, unprompted: bool) -> None:
    """Lower the scores of lines that only ask, and of the agent's own speech."""
    for place, (document, own) in enumerate(zip(among.documents, among.traits, strict=True)):
        if own.asks and not unprompted:
            scores[place] -= _ASKING * own.need
        if document.speaker == agent and agent and document.said:
            scores[place] -= _OWN


def raise_for_times(among: CandidateList, scores: list[float]) -> None:
    """Raise the scores of the best candidates that name a time."""
    for place in heapq.nlargest(_MAY_TELL, range(len(scores)), key=scores.__getitem__):
        if mentions_time(among.documents[place].text):
            scores[place] += _WHEN * among.traits[place].share


def given_to_answers(among: CandidateList, scores: Sequence[float]) -> dict[int, float]:
    """Return what lines get in addition, because a good question stands before them."""
    documents = among.documents
    traits = among.traits
    return {
        place: _ANSWER * scores[other] * traits[other].need * traits[place].share
        for other, near in among.beside.items()
        if traits[other].asks and scores[other] > 0.0
        for place in near
        if documents[other].first < documents[place].first
    }
