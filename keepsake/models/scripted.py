"""A model that is none: it plays an agent by rules, and the same prompts have the same answers.

For simulations that anybody can repeat, and for trying things out without a model server. It
reads who is there and what was just said, and greets, answers, thanks, looks, walks, notes and
recalls; which of it, and in which words, a random generator says that is seeded by the prompt.
An agent that waits leaves no memory, so a prompt may come again as it was: then how often it has
come counts too, or nothing would ever happen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from keepsake.errors import ModelError, ModelRejected
from keepsake.language.perception import words
from keepsake.models.capabilities import Capabilities
from keepsake.models.profiles import SCRIPT, SCRIPTED, ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.tokens import Heuristic

_READ, _WRITTEN = 4000.0, 60.0
"""Tokens a second that it pretends to read and to write."""
_TRIES = 8
_LINES: Mapping[str, Sequence[str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8")
)
"""What it says, by the occasion."""
_SPEECH = ("says", "asks", "shouts", "whispers")
_COMES = (" arrives", " has entered the game", " comes", " enters", " walks in")
_EXITS, _HERE, _ASLEEP = "Exits: ", "Also here: ", " (asleep)"
_OWN_LATELY, _LATELY = 6, 60
"""Of its own acts, none is done again among so many; lines of the window that are read."""


class ScriptedModel:
    """Plays agents by rules; safe in any thread."""

    def __init__(self, profile: ModelProfile) -> None:
        self.profile, self.host = profile, "in this process"
        self.capabilities = Capabilities(SCRIPTED, known=True, form=SCRIPT)
        self.down: ModelError | None = None
        self.family = ""
        self._before: dict[str | None, tuple[str, int]] = {}

    def suited(self) -> ModelProfile:
        """The profile as prompts are made for it."""
        return self.profile.suited(self.family or SCRIPT)

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
        # How often this agent's prompt has come before, as it is, in a row.
        before, times = self._before.get(request.cache_key, ("", 0))
        again = times + 1 if before == request.prompt else 0
        self._before[request.cache_key] = request.prompt, again
        seed = (self.profile.seed or 0) if request.seed is None else request.seed
        throw = f"{seed}\n{request.temperature}\n{again}\n{request.prompt}"
        dice = Random(throw.encode("utf-8", "replace"))
        reason = f" | {dice.choice(_LINES['reasons'])}" if dice.random() < 0.6 else ""
        tries = (_idea(scene, dice) for _ in range(_TRIES))
        act = next((each for each in tries if each not in scene.lately), "say Well, well.")
        text = " ".join(act.split(" ")[: max(int(request.max_tokens / 1.5), 1)]) + reason
        prompt, completion = Heuristic().of(request.prompt), Heuristic().of(text)
        seconds = round(prompt / _READ + completion / _WRITTEN, 3)
        return Generation(f" {text}", "stop", prompt, 0, completion, seconds, SCRIPTED)

    shortage = ""

    def learn(self) -> None:
        """There is nothing to learn."""

    def check(self) -> str:
        """It always answers."""
        return "It plays by rules, and always answers"

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True, slots=True)
class PromptScene:
    """A prompt, as far as the scripted model understands it."""

    exits: tuple[str, ...]
    people: tuple[str, ...]  # who is there and awake
    things: tuple[str, ...]  # what lies there
    said: tuple[str, str, bool] | None  # who said what last, and whether to the agent
    came: str  # who has come since the agent last did something
    gave: tuple[str, str] | None  # who gave it what since then
    nudged: bool  # whether its last answer was refused
    lately: tuple[str, ...]  # the last things that it did, as commands


def _idea(scene: PromptScene, dice: Random) -> str:
    """One idea of what to do."""
    who = dice.choice(scene.people) if scene.people else ""
    thing = dice.choice(scene.things) if scene.things else "lamp"
    topic = max(reversed(words(scene.said[1])), key=len, default="") if scene.said else ""

    def filled(occasion: str, who: str, thing: str = thing) -> str:
        """A line for the occasion; without a name where there is nobody."""
        line = dice.choice(_LINES[occasion])
        line = line if who else line.replace(", {who}", "").replace("{who}", "nobody")
        named = line.format(who=who, topic=topic.casefold() or "weather", thing=thing)
        return named.replace("|", "/")

    done = f"emote {filled('emotes', who)}"
    if scene.nudged:  # what it tried went wrong: something that cannot
        return done
    if scene.gave:
        return f"say {filled('thanks', *scene.gave)}"
    if scene.said:
        speaker, said, to_me = scene.said
        if not to_me and dice.random() < 0.55:
            return dice.choice(("wait", done))
        if not to_me and dice.random() < 0.25:
            note = f"note {speaker}: {said.replace('|', '/')[:160]}"
            return dice.choice((f"recall {speaker} {topic.casefold()}", note))
        return f"say {filled('answers' if '?' in said else 'acknowledged', speaker)}"
    if scene.came in scene.people:
        return f"say {filled('greetings', scene.came)}"
    choices = ["wait", "wait", done, done, "look", f"journal {filled('journal', who)}"]
    choices += [f"say {filled('small_talk', who)}"] * 3 + [f"recall {who}"] if who else []
    choices += [f"go {dice.choice(scene.exits)}"] * 2 if scene.exits else []
    choices += [f"examine {thing}", f"get {thing}"] if scene.things else []
    return dice.choice(choices)


def read(prompt: str) -> PromptScene | None:
    """The scene of a prompt; None for one that is no thought of an agent."""
    *lines, own = prompt.rstrip().split("\n")
    name = own[1:-1]
    if not (own.startswith("~") and own.endswith(">") and name and "~" not in name):
        return None
    marks = [number for number, line in enumerate(lines) if line == "---"]
    window = lines[: marks[-1] if marks else None][-_LATELY:]
    acts = [n for n, line in enumerate(window) if line.startswith(own)]
    here = _listed(lines, _HERE)
    awake = [each for each in here if not each.endswith(_ASLEEP)]
    said = list[tuple[str, str, bool]]()
    came, gave = "", None
    for line in window[acts[-1] + 1 if acts else 0 :]:
        who, _, rest = line.partition(" ")
        if not who[:1].isupper() or who == name:
            continue
        head, sign, spoken = rest.partition(', "')
        verb, _, to = head.partition(" ")
        if sign and verb in _SPEECH and to in ("", "to you"):
            said.append((who, spoken.removesuffix('"'), to == "to you"))
        elif rest.startswith("gives you "):
            gave = who, rest.removeprefix("gives you ").rstrip(".")
        elif f" {rest}".startswith(_COMES):
            came = who
    own_acts = [window[n].removeprefix(own).partition(" | ")[0].strip() for n in acts]
    return PromptScene(
        exits=_listed(lines, _EXITS),
        people=tuple(each for each in awake if each[:1].isupper()),
        things=tuple(each for each in awake if not each[:1].isupper()),
        said=next((each for each in reversed(said) if each[2]), said[-1] if said else None),
        came=came,
        gave=gave,
        nudged=bool(lines) and lines[-1].startswith("You ") and _HERE not in lines[-1],
        lately=tuple(own_acts[-_OWN_LATELY:]),
    )


def _listed(lines: Sequence[str], head: str) -> tuple[str, ...]:
    line = next((each for each in reversed(lines) if each.startswith(head)), head)
    named = line.removeprefix(head).split(", ")
    return tuple(each for each in named if each and each not in ("none", "nobody"))
