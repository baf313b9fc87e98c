"""Rules, promises and questions in what is said: cheap patterns, no model.

A rule is what somebody tells the agent to keep to; a promise is what the agent itself says
that it will do; a question is put to the agent. Only whole sentences count, and only those
that begin like one: what somebody says that somebody else has said is no rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from keepsake.archive.records import Memory
from keepsake.language.fit import is_fit
from keepsake.language.heard import heard, meant_for, own_words
from keepsake.language.patterns import opening
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.rule_words import is_rule
from keepsake.language.statements import unquoted
from keepsake.language.words import COMMON_WORDS, first_sentences

LONGEST = 160
"""Characters of one noticed sentence."""
NEWCOMER = timedelta(days=1)
"""For so long after its making a character is nobody whose rules count like everybody's."""
_MADE = re.compile(r"\d+-(\d{14})")
"""What tells one character from all others ends with the time of its making."""


class NoticedKind(StrEnum):
    """What was noticed."""

    RULE = "rule"
    PROMISE = "promise"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something said that the agent should not lose.

    ``who`` told or asked the agent, or was promised something; empty if that is not known. What a
    person wrote into the file has the number 0 and no time. ``key`` tells ``who`` from others of
    that name, as in :attr:`~keepsake.archive.records.Memory.source_id`, where it is known.
    """

    kind: NoticedKind
    who: str
    text: str
    number: int = 0
    time: datetime | None = None
    key: str = ""

    @property
    def by_newcomer(self) -> bool:
        """Whether it is a rule of somebody whose character was made within a day before."""
        made = _MADE.fullmatch(self.key)
        if self.kind is not NoticedKind.RULE or made is None or self.time is None:
            return False
        born = datetime.strptime(made[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return self.time - born < NEWCOMER

    @property
    def line(self) -> str:
        """As a prompt shows it: ``Ada told you: never open the cellar door (memory 17)``."""
        if self.kind is NoticedKind.PROMISE:
            head = f"You promised {self.who}" if self.who else "You promised"
        else:
            did = "told" if self.kind is NoticedKind.RULE else "asked"
            head = f"{self.who or 'Somebody'} {did} you"
        end = f" (memory {self.number})" if self.number else ""
        return f"{head}: {self.text}{end}"


def notice(
    memory: Memory, own_name: str, to: str = "", *, alone: bool = False
) -> tuple[Noticed, ...]:
    """What in one memory is a rule, a promise or a question; mostly nothing.

    A rule that is given to all who are there is given to the agent too; a question to all
    is for somebody else to answer.
    """
    if own := own_words(memory):
        return tuple(
            _noticed(NoticedKind.PROMISE, own.to or _vocative(each, own_name) or to, each, memory)
            for each in promises(own.words)
        )
    said = heard(memory)
    if said is None or (said.to and said.to != "you"):
        return ()
    mine = meant_for(said, own_name, alone=alone)
    rules = [
        _noticed(NoticedKind.RULE, said.who, each, memory)
        for each in rules_in(said.words, own_name)
        if mine or not _vocative(each, own_name)
    ]
    # One of them stands for all: who answers the last has heard the others too.
    asked = questions(said.words)[-1:] if mine else []
    return (*rules, *(_noticed(NoticedKind.QUESTION, said.who, each, memory) for each in asked))


def quoted(memory: Memory, kind: NoticedKind, own_name: str) -> Noticed | None:
    """One memory as what somebody else takes it for, in its own words and by its own speaker.

    Returns:
        None if it cannot be that: only the agent promises, only others tell it something; or
        if nothing of it is fit for a line of the prompt.
    """
    own = kind is NoticedKind.PROMISE
    said = own_words(memory) if own else heard(memory)
    if said is None or not (own or meant_for(said, own_name)):
        return None
    fit = " ".join(_sentences(said.words))
    who = (said.to or _vocative(fit, own_name)) if own else said.who
    return _noticed(kind, who, fit, memory) if any(c.isalnum() for c in fit) else None


def rules_in(words: str, own_name: str = "") -> list[str]:
    """The sentences of ``words`` that ask to keep to something."""
    before = opening(own_name, condition=True)
    found = (s for s in first_sentences(words) if is_rule(before.sub("", s)))
    return [each for each in found if is_fit(each) and not each.endswith("?")]


def promises(words: str) -> list[str]:
    """The sentences of ``words`` in which the speaker promises something."""
    if not _PROMISE_HINT.search(words):  # recall asks this of a hundred lines at once
        return []
    found = (s for s in _sentences(words) if not (s.endswith("?") or _PROMISED_BEFORE.search(s)))
    # A promise inside a quotation does not bind the speaker who quotes it.
    own = ((s, unquoted(_ALL_QUOTED.sub(r"\1", s), "it")) for s in found)
    return [s for s, o in own if VOW.search(o) or _WILL.search(o) or _GOING.search(o)]


def questions(words: str) -> list[str]:
    """The questions in ``words`` that ask for something; ``Yes?`` and ``Really?`` do not."""
    return [s for s in _sentences(words) if s.endswith("?") and len(s.split()) > 2]


def is_lasting(promise: str) -> bool:
    """Whether a promise is to leave something undone, which no deed ever fulfils."""
    return _NOT_TO.search(promise) is not None


# -- sentences

QUOTES = str.maketrans({'"': "'", "“": "'", "”": "'", "„": "'", "«": "'", "»": "'"})
"""Makes all quotation marks such as may stand between double ones."""


def _sentences(words: str) -> list[str]:
    """The first sentences, safe for a line of the prompt; none that forges such a line."""
    return [each for each in first_sentences(words) if is_fit(each)]


def _noticed(kind: NoticedKind, who: str, sentence: str, memory: Memory) -> Noticed:
    # Double quotes and dashes at the start mean something in a script and in a list.
    text = for_prompt(sentence.translate(QUOTES).lstrip("-*#> '"))
    return Noticed(
        kind, for_prompt(who), shorten(text, LONGEST), memory.number, memory.time, memory.source_id
    )


# -- promises

_PROMISE_HINT = re.compile(
    r"\b(?:I(?:['’]ll|['’]m| am| will| shall| promise| swear| won['’]t| vow| owe| give you my)"
    r"|my word|my promise|count on me|rely on me|consider it)",
    re.I,
)
VOW = re.compile(
    r"\b(?:I (?:promise|vow)\b|you have my word|I give you my (?:word|promise)"
    r"|I swear\b(?! (?:I (?!will\b|shall\b|won['’]t\b)"
    r"|(?:he|she|it|they|there|you|people|them|others|everybody|everyone)\b))"
    r"|(?:count|rely) on me|(?<!when )(?<!if )I owe (?:you|him|her|them)\b|on my word\b"
    r"|consider it done\b)",
    re.I,
)
_WILL = re.compile(
    r"(?<!if )(?<!that )(?<!what )(?<!think )(?<!hope )(?<!know )"
    r"\bI(?:['’]ll| will| shall| won['’]t)"
    r" (?:(?:not|never|always|gladly|certainly|surely|surely not|also|then|be sure to) )?"
    r"(?!be (?!back|there|here|waiting|ready|at)|have (?:a|the|some|one|another|what|to)\b"
    r"|say\b|admit|bet|know|see(?!\s+(?:to|that|you))|think|wonder|understand|believe|wager|manage"
    r"|guess|die|live|tell you (?:what|this|something|one)|take (?:that|it) as|allow|grant|just\b"
    r"|miss|feel|start|sit|stand|drink|eat|sleep|never (?:know|understand|forget (?:the|you\b))"
    r"|look(?! (?:after|for|into)\b)|(?:admire|regret|hate|love|like|enjoy|forgive|remember|want"
    r"|need|forget you|seem|become|grow|remain|notice"
    r"|have (?:got|been|become|noticed|seen|heard))\b"
    r"|(?:take|have) (?:a|the|my|this|that) (?:chair|seat|stool|bench|corner|nap|bath|walk|look)"
    r"|(?:kill|hurt|burn|beat|destroy|murder|end) (?:you|him|her|them|this)\b)"
    r"[a-z]{2,} \w",
    re.I,
)
_GOING = re.compile(
    r"(?<!if )(?<!that )(?<!think )\bI(?:['’]m| am) going to"
    r" (?!(?:be|see|tell|ask|say|show|have|leave|sit|join|miss|think|need|like|love|bore)\b)"
    r"[a-z]{2,}\b[^.;!?]{0,60}?\b(?:you|yours?)\b",
    re.I,
)
_ALL_QUOTED = re.compile(r"^\W*[\"“'‘](.+)[\"”'’]\W*$")
_NOT_TO = re.compile(r"\b(?:not|never|won['’]t|nobody|no one|secret)\b", re.I)
_PROMISED_BEFORE = re.compile(r"\bI promised\b[^,:;.!?]{0,60}[,:]", re.I)
"""Who tells what they promised does not promise it to whoever hears that."""


_CALLED = re.compile(r"(?:^|,\s*)([A-Z][\w'’-]{1,23}(?: [A-Z][\w'’-]{1,23})?)(?=\s*(?:,|[.!…]?$))")
_NO_NAME_WORDS = """
    yes no oh aye ah sure fine please sir madam gladly certainly today tomorrow tonight then
    monday tuesday wednesday thursday friday saturday sunday
"""
_NO_NAMES = COMMON_WORDS.union(_NO_NAME_WORDS.split())


def _vocative(sentence: str, own_name: str) -> str:
    """Whom a sentence turns to: ``Yes, Ada, I will``; empty if nobody is called."""
    for match in _CALLED.finditer(sentence):
        called = match[1].casefold()
        if called != own_name.casefold() and _NO_NAMES.isdisjoint(called.split()):
            return match[1]
    return ""
