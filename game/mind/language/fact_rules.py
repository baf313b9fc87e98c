"""How people say what they are: one pattern for each way, tried in this order.

Each pattern stands at the beginning of a statement (:mod:`.statements`). The groups are ``v``,
the value; ``n``, a name; ``kin``, who of theirs it is; ``what``, which favourite; ``trade``, a
second fact in the same breath.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from game.mind.language.occupations import TRADE, WORKPLACE

V = r"(?P<v>[\w][\w'’ -]*)"
"""A value: words alone, so that it can hold no mark that means something in a file or prompt."""
N = r"(?P<n>(?-i:[A-Z][\w'’-]*\w(?: (?-i:[A-Z][\w'’-]*\w))?))"
_ADV = (
    r"(?:(?:now|still|just|currently|really|also|actually|finally|always|mostly|already|again|only"
    r"|once|truly|quite|simply|absolutely|recently|lately|at last|in fact|very much|do|even) )*"
)
_IM = rf"(?:I ?['’]m|I am|Im|we ?['’]re|we are) {_ADV}"
_IVE = rf"(?:I|we)(?:['’]ve| have)? {_ADV}"
_I = rf"(?:I|we) {_ADV}"
_DET = r"(?:an?|the|this|your|our)(?: \w+['’]s)? "
_DONT = r"(?:I|we) (?:don['’]t|do not|dont) "
_LONGER = r"(?:I|we) no longer "
_IN = (
    r"(?:in(?:side)?(?! (?:hope|peace|fear|silence|a dream|my dreams?|the moment|the past|sin"
    r"|luxury"
    r"|style|shifts|secret|vain|the dark|the hope|terror|misery|poverty)\b)|at|above|over|by|near"
    r"|behind|beside|on(?! (?:bread|air|my own|your|borrowed|hope|tea|nothing|scraps))|under"
    r"|next to"
    r"|across from|opposite|outside|out (?:in|at|by|on)|up (?:in|at|on)|down (?:in|at|by)|between"
    r"|with|below|beneath|among)"
)
_AT = (
    r"(?:at(?! (?:it|them|night|home|once|times|dawn|dusk|noon|my|last|least)\b)|in(?! (?:peace"
    r"|silence|vain"
    r"|shifts|secret|the dark|the rain)\b)|for(?! (?:free|nothing|a living|money|fun|love|hours)\b)"
    r"|down at|over at|up at|out at|with)"
)
_KIN = (
    r"(?P<kin>brother|sister|mother|father|wife|husband|partner|son|daughter|aunt|uncle|cousin"
    r"|grandmother|grandfather|gran|nephew|niece|grandson|granddaughter|twin|child|baby|best friend"
    r"|betrothed|fianc[eé]e?|master|dog|cat|horse|goat|pony|hen|donkey|mule|parrot|cow|pig|ox|raven)"
)
_MANY = r"(?P<v>two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|no)"
_THINGS = (
    r"(?!(?:you|it|that|this|these|those|him|her|them|how|when|what|where|being here|the way"
    r"|to (?:think|say|tell|admit|see you|ask|know|hear|believe|be (?:rude|the one)|disturb"
    r"|interrupt|bother|disappoint))\b)"
)
_HOBBY = (
    r"(?:play|speak|read|write|sing|swim|ride|juggle|sew|knit|cook|bake|fish|hunt|climb|dance|weave"
    r"|carve|paint|sail|row|whistle|draw|shoot|spin|brew|forge|tame|heal)"
)
_FLAVOUR = r"(?!good|bad|poor|terrible|better|lousy|worse|decent|hopeless|great|born)"
_MODEST = rf"(?:{_FLAVOUR}[\w-]+(?:['’]s)? ){{0,3}}?"
_AFTER = r"(?=$|[,.!…;:]| (?:by|now|here|at|in|for|on|again|these|since|of|and|from|to|who|with)\b)"
_DONE = r"(?:quit|left|lost|resigned|given up|gave up|thrown in|stopped)"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say something.

    Attributes:
        attribute: What it is about; empty where the group ``kin`` or ``what`` says so.
        pattern: Matched at the beginning of a statement.
        ends: Whether it ends the fact instead of telling one.
        head: Put before the value.
    """

    attribute: str
    pattern: re.Pattern[str]
    ends: bool = False
    head: str = ""


def _rules(attribute: str, *sources: str, ends: bool = False, head: str = "") -> tuple[Rule, ...]:
    return tuple(Rule(attribute, re.compile(s, re.I), ends, head) for s in sources)


RULES: tuple[Rule, ...] = (
    # What is over comes first: "I don't like honey any more" also says "I don't like honey".
    *_rules(
        "work",
        rf"(?:{_LONGER}|{_DONT}(?=.*\bany ?(?:more|longer)\b))work (?:as (?:an? |the )?|{_AT} ){V}",
        rf"{_IM}(?:no longer|not) (?:{_DET})(?P<v>{_MODEST}{TRADE})(?= .*\bany ?(?:more|longer)\b)",
        rf"{_IM}no longer (?:{_DET})?(?P<v>{_MODEST}{TRADE}){_AFTER}",
        rf"{_IM}no longer (?:work|employ)(?:ing|ed) (?:as (?:an? |the )?|{_AT} |by ){V}",
        rf"{_IM}(?:no longer|not) {_AT} (?P<v>the (?:[\w'’-]+ ){{0,2}}?{WORKPLACE})"
        r"(?=[^,]*\b(?:any ?(?:more|longer)|now)\b)",
        rf"I used to (?:work|serve) (?:as (?:an? |the )?|{_AT} ){V}",
        rf"I (?:used to be|was once|once was) (?:{_DET})?(?P<v>{_MODEST}{TRADE}){_AFTER}",
        rf"I was (?:{_DET})(?P<v>{_MODEST}{TRADE})(?= (?:once|before|back then|then|for|until)\b)",
        rf"{_IVE}{_DONE} (?:from )?(?:my|the) (?:old )?(?:job|work|post|position|trade)"
        rf"(?: (?:as (?:an? |the )?|{_AT} ){V})?",
        rf"{_IVE}(?:{_DONE}|retired from|been dismissed from|stopped working {_AT}|walked out of)"
        rf" (?:{_AT} |working {_AT} |my (?:place|post) at )?(?P<v>(?:the|my|that) "
        rf"(?:[\w'’-]+ ){{0,2}}?{WORKPLACE})(?=$|[,.!…]| (?:for (?:good|ever)|now|today|yesterday"
        r"|last \w+|this \w+|at last|behind me|in \w+)\b(?! \w+ \w))",
        rf"I was (?:sacked|dismissed|fired|let go|thrown out)(?: (?:from|by) {V})?",
        rf"(?:{_IM}|{_IVE})(?:retired|out of work|without work)(?P<v>)\b",
        ends=True,
    ),
    *_rules(
        "home",
        rf"(?:{_LONGER}|{_DONT}(?=.*\bany ?(?:more|longer)\b))(?:live|lodge|dwell|stay) {_IN} {V}",
        rf"I used to live {_IN} {V}",
        rf"{_IVE}(?:moved|gone) (?:out of|away from|out from) {V}",
        rf"{_IVE}(?:sold|lost|left) (?P<v>(?:my|the) (?:[\w'’-]+ ){{0,2}}?"
        r"(?:house|cottage|hut|cabin|tower|rooms?|attic|loft))\b(?! ?['’]s)",
        ends=True,
    ),
    *_rules(
        "likes",
        rf"(?:{_LONGER}|{_DONT}(?=.*\bany ?(?:more|longer)\b))(?:like|love|enjoy"
        rf"|care for) {_THINGS}{V}",
        rf"{_IVE}gone off {V}",
        ends=True,
    ),
    *_rules(
        "dislikes",
        rf"(?:{_LONGER}|{_DONT}(?=.*\bany ?(?:more|longer)\b))(?:hate|dislike|mind) {_THINGS}{V}",
        ends=True,
    ),
    *_rules("fears", rf"{_IM}(?:no longer|not) (?:afraid|scared) of {V}(?<=more)", ends=True),
    *_rules("fears", rf"{_IM}no longer (?:afraid|scared) of {V}", ends=True),
    *_rules("owns", rf"{_IVE}(?:sold|lost) my {V}", rf"{_LONGER}own {V}", ends=True),
    *_rules(
        "spouse",
        rf"my (?:wife|husband|spouse)(?: {N})? (?:has |is )?(?:died|dead|left me)(?P<v>)\b",
        rf"{_IVE}left my (?:wife|husband)(?P<v>)\b",
        rf"{_IM}(?:no longer married|not married any ?more|a widow(?:er)?|divorced)(?P<v>)\b",
        rf"{_IVE}(?:got|had) (?:a divorce|divorced)(?P<v>)\b",
        ends=True,
    ),
    *_rules(
        "",
        rf"my {_KIN}(?: {N})?,? (?:has |is )?(?:run off|ran off|ran away|died|dead)(?P<v>)\b",
        ends=True,
    ),
    # What holds.
    *_rules(
        "work",
        rf"{_I}(?:work|serve|labour) (?:here )?as (?:an? |the )?{V}",
        rf"{_I}work (?={_AT} ){V}",
        rf"{_IM}(?:working|employed|apprenticed) (?:as (?:an? |the )?|to (?:an? |the )?"
        rf"|(?={_AT} )){V}",
        rf"{_IVE}(?:started|begun|began|trained|hired on|signed on|been hired|got work|found work"
        rf"|taken work|took work) (?:working |work )?(?:as (?:an? |the )?|(?={_AT} (?:the|a"
        rf"|an)\b)){V}",
        rf"I was (?:hired|taken on|made) (?:as )?(?:an? |the )?{V}",
        rf"{_IVE}(?:been made|been promoted to|become|became|turned) (?:an? |the )?"
        rf"(?P<v>{_MODEST}{TRADE}){_AFTER}",
        rf"{_IVE}(?:got|found|have|took|taken|landed) (?:an?|the|my|some) (?:new )?"
        rf"(?:job|position|place|post|work|situation) (?:as (?:an? |the )?|(?={_AT} )){V}",
        r"my (?:new )?(?:work|trade|job|craft|profession|calling)(?: is"
        r"|['’]s)(?: that of)? (?:an? )?"
        r"(?!to\b|hard|done|dull|not|going|never|too|so\b)" + V,
        rf"{_I}(?:make|earn) my (?:living|bread|money) (?:by |as (?:an? )?|with )?{V}",
        rf"{_I}(?P<v>(?:run|keep|tend|mind) (?:the|an?|my) (?:[\w'’-]+ ){{0,2}}?{WORKPLACE})\b",
        r"I (?P<v>[\w'’ -]{3,40}?) for a living\b",
        rf"{_IM}(?:{_DET})(?P<v>{_MODEST}{TRADE}(?: (?:at|in|of|on) the [\w'’-]+)?){_AFTER}",
    ),
    *_rules(
        "home",
        rf"{_I}(?:live|lodge|dwell) (?:alone |now |right |just |up |down |out "
        rf"|here )?(?={_IN} ){V}",
        rf"{_IM}(?:living|lodging) (?:now |right )?(?={_IN} ){V}",
        rf"{_IVE}(?:moved|settled) (?:back |out |up |down |over )?(?:in)?to {V}",
        rf"{_IVE}(?:moved in|settled|settled down) (?={_IN} ){V}",
        rf"my (?:new )?(?:home|house|room|cottage|lodging|place) is (?:now )?(?={_IN} ){V}",
        r"my (?:new )?home is (?:now )?(?P<v>(?:the|an?) [\w'’ -]*)",
        rf"{_IVE}(?:bought|rented|taken|built|inherited) (?P<v>(?:an?|the) (?:[\w'’-]+ ){{0,2}}?"
        r"(?:house|cottage|room|rooms|cabin|hut|loft) [\w'’ -]+)",
    ),
    *_rules(
        "name",
        r"my (?:(?:real|full|true|proper|given|new) )?name(?: is|['’]s)(?: now)? (?!not\b)" + N,
        rf"{_IM}called {N}",
        rf"(?:people|they|friends|everybody|everyone|my friends|folk) call me {N}",
        rf"(?:you (?:may|can) |just |please |do )?call me {N}",
        rf"{_IM}{N}(?=$|[.!…]|, )(?:, (?:an? |the )(?P<trade>{_MODEST}{TRADE}){_AFTER})?",
        rf"I go by(?: the name(?: of)?)? {N}",
    ),
    *_rules(
        "age",
        rf"{_IM}(?P<v>\d{{1,3}}|(?:[a-z]+teen|ten|eleven|twelve|(?:twen|thir|for|fif|six|seven|eigh|nine)"
        r"ty(?:[- ][a-z]+)?))(?: (?:years|summers|winters)(?: (?:old|of age))?| now)?(?=$|[,.!…])",
        r"I (?:just |have just )?turn(?:ed)? (?P<v>\d{1,3}|[a-z]+teen|[a-z]+ty(?:[- ][a-z]+)?)\b",
    ),
    *_rules(
        "birthday",
        rf"my birthday(?: is|['’]s| falls) (?:on )?(?:the )?(?!not|soon|over|past|coming|near){V}",
        r"I was born on (?:the )?(?P<v>(?:\d|first|second|third|fourth|fifth|sixth|seventh"
        r"|eighth|ninth"
        r"|tenth|\w+teenth|twent|thirt|midsummer|midwinter|new year|january|february|march"
        r"|april|may"
        r"|june|july|august|september|october|november|december)[\w'’ -]*)",
    ),
    *_rules(
        "origin",
        r"I (?:come|hail) (?:originally )?from (?P<v>(?-i:[A-Z])[\w'’ -]*)",
        r"I (?:come|hail) (?:originally )?from (?P<v>(?:the (?:north|south|east|west|coast|islands?"
        r"|mountains|hills|city|capital|far|high)|an? (?:small |little |tiny )?(?:village|town|farm"
        r"|island)|far|beyond|across|over the)\b[\w'’ -]*)",
        rf"{_IM}(?:originally )?from (?!here\b|now|time){V}",
        rf"I was (?:born|raised|born and raised|born and bred|brought up) (?:and raised )?in {V}",
        rf"I grew up {_IN} {V}",
    ),
    *_rules(
        "spouse",
        rf"{_IM}married to {N}",
        rf"{_IVE}(?:got |just )?married (?:to )?{N}",
    ),
    *_rules("betrothed", rf"{_IM}(?:engaged|betrothed|promised) to {N}"),
    *_rules(
        "",
        rf"my (?:[\w-]+ )?{_KIN}(?:['’]s name is| is called| is named| called| named| is)?,? {N}",
        rf"(?:{_I}have|I['’]ve got|I got) (?:an?|one|another|this) (?:[\w-]+ )?{_KIN}"
        rf"(?:,? (?:called|named|by the name of)| whose name is|,)? {N}",
        rf"(?:{_I}have|I['’]ve got) {_MANY} (?:\w+ )?(?P<kin>children|sons|daughters|brothers"
        rf"|sisters"
        r"|dogs|cats|horses|goats)\b(?<!no children)",
        r"my favou?rite (?P<what>[\w-]+(?: [\w-]+)?)(?: is|['’]s| are| was always) (?!not\b)" + V,
    ),
    *_rules(
        "dislikes",
        rf"{_I}(?:hate|dislike|detest|loathe|despise) {_THINGS}{V}",
        rf"I (?:really |simply |just )?(?:can['’]?t|cannot|could never) (?:stand|bear"
        rf"|abide) {_THINGS}{V}",
        rf"{_DONT}(?:really |much |at all )?(?:like|care for|enjoy) {_THINGS}{V}",
        rf"I never (?:really )?(?:liked|cared for) {_THINGS}{V}",
    ),
    *_rules(
        "likes",
        rf"{_I}(?:like|love|adore|enjoy|prefer) {_THINGS}{V}",
        rf"{_IM}(?:(?:very|so|rather) )?(?:fond of|mad about|crazy about|partial to) {_THINGS}{V}",
    ),
    *_rules(
        "fears",
        rf"{_IM}(?:(?:very|terribly|so|a bit|mortally) )?(?:afraid|scared|frightened|terrified) of"
        rf" {_THINGS}{V}",
    ),
    *_rules(
        "allergy",
        rf"{_IM}allergic to {V}",
        rf"I (?:can['’]?t|cannot|mustn['’]t|must not) eat (?!another|any more|now|this|that"
        rf"|it\b){V}",
    ),
    *_rules(
        "skill",
        rf"I can (?:also )?(?P<v>{_HOBBY}(?: (?!you|it\b|this|that|your)[\w'’ -]*)?)(?=$|[,.!…])",
        rf"{_I}(?P<v>play the [\w'’ -]+)",
        rf"{_I}(?P<v>speak (?-i:[A-Z])[\w'’ -]*)",
    ),
    *_rules(
        "cannot",
        rf"I (?:can['’]?t|cannot|never learn(?:ed|t) (?:how )?to) (?P<v>{_HOBBY}"
        r"(?: (?!you|it\b|this|that|your)[\w'’ -]*)?)(?=$|[,.!…])",
    ),
    *_rules(
        "owns",
        rf"{_I}(?:own|possess) (?!it\b|that\b|this\b){V}",
        rf"{_IVE}bought (?:myself )?(?P<v>(?:an?|the) [\w'’ -]+)",
    ),
    *_rules(
        "plan",
        rf"{_IM}(?P<v>(?:leaving|moving|travelling|sailing|setting out|setting off|going back"
        r"|emigrating) (?:for|to|on|in|from|at|back|tomorrow|soon|out)\b[\w'’ -]*)",
        rf"{_IM}(?P<v>getting married\b[\w'’ -]*)",
        rf"{_IM}going to (?P<v>(?:marry|move|build|buy|open|sail|travel|leave|learn"
        rf"|become)\b[\w'’ -]*)",
        rf"I (?:plan|intend) to {V}",
    ),
)
