"""How rules begin: the patterns behind the cheapest of noticing.

What only looks like a rule, an invitation, a guess or a tale, costs more than a rule that is
missed: a wrong line stands in every prompt, while a model reads the day again at night.
"""

from __future__ import annotations

import re

# What follows makes a tale, a guess or a phrase of it: never heard, always tired, must be mad.
_NO_NEVER = (
    r"(?:\w+[^e]ed|mind|heard|seen|been|had|knew|known|met|thought|felt|better|again|said|did|got"
    r"|was|were|went|came|saw|told|took|ate|found|fear|could|would|quite|really|a|the|in|to)\b"
)
_NO_ALWAYS = (
    r"(?:\w+[^e]ed|\w{3,}ing|[dg]oing|being|a|an|the|so|been|was|in|good|nice|glad|happy)\b"
)
_NO_MUST = (
    r"(?:have|know|feel|think|want|like|mean|admit|see|love|miss|get tired|wonder|forgive"
    r"|be (?!at|back|by|quiet|careful|here|home|ready|there|silent|on your|gone|kind to|in))\b"
)
# Nor is it a rule to be asked to supper.
_INVITED = (
    r"(?:taste|try|visit|excuse|hear|join|meet|(?:let|show) me"
    r"|tell me (?:all|about|more|every\w+|how)"
    r"|come (?:by|again|over|round|along|up|in|and)(?! by| before| at)|stay (?:for|a|to)"
    r"|(?:drink|eat|sing|dance|play) (?:this|some\w*|more|with|for|a|us|something))\b"
)
_DO_NOT = (
    r"ever|tell|let|open|give|sell|go|touch|trust|show|forget|lend|enter|drink|eat|use|take|leave"
    r"|speak of|talk (?:to|about)|mention|lose|wake"
)
# These are only rules about some thing: "do not ring the bell", not "do not follow me so".
_DO_NOT_THAT = (
    r"(?:ring|answer|knock|close|shut|lock|unlock|light|move|burn|break|cut|climb|cross|disturb|feed"
    r"|serve|accept|allow|buy|cook|dig|empty|fill|hide|hunt|invite|kill|lift|pick|pour|read|remove"
    r"|send|share|sleep|spend|swim|fish|throw|visit|walk|wander|wash|write|play|sing|shout|whistle"
    r"|run|come|stand|sit) (?:the|my|our|his|her|their|any\w*|in|into|on|near|at|after|before|until"
    r"|without|up|down|by|here|there)"
)
_KEPT = (
    r"(?:shut|closed|locked|barred|lit|burning|dry|warm|hidden|secret|safe|clean|open|empty|quiet"
    r"|out|away|off|alone|untouched|unopened|unlit)"
)
_DONE = r"(?:\w+(?:ed|en)|known|lit|sold|told|shut|let)"
_SOME = r"(?:the|this|that|these|those|my|our|all|every|each|your|his|her|their)"
# No guests after ten: what is not to be, and when or where.
_NO_SUCH = (
    r"no (?:more )?(?:\w{3,}ing|guests?|visitors?|strangers?|children|dogs?|cats?|animals?|goats?"
    r"|geese|noise|candles?|fires?|flames?|lamps?|weapons?|swords?|knives|boots|credit|ale|beer"
    r"|wine|music|songs?|games?|dice|cards)"
    r"(?: (?:upstairs|downstairs|inside|indoors|in [^.,;]{2,30}))?"
    r" (?:allowed|after|before|past|until|without|during|at (?:night|table)|under (?:my|our))\b"
    r"(?![^.;]*\b(?:is|was|were|are|has|have|had|came|will|today|yesterday|last|yet|all)\b)"
    r"|no (?:smok|runn|sing|shout|fight|swimm|fish|spitt|gambl|whistl|danc|climb|sleep|knock)ing"
    r" (?:in|on|at|near|by|under) (?:the|my|this|our) (?!.*\b(?:last|today|yesterday|yet)\b)"
    r"[\w'’ -]{2,30}[.!]*$"
)
# What is to be done day by day, and when.
_CHORE = (
    r"(?:feed|water|lock|bar|bolt|close|shut|light|wake|ring|check|sweep|fill|empty|wind|count"
    rf"|milk|bank|scrub|wash|open|unlock|put out) (?:{_SOME}|me|us|up)\b[^.;!?]{{0,60}}?"
    r"\b(?:(?:before|at|after|by) (?:dawn|dusk|dark|noon|sunrise|sunset|midnight|nightfall|closing"
    r"|bed|night)|(?:every|each) (?:day|night|morning|evening|noon|week|hour)|daily|twice a day"
    r"|before you (?:go|leave|sleep|open|close))\b"
)
_OPEN = re.compile(
    rf"(?:never (?!{_NO_NEVER})\w|always (?!{_NO_ALWAYS})\w"
    rf"|(?:do not|don['’]t) (?:you )?(?:{_DO_NOT}|{_DO_NOT_THAT})\b"
    rf"|you (?:must|shall|should)(?:n['’]t| not| never| always) (?!{_NO_MUST})\w"
    rf"|you must (?!{_NO_MUST}|{_INVITED})\w"
    r"|you (?:may|can|are) (?:not|never) (?:to |allowed )?\w+ \w|you are always to \w"
    r"|from (?:now|this day) on\b|promise (?:me|us)\b(?! (?:nothing|no|anything)\b)"
    r"|remember(?:\s*:|,| that| to| this\s*:?| my words) ?\w|(?:be|make) sure (?:that |to |you )"
    r"|under no circumstances\b|on no account\b|no matter (?:what|who|how)\b|whatever you do\b"
    r"|(?:tell|let|trust|show) (?:nobody|no one|no-one|none)\b|not a word (?:to|about|of)\b)",
    re.I,
)
_KEEP = re.compile(
    r"(?:keep (?:it|this|that) (?:a secret|secret|between us|to yourself)"
    r"|(?:keep|stay) (?:well |far )?(?:out of|away from|off|clear of) \w"
    r"|keep your (?:hands|fingers) (?:off|out of|away)\b|keep (?:quiet|silent) about\b"
    rf"|keep {_SOME} (?:[\w'’-]+ ){{1,4}}{_KEPT}\b)",
    re.I,
)
# What is said of a thing: the cellar door must stay shut, and nobody may open it.
_OF_A_THING = re.compile(
    r"(?:(?:nobody|no one|no-one)(?: else| but \w+)? (?:may|must|shall|is (?:to|allowed))\b"
    r"(?! (?:have|be (?:here|in|there))\b)"
    r"|(?:it is|it['’]s) (?:strictly )?(?:forbidden|prohibited|not allowed) (?:to|for)\b"
    rf"|(?:{_SOME} (?:[\w'’-]+ ){{0,5}}|it |they |(?:\w{{2,}}s|children|people) )"
    rf"(?:(?:must|(?:is|are) to)(?: always)? (?:(?:stay|remain|be kept|be left) \w|be {_KEPT}\b)"
    rf"|must (?:not|never) (?!have\b|be (?!{_DONE}\b))\w"
    rf"|(?:is|are) (?:strictly )?(?:forbidden|off limits|not to be {_DONE})\b))",
    re.I,
)
_NO = re.compile(
    r"(?:(?:make|give|sell|tell|lend|serve|open|allow|admit|light|bring|accept|leave|let) no "
    r"(?!notice|thought|more|mistake|bones|matter|doubt|time|such|heed|offence|lies? to)\w"
    rf"|{_NO_SUCH})",
    re.I,
)
_RULES = (_OPEN, _KEEP, _OF_A_THING, _NO, re.compile(_CHORE, re.I))
# A rule may come second in its sentence: "The stair is rotten, so never let guests up."
_SECOND = re.compile(r"(?:[;–—]|, (?:so|and|but|then)|: ?|\bso) +(?=\w)")
_REPORTED = re.compile(r"\b(?:says?|said|tells?|told|thinks?|thought|sings?|sang|goes)\b", re.I)


def is_rule(sentence: str) -> bool:
    """Whether a sentence, less what may stand before it, asks to keep to something."""
    if _begins(sentence, 0):
        return True
    for second in _SECOND.finditer(sentence):
        if _begins(sentence, second.end()):
            return not _REPORTED.search(sentence, 0, second.start() + 1)
    return False


def _begins(sentence: str, at: int) -> bool:
    return any(rule.match(sentence, at) for rule in _RULES)


_FORBIDS = re.compile(
    r"\b(?:not|never|no|nobody|no one|none|nothing|cannot|forbidden|prohibited|secret|shut|closed"
    r"|locked|off limits|(?:out|keep|stay|hands) (?:of|off|away|clear))\b|n['’]t\b",
    re.I,
)
_NOT_FORGET = re.compile(r"(?:\bnever|\bnot|n['’]t) (?:ever )?(?:forget|fail)\b", re.I)


def forbids(rule: str) -> bool:
    """Whether a rule is to leave something undone, rather than to do something."""
    return _FORBIDS.search(rule) is not None and _NOT_FORGET.search(rule) is None
