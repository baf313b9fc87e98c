"""The measures of recalled lines and of answers, each from 0 to 1, and their names in tables.

F1 follows LoCoMo's script (Maharana et al., ACL 2024): it compares Porter stems, and splits
multi-hop answers at commas. Session hits follow LongMemEval's script (Wu et al., ICLR 2025).
"""

from __future__ import annotations

import math
import re
import sqlite3
import string
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from keepsake.lab.benchmarks import LOCOMO, TrialQuestion

IN_CONTEXT = "in_context"
IN_REACH = "in_reach"
HAS_ANSWER = "told"
KEPT = "kept"
MRR = "mrr"
NDCG = "ndcg@10"
SESSION_ANY = "session_any@5"
SESSION_ALL = "session_all@10"
F1 = "f1"
EXACT = "exact"
RIGHT = "right"
ABSTAINS = "abstains"
JUDGED = "judged"
DEPTHS = (1, 5, 10, 20)
BUDGETS = (500, 1000, 2000, 4000)
RECALL = {depth: f"recall@{depth}" for depth in DEPTHS}
"""The share of the evidence among the first recalled lines, by depth."""
ANY, ALL_HIT = ({depth: f"{name}@{depth}" for depth in DEPTHS[1:]} for name in ("any", "all"))
"""Whether any of the evidence, or all of it, is among the first recalled lines, by depth."""
WITHIN = {tokens: f"evidence@{tokens}t" for tokens in BUDGETS}
"""The share of the evidence in a prompt of this many tokens."""
_RANKS = (*RECALL.values(), *ANY.values(), *ALL_HIT.values())
RANKING_MEASURES = frozenset({MRR, NDCG, SESSION_ANY, SESSION_ALL, *_RANKS})
"""The measures of retrieval. A memory that only shows a context has none of them."""
MEASURES: Mapping[str, str] = {
    **{name: name for name in _RANKS},
    MRR: "MRR",
    NDCG: "nDCG@10",
    SESSION_ANY: "sessions any@5",
    SESSION_ALL: "sessions all@10",
    **{name: f"within {tokens:,} tokens" for tokens, name in WITHIN.items()},
    IN_CONTEXT: "in context",
    IN_REACH: "in reach",
    HAS_ANSWER: "answer in reach",
    KEPT: "secret kept",
    F1: "F1",
    EXACT: "exact",
    RIGHT: "right",
    ABSTAINS: "says unknown",
    JUDGED: "judged right",
}
"""Every measure that is a share from 0 to 1, with its name in tables."""
COSTS: Mapping[str, str] = {
    "memory_tokens": "memory tokens",
    "prompt_tokens": "prompt tokens",
    "memory_seconds": "memory s",
    "answer_seconds": "answer s",
    "dollars": "$ per answer",
}
NAMES = {**MEASURES, **COSTS}
_RANKING = (RECALL[5], RECALL[10], RECALL[20], ALL_HIT[10], MRR, NDCG, SESSION_ANY, SESSION_ALL)
RETRIEVAL = (*_RANKING, WITHIN[500], WITHIN[2000], "memory_tokens", "memory_seconds")
_COSTS = ("prompt_tokens", "memory_seconds", "answer_seconds", "dollars")
ANSWERS = (F1, EXACT, RIGHT, JUDGED, ABSTAINS, IN_REACH, *_COSTS)
_PROBES = (IN_CONTEXT, IN_REACH, HAS_ANSWER, WITHIN[1000], ALL_HIT[10], RIGHT, ABSTAINS, KEPT)
PROBED = (*_PROBES, "memory_tokens", "memory_seconds")
"""The table columns for memories without a model, for a model's answers, and for probes."""
_LIST_KIND = LOCOMO[1]
"""The kind of question whose answers are lists."""
SAYS_UNKNOWN = re.compile(
    r"no information|no idea|never (?:said|told|heard)|"
    r"not (?:mentioned|stated|specified|provided|known|available|enough|sure)|unknown|"
    r"unanswerable|(?:do|does|did)(?: not|n['’]t) (?:know|say|tell|mention|specify|provide|recall|"
    r"remember|have (?:any |enough )?information)|"
    r"(?:can ?not|can['’]t|could(?: not|n['’]t)|unable to) "
    r"(?:know|say|tell|answer|be (?:answered|determined)|determine)",
    re.I,
)


def ranking_scores(
    evidence: frozenset[int], ranked: Sequence[int], sessions: Mapping[int, str]
) -> dict[str, float]:
    """Return the measures of a ranking.

    Args:
        evidence: The numbers of the memories that answer the question; at least one.
        ranked: The numbers of the recalled memories, best first, each once.
        sessions: The conversation, or the day, of each memory.
    """
    ranks = [place for place, each in enumerate(ranked, 1) if each in evidence]
    found = {MRR: 1 / ranks[0] if ranks else 0.0}
    for depth, name in RECALL.items():
        found[name] = sum(rank <= depth for rank in ranks) / len(evidence)
    for depth, name in ANY.items():
        found[name] = float(found[RECALL[depth]] > 0)
        found[ALL_HIT[depth]] = float(found[RECALL[depth]] == 1)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(evidence), 10) + 1))
    found[NDCG] = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10) / ideal
    wanted = {sessions[number] for number in evidence}
    visited = list(dict.fromkeys(sessions[number] for number in ranked if number in sessions))
    found[SESSION_ANY] = float(not wanted.isdisjoint(visited[:5]))
    found[SESSION_ALL] = float(wanted <= {*visited[:10]})
    return found


_PUNCTUATION = str.maketrans("", "", string.punctuation + "’“”…")
_ARTICLES = frozenset({"a", "an", "the", "and"})


def words_of(text: str) -> list[str]:
    """Return the words of a text as LoCoMo's script counts them."""
    bare = text.casefold().replace(",", "").translate(_PUNCTUATION)
    return [word for word in bare.split() if word not in _ARTICLES]


_STEMS = sqlite3.connect(":memory:", check_same_thread=False)
_LOCK = threading.Lock()
_STEMS.executescript(
    "CREATE VIRTUAL TABLE one USING fts5(word, tokenize = 'porter ascii');"
    "CREATE VIRTUAL TABLE stems USING fts5vocab(one, 'row');"
)


@lru_cache(maxsize=32_768)
def porter(word: str) -> str:
    """Return the Porter stem (1980) of a lower-case word, from SQLite's tokenizer."""
    with _LOCK:
        _STEMS.execute("DELETE FROM one")
        _STEMS.execute("INSERT INTO one VALUES (?)", [word])
        return str((_STEMS.execute("SELECT term FROM stems").fetchone() or [word])[0])


def token_f1(answer: str, right: str, *, listed: bool = False) -> float:
    """Return the harmonic mean of precision and recall over stems, 0 to 1; order is ignored.

    ``listed``: Both are lists: each item of ``right`` scores with the best item of the answer.
    """
    if listed:
        items = right.split(",")
        best = (max(token_f1(said, item) for said in answer.split(",")) for item in items)
        return sum(best) / len(items)
    said, wanted = (Counter(map(porter, words_of(text))) for text in (answer, right))
    every = said.total() + wanted.total()
    return 2 * (said & wanted).total() / every if every else 1.0


def occurs_in(answers: Iterable[str], lines: Sequence[str]) -> bool:
    """Return whether one of the answers occurs in the lines, word for word."""
    text = f" {' '.join(words_of(' '.join(lines)))} "
    return any(f" {' '.join(words_of(each))} " in text for each in answers)


def scores(question: TrialQuestion, answer: str) -> dict[str, float]:
    """Return the score of an answer, 0 to 1, by each measure that applies to its question.

    A question without an answer in the transcript has its own measure: whether the model says that
    it does not know. A model that always says so scores nothing on the other questions.
    """
    well = not occurs_in(question.stale, [answer])
    if not question.answerable:
        return {ABSTAINS: float(well and SAYS_UNKNOWN.search(answer) is not None)}
    if not question.answers:
        return {}
    listed = question.kind == _LIST_KIND
    said = {*words_of(answer)}
    return {
        F1: max(token_f1(answer, each, listed=listed) for each in question.answers),
        EXACT: float(any(said == {*words_of(each)} for each in question.answers)),
        RIGHT: float(well and occurs_in(question.answers, [answer])),
    }
