"""The shapes of requests and answers, as OpenAPI shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from keepsake.books.plan import Plan
from keepsake.happening import Manner, Person
from keepsake.library import happenings
from keepsake.library.happenings import MOST_CHARACTERS

MOST_PEOPLE = 100
"""The most people of one request."""

type Text = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
type Line = Annotated[str, Field(max_length=1000)]
type Id = Annotated[str, Field(pattern=r"^[\w:.-]{1,60}$")]
"""The id of a person, as the program gives it."""


class _Given(BaseModel):
    """A request: a field that is not known is an error, because it is a misspelling."""

    model_config = ConfigDict(extra="forbid")


class PersonShape(_Given):
    """A person with an id of the program's own."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    id: Id


type Named = Annotated[str, Field(min_length=1, max_length=200)] | PersonShape
type People = Annotated[list[Named], Field(max_length=MOST_PEOPLE)]


def named(who: Named) -> happenings.Who:
    """Return a person as the library takes it."""
    return who if isinstance(who, str) else Person(who.name, who.id)


def all_named(people: list[Named]) -> list[happenings.Who]:
    """Return several people as the library takes them."""
    return [named(each) for each in people]


class _Context(_Given):
    """The fields of everything that happened."""

    place: Line = ""
    time: datetime | None = None
    only_for: People | None = None
    happening: Line = ""
    rests_on: Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(max_length=100)] = []


class SpeechShape(_Context):
    """Somebody said something."""

    type: Literal["speech"] = "speech"
    speaker: Named
    words: Text
    to: People = []
    manner: Manner = Manner.SAY

    def told(self) -> happenings.Happened:
        """Return it as the library takes it."""
        to = all_named(self.to)
        return happenings.Speech(named(self.speaker), self.words, to, self.manner)


class DeedShape(_Context):
    """Somebody did something that really happened."""

    type: Literal["deed"]
    actor: Named
    verb: Annotated[str, Field(min_length=1, max_length=100)]
    objects: Annotated[list[Line], Field(max_length=MOST_PEOPLE)] = []
    to: People = []
    outcome: Line = ""
    shown: Line = ""

    def told(self) -> happenings.Happened:
        """Return it as the library takes it."""
        to = all_named(self.to)
        return happenings.Deed(
            named(self.actor), self.verb, self.objects, to, self.outcome, self.shown
        )


class PoseShape(_Context):
    """Somebody acted something out; it proves nothing."""

    type: Literal["pose"]
    actor: Named
    gesture: Text

    def told(self) -> happenings.Happened:
        """Return it as the library takes it."""
        return happenings.Pose(named(self.actor), self.gesture)


class SightShape(_Context):
    """Anything else that the agent perceives."""

    type: Literal["sight"]
    shown: Text
    source: Named | None = None

    def told(self) -> happenings.Happened:
        """Return it as the library takes it."""
        return happenings.Sight(self.shown, None if self.source is None else named(self.source))


type HappenedShape = SpeechShape | DeedShape | PoseShape | SightShape
"""What a memory perceives; without ``type`` it is speech."""


class QuestionShape(_Given):
    """Words to the agent."""

    words: Text
    by: Named
    whisper: bool = False
    here: People | None = None
    place: Line = ""
    facts: Annotated[list[Line], Field(max_length=20)] = []

    @property
    def hearers(self) -> list[happenings.Who] | None:
        """Who else hears the answer, as the library takes them."""
        return None if self.here is None else all_named(self.here)


class PromptQuestion(QuestionShape):
    """Words to the agent, for a prompt that another program sends to a model."""

    budget: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class PlanLine(_Given):
    """Something that the agent shall mean to do."""

    line: Annotated[str, Field(min_length=1, max_length=1000)]


class PlanEnd(_Given):
    """How a plan ended."""

    done: bool = True
    why: Line = ""


class ForgetRequest(_Given):
    """Whom to forget."""

    person: Named


class Remembered(BaseModel):
    """The number of a new memory."""

    number: int


class PlanShape(BaseModel):
    """Something that the agent means to do."""

    number: int
    what: str
    line: str
    state: str
    at: datetime | None
    where: str
    whom: str
    since: int

    @classmethod
    def of(cls, plan: Plan) -> PlanShape:
        """Return the shape of a plan."""
        return cls(
            number=plan.number,
            what=plan.what,
            line=plan.line,
            state=plan.state.value,
            at=plan.at,
            where=plan.where,
            whom=plan.whom.name if plan.whom else "",
            since=plan.since,
        )


class AnswerShape(BaseModel):
    """What the agent answered."""

    text: str
    gestures: list[str]
    number: int
    question: int
    rests_on: list[int]
    plans: list[PlanShape]
    model: str


class SummaryChange(BaseModel):
    """What a compaction or its undo did."""

    number: int
    detail: str


class AgentShape(BaseModel):
    """An agent of this service."""

    name: str
    rights: list[str]


class Problem(BaseModel):
    """An error: what is wrong, and what to do about it."""

    error: str
    cure: str
    kind: str
