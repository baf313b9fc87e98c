"""A score for talk, from outside: talks are played in a process of their own, answers graded."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from game.lab.simulations.plan import FOLDER, Lab, SimulationPlan
from game.lab.simulations.process import LOG, WorldProcess
from game.lab.simulations.serving import check_servers
from game.lab.simulations.settings import AGENT, OWN, copy_config, section_of
from game.lab.talk.grading import grade
from game.lab.talk.job import Job, kept_log
from game.lab.talk.scores import Answer
from game.lab.talk.talk_set import GradedQuestion
from game.lab.talk.worker import end_model
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import Profiles, load
from keepsake.paths import Places


@dataclass(frozen=True, slots=True)
class TalkUtterance:
    """Something that was said in a talk, or a note on what happened."""

    who: str  # the speaker; empty for a note
    to: str  # to whom; empty for everybody
    words: str
    whisper: bool = False  # whether nobody else heard it


@dataclass(frozen=True, slots=True)
class Talk:
    """A scene as it was played."""

    scene: str
    agent: str  # who was talked to
    part: str  # ``tuning`` or ``held-out``
    # what was said, and after it the answers as they were graded
    course: list[TalkUtterance | Answer] = field(default_factory=list)

    @property
    def answers(self) -> list[Answer]:
        """The graded answers in order."""
        return [each for each in self.course if isinstance(each, Answer)]


def evaluate(
    places: Places, job: Job, profile: str = AGENT, told: Callable[[Talk], None] = lambda _: None
) -> list[Talk]:
    """Play the talks of a job and grade the answers.

    Raises:
        KeepsakeError: The talks or the profile cannot be used, or the model does not answer.
    """
    questions: dict[tuple[str, str], GradedQuestion] = {
        (each.part, question.id): question for each in job.sets() for question in each.questions
    }
    if not questions:
        raise KeepsakeError("No question was chosen", "Choose another --part or --agent")
    talks: list[Talk] = []
    with _world(places, job, profile) as lab:
        for line in _lines(lab, job):
            if line["op"] == "scene":
                talks.append(Talk(line["scene"], line["agent"], line["part"]))
            elif talks:
                _take(talks[-1], line, questions)
                if line["op"] != "answer":
                    continue
            else:
                continue
            told(talks[-1])
    return talks


_MEASURED = [field.name for field in fields(Answer)[5:]]
"""Fields of an answer as the worker tells them."""


def _take(
    talk: Talk, line: Mapping[str, Any], questions: Mapping[tuple[str, str], GradedQuestion]
) -> None:
    if line["op"] == "line":
        talk.course.append(TalkUtterance(line["who"], line["to"], line["words"], line["whisper"]))
    elif line["op"] == "note":
        talk.course.append(TalkUtterance("", "", line["text"]))
    elif line["op"] == "answer":
        question, text = questions[talk.part, line["question"]], line["answer"]
        names = [talk.agent, *{q.speaker for q in questions.values()}]
        graded = grade(question, text, earlier=line["earlier"], names=names)
        measured = {name: line[name] for name in _MEASURED}
        measured = {k: tuple(v) if isinstance(v, list) else v for k, v in measured.items()}
        talk.course.append(Answer(question, talk.part, talk.agent, text, graded, **measured))


@contextmanager
def _world(places: Places, job: Job, profile: str) -> Iterator[Lab]:
    """The folder of a world with that configuration; gone afterwards."""
    beside = places.home / FOLDER  # where simulations keep Evennia's empty tables
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=".talk-", dir=beside, ignore_cleanup_errors=True
    ) as folder:
        lab = Lab(Path(folder))
        (lab.home / "logs").mkdir(parents=True)
        lab.vault.mkdir()
        # The weights of the home in use serve: 250 MB are not put together for each talk.
        places.models.mkdir(parents=True, exist_ok=True)
        (lab.home / "models").symlink_to(places.models.resolve())
        copy_config(places.config, lab.vault / "config", OWN, job.seed, places.models)
        use_profile(lab.vault / "config" / "llm.md", profile)
        check_servers(lab)
        job.write(lab.folder)
        yield lab


def use_profile(path: Path, name: str) -> None:
    """Have ``llm.md`` name for the agents what its section ``name`` says.

    Raises:
        ConfigError: There is no such profile, or the file cannot be used.
    """
    load(path)
    Profiles(path).get(name)
    if name == AGENT:
        return
    text = path.read_text(encoding="utf-8")
    _, wanted, _ = section_of(text, name)
    head, _, rest = section_of(text, AGENT)
    path.write_text(f"{head}\n{wanted.strip()}\n\n{rest}", encoding="utf-8")
    load(path)


def _lines(lab: Lab, job: Job) -> Iterator[dict[str, Any]]:
    """What the worker tells, until it is over."""

    def otherwise() -> KeepsakeError:
        return KeepsakeError("The talk ended without a word", f"See {kept_log(lab.folder)}")

    plan = SimulationPlan("talk", seed=job.seed)
    process = WorldProcess(lab, "game.lab.talk.worker", plan)
    try:
        with process:
            yield from process.lines(otherwise)
    except KeepsakeError:
        shutil.copyfile(lab.folder / LOG, kept_log(lab.folder))  # the lab's own folder will be gone
        raise
    finally:
        end_model(lab.places(process.ports))
