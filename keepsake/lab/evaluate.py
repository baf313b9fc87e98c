"""Lives trials through a memory, asks, has a model answer: one row of figures a question."""

from __future__ import annotations

import os
import re
import string
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from keepsake.archive.privacy import NOBODY, Audience
from keepsake.errors import BadAnswer, ConfigError, KeepsakeError, ModelError, refusing
from keepsake.json_lines import line_of, parsed
from keepsake.lab.benchmarks import Trial, TrialQuestion
from keepsake.lab.memories.plain import first_within
from keepsake.language.perception import words
from keepsake.memory.protocol import RecalledLine, Surroundings, maker
from keepsake.models.detection import detected_profiles
from keepsake.models.embedded import Embedded
from keepsake.models.gateway import build
from keepsake.models.model import Model
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import (
    AUTO,
    CHAT,
    DIALOGUE,
    EMBEDDED,
    EXTRACTIVE,
    LLAMA_CPP,
    SCRIPTED,
    ModelProfile,
)
from keepsake.paths import Places
from keepsake.ports import (
    ChatMessage,
    Embedder,
    FixedClock,
    Generation,
    GenerationRequest,
    LanguageModel,
)
from keepsake.prompt.tokens import Heuristic
from keepsake.tasks.task import Question

type Row = dict[str, Any]
"""One question: names of columns and their values, as JSON has them."""

QUIET, NIGHT = timedelta(minutes=30), timedelta(hours=4)
"""So long without a memory is a rest; so long, or a new day, is a night."""
OVER = 1.25
"""The share of its budget that counts of a context: memories may count tokens differently."""
CONTEXT = 4096
"""Tokens of a prompt with its answer where the profile does not say."""
RECALLED = 20
"""Lines that a memory may give for a question."""
IN_CONTEXT, IN_REACH = "in_context", "in_reach"
F1, RIGHT, MRR, DEPTHS = "f1", "right", "mrr", (5, 10, 20)
RECALL = {depth: f"recall@{depth}" for depth in DEPTHS}
"""The measures of the share of the evidence among the first lines that were recalled."""
_FRAME_TOKENS = 160
"""What the prompt has beside the lines and the question."""
_TOKENS = Heuristic()

# -- what an answer in words is worth

_ABSTAINS = re.compile(
    r"no information|no idea|never (?:said|told|heard)|"
    r"not (?:mentioned|stated|specified|provided|known|available|enough|sure)|unknown|"
    r"unanswerable|(?:do|does|did)(?: not|n['’]t) (?:know|say|tell|mention|specify|provide|recall|"
    r"remember|have (?:any |enough )?information)|"
    r"(?:can ?not|can['’]t|could(?: not|n['’]t)|unable to) "
    r"(?:know|say|tell|answer|be (?:answered|determined)|determine)",
    re.I,
)
_PUNCTUATION = str.maketrans("", "", string.punctuation + "’“”…")
_ARTICLES = frozenset({"a", "an", "the", "and"})


def words_of(text: str) -> list[str]:
    """The words of a text as LoCoMo's own script counts them, but for stems."""
    bare = text.casefold().replace(",", "").translate(_PUNCTUATION)
    return [word for word in bare.split() if word not in _ARTICLES]


def token_f1(answer: str, right: str) -> float:
    """Harmonic mean of precision and recall over words, however they are ordered, 0 to 1."""
    said, wanted = Counter(words_of(answer)), Counter(words_of(right))
    every = said.total() + wanted.total()
    return 2 * (said & wanted).total() / every if every else 1.0


def scores(question: TrialQuestion, answer: str) -> Mapping[str, float]:
    """What an answer is worth by each measure that fits its question, 0 to 1.

    A question that the life does not answer is worth 1 by all of them where the answer says so,
    else 0, as LoCoMo and LongMemEval have it.
    """
    well = not stands_in(question.stale, [answer])
    if not question.answerable:
        told = float(well and _ABSTAINS.search(answer) is not None)
        return {F1: told, RIGHT: told}
    if not question.answers:
        return {}
    right = float(well and stands_in(question.answers, [answer]))
    return {F1: max(token_f1(answer, each) for each in question.answers), RIGHT: right}


def stands_in(answers: Iterable[str], lines: Sequence[str]) -> bool:
    """Whether one of the answers stands in some lines, word for word."""
    told = f" {' '.join(words_of(' '.join(lines)))} "
    return any(f" {' '.join(words_of(each))} " in told for each in answers)


# -- a model that answers

PROMPTS: Mapping[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
"""What models are asked: ``task``, and ``known`` and ``unknown`` of a judge."""


class AnsweringModel:
    """The model of a profile, asked for short texts; blocks.

    Its answers are kept in a file of JSON lines, so nothing is paid for twice. With the file, the
    same request has the same answer.

    Args:
        profile: Its settings; what keeps an agent from repeating itself is left out, since an
            answer has to repeat.
        model: What generates.
        kept: The file.
    """

    def __init__(self, profile: ModelProfile, model: Model, kept: Path) -> None:
        form = model.capabilities.form if profile.form == AUTO else profile.form
        self._chat, self._model, self._kept = form == CHAT, model, kept
        suited = profile.suited(CHAT if self._chat else DIALOGUE)
        self.profile = replace(suited, repeat_penalty=1.0)
        self.close = model.close
        kept.parent.mkdir(parents=True, exist_ok=True)
        lines = kept.read_bytes().splitlines() if kept.exists() else ()
        self._known = {line["key"]: line for line in map(parsed, lines) if "key" in line}

    @property
    def budget(self) -> int:
        """Tokens that the lines of a prompt may take together."""
        whole = self.profile.context_tokens or CONTEXT
        return max(whole - self.profile.max_tokens - _FRAME_TOKENS, 256)

    def generate(self, request: GenerationRequest) -> Generation:
        """The answer to a request, from the file where it was asked before.

        Raises:
            ModelError: It does not answer.
        """
        key = sha256(repr((self.profile, request)).encode()).hexdigest()
        if key not in self._known:
            self._known[key] = {"key": key, **asdict(self._model.generate(request))}
            with self._kept.open("ab") as file:
                file.write(line_of(self._known[key]))
        return Generation(**{n: value for n, value in self._known[key].items() if n != "key"})

    def ask(self, prompt: str, opening: str) -> Generation:
        """What it says to a prompt; ``opening`` is how a continued text begins to answer.

        Raises:
            ModelError: It does not answer; an empty answer is none.
        """
        text = prompt if self._chat else f"{prompt}\n{opening}"
        messages = (ChatMessage("user", prompt),) if self._chat else ()
        stop = () if self._chat else ("\n",)
        try:
            made = self.generate(self.profile.request(Question(messages, text, stop)))
        except BadAnswer:
            made = Generation("", "stop", 0, 0, 0, 0.0, "")
        return replace(made, text=" ".join(made.text.split()))

    def judge(self, question: TrialQuestion, answer: str) -> float | None:
        """1 if it calls an answer right, else 0; None where there is nothing to compare it with.

        Raises:
            ModelError: It does not answer.
        """
        if not question.answers and question.answerable:
            return None
        form = PROMPTS["known" if question.answerable else "unknown"]
        right = " / ".join(question.answers)
        prompt = form.format(question=question.text, right=right, answer=answer or "(nothing)")
        return float("yes" in map(str.casefold, words(self.ask(prompt, "Judgement:").text)))


def answering_model(here: Places, name: str, seed: int = 0) -> AnsweringModel:
    """The model of a profile of ``llm.md``; looks whether it answers.

    Raises:
        KeepsakeError: There is no such profile, it is no model, or its server does not answer.
    """
    profiles = detected_profiles(here)
    try:
        profile = profiles.get(name)
    except ConfigError as error:  # of the command line, not of a line of the file
        told = f"There is no profile {name!r} in {profiles.path}"
        raise KeepsakeError(told, error.cure) from error
    if profiles.problem is not None and profiles.path.exists():
        # The game goes on with what held before; a figure must not come of another model.
        raise profiles.problem
    if profile.provider in (EXTRACTIVE, SCRIPTED):
        told = f"The profile {name!r} is no model (provider {profile.provider})"
        raise KeepsakeError(told, "Name a profile whose provider is embedded, ollama or openai")
    model: Model
    if profile.provider == EMBEDDED:  # a process of the world's: nobody here waits for it to load
        model = OpenAIModel(profile, Embedded(here).address, kind=LLAMA_CPP)
    else:
        model = build(profile, Embedded(here), os.environ)
    try:
        model.check()
    except ModelError as error:
        model.close()
        told = f"The model of the profile {name!r} does not answer: {error.what}"
        cure = "Start the world" if profile.provider == EMBEDDED else error.cure
        raise KeepsakeError(told, cure) from error
    return AnsweringModel(replace(profile, seed=seed), model, here.home / "lab" / "answers.jsonl")


# -- lives and their questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How trials are lived and asked."""

    memory: str  # by its name
    settings: Mapping[str, str] = field(default_factory=dict)  # the memory's own
    embedder: Embedder | None = None
    writer: LanguageModel | None = None  # writes the memory's summaries; None for rules
    answerer: AnsweringModel | None = None  # None where only recall is measured
    judge: AnsweringModel | None = None
    budget: int = CONTEXT  # tokens of the lines of a prompt
    recalled: int = RECALLED


@dataclass(frozen=True, slots=True)
class Asking:
    """One question and what the memory had for it."""

    question: TrialQuestion
    context: Sequence[str]  # what every prompt shows
    recalled: Sequence[RecalledLine]  # what was found for this question, best first
    seconds: float  # that the memory took for both
    before_others: Sequence[str] = ()  # what it shows before those from whom it is to be kept


def limited(trials: Sequence[Trial], limit: int) -> list[Trial]:
    """The trials with ``limit`` questions in all, spread evenly; 0 is no limit."""
    asked = [(number, each) for number, trial in enumerate(trials) for each in trial.questions]
    if limit and len(asked) > limit:
        asked = [asked[place * len(asked) // limit] for place in range(limit)]
    questions: dict[int, list[TrialQuestion]] = {}
    for number, each in asked:
        questions.setdefault(number, []).append(each)
    return [replace(trials[number], questions=tuple(own)) for number, own in questions.items()]


def evaluated(
    trials: Sequence[Trial], how: Evaluation, done: Callable[[], None] = lambda: None
) -> list[Row]:
    """One row a question, in the order asked; ``done`` is called after each.

    Raises:
        KeepsakeError: The memory cannot be used, or a model does not answer.
    """
    maker(how.memory)  # said before anything is lived
    rows = []
    for trial in trials:
        for asking in _lived(trial, how):
            rows.append(row_of(trial, asking, how))
            done()
    return rows


def _lived(trial: Trial, how: Evaluation) -> Iterator[Asking]:
    """Live a life; a question is asked when its time has come."""
    clock, hearing = FixedClock(trial.memories[0].time), NOBODY
    waiting = deque(sorted(trial.questions, key=lambda each: each.time))
    most = int(OVER * how.budget)
    with (
        refusing("There is no room for temporary files", "Free some disk space, or set TMPDIR"),
        tempfile.TemporaryDirectory(prefix="keepsake-", ignore_cleanup_errors=True) as folder,
    ):
        given = Surroundings(
            agent=trial.agent,
            folder=Path(folder),
            clock=clock,
            embedder=how.embedder,
            model=how.writer,
            budget=how.budget,
            audience=lambda: hearing,
            settings=how.settings,
        )
        with closing(maker(how.memory)(given)) as memory:

            def pass_to(moment: datetime) -> None:
                gap, new_day = moment - clock.time, moment.date() != clock.time.date()
                if gap >= QUIET:
                    memory.rest(asleep=gap >= NIGHT or new_day)
                clock.time = max(moment, clock.time)

            def shown(question: TrialQuestion, others: Audience) -> Asking:
                nonlocal hearing
                began, hearing = time.perf_counter(), question.audience | others
                # The asker is known, as in the world: "my sister" is the asker's.
                asker = f"{question.asker}: " if question.asker else ""
                recalled = memory.recall(f"{asker}{question.text}", how.recalled)
                context = memory.context(how.budget)
                seconds, hearing = time.perf_counter() - began, NOBODY
                # What is more than was asked for does not count.
                context = [*first_within(context[::-1], most, _TOKENS)][::-1]
                return Asking(question, context, recalled[: how.recalled], seconds)

            for lived in (*trial.memories, None):
                while waiting and (lived is None or waiting[0].time < lived.time):
                    question = waiting.popleft()
                    pass_to(question.time)
                    asking = shown(question, NOBODY)
                    if question.kept_from:
                        before = shown(question, question.kept_from)
                        others = (*before.context, *(each.text for each in before.recalled))
                        asking = replace(asking, before_others=others)
                    yield asking
                if lived is not None:
                    pass_to(lived.time)
                    memory.perceive(lived)


def row_of(trial: Trial, asking: Asking, how: Evaluation) -> Row:
    """What a memory had for one question, and what a model made of it, as plain figures."""
    question, lines = asking.question, [each.text for each in asking.recalled]
    evidence = question.evidence
    found = dict.fromkeys(n for each in asking.recalled for n in each.numbers)
    # places of the evidence among what was recalled, from 1; what is missing was not found
    ranks = [place for place, each in enumerate(found, 1) if each in evidence]
    reach = [*asking.context, *lines]
    row: Row = {
        "trial": trial.name,
        "question": question.id,
        "kind": question.kind,
        "about": question.about,
        "asker": question.asker,
        "text": question.text,
        "expected": " / ".join(question.answers),
        "answerable": question.answerable,
        "delay_hours": question.delay.total_seconds() / 3600 if question.delay else None,
        "load": trial.load or None,
        "evidence": len(evidence),
        "ranks": ranks,
        "recalled_lines": len(lines),
        "memory_tokens": sum(_TOKENS.each(reach)),
        "memory_seconds": round(asking.seconds, 6),
    }
    if evidence:
        row[MRR] = 1 / ranks[0] if ranks else 0.0
        for depth, name in RECALL.items():
            row[name] = sum(rank <= depth for rank in ranks) / len(evidence)
    if question.answerable and question.answers:
        row[IN_CONTEXT] = float(stands_in(question.answers, asking.context))
        row[IN_REACH] = float(stands_in(question.answers, reach))
        if question.kept_from and row[IN_REACH]:  # what is forgotten is not kept
            row["kept"] = float(not stands_in(question.answers, asking.before_others))
    if how.answerer is not None:
        reply = how.answerer.ask(prompt_for(asking, how.budget), "Short answer:")
        row |= {
            "answer": reply.text,
            "abstained": _ABSTAINS.search(reply.text) is not None,
            **scores(question, reply.text),
            "model": reply.model,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "answer_seconds": round(reply.seconds, 6),
        }
        if how.judge and (rated := how.judge.judge(question, reply.text)) is not None:
            row["judged"] = rated
    return row


def prompt_for(asking: Asking, budget: int) -> str:
    """The prompt of a question: what was found for it, in the room left the context, the task."""
    found = list(first_within((each.text for each in asking.recalled), budget, _TOKENS))
    rest, shown = budget - sum(_TOKENS.each(found)), set(found)
    others = (line for line in reversed(asking.context) if line not in shown)
    context = list(first_within(others, rest, _TOKENS))[::-1]
    asked = asking.question
    parts = [
        *(["What is remembered, oldest first:", *context, ""] if context else []),
        *(["What was found for this question, best first:", *found, ""] if found else []),
        PROMPTS["task"],
        f"It is {asked.time:%-d %B %Y}.",
        f"{asked.asker} asks: {asked.text}" if asked.asker else f"Question: {asked.text}",
    ]
    return "\n".join(parts)
