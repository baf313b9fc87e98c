"""What is said where nothing was asked: a greeting, thanks, an answer to what somebody tells.

No model is asked for it unless it is a capable one: of the two small ones that were measured,
each answered most statements with nonsense (``docs/talk.md``). What somebody tells is said back to
them in their own words, so that they see that it was understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from keepsake.language.heard import is_greeting
from keepsake.language.patterns import opening, pattern
from keepsake.language.pronouns import turned
from keepsake.language.questions import is_question
from keepsake.language.rule_words import is_rule
from keepsake.language.words import sentences, telling
from keepsake.prompt.reply.by_itself import continued, told_by_itself
from keepsake.prompt.reply.context import ReplyContext
from keepsake.prompt.reply.deeds import Wish, asked
from keepsake.prompt.reply.examples import from_script
from keepsake.prompt.reply.material import Sentence, SentenceOrigin, closed, without_name

GREETINGS = ("Good day to you, {who}.", "Hello, {who}.", "Welcome, {who}.", "Well met, {who}.")
RETURNS = (
    "Good to see you again, {who}. You told me: {told}",
    "{who}, you're back. I remember: {told}",
    "There you are, {who}. I have not forgotten: {told}",
)
"""To somebody of whom the agent remembers something."""
NEWS = ("Good to see you, {who}. {told}", "There you are, {who}. {told}")
"""To somebody of whom others tell."""
FAREWELLS = ("Goodbye, {who}.", "Come again, {who}.", "Go well, {who}.")
THANKED = ("You're welcome, {who}.", "Think nothing of it, {who}.")
WELL = ("Well enough, thank you, {who}.", "I can't complain, {who}.", "As well as ever, {who}.")
THANKS = ("Thank you, {who}.", "That's kind of you, {who}.", "For me? Thank you, {who}.")
KEPT = ("I'll remember that.", "I'll keep that in mind.", "I won't forget that.")
"""To a rule, and to what a person tells of themselves that cannot be said back."""
CONFIDED = ("I'll keep it to myself.", "Nobody will hear it from me.")
PROMISED = (
    "{told} I'll hold you to that.",
    "{told} I count on it.",
    "{told} I look forward to it.",
)
ECHOES = (
    "{told} I'll remember that.",
    "I see: {told}",
    "{told} Tell me more, if you like.",
    "{told} I won't forget it.",
)
HEARD = ("I see.", "Is that so?", "I'm listening.", "So that's how it is.")
"""To what is nobody's life."""
DEEDS = ("Let me see.", "Let me see what I can do.", "I'll see about that.")
"""To a wish that can be granted: whether it is, is chosen afterwards."""
LEAVE = ("If you like.", "I don't mind.", "As you wish.")
"""To who asks whether they may, where nothing that the agent knows speaks against it."""
NONE = ("I have none to give you.", "That I can't give you.", "I have nothing of the kind.")
DECLINED = ("I'd rather not.", "Not now.", "No, let that be.")
_LONGEST_ECHO = 120
_LEAST_TOLD = 2
_MOST_LINES = 4
_PARTING = re.compile(
    r"\b(?:good ?night|farewell|good ?bye|bye|(?<!to )see you|have a (?:good|nice|lovely))\b", re.I
)
_TAKES_LEAVE = re.compile(
    r"\W*(?:(?:well|and|so|but|then|right|oh|ok|okay)\W+)*(?:thanks\b|thank you\b|good ?night\b"
    r"|farewell\b|good ?bye\b|bye\b|see you\b|have a (?:good|nice|lovely)\b)",
    re.I,
)
"""Begins with thanks or a goodbye, whatever follows."""
_THANKS = re.compile(r"\bthank", re.I)
_HOW = re.compile(r"\bhow (?:are|do)\b", re.I)
_PROMISES = re.compile(
    r"\b(?:I|we)(?:['’]ll| will| promise| shall)\b.*\byou\b|\bI promise\b|\bmy word\b", re.I
)
_SECRET = re.compile(
    r"\b(?:between (?:us|ourselves|you and me|me and you)|to yourself|(?<!no )secret|hush"
    r"|(?:do not|don['’]t|never) (?:tell(?! me)|mention|repeat|let \w+ (?:know|hear|see|find))"
    r"|not a word"
    r"|(?:tell|show|let) (?:him|her|them|nobody|no ?one|nothing)"
    r"|(?:nobody|no one)(?: else)? (?:knows|must|may))\b",
    re.I,
)
_GRAVE = re.compile(
    r"\b(?:kill(?:s|ed)?|die[ds]?|dying|dead|death|buried|murder(?:s|ed)?|burn|cancer|hate"
    r"|I (?:do not|don['’]t) (?:know|think))\b",
    re.I,
)
"""To what may be in earnest nothing is said that sounds like a notice taken."""
_WANTS_THING = re.compile(
    r"\b(?:give|hand|bring|lend|pass) (?:me|us)\b|\b(?:may|can|could) (?:I|we) have\b", re.I
)
_TELLS = re.compile(
    r"(?:(?:I|we|they)(?:['’]\w+)?|my|our|he|she|it|this|that|these|those|the|there"
    r"|since|when|last|yesterday|today)\b",
    re.I,
)
"""How a statement begins that can be said back; a request ("Look at my nails") cannot."""
_TO_THE_AGENT = re.compile(
    r", (?:(?:thank you|thanks|mother|father|sir|madam|ma['’]am|honey|love|dear|friend|mate|boss)"
    r"(?=[,.;!])|(?:don['’]t|please|tell|ask|mind) [^,.;!]+(?=[.!]?$))",
    re.I,
)
"""What a statement holds besides that is only for whoever listens."""
_I_AM = re.compile(r"\b(?:I['’]m|I am|(?:my|the) name(?: is|['’]s))(?! not)\b", re.I)
_REQUESTS = re.compile(
    r"(?:^|[,;:] |\b(?:so|and|but|please) )"
    r"(?:let|wake|tell|give|bring|show|call|remind|help|send|lend|ask|follow|take) (?:me|us)\b",
    re.I,
)
_TITLE = re.compile(r"\b(?:sir|madam|ma['’]am|miss|mister|lad|lass|boy|girl)\b", re.I)
"""In an example they may be for somebody else."""
_GAP = re.compile(r"(?<!: )\{(\w+)\}|: \{(\w+)\}")
_PARTS = re.compile(r"(?<=[.!?;]) |, ")
_THEIRS = re.compile(r"\b(?:I|me|my|mine|we|us|our)\b", re.I)


def courtesy(
    scene: ReplyContext,
    own_lines: Sequence[str],
    *,
    given: bool = False,
    to_player: bool = True,
    private: bool = True,
) -> str:
    """What an agent says to what is no question: to a statement, a greeting, an arrival.

    Args:
        scene: What is answered. All of it may be said to whoever hears.
        own_lines: What the agent has said lately, oldest first: what it has just said, it does
            not say again.
        given: Whether it was handed something.
        to_player: Whether a person is answered: agents would say the same back and forth.
        private: Whether no other player hears it: what somebody told greets them only then.
    """
    if given:
        return in_turn(THANKS, own_lines, scene.partner)
    if scene.said:
        return _answer(scene, own_lines, to_player=to_player)
    return _welcome(scene, own_lines, private=private and to_player)


def asks_besides(said: str, name: str) -> bool:
    """Whether something is asked beside a wish: "Come on, what is your name?"."""
    asking = (each for each in _PARTS.split(said) if is_question(each))
    return any(not asked(each, name) for each in asking)


def in_turn(forms: Sequence[str], own_lines: Sequence[str], who: str = "", told: str = "") -> str:
    """The form that was used longest ago, with name and words in it."""
    used = [max((i for i, o in enumerate(own_lines) if _is_of(o, f)), default=-1) for f in forms]
    form = forms[used.index(min(used))]
    words = {"who": who, "told": told, ": told": f": {continued(told)}" if told else ""}
    return _GAP.sub(lambda gap: words[gap[1] or f": {gap[2]}"], form)  # once: a name may look so


def _is_of(line: str, form: str) -> bool:
    """Whether a line was made from a form."""
    parts = (re.escape(each) for each in re.split(r"\{\w+\}", form))
    return pattern(".*".join(parts)).fullmatch(line) is not None


def _answer(scene: ReplyContext, own_lines: Sequence[str], *, to_player: bool) -> str:
    """To somebody's words."""
    said = " ".join(scene.said[-_MOST_LINES:])
    told = [_bare(each, scene) for each in sentences(said)]
    if is_greeting(said) or (_I_AM.search(said) and not any(told)):
        return in_turn(_greeted(said), own_lines, scene.partner)
    if not to_player or _GRAVE.search(said):
        return in_turn(HEARD, own_lines)
    if _SECRET.search(said):
        return in_turn(CONFIDED, own_lines)
    if _WANTS_THING.search(said) and Wish.GIVE in asked(said, scene.name):
        return in_turn(NONE, own_lines)  # else it would be given
    if words := _of_themselves(told):
        forms = PROMISED if _PROMISES.search(words) else ECHOES
        return in_turn(forms, own_lines, scene.partner, turned(words))
    is_kept = any(is_rule(each) for each in told)
    if not is_kept and any(_TAKES_LEAVE.match(each) for each in sentences(said)):
        return in_turn(_greeted(said), own_lines, scene.partner)
    return in_turn(KEPT if is_kept or _THEIRS.search(said) else HEARD, own_lines)


def _bare(sentence: str, scene: ReplyContext) -> str:
    """Without a greeting, names and the like before it; empty if it says no more than a name."""
    bare = without_name(opening(scene.name).sub("", sentence, count=1), scene.partner)
    rest = telling(_I_AM.sub("", bare)) if _I_AM.search(bare) else set()
    named = bool(rest) and rest <= telling(scene.partner)
    return "" if named or not bare else closed(f"{bare[0].upper()}{bare[1:]}")


def _greeted(words: str) -> Sequence[str]:
    if _HOW.search(words):
        return WELL
    if _THANKS.search(words):
        return THANKED
    return FAREWELLS if _PARTING.search(words) else GREETINGS


def _welcome(scene: ReplyContext, own_lines: Sequence[str], *, private: bool) -> str:
    """To somebody who came in: by what they are known for, else in the agent's own way."""
    if scene.news is not None and (news := told_by_itself(scene.news, scene)):
        return in_turn(NEWS, own_lines, scene.partner, news)
    told = [words for each in _told(scene) if (words := told_by_itself(each, scene))]
    fresh = (each for each in told if not any(continued(each) in line for line in own_lines))
    if private and (words := next(fresh, "") or next(iter(told), "")):
        return in_turn(RETURNS, own_lines, scene.partner, words)
    own = [each.answer for each in from_script(scene.examples, scene.name) if not each.heard_words]
    fit = [each for each in own if each not in own_lines and not _TITLE.search(each)]
    return next(iter(fit), "") or in_turn(GREETINGS, own_lines, scene.partner)


def _told(scene: ReplyContext) -> list[Sentence]:
    """What they told the agent of themselves, the newest first; nothing that is a secret.

    Nor what stands in a summary alone, of which nobody knows who may hear it.
    """
    theirs = [e.sentence for e in scene.ranked if e.sentence.origin is SentenceOrigin.PARTNER]
    secret = {each.number for each in theirs if _SECRET.search(each.bare)}
    told = [
        each
        for each in theirs
        if not (each.aside or each.overheard or each.number in secret or _GRAVE.search(each.bare))
        and each.number
        and each.text.startswith(f"{each.who} told me")
        and len(telling(each.bare)) >= _LEAST_TOLD
        and len(each.bare) <= _LONGEST_ECHO
        and _can_be_said_back(each.bare)
    ]
    return sorted(told, key=lambda each: each.time, reverse=True)


def _can_be_said_back(sentence: str) -> bool:
    tells = _TELLS.match(opening("").sub("", sentence, count=1)) and _THEIRS.search(sentence)
    return bool(tells) and not _REQUESTS.search(sentence)


def _of_themselves(told: Sequence[str]) -> str:
    """What somebody told of themselves that can be said back to them; empty if nothing can."""
    kept: list[str] = []
    for each in filter(None, told):
        if not _can_be_said_back(each) and (not kept or _REQUESTS.search(each)):
            continue
        if len(" ".join([*kept, each])) > _LONGEST_ECHO:
            break
        kept.append(each)
    return _TO_THE_AGENT.sub("", " ".join(kept))
