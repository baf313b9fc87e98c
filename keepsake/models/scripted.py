"""A model that is none: it plays an agent by rules, and the same prompts have the same answers.

For simulations that anybody can repeat, and for trying things out without a model server. It
reads who is there and what was just said, and greets, answers, gives, looks, walks, notes and
recalls; which of it, and in which words, a random generator says that is seeded by the prompt.
An agent that waits leaves no memory, so a prompt may come again as it was: then how often it has
come counts too, or nothing would ever happen again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import yaml

from keepsake.errors import ModelRejected
from keepsake.language.words import words
from keepsake.models.capabilities import Capabilities, Lessons
from keepsake.models.profiles import SCRIPT, SCRIPTED
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.tokens import Heuristic

NAME = "scripted"
_READ, _WRITTEN = 4000.0, 60.0
"""Tokens a second that it pretends to read and to write."""
_AGENTS = 1024
_TRIES = 8
_SPEECH = ("says", "asks", "shouts", "whispers")
_COMES = (" arrives", " has entered the game", " comes", " enters", " walks in")
_TAKES, _PARTS = ("You pick up ", "You get ", "You take "), ("You drop ", "You give ")
_RECALLS = ("you recall ", "you remember ", "you called back ", "you search your memory")
_EXITS, _HERE, _ASLEEP = "Exits: ", "Also here: ", " (asleep)"
_OWN_LATELY = 6
_LATELY = 60
"""Lines of the window that are read."""


class ScriptedModel:
    """Plays agents by rules; safe in any thread.

    Args:
        seed: Begins every throw of the dice that the request's own seed does not begin.
    """

    def __init__(self, seed: int = 0) -> None:
        self.capabilities = Capabilities(SCRIPTED, known=True, form=SCRIPT)
        self.lessons = Lessons()
        self._seed = seed
        self._tokens = Heuristic()
        self._lock = threading.Lock()
        self._before: OrderedDict[str, tuple[str, int]] = OrderedDict()

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
        throw = f"{seed}\n{request.temperature}\n{self._again(request)}\n{request.prompt}"
        dice = Random(throw.encode("utf-8", "replace"))
        command, reason = _act(scene, dice)
        command = _cut(command, request.max_tokens)
        text = f"{command} | {reason}" if reason else command
        prompt, completion = self._tokens.of(request.prompt), self._tokens.of(text)
        seconds = round(prompt / _READ + completion / _WRITTEN, 3)
        return Generation(f" {text}", "stop", prompt, 0, completion, seconds, NAME)

    def check(self) -> str:
        """It always answers."""
        return "It plays by rules, and always answers"

    def close(self) -> None:
        """There is nothing to close."""

    def _again(self, request: GenerationRequest) -> int:
        """How often this agent's prompt has come before, as it is, in a row."""
        key = request.cache_key or ""
        with self._lock:
            before, times = self._before.pop(key, ("", 0))
            again = times + 1 if before == request.prompt else 0
            self._before[key] = request.prompt, again
            if len(self._before) > _AGENTS:
                self._before.popitem(last=False)
        return again


@cache
def _lines() -> Mapping[str, Sequence[str]]:
    """What it says, by the occasion."""
    found: Mapping[str, Sequence[str]] = yaml.safe_load(
        Path(__file__).with_suffix(".yaml").read_text("utf-8")
    )
    return found


def _act(scene: PromptScene, dice: Random) -> tuple[str, str]:
    """What the agent does, and why; nothing that it has only just done, if it can help it."""
    reason = dice.choice(_lines()["reasons"]) if dice.random() < 0.6 else ""
    tries = (_turn(scene, dice) for _ in range(_TRIES))
    return next((each for each in tries if each not in scene.lately), "say Well, well."), reason


def _turn(scene: PromptScene, dice: Random) -> str:
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


def _answer(scene: PromptScene, dice: Random, said: SceneUtterance) -> str:
    """What it does when somebody has spoken."""
    if not said.to_me and dice.random() < 0.55:
        return dice.choice(("wait", f"emote {_filled('emotes', scene, dice)}"))
    if not said.to_me and not scene.looked_up and dice.random() < 0.25:
        topic, note = _topic(said.words), f"{said.who}: {said.words.replace('|', '/')[:160]}"
        return dice.choice((f"recall {said.who} {topic}", f"note {note}"))
    return _say(scene, dice, said)


def _say(scene: PromptScene, dice: Random, said: SceneUtterance | None) -> str:
    """Something to say, to whoever spoke last or to anybody."""
    if said is None:
        who = dice.choice(scene.people) if scene.people else ""
        return f"say {_filled('small_talk', scene, dice, who)}"
    occasion = "answers" if "?" in said.words else "acknowledged"
    if scene.looked_up:
        occasion = "remembered"
    return f"say {_filled(occasion, scene, dice, said.who, topic=_topic(said.words))}"


def _unasked(scene: PromptScene, dice: Random) -> str:
    """What it does of itself."""
    who = dice.choice(scene.people) if scene.people else "nobody"
    done = f"emote {_filled('emotes', scene, dice, who)}"
    choices = ["wait", "wait", done, done, "look"]
    choices.append(f"journal {_filled('journal', scene, dice, who)}")
    if scene.people:
        choices += [_say(scene, dice, None)] * 3
        choices.append(f"recall {who}")
        choices += [f"give {thing} to {who}" for thing in scene.holds[-1:]]
    if scene.exits:
        choices += [f"go {dice.choice(scene.exits)}"] * 2
    if scene.things:
        thing = dice.choice(scene.things)
        choices += [f"examine {thing}", f"get {thing}", f"look {thing}"]
    if scene.nudged:  # what it tried went wrong: something that cannot
        return done
    return dice.choice(choices)


def _filled(
    occasion: str,
    scene: PromptScene,
    dice: Random,
    who: str = "",
    *,
    topic: str = "weather",
    thing: str = "",
) -> str:
    """A line for the occasion, its gaps filled; without a name where there is nobody."""
    line = dice.choice(_lines()[occasion])
    if not thing:
        thing = dice.choice(scene.things) if scene.things else "lamp"
    if not who:
        line = line.replace(", {who}", "").replace("{who}", "nobody")
    return line.format(who=who, topic=topic, thing=thing).replace("|", "/")


def _topic(said: str) -> str:
    """The last of the longest words of what was said."""
    return max(reversed(words(said)), key=len, default="weather").casefold()


def _cut(text: str, tokens: int) -> str:
    """So many words of it that it keeps within its tokens."""
    return " ".join(text.split(" ")[: max(int(tokens / 1.5), 1)])


# -- what it reads out of a prompt


@dataclass(frozen=True, slots=True)
class SceneUtterance:
    """Something that somebody said."""

    who: str
    words: str
    to_me: bool


@dataclass(frozen=True, slots=True)
class PromptScene:
    """A prompt, as far as the scripted model understands it."""

    name: str  # whose turn it is
    exits: tuple[str, ...] = ()  # the exits
    people: tuple[str, ...] = ()  # who is there and awake
    things: tuple[str, ...] = ()  # what lies there
    said: tuple[SceneUtterance, ...] = ()  # what was said since it last did something, oldest first
    came: tuple[str, ...] = ()  # who has come since then
    gave: tuple[tuple[str, str], ...] = ()  # who gave it what since then: pairs of name and thing
    holds: tuple[str, ...] = ()  # things that it has taken or was given lately, and not parted with
    looked_up: bool = False  # whether it has just looked into its memory
    nudged: bool = False  # whether its last answer was refused
    # the last things that it did, as commands: nobody does the same again at once
    lately: tuple[str, ...] = ()


def read(prompt: str) -> PromptScene | None:
    """The scene of a prompt; None for one that is no thought of an agent."""
    lines = prompt.rstrip().split("\n")
    own = lines[-1].rstrip()
    name = own[1:-1]
    if not (own.startswith("~") and own.endswith(">") and name and "~" not in name):
        return None
    here = _listed(lines, _HERE)
    window = _window(lines[:-1])
    last = max((n for n, line in enumerate(window) if line.startswith(own)), default=-1)
    new = window[last + 1 :]
    awake = [each for each in here if not each.endswith(_ASLEEP)]
    acts = [line.removeprefix(own) for line in window if line.startswith(own)]
    said = [found for line in new if (found := _said(line)) and found.who != name]
    return PromptScene(
        name=name,
        exits=_listed(lines, _EXITS),
        people=tuple(each for each in awake if each[:1].isupper()),
        things=tuple(each for each in awake if not each[:1].isupper()),
        said=tuple(said),
        came=tuple(who for line in new if (who := _comer(line))),
        gave=tuple(filter(None, map(_gift, new))),
        holds=_held(window),
        looked_up=any(line.lower().startswith(_RECALLS) for line in new),
        nudged=len(lines) > 1 and lines[-2].startswith("You ") and _HERE not in lines[-2],
        lately=tuple(act.partition(" | ")[0].strip() for act in acts)[-_OWN_LATELY:],
    )


def _window(lines: list[str]) -> list[str]:
    """The newest lines of the script: those before the last mark that ends it."""
    marks = [number for number, line in enumerate(lines) if line == "---"]
    return lines[: marks[-1] if marks else len(lines)][-_LATELY:]


def _listed(lines: list[str], head: str) -> tuple[str, ...]:
    line = next((each for each in reversed(lines) if each.startswith(head)), head)
    named = line.removeprefix(head).split(", ")
    return tuple(each for each in named if each and each not in ("none", "nobody"))


def _said(line: str) -> SceneUtterance | None:
    head, sign, spoken = line.partition(', "')
    who, _, how = head.partition(" ")
    verb, _, to = how.partition(" ")
    if not (sign and spoken.endswith('"') and who[:1].isupper() and verb in _SPEECH):
        return None
    return SceneUtterance(who, spoken[:-1], to == "to you") if to in ("", "to you") else None


def _comer(line: str) -> str:
    who, _, _ = line.partition(" ")
    return who if who[:1].isupper() and line[len(who) :].startswith(_COMES) else ""


def _gift(line: str) -> tuple[str, str] | None:
    who, sign, thing = line.partition(" gives you ")
    return (who, thing.rstrip(".")) if sign and who[:1].isupper() and " " not in who else None


def _held(window: list[str]) -> tuple[str, ...]:
    held: dict[str, None] = {}
    for line in window:
        if taken := next((line.removeprefix(x) for x in _TAKES if line.startswith(x)), ""):
            held[_bare(taken)] = None
        elif gift := _gift(line):
            held[_bare(gift[1])] = None
        elif given := next((line.removeprefix(x) for x in _PARTS if line.startswith(x)), ""):
            held.pop(_bare(given.rpartition(" to ")[0] or given), None)
    return tuple(held)


def _bare(thing: str) -> str:
    """A thing without its article and the full stop."""
    article, _, rest = thing.rstrip(".").partition(" ")
    return rest if article in ("a", "an", "the") else thing.rstrip(".")
