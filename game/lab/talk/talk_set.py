"""What a set of talks holds: agents, speakers, and scenes of lines and questions.

Read by :mod:`game.lab.talk.reading`; ``docs/talk.md`` describes the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

TUNING, HELD_OUT, ALL = "tuning", "held-out", "all"
PARTS = (TUNING, HELD_OUT)

SMALL_TALK, UNKNOWN, AT_ONCE = "small_talk", "unknown", "at_once"
CHECKABLE = (
    *("self", "place", "others", "just_told", "before_compactions", "by_other", "promise"),
    *("changed", UNKNOWN, AT_ONCE),
)
KINDS = (*CHECKABLE, SMALL_TALK)

SAY, TALK, WHISPER = "say", "talk", "whisper"
"""The commands by which a line is spoken."""


@dataclass(frozen=True, slots=True)
class TalkRoom:
    """A room of the set's own."""

    id: str
    name: str
    desc: str  # what is seen there


@dataclass(frozen=True, slots=True)
class TalkAgent:
    """An agent of the set."""

    name: str
    place: str = ""  # the id of its room, of the set or of the shipped world
    profile: str = ""  # who it is, in the second person
    # script lines that show its voice; none for an agent as ``@agent/create`` makes it
    examples: tuple[str, ...] = ()
    ties: Mapping[str, str] | None = None  # what others are to it, by name
    shipped: str = ""  # the id of the shipped agent that it is; empty for a new one

    @property
    def whole_profile(self) -> str:
        """The profile with the ties behind it, as the shipped world writes them."""
        ties = " ".join(f"{name}: {tie}." for name, tie in (self.ties or {}).items())
        return f"{self.profile}\nOthers you know. {ties}" if ties else self.profile


@dataclass(frozen=True, slots=True)
class SpeakerLine:
    """Something that a speaker tells the agent."""

    speaker: str
    words: str
    how: str = TALK  # the command: ``talk``, ``say`` (to the room) or ``whisper``


@dataclass(frozen=True, slots=True)
class GradedQuestion:
    """A question whose answer is graded."""

    id: str  # unique in its set, such as ``jory-3/2``
    speaker: str  # who asks
    words: str  # what is asked
    kind: str  # one of :data:`KINDS`
    right: tuple[str, ...] = ()  # patterns of which one must match
    wrong: tuple[str, ...] = ()  # patterns of which none may match
    not_own: tuple[str, ...] = ()  # patterns of claims to another's life
    sample: str = ""  # a right answer, for the tests of the patterns
    how: str = TALK  # the command by which it is asked


@dataclass(frozen=True, slots=True)
class Together:
    """Questions that several speakers ask in the same moment."""

    questions: tuple[GradedQuestion, ...]


@dataclass(frozen=True, slots=True)
class Compact:
    """Filler talk and a compaction, so many times."""

    times: int  # how many compactions
    filler: tuple[str, ...]  # the lines that are said before each, over and over
    talked: int = 4  # how many of them are said to the agent, which answers; the rest is overheard


@dataclass(frozen=True, slots=True)
class Wait:
    """Time goes by; the agent lives on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Arrive:
    """A speaker comes to where the agent is."""

    speaker: str


@dataclass(frozen=True, slots=True)
class Leave:
    """A speaker leaves the game."""

    speaker: str


type Step = SpeakerLine | GradedQuestion | Together | Compact | Wait | Arrive | Leave


@dataclass(frozen=True, slots=True)
class TalkScene:
    """One talk with an agent that remembers nothing yet."""

    id: str  # unique in its set
    agent: str  # who is talked to
    steps: tuple[Step, ...]  # what happens, in order

    @property
    def questions(self) -> tuple[GradedQuestion, ...]:
        """Its questions in order."""
        return tuple(question for step in self.steps for question in questions_of(step))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Whoever speaks in it, in order of appearance."""
        return tuple(dict.fromkeys(name for step in self.steps for name in _speakers_of(step)))


@dataclass(frozen=True, slots=True)
class TalkSet:
    """One file of talks."""

    part: str  # ``tuning`` or ``held-out``
    places: Mapping[str, TalkRoom]  # its own rooms by id
    people: Mapping[str, TalkAgent]  # its agents by name
    speakers: tuple[str, ...]  # players by name
    scenes: tuple[TalkScene, ...]  # the talks

    @property
    def questions(self) -> tuple[GradedQuestion, ...]:
        """All questions in order."""
        return tuple(question for scene in self.scenes for question in scene.questions)


def questions_of(step: Step) -> tuple[GradedQuestion, ...]:
    """The questions that a step asks."""
    if isinstance(step, GradedQuestion):
        return (step,)
    return step.questions if isinstance(step, Together) else ()


def chosen(
    sets: Iterable[TalkSet], part: str = ALL, agent: str = "", limit: int = 0
) -> tuple[TalkSet, ...]:
    """The sets with only what was asked for."""
    left = limit or sum(len(each.questions) for each in sets)
    found: list[TalkSet] = []
    for each in sets:
        if part not in (ALL, each.part):
            continue
        scenes = [s for s in each.scenes if agent.casefold() in ("", s.agent.casefold())]
        cut = tuple(_first(scenes, left))
        left -= sum(len(scene.questions) for scene in cut)
        if cut:
            found.append(replace(each, scenes=cut))
    return tuple(found)


def _first(scenes: Sequence[TalkScene], limit: int) -> Iterator[TalkScene]:
    """The scenes up to that many questions; the last one ends after its last question."""
    for scene in scenes:
        steps: list[Step] = []
        for step in scene.steps:
            if limit <= 0:
                break
            steps.append(step)
            limit -= len(questions_of(step))
        if steps:
            yield replace(scene, steps=tuple(steps))


def _speakers_of(step: Step) -> tuple[str, ...]:
    if isinstance(step, Together):
        return tuple(question.speaker for question in step.questions)
    return (step.speaker,) if isinstance(step, SpeakerLine | GradedQuestion | Arrive) else ()
