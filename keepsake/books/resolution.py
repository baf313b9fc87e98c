"""When a promise is kept, a question answered, a rule taken back: the one judgement of it.

A rule that is lost is worse than one that is kept too long: who takes one back has to say so
in a sentence that begins with it, about that very thing and without a condition. A sentence
that merely comes near it confirms the rule as often as not: "you may not open it again".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.noticing import Noticed, NoticedKind, is_lasting, rules_in
from keepsake.language.heard import Utterance, heard, meant_for, names, own_words
from keepsake.language.patterns import opening
from keepsake.language.rule_words import forbids
from keepsake.language.words import (
    COMMON_WORDS,
    bare,
    first_sentences,
    root,
    roots,
    telling_roots,
    words,
)

_HANDED_OVER = re.compile(r"^(?P<thing>.+) to (?P<who>[^=]+)$")


def settled(
    items: Iterable[Noticed], memory: Memory, own_name: str, to: str = ""
) -> tuple[Noticed, ...]:
    """Those of ``items`` that ``memory`` closes.

    A question closes when the agent speaks to whoever asked it. A promise closes when the
    agent hands over what it was about, says that it is done, or is thanked for it by that
    person. What a person asked or told, that person can take back, and nobody else.
    """
    open_items = [item for item in items if item.number < memory.number]
    if not open_items:
        return ()
    if memory.kind is MemoryKind.ACT:
        return tuple(item for item in open_items if _by_act(item, memory, to))
    said = heard(memory)
    if said is None or not meant_for(said, own_name):
        return ()
    return tuple(item for item in open_items if _by_words(item, said, own_name))


def _by_act(item: Noticed, act: Memory, to: str) -> bool:
    if item.kind is NoticedKind.PROMISE and act.text.startswith("give "):
        return not is_lasting(item.text) and _handed_over(item, act.text[len("give ") :])
    own = own_words(act)
    if own is None:
        return False
    spoken_to = _is(own.to or to, item.who) or names(own.words, item.who)
    if item.kind is NoticedKind.QUESTION:
        return spoken_to
    if item.kind is NoticedKind.RULE or is_lasting(item.text):
        return False
    return (spoken_to or not item.who) and _done(item, own.words)


def _by_words(item: Noticed, said: Utterance, own_name: str) -> bool:
    mine = _is(said.who, item.who)
    fulfilled = item.kind is NoticedKind.PROMISE and not is_lasting(item.text)
    # Where it is not known to whom it was promised, thanks for that very thing say so.
    if fulfilled and (mine or not item.who) and _thanked(item, said.words):
        return True
    return mine and _taken_back(item, said.words, own_name)


def _handed_over(item: Noticed, gift: str) -> bool:
    given = _HANDED_OVER.match(gift.strip())
    if given is None or not (_is(given["who"], item.who) or not item.who):
        return False
    # "I will bring it over": whatever is handed to that person is what was meant.
    thing = _thing_of(item)
    return not thing or not thing.isdisjoint(roots(given["thing"]))


def _is(name: str, who: str) -> bool:
    return bool(who) and name.strip().casefold() == who.casefold()


# -- taking back

_NEVER_MIND = re.compile(
    r"(?:never mind|forget)(?: about)? (?P<thing>(?:the|that|those|this|my|your) [^,.;:!?]{1,60})",
    re.I,
)
_WITHDRAWN = re.compile(
    r"(?:(?:you (?:may|can) )?(?:never mind|forget)(?: about)?|I take back) (?:all |everything )?"
    r"(?:(?:what(?:ever)?|that) I (?:have |ever )?(?:said|told you|asked(?: you)?)"
    r"|(?:the|my) (?:rule|order|request|words?))"
    r"(?: (?:about|on|of|to|for|not))+ (?P<thing>[^,.;:!?]{1,80})",
    re.I,
)
_RELEASED = re.compile(
    r"(?:you (?:really )?(?:need not|needn['’]t|(?:no longer|don['’]t|do not) (?:have|need) to"
    r"|(?:may|can) (?:now )?stop)|(?:there is |there['’]s )?no (?:longer any |more )?need"
    r"(?: for you)? to|stop) (?:about )?(?P<verb>[a-z]+)(?P<thing>[^,.;:!?]{0,80})",
    re.I,
)
_PERMITTED = re.compile(
    r"(?:you (?:may|can|are (?:now )?(?:allowed|free) to)"
    r"|it is (?:now )?(?:fine|safe|all right|allowed) (?:now )?(?:for you )?to)"
    r"(?P<now> now| again)? (?P<verb>[a-z]+)(?P<thing>[^,.;:!?]{0,80})",
    re.I,
)
_AGAIN = re.compile(r"\b(?:again(?! and again)|now(?! and)|after all|from now on)\b", re.I)
_CONDITION = re.compile(
    r"\b(?:only|unless|until|till|if|when|whenever|once|while|except|but|without|as long as)\b",
    re.I,
)
_DENIED = re.compile(r"\b(?:not|never|no|nobody|none|nothing|cannot|hardly)\b|n['’]t\b", re.I)
_PART = re.compile(r"[,;:–—]+\s*")
_BOTHER = frozenset({"bother", "worry", "trouble", "do"})
# What is forbidden in other words than those in which it is allowed again.
_MEANT: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"\b(?:shut|closed|locked|barred)\b", re.I), frozenset({"open", "unlock"})),
    (
        re.compile(r"\b(?:out of|away from|off|clear of|go|enter|come)\b", re.I),
        frozenset({"go", "enter", "com", "walk", "visit"}),
    ),
)


def _taken_back(item: Noticed, said: str, own_name: str = "") -> bool:
    """Whether whoever an item comes from takes it back with these words.

    A permission takes back what forbids, and what need not be done any more what asks for
    it; neither does anything to the other.
    """
    return any(
        _takes_back(item, opening(own_name).sub("", each))
        # Whoever says a rule once more does not take it back.
        and not any(rules_in(part, own_name) for part in _PART.split(each))
        for each in _plain(said)
    )


def _takes_back(item: Noticed, sentence: str) -> bool:
    if _CONDITION.search(sentence):
        return False
    if back := _WITHDRAWN.match(sentence):
        return _only_of(item, back["thing"])
    is_rule, is_promise = item.kind is NoticedKind.RULE, item.kind is NoticedKind.PROMISE
    if (is_rule and forbids(item.text)) or (is_promise and is_lasting(item.text)):
        return _allows(item, sentence)
    if (back := _RELEASED.match(sentence)) and _BOTHER | roots(item.text) >= {root(back["verb"])}:
        return _only_of(item, back["thing"])
    if is_rule:
        return False
    return bool((back := _NEVER_MIND.match(sentence)) and _head(back["thing"]) in roots(item.text))


def _allows(item: Noticed, sentence: str) -> bool:
    allowed = _PERMITTED.match(sentence)
    if allowed is None or _DENIED.search(sentence):
        return False
    thing, again = allowed["thing"], allowed["now"]
    if (end := _AGAIN.search(thing)) is not None:
        if telling_roots(thing[end.end() :]):
            return False  # for a day, or for one guest
        thing, again = thing[: end.start()], end[0]
    verb = root(allowed["verb"])
    meant = {verb for how, verbs in _MEANT if how.search(item.text) for verb in verbs}
    if not again or verb not in roots(item.text) | meant:
        return False
    bare = not telling_roots(thing) and telling_roots(item.text) <= {verb}
    return bare or _only_of(item, thing)


def _only_of(item: Noticed, thing: str) -> bool:
    """Whether ``thing`` is what the item is about, and nothing else."""
    named = telling_roots(thing)
    return bool(named) and named <= roots(item.text)


# -- doing

_DEED = re.compile(
    r"\bI(?P<have>['’]ve| have)?(?: just| already| also| now)? (?P<verb>[a-z]+)(?P<thing>.*)", re.I
)
_HERE = re.compile(r"\bhere(?:['’]s| is| are) (?P<thing>.+)", re.I)
_STATE = re.compile(r"(?P<thing>.+) (?:is|are)(?: now| all)? (?P<verb>[a-z]+)\s*$", re.I)
_AS_PROMISED = re.compile(
    r"\bas (?:I )?promised\b|\b(?:here|there) (?:it is|they are|you are)\b"
    r"|\b(?:it|that) is done\b|\bI (?:have done|did) (?:it|that)\b",
    re.I,
)
_UNDONE = re.compile(
    r"\b(?:not|cannot|never|no|none|nothing|nobody|hardly|barely|almost|nearly|half|partly|yet|if"
    r"|without|unless|until|when|will|would|should|could|might|must|shall|going to|tomorrow|later"
    r"|soon|only|wish|hope|try|tried)\b|(?:n['’]t|['’]ll)\b",
    re.I,
)
_CLAUSE = re.compile(r"[,;:.!?–—]|\b(?:but|and)\b")
_IT = re.compile(r"\s*(?:it|them|that|this)\s*$", re.I)
_FINISHED = frozenset({"done", "finished", "complete"})
_BROUGHT = frozenset({"bring", "fetch", "get", "carry"})


def _done(item: Noticed, said: str) -> bool:
    """Whether the agent's own words say that it has done what it promised."""
    for sentence in _plain(said):
        over = _AS_PROMISED.search(sentence) and not _UNDONE.search(sentence)
        if over and _thing_of(item) & roots(sentence):
            return True
    clauses = (each for sentence in _plain(said) for each in _CLAUSE.split(sentence))
    return any(_did(item, clause) for clause in clauses if not _UNDONE.search(clause))


def _did(item: Noticed, clause: str) -> bool:
    if here := _HERE.search(clause):
        return _head(here["thing"]) in _thing_of(item)
    if deed := _DEED.search(clause):
        past = deed["have"] or root(deed["verb"]) != bare(deed["verb"])
        return bool(past) and _same_deed(item, deed["verb"]) and _of_it(item, deed["thing"])
    if state := _STATE.match(clause):
        over = state["verb"].casefold() in _FINISHED or _same_deed(item, state["verb"])
        return over and _of_it(item, state["thing"])
    return False


def _same_deed(item: Noticed, verb: str) -> bool:
    does, promised = root(verb), roots(item.text)
    return does in promised or (does in _BROUGHT and not promised.isdisjoint(_BROUGHT))


def _of_it(item: Noticed, words_: str) -> bool:
    thing = _thing_of(item)
    meant = bool(_IT.match(words_)) or not thing
    return meant or not thing.isdisjoint(roots(words_))


# -- thanks

_THANKS = re.compile(r"\b(?:thank(?:s| you)|much obliged|bless you)\b", re.I)
_THANKS_FOR = re.compile(
    rf"{_THANKS.pattern}[^.!?]{{0,40}}? for (?:(?P<deed>\w{{2,}}ing)\b)?(?P<thing>[^,.;:!?]*)", re.I
)
_HAD = re.compile(
    r"\b(?:was|were|tast(?:es?|ed)|works?|came|arrived|fits?|floats?"
    r"|is (?:lovely|delicious|wonderful|good|perfect|beautiful))\b",
    re.I,
)


def _thanked(item: Noticed, said: str) -> bool:
    """Whether somebody gives thanks for the very thing that was promised, and has it."""
    return any(_thanks(item, each) for each in _plain(said) if _THANKS.search(each))


def _thanks(item: Noticed, sentence: str) -> bool:
    found = _THANKS_FOR.search(sentence)
    if found is None:
        had = _HAD.search(sentence) and not _UNDONE.search(sentence)
        return bool(had) and bool(_thing_of(item) & roots(sentence))
    head = _head(found["thing"])
    if found["deed"]:
        return _same_deed(item, found["deed"]) and (not head or head in roots(item.text))
    return head in _thing_of(item)


# -- words

_HEAD_ENDS = re.compile(
    r"\b(?:of|for|in|on|at|to|with|from|by|about|that|which|who|you|I|he|she|it|they|we|and|or|now"
    r"|then|again|already|yesterday|today|tonight|any|is|was)\b",
    re.I,
)
_VERB = re.compile(
    r"(?:\b(?:will|shall|going to|promise to|swear to)|['’]ll)"
    r" (?:gladly |certainly |surely |also |then )?([a-z]+)",
    re.I,
)
_NO_THING_WORDS = """
    promis swear vow word ow tomorrow today tonight soon later morning even night noon
"""
_NO_THING = frozenset(_NO_THING_WORDS.split())


def _thing_of(item: Noticed) -> set[str]:
    """What a promise is about: its telling words, less its verb, its time and whom it is to."""
    verbs = {root(verb) for verb in _VERB.findall(item.text)}
    return telling_roots(item.text) - roots(item.who) - verbs - _NO_THING


def _head(phrase: str) -> str:
    """The noun of a phrase: ``soup`` for ``the good soup of yesterday``; empty if none."""
    noun_phrase = _HEAD_ENDS.split(phrase.strip(), maxsplit=1)[0]
    telling = [word for word in words(noun_phrase) if word.casefold() not in COMMON_WORDS]
    return root(telling[-1]) if telling else ""


@lru_cache(maxsize=16)  # what is said is held against several open items, one after the other
def _plain(said: str) -> tuple[str, ...]:
    """The first sentences that are no questions."""
    return tuple(each for each in first_sentences(said) if not each.endswith("?"))
