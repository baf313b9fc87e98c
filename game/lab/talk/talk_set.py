"""What a set of talks holds, and how it is read from YAML; ``docs/talk.md`` describes the file.

What cannot be played is refused with its line and the cure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from game.lab.talk.patterns import compiled
from keepsake.errors import ConfigError, KeepsakeError
from world.atlas import with_ties

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

_UNITS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0}
_LONGEST_DAYS = 30
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day)s?")
_SPOKEN = {"say": TALK, "aloud": SAY, "whisper": WHISPER}
_FORMS = (
    "write {speaker, say}, {speaker, whisper}, {speaker, aloud}, {speaker, ask, kind, right}, "
    "{together}, {compact}, {wait}, {arrive} or {leave}"
)


# -- what single values may be


def _one_line(text: str) -> str:
    if not text.strip():
        raise ValueError("write a text there")
    return " ".join(text.split())


def _pattern(text: str) -> str:
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no pattern ({error})") from error
    return text


def _span(written: object) -> float:
    match = _SPAN.fullmatch(str(written).strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= _LONGEST_DAYS * _UNITS["day"]:
        cure = f"write such as 20 minutes, 3 hours, 2 days; {_LONGEST_DAYS} days at most"
        raise ValueError(cure)
    return seconds


def _known(among: str | Collection[str]) -> AfterValidator:
    """One of these, or of the names that stand in that section of the file."""

    def check(name: str, info: ValidationInfo) -> str:
        there = (info.context or {}).get(among) if isinstance(among, str) else among
        if there is not None and name not in there:
            raise ValueError(f"it is unknown; use one of: {', '.join(there)}")
        return name

    return AfterValidator(check)


def _once(names: Sequence[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two {what} {name!r}; rename one")


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


type Text = Annotated[str, AfterValidator(_one_line)]
type How = Annotated[str, _known((TALK, SAY, WHISPER))]
type Speaker = Annotated[Text, _known("speakers")]
type Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_pattern)], ...], BeforeValidator(_listed)
]


# -- what stands in a file


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, populate_by_name=True
    )


class TalkRoom(_Table):
    """A room of the set's own."""

    name: Text
    desc: Text  # what is seen there


class TalkAgent(_Table):
    """An agent of the set: a shipped one, or a new one."""

    shipped: str = ""  # the id of the shipped agent that it is; empty for a new one
    place: Annotated[Text, _known("places")] = ""
    profile: Text = ""  # who it is, in the second person
    # script lines that show its voice; none for an agent as ``@agent/create`` makes it
    examples: tuple[str, ...] = ()
    ties: dict[str, str] = Field(default_factory=dict)  # what others are to it, by name

    @model_validator(mode="after")
    def _is_one_of_both(self) -> TalkAgent:
        given = [bool(each) for each in (self.shipped, self.place, self.profile)]
        if given not in ([True, False, False], [False, True, True]):
            raise ValueError("an agent has either 'shipped', or 'place' and 'profile'")
        return self

    @property
    def whole_profile(self) -> str:
        """The profile with the ties behind it, as the shipped world writes them."""
        return with_ties(self.profile, self.ties)


class SpeakerLine(_Table):
    """Something that a speaker tells the agent."""

    speaker: Speaker
    words: Text
    how: How = TALK

    @model_validator(mode="before")
    @classmethod
    def _by_command(cls, raw: Any) -> Any:
        key = next((key for key in _SPOKEN if key in raw), None)
        if key is None:
            return raw
        rest = {name: value for name, value in raw.items() if name != key}
        return {**rest, "words": raw[key], "how": _SPOKEN[key]}


class GradedQuestion(_Table):
    """A question whose answer is graded."""

    id: str = ""  # unique in its set, such as ``jory-3/2``
    speaker: Speaker  # who asks
    words: Text = Field(alias="ask")  # what is asked
    kind: Annotated[str, _known(KINDS)]
    right: Patterns = ()  # patterns of which one must match
    wrong: Patterns = ()  # patterns of which none may match
    not_own: Patterns = ()  # patterns of claims to another's life
    sample: str = ""  # a right answer, for the tests of the patterns
    how: How = TALK
    beside: Patterns = ()  # what is right for those who ask in the same moment

    @model_validator(mode="after")
    def _can_be_right(self) -> GradedQuestion:
        if not self.right and self.kind not in (SMALL_TALK, UNKNOWN):
            raise ValueError(f"the question {self.words!r} has no 'right'; give it one")
        return self


class Together(_Table):
    """Questions that several speakers ask in the same moment."""

    questions: tuple[GradedQuestion, ...] = Field(alias="together", min_length=1)

    @model_validator(mode="after")
    def _each_asks_once(self) -> Together:
        _once([each.speaker for each in self.questions], "questions are asked by")
        return self


class Compact(_Table):
    """Filler talk and a compaction, so many times."""

    times: int = Field(alias="compact", strict=True, ge=1, le=10)  # how many compactions
    filler: tuple[str, ...]  # the lines that are said before each, over and over
    # how many of them are said to the agent, which answers; the rest is overheard
    talked: int = Field(4, strict=True, ge=0)

    @field_validator("filler", mode="before")
    @classmethod
    def _of_that_name(cls, name: Any, info: ValidationInfo) -> Any:
        if info.context is None:
            return name
        there = info.context["filler"]
        if name not in there:
            raise ValueError(f"it is unknown; use one of: {', '.join(there)}")
        if len(info.context["speakers"]) < 2:
            raise ValueError("filler is talk between two speakers; name a second one")
        return there[name]


class Wait(_Table):
    """Time goes by; the agent lives on."""

    seconds: Annotated[float, BeforeValidator(_span)] = Field(alias="wait")


class Arrive(_Table):
    """A speaker comes to where the agent is."""

    speaker: Speaker = Field(alias="arrive")


class Leave(_Table):
    """A speaker leaves the game."""

    speaker: Speaker = Field(alias="leave")


def _form(raw: Any) -> str | None:
    keys = ("together", "ask", *_SPOKEN, "arrive", "leave", "wait", "compact")
    found = next((key for key in keys if isinstance(raw, dict) and key in raw), None)
    return "say" if found in _SPOKEN else found


type Step = Annotated[
    Annotated[SpeakerLine, Tag("say")]
    | Annotated[GradedQuestion, Tag("ask")]
    | Annotated[Together, Tag("together")]
    | Annotated[Compact, Tag("compact")]
    | Annotated[Wait, Tag("wait")]
    | Annotated[Arrive, Tag("arrive")]
    | Annotated[Leave, Tag("leave")],
    Discriminator(
        _form,
        custom_error_type="step",
        custom_error_message=f"the step is of no known form; {_FORMS}",
    ),
]


class TalkScene(_Table):
    """One talk with an agent that remembers nothing yet."""

    id: Text = Field(alias="scene")  # unique in its set
    agent: Annotated[Text, _known("agents")]  # who is talked to
    steps: tuple[Step, ...] = Field(min_length=1)  # what happens, in order

    @field_validator("steps")
    @classmethod
    def _numbered(cls, steps: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        names = (f"{info.data.get('id')}/{number}" for number in count(1))
        return tuple(_named(step, names) for step in steps)

    @property
    def questions(self) -> tuple[GradedQuestion, ...]:
        """Its questions in order."""
        return tuple(question for step in self.steps for question in questions_of(step))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Whoever speaks in it, in order of appearance."""
        return tuple(dict.fromkeys(name for step in self.steps for name in _speakers_of(step)))


class TalkSet(_Table):
    """One file of talks."""

    part: Annotated[str, _known(PARTS)]
    places: dict[str, TalkRoom] = Field(default_factory=dict)  # its own rooms by id
    people: dict[str, TalkAgent] = Field(alias="agents")  # its agents by name
    speakers: tuple[str, ...] = Field(min_length=1)  # players by name
    filler: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    scenes: tuple[TalkScene, ...] = Field(alias="talks", min_length=1)

    @model_validator(mode="after")
    def _names_are_unique(self) -> TalkSet:
        _once([*self.speakers, *self.people], "speakers or agents are called")
        _once([scene.id for scene in self.scenes], "talks are called")
        return self

    @property
    def questions(self) -> tuple[GradedQuestion, ...]:
        """All questions in order."""
        return tuple(question for scene in self.scenes for question in scene.questions)


def questions_of(step: Step) -> tuple[GradedQuestion, ...]:
    """The questions that a step asks."""
    if isinstance(step, GradedQuestion):
        return (step,)
    return step.questions if isinstance(step, Together) else ()


def _speakers_of(step: Step) -> tuple[str, ...]:
    if isinstance(step, Together):
        return tuple(question.speaker for question in step.questions)
    return (step.speaker,) if isinstance(step, SpeakerLine | GradedQuestion | Arrive) else ()


def _named(step: Any, names: Iterator[str]) -> Any:
    """The step, its questions with the next names."""
    if isinstance(step, GradedQuestion):
        return step.model_copy(update={"id": next(names)})
    if isinstance(step, Together):
        asked = tuple(_named(each, names) for each in step.questions)
        asked = tuple(
            each.model_copy(update={"beside": _right([e for e in asked if e is not each])})
            for each in asked
        )
        return step.model_copy(update={"questions": asked})
    return step


def _right(questions: Sequence[GradedQuestion]) -> tuple[str, ...]:
    return tuple(pattern for each in questions for pattern in each.right)


# -- reading and choosing


def read_talks(path: Path) -> tuple[TalkSet, ...]:
    """The sets of a file, or of every ``.yaml`` file of a folder.

    Raises:
        KeepsakeError: There is no such file.
        ConfigError: A file cannot be read or played; with line and reason.
    """
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        cure = "Name a .yaml file, or a folder of them"
        raise KeepsakeError(f"There are no talks in {path}", cure)
    return tuple(map(_read, files))


class _Loader(yaml.SafeLoader):
    """Loads YAML in which no key may stand twice in a table."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """A table."""
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"{key!r} stands there twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return super().construct_mapping(node, deep=deep)


def _read(path: Path) -> TalkSet:
    try:
        text = path.read_text(encoding="utf-8")
        data, tree = yaml.load(text, _Loader), yaml.compose(text, yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, 1, f"it cannot be read ({error})", "Mend it") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        reason = f"it is no YAML ({error.problem})"
        raise ConfigError(path, line, reason, "Mind quotes and indentation") from error
    sections = data if isinstance(data, dict) else {}
    names = {key: sections.get(key) or () for key in ("places", "agents", "speakers", "filler")}
    known = {key: each if isinstance(each, Collection) else () for key, each in names.items()}
    try:
        return TalkSet.model_validate(data, context=known)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = "it is unknown there"
        if first["loc"]:
            value = f" is {first['input']!r}" if isinstance(first["input"], str | int) else ""
            reason = f"{first['loc'][-1]!r}{value}: {reason}"
        cure = 'See docs/talk.md, "The file"'
        raise ConfigError(path, _line_of(tree, first["loc"]), reason, cure) from error


def _line_of(node: Any, where: Iterable[str | int]) -> int:
    """The line of the innermost table on the way to a value."""
    line = 1
    for key in (*where, None):
        if isinstance(node, yaml.MappingNode):
            line = node.start_mark.line + 1
            node = next((value for name, value in node.value if name.value == key), node)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            node = node.value[key]
    return line


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
            found.append(each.model_copy(update={"scenes": cut}))
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
            yield scene.model_copy(update={"steps": tuple(steps)})
