"""Readers' rankings of a blind interview, and what follows from them for each simulation.

A ranking is the letters of a sheet, best first: ``B A D C``. Letters that are as good as each other
are joined: ``B A=D C``. Each gets the mean of its ranks, so that the ranks of a sheet always have
the same sum. Sheets of one agent depend on each other, so intervals are over agents.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scipy.stats import kendalltau

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.intervals import LEVEL, MIN_CLUSTERS, Estimate, difference, holm, mean_of
from keepsake.lab.simulations.blind import ANSWERS, RANKING, SHEET, BlindInterview

_SEPARATORS = re.compile(r"[\s,;>]+")
_TIED = re.compile(r"\s*=\s*")


@dataclass(frozen=True, slots=True)
class Ranking:
    """One reader's ranking of one sheet: the rank of each simulation, 1 for the best."""

    reader: str
    sheet: str
    agent: str
    ranks: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Rating:
    """What the rankings say of one simulation.

    Attributes:
        rank: Its mean rank with an interval over agents; 1 is the best.
        first: The share of sheets in which it is first, alone or with others.
    """

    simulation: str
    rank: Estimate
    first: float


@dataclass(frozen=True, slots=True)
class RatedPair:
    """The comparison of the first simulation of the interview with another one.

    Attributes:
        found: The mean rank of ``first`` minus that of ``second``: below 0, ``first`` is better.
        p: A two-sided p value, corrected over the pairs (Holm); None with too few agents.
    """

    first: str
    second: str
    found: Estimate
    p: float | None

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely reason."""
        return self.p is not None and self.p < 1 - LEVEL


@dataclass(frozen=True)
class Ratings:
    """What readers say of the simulations of a blind interview.

    Attributes:
        all: The rating of each simulation, over all readers, the best first.
        by_reader: The same for each reader.
        agreement: The mean of Kendall's tau-b over pairs of readers and the sheets that both have
            ranked, -1 to 1; None with one reader, or if no two ranked a sheet without all ties.
        left_out: How many sheets each reader has not ranked.
    """

    all: Sequence[Rating]
    by_reader: Mapping[str, Sequence[Rating]]
    pairs: Sequence[RatedPair]
    agreement: float | None
    left_out: Mapping[str, int]


def read_rankings(interview: BlindInterview, paths: Sequence[Path]) -> list[Ranking]:
    """Read the forms of several readers; the name of a file is the name of its reader.

    Raises:
        KeepsakeError: A form cannot be read, is for other answers, or has a wrong ranking.
    """
    readers = [path.stem for path in paths]
    if len(set(readers)) != len(readers):
        raise KeepsakeError("Two forms have one name", "Name each file after its reader")
    return [each for path in paths for each in _rankings_in(path, interview)]


def _rankings_in(path: Path, interview: BlindInterview) -> Iterator[Ranking]:
    sheets = {sheet.id: sheet for sheet in interview.sheets}
    cure = f"Copy {interview.form}, name the copy after its reader, and fill in {RANKING!r}"
    with (
        refusing(f"{path} cannot be read", cure, UnicodeDecodeError, csv.Error),
        path.open(newline="", encoding="utf-8-sig") as file,
    ):
        rows = list(csv.DictReader(file))
    seen = set[str]()
    for row in rows:
        name = (row.get(SHEET) or "").strip()
        if (row.get(ANSWERS) or "").strip() != interview.digest or name not in sheets:
            raise KeepsakeError(f"{path} ranks other answers: sheet {name!r}", cure)
        if name in seen:
            raise KeepsakeError(f"{path} has the sheet {name!r} twice", "Keep one of the lines")
        seen.add(name)
        if text := (row.get(RANKING) or "").strip():
            agent = sheets[name].agent
            letters = interview.letters[agent]
            ranks = _ranks(text, letters.keys(), f"{path}, sheet {name!r}")
            by_name = {letters[letter]: rank for letter, rank in ranks.items()}
            yield Ranking(path.stem, name, agent, by_name)


def _ranks(text: str, letters: Collection[str], where: str) -> dict[str, float]:
    """Return the rank of each letter in a ranking such as ``B A=D C``.

    Raises:
        KeepsakeError: A letter is missing, unknown, or there twice.
    """
    places = [part.split("=") for part in _SEPARATORS.split(_TIED.sub("=", text.upper())) if part]
    named = [letter for place in places for letter in place]
    if sorted(named) != sorted(letters):
        example = " ".join(sorted(letters))
        cure = f"Name each letter once, the best first: {example}; join equals with ="
        raise KeepsakeError(f"{where}: {text!r} is no ranking", cure)
    ranks: dict[str, float] = {}
    for place in places:
        before = len(ranks)
        rank = before + (len(place) + 1) / 2  # the mean of the ranks that they take
        ranks |= dict.fromkeys(place, rank)
    return ranks


def rate(interview: BlindInterview, rankings: Sequence[Ranking]) -> Ratings:
    """Return what rankings say of the simulations.

    Raises:
        KeepsakeError: There are no rankings.
    """
    if not rankings:
        raise KeepsakeError("No sheet was ranked", f"Fill in the column {RANKING!r}")
    readers = dict.fromkeys(each.reader for each in rankings)
    of_reader = {name: [each for each in rankings if each.reader == name] for name in readers}
    return Ratings(
        all=_ratings(rankings),
        by_reader={name: _ratings(own) for name, own in of_reader.items()},
        pairs=_pairs(rankings, interview.names),
        agreement=_agreement(of_reader),
        left_out={name: len(interview.sheets) - len(own) for name, own in of_reader.items()},
    )


def _ratings(rankings: Sequence[Ranking]) -> list[Rating]:
    agents = [each.agent for each in rankings]
    found = list[Rating]()
    for simulation in rankings[0].ranks:
        ranks = [each.ranks[simulation] for each in rankings]
        best = [min(each.ranks.values()) for each in rankings]
        first = statistics.fmean(one == other for one, other in zip(ranks, best, strict=True))
        found.append(Rating(simulation, mean_of(ranks, agents), first))
    return sorted(found, key=lambda rating: rating.rank.mean)


def _pairs(rankings: Sequence[Ranking], names: Sequence[str]) -> list[RatedPair]:
    """Compare the first simulation with each other one.

    All pairs would be more comparisons than seven agents can bear: with six of them, no p value
    could be below 0.05 after its correction.
    """
    agents = [each.agent for each in rankings]
    first, *others = names
    found = list[tuple[RatedPair, float]]()
    of_first = [each.ranks[first] for each in rankings]
    for second in others:
        of_second = [each.ranks[second] for each in rankings]
        estimate, p = difference(of_first, of_second, agents)
        found.append((RatedPair(first, second, estimate, None), p))
    if len(set(agents)) < MIN_CLUSTERS:
        return [pair for pair, _ in found]
    corrected = holm([p for _, p in found])
    return [replace(pair, p=p) for (pair, _), p in zip(found, corrected, strict=True)]


def _agreement(of_reader: Mapping[str, Sequence[Ranking]]) -> float | None:
    taus = list[float]()
    for one, other in itertools.combinations(of_reader.values(), 2):
        theirs = {each.sheet: each.ranks for each in other}
        for ranking in one:
            if (ranks := theirs.get(ranking.sheet)) is None:
                continue
            names = list(ranking.ranks)
            pair = ([each[name] for name in names] for each in (ranking.ranks, ranks))
            tau = float(kendalltau(*pair).statistic)
            if not math.isnan(tau):  # it is, if one reader found all equal
                taus.append(tau)
    return statistics.fmean(taus) if taus else None
