"""Models that answer an evaluation's questions and judge answers; agreement with a person."""

from __future__ import annotations

import csv
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from keepsake.errors import BadAnswer, KeepsakeError, ModelError, refusing
from keepsake.json_lines import line_of, parsed
from keepsake.lab.benchmarks import TrialQuestion
from keepsake.lab.measures import JUDGED
from keepsake.language.perception import words
from keepsake.models.detection import detected_profiles
from keepsake.models.gateway import build
from keepsake.models.local.embedded import Embedded
from keepsake.models.model import Model
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import CHAT, EMBEDDED, LLAMA_CPP, NO_MODEL, SCRIPTED, ModelProfile
from keepsake.paths import SHIPPED_CONFIG, Places
from keepsake.ports import ChatMessage, Generation, GenerationRequest
from keepsake.tasks.questions.reread import Choice, Reread
from keepsake.tasks.task import AnswerRefused

PROMPTS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
"""The prompts: ``task`` to answer, ``judge`` by kind of question."""
CONTEXT = 4096
"""Context window in tokens if neither the profile nor the server states one."""
_FRAME_TOKENS = 160
"""Tokens reserved for the parts of the prompt other than the memory lines."""


class AnsweringModel:
    """The model of a profile, for short answers. Calls block. Safe to use from several threads.

    Answers are cached in a file of JSON lines, so no request is paid for twice. With the file, the
    same request has the same answer.

    Args:
        profile: The profile. Its repeat penalty is switched off, because an answer has to repeat
            words of the prompt.

    Attributes:
        context: The context window in tokens; 0 if unknown.
    """

    def __init__(self, profile: ModelProfile, model: Model, cache: Path) -> None:
        self._model = model
        self._cache = cache
        self.profile = replace(profile.resolved(CHAT), form=CHAT, repeat_penalty=1.0)
        self._lock = threading.Lock()
        self.context = profile.context_tokens or model.capabilities.context
        cache.parent.mkdir(parents=True, exist_ok=True)
        lines = cache.read_bytes().splitlines() if cache.exists() else ()
        self._known = {line["key"]: line for line in map(parsed, lines) if "key" in line}

    @property
    def budget(self) -> int:
        """Tokens available for the memory lines of a prompt."""
        return max((self.context or CONTEXT) - self.profile.max_tokens - _FRAME_TOKENS, 256)

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the answer to a chat request; from the cache if it was requested before.

        Raises:
            ModelError: The model does not answer.
        """
        if not request.messages:
            request = replace(request, messages=(ChatMessage("user", request.prompt),), stop=())
        key = sha256(repr((self.profile, request)).encode()).hexdigest()
        if key not in self._known:
            made = {"key": key, **asdict(self._model.generate(request))}
            with self._lock, self._cache.open("ab") as file:
                self._known[key] = made
                file.write(line_of(made))
        return Generation(**{n: value for n, value in self._known[key].items() if n != "key"})

    def ask(self, prompt: str) -> Generation:
        """Return the model's answer to a prompt, in one line. An empty answer is allowed.

        Raises:
            ModelError: The model does not answer.
        """
        try:
            made = self.generate(self.profile.request(GenerationRequest(prompt)))
        except BadAnswer:
            made = Generation("", "stop", 0, 0, 0, 0.0, "")
        return replace(made, text=" ".join(made.text.split()))

    def reread(self, task: Reread) -> Choice:
        """Return what the model picks of a search, and what else it would search for.

        It is asked once: an answer that cannot be read picks nothing.

        Raises:
            ModelError: The model does not answer.
        """
        try:
            written = self.generate(self.profile.request(task.ask(self.profile, ""))).text
            return task.read(written)
        except (BadAnswer, AnswerRefused):
            return task.fallback()

    def judge(
        self, question: TrialQuestion, answer: str, prompts: Mapping[str, str] = PROMPTS["judge"]
    ) -> float | None:
        """Return 1 if the model calls an answer right, else 0; None without a right answer.

        ``prompts``: By kind of question; ``known`` for other kinds, ``unknown`` for questions
        without an answer in the transcript.

        Raises:
            ModelError: The model does not answer.
        """
        if not question.answers and question.answerable:
            return None
        form = prompts.get(question.kind, prompts["known"])
        form = form if question.answerable else prompts["unknown"]
        right = " / ".join(question.answers)
        prompt = form.format(question=question.text, right=right, answer=answer or "(nothing)")
        return float("yes" in map(str.casefold, words(self.ask(prompt).text)))


def answering_model(here: Places, name: str, seed: int = 0) -> AnsweringModel:
    """Return the model of a profile of ``llm.md``, or of the shipped file if there is none.

    Checks that the model answers.

    Raises:
        KeepsakeError: The profile does not exist, has no model, or its server does not answer.
    """
    own = here.config / "llm.md"
    profiles = detected_profiles(here, own if own.exists() else SHIPPED_CONFIG / own.name)
    profile = profiles.get(name)
    if profiles.problem is not None:
        # The game continues with its last valid profiles; a measurement must not use another model.
        raise profiles.problem
    if profile.provider in (NO_MODEL, SCRIPTED):
        what = f"The profile {name!r} has no model (provider {profile.provider})"
        cure = f"Start Ollama with a chat model, or name one in {own}; see docs/models.md"
        raise KeepsakeError(what, cure)
    model: Model
    if profile.provider == EMBEDDED:  # the world runs this server; do not wait here for it to load
        model = OpenAIModel(profile, Embedded(here).address, kind=LLAMA_CPP)
    else:
        model = build(profile, Embedded(here))
    try:
        model.check()
    except ModelError as error:
        what = f"The model of the profile {name!r} does not answer: {error.what}"
        cure = "Start the world, or start Ollama" if profile.provider == EMBEDDED else error.cure
        raise KeepsakeError(what, cure) from error
    return AnsweringModel(replace(profile, seed=seed), model, here.home / "lab" / "answers.jsonl")


def judge_prompts(path: str) -> Mapping[str, str]:
    """Return the judge's prompts; those of a YAML file replace ours. ``path`` may be empty.

    Raises:
        KeepsakeError: The file cannot be read.
    """
    with refusing(f"{path} cannot be read", "Name a file with a prompt for each kind of question"):
        own = yaml.safe_load(Path(path).read_text("utf-8")) if path else {}
    return {**PROMPTS["judge"], **own}


# -- agreement of the judge with a person

_RATED = ("memory", "trial", "question", "text", "expected", "answer")
_MOST_RATED = 100
PERSON = "person"
"""The column in which a person writes yes or no."""


def agreement(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """Report how far judge and person agree; if there is no file, write one for the person.

    Args:
        path: A CSV file that the person fills in.
        rows: All judged rows, with their ``memory``.

    Raises:
        KeepsakeError: The file cannot be used.
    """
    judged = {tuple(str(row[name]) for name in _RATED): row[JUDGED] for row in rows}
    with refusing(f"{path} cannot be used", "Name another file"):
        if not path.exists():
            keys = list(judged)
            many = min(len(judged), _MOST_RATED)
            chosen = [(*keys[place * len(keys) // many], "") for place in range(many)]
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([(*_RATED, PERSON), *chosen])
            return f"{path} has {many} answers: write yes or no under {PERSON}, and run this again"
        with path.open(newline="") as file:
            read = [(tuple(map(row.get, _RATED)), row.get(PERSON)) for row in csv.DictReader(file)]
    said = [(text.strip().casefold(), judged[key]) for key, text in read if text and key in judged]
    pairs = [(float(text == "yes"), score) for text, score in said if text]
    if not pairs:
        cure = f"Write yes or no under {PERSON}, in a file made by this same evaluation"
        raise KeepsakeError(f"{path} rates none of these answers", cure)
    same = sum(person == judge for person, judge in pairs)
    many = len(pairs)
    of_person, of_judge = (sum(each) / many for each in zip(*pairs, strict=True))
    chance = of_person * of_judge + (1 - of_person) * (1 - of_judge)
    kappa = f"{(same / many - chance) / (1 - chance):.2f}" if chance < 1 else "–"
    return f"Judge and person agree on {same} of {many} answers (Cohen's kappa {kappa})"
