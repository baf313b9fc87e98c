"""How people say who they are: the patterns of what is typed, and of what is kept as it was said.

Each pattern stands at the beginning of a statement (:mod:`.statements`). The groups are ``v``, a
value; ``n``, a name; ``kin``, who of theirs it is; ``trade``, a second fact in the same breath.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TRADES = """
    actor actress apprentice archer artist baker barber bard brewer builder butcher captain
    carpenter carter chandler clerk cobbler constable cook cooper courier doctor dyer engineer
    farmer ferryman fiddler fisher fisherman forester gardener glassblower groom guard guide healer
    herald herbalist hunter innkeeper jeweller judge juggler keeper knight labourer lawyer librarian
    maid mason mayor mercenary merchant messenger midwife miller miner minstrel monk musician nun
    nurse painter pedlar physician pilot poet porter potter preacher priest printer ranger roofer
    sailor scholar schoolmaster scout scribe sculptor seamstress servant sheriff shoemaker singer
    smuggler soldier spinner steward student surgeon tailor tanner teacher thatcher tinker trader
    trapper tutor waiter warden warrior watchman weaver wright
"""
_PLACES = """
    bakery bank barracks brewery bridge castle chapel church customs docks farm ferry forge guard
    harbour hospital house inn kitchen library lighthouse market mill mine monastery orchard palace
    post quarry school shop smithy stables store tannery tavern tower workshop yard
"""
_KIN_WORDS = """
    brother sister mother father wife husband partner son daughter aunt uncle cousin grandmother
    grandfather nephew niece grandson granddaughter twin child betrothed fiancé fiancée fiance
    fiancee friend master dog cat horse goat pony hen donkey parrot cow
"""


def _any(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=len, reverse=True))


_V = r"(?P<v>[\w][\w'’ -]*)"
"""A value: words alone, so that it can hold no mark that means something in a file or prompt."""
_N = r"(?P<n>(?-i:[A-Z][\w'’-]*\w(?: (?-i:[A-Z][\w'’-]*\w))?))"
_ADV = (
    r"(?:(?:now|still|just|currently|really|also|actually|finally|always|mostly|already|again|only"
    r"|once|recently|lately|simply|absolutely) )*"
)
_IM = rf"(?:I ?['’]m|I am|Im|we ?['’]re|we are) {_ADV}"
_IVE = rf"(?:I|we)(?:['’]ve| have)? {_ADV}"
_I = rf"(?:I|we) {_ADV}"
_DONT = r"(?:I|we) (?:don['’]t|do not) "
_OVER = rf"(?:(?:I|we) no longer |{_DONT}(?=.*\bany ?(?:more|longer)\b))"
_DET = r"(?:an?|the|this|your|our)(?: \w+['’]s)? "
_AS = r"as (?:an? |the )?"
_NOWHERE = (
    r"(?! (?:hope|peace|fear|silence|an? dreams?|my dreams?|luxury"
    r"|the (?:moment|past|dark|middle|rain|end)|shifts|secret|vain|misery|poverty|it|night|once"
    r"|least|my own|nothing|free|money|fun|love)\b)"
)
_IN = (
    rf"(?:(?:in|inside|at|above|over|by|near|behind|beside|on|under|next to|across from|opposite"
    rf"|outside|between|with|below|beneath|among|(?:out|up|down) (?:in|at|by|on)){_NOWHERE})"
)
_AT = rf"(?:(?:down |over |up )?(?:at|in|for|with){_NOWHERE})"
_KIN = rf"(?P<kin>{_any(_KIN_WORDS)})"
_PLACE = rf"(?:[\w'’-]+ ){{0,2}}?(?:{_any(_PLACES)})"
_TRADE = (
    r"(?:(?!good|bad|poor|terrible|better|worse|great|born)[\w-]+(?:['’]s)? ){0,3}?"
    rf"(?:{_any(_TRADES)}|\w+(?:smith|wright|monger|keeper|maker|herd))(?: of the \w+)?"
    r"(?=$|[,.!…;:]| (?:by|now|here|at|in|for|on|again|any|these|since|of|and|from|to|who|with)\b)"
)
_STATED = r"(?=$|[.!…]|, )"


class Pattern(NamedTuple):
    """One way to say something; ``attribute`` is empty where the group ``kin`` says it."""

    attribute: str
    pattern: re.Pattern[str]
    ends: bool = False


def _ways(attribute: str, *sources: str, ends: bool = False) -> tuple[Pattern, ...]:
    return tuple(Pattern(attribute, re.compile(each, re.I), ends) for each in sources)


PATTERNS: tuple[Pattern, ...] = (
    # What is over comes first: "I don't live here any more" also says "I live here".
    *_ways(
        "work",
        rf"{_OVER}work (?:{_AS}|{_AT} ){_V}",
        rf"{_IM}no longer (?:{_DET})?(?P<v>{_TRADE})",
        rf"{_IM}not (?:{_DET})(?P<v>{_TRADE})(?= .*\bany ?(?:more|longer)\b)",
        rf"{_IM}(?:no longer|not) {_AT} (?P<v>the {_PLACE})"
        r"(?=[^,]*\b(?:any ?(?:more|longer)|now)\b)",
        rf"I used to (?:work|serve) (?:{_AS}|{_AT} ){_V}",
        rf"I (?:used to be|was once|once was) (?:{_DET})?(?P<v>{_TRADE})",
        rf"{_IVE}(?:quit|left|lost|given up) (?:my|the) (?:old )?(?:job|work|post|position)"
        rf"(?: (?:{_AS}|{_AT} ){_V})?",
        rf"{_IVE}(?:quit|left|retired from) (?P<v>(?:the|my) {_PLACE})"
        r"(?=$|[,.!…]| (?:for good|now|today|yesterday|last \w+|this \w+|at last|behind me)\b)",
        rf"I was (?:sacked|dismissed|fired|let go)(?: (?:from|by) {_V})?",
        rf"(?:{_IM}|{_IVE})(?:retired|out of work|without work)(?P<v>)\b",
        ends=True,
    ),
    *_ways(
        "home",
        rf"{_OVER}(?:live|lodge|dwell|stay) {_IN} {_V}",
        rf"I used to live {_IN} {_V}",
        rf"{_IVE}(?:moved|gone) (?:out of|away from) {_V}",
        rf"{_IVE}(?:sold|lost|left) (?P<v>my (?:[\w'’-]+ )?(?:house|cottage|hut|rooms?))"
        r"\b(?! ?['’]s)",
        ends=True,
    ),
    *_ways(
        "spouse",
        rf"my (?:wife|husband|spouse)(?: {_N})? (?:has |is )?(?:died|dead|left me)(?P<v>)\b",
        rf"{_IVE}left my (?:wife|husband)(?P<v>)\b",
        rf"{_IM}(?:no longer married|not married any ?more|a widow(?:er)?|divorced)(?P<v>)\b",
        ends=True,
    ),
    *_ways("", rf"my {_KIN}(?: {_N})?,? (?:has |is )?(?:ran away|died|dead)(?P<v>)\b", ends=True),
    # What holds.
    *_ways(
        "work",
        rf"{_I}(?:work|serve) (?:here )?{_AS}{_V}",
        rf"{_I}work (?={_AT} ){_V}",
        rf"{_IM}(?:working|employed) (?:{_AS}|(?={_AT} )){_V}",
        rf"{_IVE}(?:started|begun|been hired|got work|found work) (?:work |working )?"
        rf"(?:{_AS}|(?={_AT} (?:the|an?)\b)){_V}",
        rf"I was (?:hired|taken on|made) (?:as )?(?:an? |the )?{_V}",
        rf"{_IVE}(?:been made|become|became) (?:an? |the )?(?P<v>{_TRADE})",
        rf"{_IVE}(?:got|found|have|took|taken) (?:an?|the|some) (?:new )?(?:job|position|post|work)"
        rf" (?:{_AS}|(?={_AT} )){_V}",
        rf"my (?:new )?(?:work|trade|job)(?: is|['’]s) (?:an? )?"
        rf"(?!to\b|hard|done|dull|not|going|never|too|so\b){_V}",
        rf"{_I}(?:make|earn) my (?:living|bread) (?:by |{_AS}|with )?{_V}",
        rf"{_I}(?P<v>(?:run|keep|tend) (?:the|an?|my) {_PLACE})\b",
        rf"{_IM}{_DET}(?P<v>{_TRADE})",
    ),
    *_ways(
        "home",
        rf"{_I}(?:live|lodge|dwell) (?:alone |now |right |just |up |down |out )?(?={_IN} ){_V}",
        rf"{_IM}(?:living|lodging) (?:now )?(?={_IN} ){_V}",
        rf"{_IVE}(?:moved|settled) (?:back |out |up |down |over )?(?:in)?to {_V}",
        rf"my (?:new )?(?:home|house|room|cottage) is (?:now )?(?={_IN} ){_V}",
    ),
    *_ways(
        "name",
        rf"my (?:(?:real|full|true|new) )?name(?: is|['’]s)(?: now)? (?!not\b){_N}",
        rf"{_IM}called {_N}",
        rf"(?:people|they|friends|everybody|everyone|my friends) call me {_N}",
        rf"(?:you (?:may|can) |just |please |do )?call me {_N}",
        rf"{_IM}{_N}{_STATED}(?:, (?:an? |the )(?P<trade>{_TRADE}))?",
    ),
    *_ways("spouse", rf"{_IM}married to {_N}", rf"{_IVE}(?:got |just )?married (?:to )?{_N}"),
    *_ways("betrothed", rf"{_IM}(?:engaged|betrothed|promised) to {_N}"),
    *_ways(
        "",
        rf"my (?:[\w-]+ )?{_KIN}(?:['’]s name is| is called| is named| called| named| is)?,? {_N}",
        rf"(?:{_I}have|I['’]ve got|I got) (?:an?|one|another) (?:[\w-]+ )?{_KIN}"
        rf"(?:,? (?:called|named)| whose name is|,)? {_N}",
    ),
)

_NO_THING = (
    r"(?!(?:you|it|that|this|these|those|him|her|them|how|when|what|where|being here|the way|to)\b)"
)
OWN_WORDS = re.compile(
    rf"(?:{_OVER}|{_DONT})?(?:I|we)? ?{_ADV}(?:like|love|adore|enjoy|prefer|hate|dislike|detest"
    rf"|loathe|despise|own|can(?:['’]?t|not) (?:stand|bear|eat)|never liked) {_NO_THING}\w"
    rf"|{_IM}(?:(?:very|so|terribly|no longer|not) )?(?:fond|afraid|scared|frightened|terrified) of"
    rf" {_NO_THING}\w"
    rf"|{_IM}(?:allergic to|(?:originally )?from (?!here\b|now|time)) ?\w"
    rf"|{_IM}(?:\d{{1,3}}|[a-z]+teen|[a-z]+ty(?:[- ][a-z]+)?)"
    rf"(?: (?:years|winters)(?: old)?)?{_STATED}"
    r"|I (?:come|hail) from (?!the market)|I grew up\b|I was (?:born|raised)\b|I turned \w+ty\b"
    r"|my (?:birthday|favou?rite [\w -]+?)(?: is|['’]s| are) (?!not\b)"
    rf"|(?:{_I}have|I['’]ve got) (?:two|three|four|five|six|no|\d) (?:children|sons|daughters"
    r"|brothers|sisters)\b"
    r"|I (?:can(?:['’]?t|not)? )?(?:also )?(?:play|speak|juggle|swim|read|sing|sew|sail|knit|cook)"
    r"(?=$|[,.!…]| the\b| (?-i:[A-Z]))"
    rf"|{_IVE}(?:sold my|bought (?:an?|the)) \w"
    rf"|{_IM}(?:leaving|moving|sailing|getting married"
    r"|going to (?:marry|move|build|buy|sail|open|travel|leave|learn|become))\b",
    re.I,
)
"""What somebody says of themselves for longer than a moment; it is kept as it was said."""
