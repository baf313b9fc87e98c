"""A model that is none: it plays an agent by rules, and the same prompts have the same answers.

For simulations that anybody can repeat, and for trying things out without a model server. It
reads who is there and what was just said, and greets, answers, gives, looks, walks, notes and
recalls; which of it, and in which words, the dice say, and the dice are a hash of seed and prompt.
Whoever waits is not remembered to have waited, so a prompt may come again as it was: then how
often it has come counts too, or nothing would ever happen again.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path

import yaml

from keepsake.errors import ModelRejected
from keepsake.models.clients.capabilities import of_kind
from keepsake.models.profiles import SCRIPTED
from keepsake.models.scripted.scene import PromptScene, SceneUtterance, read
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.tokens import Heuristic

NAME = "scripted"
_READ, _WRITTEN = 4000.0, 60.0
"""Tokens a second that it pretends to read and to write."""
_CACHES = 1024
_TRIES = 8
_SHORTEST_TOPIC = 4
_WORD = re.compile(r"[A-Za-z][a-z'’-]+")
_EVERYDAY = (
    "about after again also always anything because been before being bring came come could does "
    "done down each even ever every from good have heard here into just keep know last like little "
    "look made many more morning much must never nothing often once only other over promise "
    "really remember said same says should since some somebody something still such sure tell "
    "than thank that their them then there these they thing think this those told tomorrow very "
    "want well went were what when where which while with without would your yours yesterday "
    "hello evening name never please today"
)
_PLAIN = frozenset(_EVERYDAY.split())
_ASKED_BACK = re.compile(
    r"\b(?:remember|did i (?:tell|say)|what is my|where do i|who am i)\b", re.I
)
_PROMISE = re.compile(r"\b(?:i promise|i will bring|you must|never|always)\b", re.I)
_PARTING = re.compile(r"\b(?:goodbye|good night|farewell|i have to go|see you)\b", re.I)
_GREETING = re.compile(r"^\W*(?:hello|good (?:day|morning|evening)|hi|greetings|well met)\b", re.I)
_OF_ONESELF = re.compile(r"(?<=[.!?] )You (?=[a-z])|^You (?=[a-z])")
_ABOUT_SELF = 90
"""The most letters of a sentence that an agent says about itself."""


class ScriptedModel:
    """Plays agents by rules; safe in any thread.

    Args:
        seed: Begins every throw of the dice that the request's own seed does not begin.
    """

    def __init__(self, seed: int = 0) -> None:
        self.capabilities = of_kind(SCRIPTED)
        self._seed = seed
        self._tokens = Heuristic()
        self._lock = threading.Lock()
        self._caches: OrderedDict[str, tuple[list[str], int]] = OrderedDict()

    def generate(self, request: GenerationRequest) -> Generation:
        """The agent's next command.

        Raises:
            ModelRejected: The prompt is not a thought of an agent.
        """
        if (scene := read(request.prompt)) is None:
            raise ModelRejected(
                "The scripted model only plays agents",
                "Give profiles that summarise another provider in llm.md, such as extractive",
            )
        seed = self._seed if request.seed is None else request.seed
        prompt, cached, again = self._read(request)
        dice = Dice(f"{seed}\n{request.temperature}\n{again}\n{request.prompt}")
        command, reason = _act(scene, dice)
        command = _cut(command, request.max_tokens)
        text = f"{command} | {reason}" if reason else command
        completion = self._tokens.of(text)
        seconds = round((prompt - cached) / _READ + completion / _WRITTEN, 3)
        return Generation(f" {text}", "stop", prompt, cached, completion, seconds, NAME)

    def check(self) -> str:
        """It always answers."""
        return "It plays by rules, and always answers"

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """None: it has no tokenizer."""
        return None

    def close(self) -> None:
        """There is nothing to close."""

    def _read(self, request: GenerationRequest) -> tuple[int, int, int]:
        """How many tokens the prompt has, how many of them are in a cache, how often it came."""
        now, key = request.prompt.split("\n"), request.cache_key or ""
        with self._lock:
            before, times = self._caches.pop(key, ([], 0))
            again = times + 1 if before == now else 0
            self._caches[key] = now, again
            if len(self._caches) > _CACHES:
                self._caches.popitem(last=False)
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(now, before, strict=False))
        same = sum(1 for _ in alike)
        cached = self._tokens.of("\n".join(now[:same])) if same else 0
        return max(self._tokens.of(request.prompt), cached), cached, again


class Dice:
    """Throws that follow from a text alone, the same on every machine."""

    def __init__(self, text: str) -> None:
        self._state = hashlib.sha256(text.encode("utf-8", "replace")).digest()

    def below(self, sides: int) -> int:
        """A number from 0, below ``sides``."""
        self._state = hashlib.sha256(self._state).digest()
        return int.from_bytes(self._state[:8], "big") % sides

    def one_of[T](self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def chance(self, percent: int) -> bool:
        """True so many times in a hundred."""
        return self.below(100) < percent


@cache
def _lines() -> Mapping[str, Sequence[str]]:
    """What it says, by the occasion."""
    found: Mapping[str, Sequence[str]] = yaml.safe_load(
        Path(__file__).with_name("lines.yaml").read_text("utf-8")
    )
    return found


def _act(scene: PromptScene, dice: Dice) -> tuple[str, str]:
    """What the agent does, and why; nothing that it has only just done, if it can help it."""
    reason = dice.one_of(_lines()["reasons"]) if dice.chance(60) else ""
    tries = (_turn(scene, dice) for _ in range(_TRIES))
    return next((each for each in tries if each not in scene.lately), "say Well, well."), reason


def _turn(scene: PromptScene, dice: Dice) -> str:
    """One idea of what to do."""
    if scene.gave:
        who, thing = scene.gave[-1]
        return f"say {_filled('thanks', scene, dice, who, thing=thing)}"
    if (said := _last_said(scene)) is not None:
        return _answer(scene, dice, said)
    if scene.came and scene.came[-1] in scene.people:
        return f"say {_filled('greetings', scene, dice, scene.came[-1])}"
    return _unasked(scene, dice)


def _last_said(scene: PromptScene) -> SceneUtterance | None:
    """What was said to the agent last; else what was said at all."""
    to_me = [said for said in scene.said if said.to_me]
    heard = to_me or list(scene.said)
    return heard[-1] if heard else None


def _answer(scene: PromptScene, dice: Dice, said: SceneUtterance) -> str:
    """What it does when somebody has spoken."""
    topic = _topic(said.words)
    if not said.to_me and dice.chance(55):
        return dice.one_of(("wait", f"emote {_filled('emotes', scene, dice)}"))
    if _ASKED_BACK.search(said.words) and not scene.looked_up and dice.chance(60):
        return f"recall {said.who} {topic}"
    if _PROMISE.search(said.words) and not scene.looked_up and dice.chance(25):
        return f"note {said.who}: {said.words.replace('|', '/')[:160]}"
    return _say(scene, dice, said)


def _say(scene: PromptScene, dice: Dice, said: SceneUtterance | None) -> str:
    """Something to say, to whoever spoke last or to anybody."""
    if said is None:
        who = dice.one_of(scene.people) if scene.people else ""
        return f"say {_filled('small_talk', scene, dice, who)}"
    occasions = (
        (scene.looked_up or _ASKED_BACK.search(said.words), "remembered"),
        (_PARTING.search(said.words), "farewells"),
        (_PROMISE.search(said.words), "promised"),
        ("?" in said.words, "answers"),
        (_GREETING.search(said.words), "greetings"),
        (True, "acknowledged"),
    )
    occasion = next(name for fits, name in occasions if fits)
    return f"say {_filled(occasion, scene, dice, said.who, topic=_topic(said.words))}"


def _unasked(scene: PromptScene, dice: Dice) -> str:
    """What it does of itself."""
    who = dice.one_of(scene.people) if scene.people else "nobody"
    done = f"emote {_filled('emotes', scene, dice, who)}"
    choices = ["wait", "wait", done, done, "look"]
    choices.append(f"journal {_filled('journal', scene, dice, who)}")
    if scene.people:
        choices += [_say(scene, dice, None)] * 3
        choices.append(f"recall {who}")
        choices += [f"give {thing} to {who}" for thing in scene.holds[-1:]]
    if scene.exits:
        choices += [f"go {dice.one_of(scene.exits)}"] * 2
    if scene.things:
        thing = dice.one_of(scene.things)
        choices += [f"examine {thing}", f"get {thing}", f"look {thing}"]
    if scene.nudged:  # what it tried went wrong: something that cannot
        return done
    return dice.one_of(choices)


def _filled(
    occasion: str,
    scene: PromptScene,
    dice: Dice,
    who: str = "",
    *,
    topic: str = "weather",
    thing: str = "",
) -> str:
    """A line for the occasion, its gaps filled; without a name where there is nobody."""
    line = dice.one_of(_lines()[occasion])
    if not thing:
        thing = dice.one_of(scene.things) if scene.things else "lamp"
    if not who:
        line = line.replace(", {who}", "").replace("{who}", "nobody")
    words = {"who": who, "topic": topic, "thing": thing, "self": _of_itself(scene, dice)}
    return re.sub(r"\{(\w+)\}", lambda gap: words[gap[1]], line).replace("|", "/")


def _of_itself(scene: PromptScene, dice: Dice) -> str:
    """A sentence of the profile, in the first person."""
    told = [
        f"{sentence}."
        for sentence in re.split(r"[.!?](?:\s|$)", scene.profile)
        if sentence.startswith("You ") and len(sentence) < _ABOUT_SELF
    ]
    if not told:
        return "I am what I am."
    first = _OF_ONESELF.sub("I ", dice.one_of(told))
    first = re.sub(r"\bI are\b", "I am", first).replace(" your ", " my ").replace(" you ", " I ")
    return first.replace(" yourself", " myself")


def _topic(words: str) -> str:
    """The most telling word of what was said: the longest that is no everyday word."""
    found = [
        word
        for word in _WORD.findall(words)
        if len(word) >= _SHORTEST_TOPIC and word.casefold() not in _PLAIN
    ]
    return max(found, key=len, default="weather").casefold()


def _cut(text: str, tokens: int) -> str:
    """So many words of it that it keeps within its tokens."""
    words = text.split(" ")
    return " ".join(words[: max(int(tokens / 1.5), 1)])
