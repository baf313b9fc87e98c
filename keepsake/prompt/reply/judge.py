"""Whether an answer may be said: what a model puts into an agent's mouth is looked at first.

Nonsense that is spoken feeds itself: it stands in the window, in summaries and in recall, and the
next answer is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from keepsake.language.patterns import pattern
from keepsake.language.perception import visible
from keepsake.language.pronouns import in_first_person, turned
from keepsake.language.questions import is_question
from keepsake.language.speech import SPEAKER, paired, tidy_speech
from keepsake.language.words import alike, lowered, sentences, telling, words
from keepsake.prompt.reply.compose import ReplyPrompt
from keepsake.prompt.reply.context import (
    ReplyContext,
)
from keepsake.prompt.reply.examples import STRANGERS
from keepsake.prompt.reply.material import Sentence, SentenceOrigin, of_profile
from keepsake.prompt.reply.worth import is_of_asker, without_address

_LEAST_SHARED, _OF_ONE = 2, 0.75
"""So many words, and this share of them, in one sentence of a life make it that life."""
_RUN = 6
"""So many words of the instructions in a row are no accident."""
_STAGE = re.compile(r"\*[^*]{0,200}\*|\([^()]{0,200}\)|\[[^\[\]]{0,200}\]|<[^<>]{0,60}>")
_AGAIN_AND_AGAIN = re.compile(r"\b([\w'’]+ [\w'’ ]*\w)(?:, (?:and )?\1\b)+", re.I)
_LOOSE = re.compile(r"\s+(?=[.,!?;](?:\s|$))")
_MARKUP = re.compile(
    r"[<>{}\[\]~|#]|\(memor|\bmemor(?:y|ies) \d|\bnote words\b|^\s*:"
    r"|says to you\b|\bsays(?: to \w+)?, ?\"|^\w+ says(?: to \w+)?, (?-i:[A-Z])"
    r"|^\s*(?:\d+[.)]|[-+•])\s|^\W*(?:user|assistant|system)\s*:|^\(?You remember:|\*\*|```|https?://",
    re.I,
)
_DISARMED = re.compile(r"[{}|¦]|^\W*#")
"""Marks that stand in no speech any more once it can be said: they are looked for before."""
_LABEL = re.compile(r"^\W{0,2}(?:answer|reply|response|output)\s*:\s*", re.I)
_SAY = re.compile(r"^(?:say|says|replies|answers)\s+(?=[\"“A-Z])")
_FIRST_PERSON = re.compile(r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]ine)\b")
_YOU = re.compile(r"\byou", re.I)
_OTHERS = re.compile(r"\b(?:you|your|yours|he|she|his|her|they|their)\b", re.I)
_IS_A = re.compile(r"\b(?:I am|I['’]m|I was) (?:an?|the) (?P<what>[^.,;!?]+)")
_ASKS_ONLY = re.compile(r"\W*(?:what|when|where|which|who|whom|whose|why|how)\W*", re.I)
_NEGATES = re.compile(r"\b(?:no|not|never|none|nobody|nothing|cannot)\b|n['’]t\b", re.I)
_YES = re.compile(r"\W*(?:yes|yeah|aye)\b", re.I)
_ADMITS = re.compile(
    r"\b(?:(?<!you )(?:do|did)(?: not|n['’]t) (?:know|remember|recall)|not sure|no idea"
    r"|can(?:not|['’]t) (?:say|remember|recall)|never told)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer, as it would be said."""

    words: str  # what would be said; empty if nothing is left
    fault: str = ""  # why it may not be; empty if it may
    grounded: float = 0.0  # how much of it comes from what was to be used, 0 to 1
    admits: bool = False  # whether it says that the agent does not know
    unfounded: bool = False  # whether it begins with yes, or denies what nothing of that denies


def judge(
    answer: str, scene: ReplyContext, prompt: ReplyPrompt, own_lines: Iterable[str]
) -> Judged:
    """Look at an answer before anybody hears it.

    Args:
        answer: What the model wrote.
        scene: What it was asked.
        prompt: What it was sent.
        own_lines: What the agent has said lately.
    """
    said = spoken(answer, scene)
    if not said:
        return Judged("", "there is nothing in it that can be said")
    said = _admitted(said if _ADMITS.search(said) else _given_back(said, scene), scene)
    fault = (
        _markup(answer, said)
        or _again(said, own_lines, _REPEATED)
        or _gives_back(said, scene)
        or _of_the_prompt(said, prompt)
        or _of_another(said, scene)
        or _of_itself(said, scene)
        or _made_up(said, scene)
        or _to_another(said, scene)
    )
    admits = _ADMITS.search(said) is not None
    grounded = _grounded(said, scene, prompt.chosen)
    return Judged(said, fault, grounded, admits, _is_unfounded(said, prompt.chosen))


def spoken(answer: str, scene: ReplyContext) -> str:
    """The part of an answer that is the agent's own speech, fit to be said."""
    line = next((each for each in answer.splitlines() if each.strip()), "")
    line = " ".join(visible(line).split())
    line = _LABEL.sub("", _LOOSE.sub("", _STAGE.sub(" ", line)).strip())
    names = "|".join(re.escape(n) for n in (scene.partner, scene.name, *scene.others) if n)
    line = pattern(rf"^~?\s*(?:(?:{names})\s*[:>]\s*)+", re.I).sub("", line)
    line = pattern(rf"^{re.escape(scene.name)},\s+(?=\w)").sub("", line)
    line = pattern(rf"\s(?:{names}):\s.*$").sub("", _SAY.sub("", SPEAKER.sub("", line)))
    return paired(_once(tidy_speech(line)))


def _once(said: str) -> str:
    """Each sentence once: small models fall into saying one, or a part of it, again and again."""
    said = _AGAIN_AND_AGAIN.sub(r"\1", said)
    found = sentences(said)
    once: dict[str, str] = {}
    for each in found:
        once.setdefault(" ".join(words(each)).casefold(), each)
    return said if len(once) == len(found) else " ".join(once.values())


def _markup(answer: str, said: str) -> str:
    line = next((each for each in answer.splitlines() if each.strip()), "")
    found = _MARKUP.search(said) or _DISARMED.search(line)
    return "it speaks the marks of the prompt" if found else ""


_REPEATED = "it is what the agent has said already"


def _again(said: str, lines: Iterable[str], fault: str) -> str:
    """The fault of saying what stands in one of the lines; empty for none."""
    return fault if any(alike(said, line) for line in lines) else ""


def _gives_back(said: str, scene: ReplyContext) -> str:
    """Whether it is what was said to the agent again, or a bare "When" out of it."""
    fault = "it only gives back what was said"
    return fault if _ASKS_ONLY.fullmatch(said) else _again(said, scene.said, fault)


def _of_the_prompt(said: str, prompt: ReplyPrompt) -> str:
    shown = [each for each in prompt.examples if not each.holds or each.who in said]
    # Of a fact that somebody told, what they said.
    facts = [fact.partition('"')[2] or fact for each in shown for fact in each.facts]
    runs = {run for line in prompt.frame for run in _runs(line)}
    lines = [*(e.answer for e in shown), *facts]
    for each in (said, *sentences(said)):
        if fault := _again(each, lines, "it is a line of an example"):
            return fault
    return "it recites the instructions" if runs & set(_runs(said)) else ""


def _of_another(said: str, scene: ReplyContext) -> str:
    """Whether it tells another's life as the agent's own."""
    own = _own_words(scene)
    whose = next(filter(None, (_whose(each, scene, own) for each in sentences(said))), "")
    return f"it tells the life of {whose} as its own" if whose else ""


def _of_itself(said: str, scene: ReplyContext) -> str:
    """Whether it tells its own life where the asker's was asked, whatever it knows of that."""
    if not scene.asks or not is_of_asker(scene.words) or _ADMITS.search(said):
        return ""
    claims = [_REPORTS.sub("", each) for each in sentences(said)]
    if any(_FIRST_PERSON.search(each) and not _OTHERS.search(each) for each in claims):
        return f"it answers of itself what {scene.partner} asked of their own life"
    return ""


def _made_up(said: str, scene: ReplyContext) -> str:
    """Whether it says of itself what it is, and nothing of that is in its life or was asked."""
    given = telling(" ".join([scene.words, *(each.sentence.text for each in scene.ranked[:8])]))
    known = _own_words(scene) | given
    claims = (telling(claim["what"]) for claim in _IS_A.finditer(said))
    made_up = any(what and not what & known for what in claims)
    return "it makes up a life of its own" if made_up else ""


def _to_another(said: str, scene: ReplyContext) -> str:
    """Whether it calls somebody else by their name, or itself."""
    named = {scene.name, *scene.others, *STRANGERS} - {scene.partner}
    called = ({each, without_address(each, name)} for name in named for each in sentences(said))
    return "it speaks to somebody else" if any(len(each) > 1 for each in called) else ""


def _given_back(said: str, scene: ReplyContext) -> str:
    """With "you" where the speaker's own statement came back as "I": it is their life.

    The other way round, "You limp." becomes "I limp." where the agent's own leg is meant. The
    words are true; only the pronoun was wrong.
    """
    own = _own_words(scene)
    reported = pattern(
        rf"{_REPORTS.pattern}{re.escape(scene.partner)} told (?:me|you)\b(?: that)?[,\s]*", re.I
    )
    parts: list[str] = []
    for each in sentences(said):
        bare = reported.sub("", each).strip('" ')
        bare = bare[:1].upper() + bare[1:]
        is_theirs = bool(bare) and (
            _whose(bare, scene, own) == scene.partner or _is_told(bare, scene)
        )
        said_back = turned(bare) if is_theirs else each
        parts.append(in_first_person(each) if _is_of_agent(each, scene) else said_back)
    return " ".join(parts)


def _is_told(said: str, scene: ReplyContext) -> bool:
    """Whether it repeats the asker's own statement word for word."""
    told = (e.sentence for e in scene.ranked if e.sentence.origin is SentenceOrigin.PARTNER)
    lines = (line for each in told if each.bare != each.text for line in sentences(each.bare))
    return _FIRST_PERSON.search(said) is not None and any(alike(said, line) for line in lines)


def _is_of_agent(sentence: str, scene: ReplyContext) -> bool:
    """Whether "you" in a sentence means the agent: the profile says the same, in the same words.

    In "Dunn fined you nine shillings" it does; "You can buy it here" speaks to whoever asks.
    """
    if not _YOU.search(sentence) or _FIRST_PERSON.search(sentence) or is_of_asker(scene.words):
        return False
    claimed = telling(sentence) - telling(f"{scene.words} {scene.name}") - _ASKED
    said = _beside_you(sentence)
    return any(
        len(shared := claimed & telling(each.text)) >= _LEAST_SHARED
        and len(shared) >= _OF_ONE * len(claimed)
        and all(pairs & set(pairwise(lowered(each.written))) for pairs in said)
        for each in of_profile(scene.profile)
    )


def _beside_you(sentence: str) -> list[set[tuple[str, str]]]:
    """Each "you" or "your" with the word before it, and with the one behind it."""
    low = lowered(sentence)
    places = [i for i, word in enumerate(low) if word.startswith("you")]
    return [set(pairwise(low[max(i - 1, 0) : i + 2])) for i in places]


def _whose(sentence: str, scene: ReplyContext, own: set[str]) -> str:
    """Whose life a sentence in the first person tells; empty if it may be the agent's."""
    sentence = without_address(sentence, scene.partner)
    if not _FIRST_PERSON.search(sentence) or _OTHERS.search(sentence):
        return ""
    claimed = telling(sentence) - telling(scene.name) - _ASKED
    if not claimed or claimed <= own:
        return ""
    for who, theirs in _others_words(scene):
        if who in sentence:
            continue
        shared = claimed & telling(theirs)
        if shared and not shared <= own and len(shared) >= 0.6 * len(claimed):
            return who
    return ""


def _admitted(said: str, scene: ReplyContext) -> str:
    """Without what it makes up of its own life after it said that it does not know."""
    first, *rest = sentences(said) or [said]
    if not rest or not _ADMITS.search(first):
        return said
    known = _own_words(scene) | telling(" ".join(each.sentence.text for each in scene.ranked[:8]))
    kept = [each for each in rest if not _FIRST_PERSON.search(each) or telling(each) <= known]
    return " ".join([first, *kept])


_REPORTS = re.compile(
    r"^(?:yes|well|of course)?\W*(?:(?:I|you) (?:still )?(?:remember|recall|know)\W*(?:that )?)?",
    re.I,
)
"""How the words of the prompt itself come back before what somebody told."""
_ASKED = telling(
    "remember think believe hear told say know guess suppose hope sure well"
) | telling("I'm I've I'd I'll I’m I’ve I’d I’ll")
"""Words that tell nothing of a life."""


def _others_words(scene: ReplyContext) -> Iterable[tuple[str, str]]:
    """What others said of themselves: whoever speaks now first."""
    spoken = [(scene.partner, line) for line in scene.said]
    spoken += [(turn.who, turn.words) for turn in scene.turns]
    told = [(who, line) for who, line in spoken if not is_question(line)]
    told += [(each.sentence.who, each.sentence.bare) for each in scene.ranked]
    return ((who, line) for who, line in told if who and _FIRST_PERSON.search(line))


def _own_words(scene: ReplyContext) -> set[str]:
    kept = (SentenceOrigin.PLACE, SentenceOrigin.KEPT)
    found = [each.sentence for each in scene.ranked if each.sentence.origin in kept]
    own = [each.text for each in (*of_profile(scene.profile), *found)]
    return telling(" ".join([*own, scene.place, *scene.examples]))


def _grounded(said: str, scene: ReplyContext, chosen: Sequence[Sentence]) -> float:
    """The share of its telling words that come from what it was given, beside the question."""
    mine = telling(said) - telling(scene.words) - telling(scene.partner)
    if not mine or not chosen:
        return 0.0
    given = telling(" ".join(each.bare for each in chosen))
    return len(mine & given) / len(mine)


def _is_unfounded(said: str, chosen: Sequence[Sentence]) -> bool:
    """Whether it denies what nobody told: "No, I am not afraid of dogs."; or begins with a yes.

    A small model's yes is as good as a toss of a coin, and what is so stands in what was told.
    """
    if _YES.match(said):
        return True
    said = re.sub(r"^\W*no\b", "", said, flags=re.I)  # "No, Ann is a baker." may correct
    denies = _NEGATES.search(said) is not None and not _ADMITS.search(said)
    return denies and not any(_NEGATES.search(each.bare) for each in chosen)


def _runs(line: str) -> list[tuple[str, ...]]:
    low = lowered(line)
    return [tuple(low[i : i + _RUN]) for i in range(len(low) - _RUN + 1)]


def fault_of_act(shown: str, own_lines: Iterable[str], examples: Iterable[str]) -> str:
    """Why the words of an act that is no reply may not be said or played; empty if they may.

    Args:
        shown: What others would hear or see.
        own_lines: What the agent said and played lately.
        examples: The same of the lines that show its voice.
    """
    if not any(letter.isalpha() for letter in shown):
        return "there is nothing in it that can be said"
    if fault := _again(shown, examples, "it is a line of your examples"):
        return fault
    return _markup(shown, shown) or _again(shown, own_lines, _REPEATED)
