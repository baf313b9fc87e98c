"""A scripted stand-in for a model: it plays an agent by rules, deterministically.

It is for repeatable simulations, and for trials without a model server. It reads who is there and
what was just said; then it answers, chats, looks, walks, notes or recalls. A random generator
chooses the action and the words; its seed is the prompt and how often that was repeated. An agent
that waits leaves no memory, so its next prompt may be identical, and it would wait for ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import yaml

from keepsake.errors import ModelError, ModelRejected
from keepsake.language.perception import words
from keepsake.language.tokens import Heuristic
from keepsake.models.capabilities import Capabilities
from keepsake.models.profiles import SCRIPT, SCRIPTED, ModelProfile
from keepsake.ports import Generation, GenerationRequest

_READ_SPEED = 4000.0
"""The simulated speed of reading, in tokens per second."""
_WRITE_SPEED = 60.0
"""The simulated speed of writing, in tokens per second."""
_TRIES = 8
"""How often it thinks of something else, if it has just done the same."""
_LINES: Mapping[str, Sequence[str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8")
)
"""The lines that it says, by occasion."""
_SPEECH = r'^(\S+) (?:says|asks|shouts|whispers) ?([^"\n]*), "(.*?)"?$'
_EXITS = "Exits: "
_HERE = "Also here: "
_ASLEEP = " (asleep)"
_RECENT_ACTS = 6
"""The number of recent acts that it does not repeat."""


class ScriptedModel:
    """A stand-in for a model that plays agents by rules; safe in any thread."""

    def __init__(self, profile: ModelProfile) -> None:
        self.profile = profile
        self.host = "in this process"
        self.capabilities = Capabilities(SCRIPTED, known=True, form=SCRIPT)
        self.down: ModelError | None = None
        self.family = ""
        self._before: dict[str | None, tuple[str, int]] = {}

    def resolved(self) -> ModelProfile:
        """Return the profile for which prompts are made."""
        return self.profile.resolved(self.family or SCRIPT)

    def forget(self) -> None:
        """Forget the last prompt of each agent."""
        self._before = {}

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the agent's next command.

        Raises:
            ModelRejected: The prompt is not an agent's transcript.
        """
        *lines, own = request.prompt.rstrip().split("\n")
        if not (own.startswith("~") and own.endswith(">") and len(own) > 2):
            raise ModelRejected(
                "The scripted model only plays agents",
                "Give profiles that summarise another provider in llm.md, such as none",
            )
        # How often in a row this agent has sent this prompt before.
        before, times = self._before.get(request.cache_key, ("", 0))
        again = times + 1 if before == request.prompt else 0
        self._before[request.cache_key] = request.prompt, again
        seed = (self.profile.seed or 0) if request.seed is None else request.seed
        state = f"{seed}\n{request.temperature}\n{again}\n{request.prompt}"
        rng = Random(state.encode("utf-8", "replace"))
        reason = f" | {rng.choice(_LINES['reasons'])}" if rng.random() < 0.6 else ""
        done = [x.removeprefix(own).partition(" | ")[0].strip() for x in lines if x.startswith(own)]
        tries = (_idea(lines, own, rng) for _ in range(_TRIES))
        recent = done[-_RECENT_ACTS:]
        act = next((each for each in tries if each not in recent), "say Well, well.")
        text = " ".join(act.split(" ")[: max(int(request.max_tokens / 1.5), 1)]) + reason
        prompt = Heuristic().of(request.prompt)
        completion = Heuristic().of(text)
        seconds = round(prompt / _READ_SPEED + completion / _WRITE_SPEED, 3)
        return Generation(f" {text}", "stop", prompt, None, completion, seconds, SCRIPTED)

    shortage = ""

    def check(self) -> None:
        """Do nothing: this model always answers."""

    learn = check


def _idea(lines: Sequence[str], own: str, rng: Random) -> str:
    """Choose an act for the scene in a prompt, where the agent's own lines begin with ``own``."""
    here = [each for each in _listed(lines, _HERE) if not each.endswith(_ASLEEP)]
    people = [each for each in here if each[:1].isupper()]
    things = [each for each in here if not each[:1].isupper()]
    thing = rng.choice(things) if things else "lamp"
    speaker, said, to_me = _said(lines, own)
    who = speaker or (rng.choice(people) if people else "")
    topic = max(reversed(words(said)), key=len, default="weather").casefold()

    def filled(occasion: str) -> str:
        """Return a line for the occasion; without a name if nobody is there."""
        line = rng.choice(_LINES[occasion])
        line = line if who else line.replace(", {who}", "").replace("{who}", "nobody")
        return line.format(who=who, topic=topic, thing=thing).replace("|", "/")

    done = f"emote {filled('emotes')}"
    if said:
        if not to_me and rng.random() < 0.55:
            return rng.choice(("wait", done))
        if not to_me and rng.random() < 0.25:
            note = f"note {speaker}: {said.replace('|', '/')[:160]}"
            return rng.choice((f"recall {speaker} {topic}", note))
        return f"say {filled('answers' if '?' in said else 'acknowledged')}"
    choices = ["wait", "wait", done, done, "look", f"remember {filled('journal')}"]
    choices += [f"say {filled('small_talk')}"] * 3 + [f"recall {who}"] if who else []
    choices += [f"go {each}" for each in _listed(lines, _EXITS)[:2]]
    choices += [f"examine {thing}"] if things else []
    return rng.choice(choices)


def _said(lines: Sequence[str], own: str) -> tuple[str, str, bool]:
    """Return speaker, words, and whether to the agent, of the last speech since its last act."""
    # Speech to the agent takes precedence over other speech.
    recent = "\n".join(["", *lines]).rpartition(f"\n{own}")[2]
    found = re.findall(_SPEECH, recent, re.M)
    to_me = [each for each in found if each[1] == "to you"]
    who, _, words = (to_me or found or [("", "", "")])[-1]
    return who, words, bool(to_me)


def _listed(lines: Sequence[str], head: str) -> list[str]:
    line = next((each for each in reversed(lines) if each.startswith(head)), head)
    named = line.removeprefix(head).split(", ")
    return [each for each in named if each and each not in ("none", "nobody")]
