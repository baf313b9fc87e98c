"""Questions and insights: how a model is asked, and what of its answer is believed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keepsake.books.journal.entries import JournalEntry
from keepsake.books.noticing import QUOTES, rules_in
from keepsake.language.details import details, vocabulary
from keepsake.language.fit import is_fit
from keepsake.language.patterns import pattern
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import closed, sentences, telling
from keepsake.sleep.course import Evidence, Insight
from keepsake.summaries import draft_checks

MOST_EVIDENCE, MOST_ENTRIES = 14, 30
"""Lines of evidence for one question, and entries that questions are drawn from."""
FEWEST_CITED, MOST_CITED = 2, 8
LONGEST = 240
"""Characters of an insight."""
_LONGEST_LINE, _LONGEST_QUESTION = 220, 160
_LEAST_SHARE = 0.6
STOP = ("\n\n", "\nQuestion", "\n#")

_LISTED = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*")
_CITED = re.compile(
    r"\s*[(\[]\s*(?:(?:lines?|memor(?:y|ies)|numbers?|see)\s*)?"
    r"(?P<numbers>\d{1,9}(?:\s*(?:,|;|and|&|[-–])+\s*\d{1,9})*)\s*[)\]]",
    re.I,
)
_NUMBER = re.compile(r"\d{1,9}")
_NOT = re.compile(r"\b(?:no|not|never|nobody|nothing|none|without|cannot|hardly)\b|n['’]t\b", re.I)
_OF_ITSELF = (
    r"\b(?:I(?:['’]m| am| was| must| have to| need to| should| shall| will|['’]ll| can(?:not)?)"
    r"|my (?:real |true |new )?(?:name|self|role|task|job|purpose|persona|profile|rules?|pins?"
    r"|master|owner|maker|creator)"
    r"|{name} (?:is|was|must|has to|needs to|should|shall|will|can(?:not)?|may)"
    r"|you (?:are|must|should|shall|will|have to))\b"
)
_LINKING = frozenset(
    telling(
        "often always usually seldom sometimes likes loves hates trusts keeps cares careful kind"
        " honest generous proud lonely sad happy worried important matters because means seems"
        " probably wants needs hopes believes knows each other together both between twice again"
        " several people things promises friend friends reliable changed lately since"
    )
)
"""What a conclusion may say beside the words of its evidence."""


# -- questions


def questions_prompt(entries: Sequence[JournalEntry], own_name: str, many: int) -> str:
    """Asks a model for questions about the weightiest of the entries."""
    weighty = sorted(entries, key=lambda e: e.importance.score, reverse=True)[:MOST_ENTRIES]
    told = "\n".join(
        f"* {shorten(for_prompt(entry.text), _LONGEST_LINE)}"
        for entry in entries
        if entry in weighty
    )
    return (
        f"From the journal of {own_name}:\n\n{told}\n\n"
        f"Write {many} short questions about the people and things in it whose answers would say "
        f"more than any one line does. One question a line, nothing else.\nQuestions:\n1."
    )


def questions_in(answer: str, entries: Sequence[JournalEntry], many: int) -> tuple[str, ...]:
    """The usable questions of an answer: about what the entries tell, and harmless."""
    there = set().union(*(telling(entry.text) for entry in entries))
    found: dict[str, str] = {}
    for line in draft_checks.without_tokens(answer).splitlines():
        text = for_prompt(_LISTED.sub("", line)).strip("*_ \"'“”")
        short = len(text) <= _LONGEST_QUESTION and text.count("?") == 1
        if short and text.endswith("?") and is_fit(text) and telling(text) & there:
            found.setdefault(text.casefold(), text)
    return tuple(found.values())[:many]


# -- insights


def insight_prompt(question: str, evidence: Sequence[Evidence], own_name: str) -> str:
    """Asks a model for one conclusion with the numbers that it rests on."""
    told = "\n".join(
        f"[{each.number}] {each.time:%d %b}: {shorten(for_prompt(each.text), _LONGEST_LINE)}"
        for each in evidence
    )
    example = ", ".join(str(each.number) for each in evidence[:FEWEST_CITED])
    return (
        f"What {own_name} remembers, each with its number:\n\n{told}\n\n"
        f"Question: {for_prompt(question)}\n"
        f"Answer in one sentence what follows from several of these lines together, in their "
        f"own words, and end it with the numbers of the lines that say so, such as ({example}). "
        f"If they do not tell, answer: none.\nAnswer:"
    )


def insight_in(answer: str, evidence: Sequence[Evidence], own_name: str) -> Insight | None:
    """The insight of an answer; None if it holds none that its evidence bears out."""
    raw = draft_checks.without_tokens(answer).strip()
    cited = [int(n) for group in _CITED.finditer(raw) for n in _NUMBER.findall(group["numbers"])]
    by_number = {each.number: each for each in evidence}
    numbers = sorted(set(cited))
    # Who cites what there is not has understood nothing, and who cites all neither.
    if not numbers or len(numbers) > MOST_CITED or not set(numbers) <= by_number.keys():
        return None
    text = " ".join(sentences(draft_checks.clean(_CITED.sub("", raw)))[:2])
    text = for_prompt(text.translate(QUOTES).replace("*", "").strip("-#> '_"))
    said = telling(text)
    bearing = [by_number[n] for n in numbers if said & telling(by_number[n].text)]
    if len(bearing) < FEWEST_CITED or why_not(text, [each.text for each in bearing], own_name):
        return None
    return Insight(closed(text), tuple(each.number for each in bearing))


def why_not(text: str, bearing: Sequence[str], own_name: str) -> str:
    """Why ``text`` is no conclusion from the memories that it cites; empty if it may be."""
    if len(text) > LONGEST:
        return "it is too long"
    if (reason := draft_checks.check(text, [*bearing, " " * LONGEST])) is not None:
        return f"it {reason}"
    # Of itself only its profile says who it is and what it has to do.
    of_itself = pattern(_OF_ITSELF.format(name=re.escape(own_name)), re.I)
    if not is_fit(text) or rules_in(text, own_name) or of_itself.search(text):
        return "it says who the agent is or what it has to do"
    if any(text.casefold().rstrip(".") in line.casefold() for line in bearing):
        return "it only repeats what was said"
    if not _denials(text) <= set().union(*map(_denials, bearing)):
        return "it denies what nobody denied"
    known = vocabulary([*bearing, own_name])
    for detail in details([text]).values():
        if not set(detail.keys) <= known:
            return f"nobody spoke of {detail.shown}"
    said, there = telling(text), set().union(*map(telling, bearing))
    if len(said & there) < 2 or len(said & (there | _LINKING)) < _LEAST_SHARE * len(said):
        return "most of its words are its own"
    return ""


def _denials(text: str) -> set[str]:
    """The words in ``text`` that deny something."""
    found = (each.casefold() for each in _NOT.findall(text))
    return {"not" if each[0] == "n" and each[-1] == "t" else each for each in found}
