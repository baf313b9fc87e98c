"""A scene: the plain data from which the prompt of a character's turn is made.

A turn, a builder's preview and a warm-up build it by the same function
(:func:`keepsake.agent.turns.prompts.scene.scene_of`). The prompt forms
(:mod:`keepsake.tasks.forms`) render it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from keepsake.archive.records import Memory
from keepsake.books.person_line import PersonLine
from keepsake.language.perception import for_prompt
from keepsake.prompt.verbs import Verb
from keepsake.tasks.conversation import example_line
from keepsake.tasks.stated import NOTHING_STATED, Stated

LONGEST_LINE = 2000
"""The most characters of one line of the scene, such as what the agent knows of a person."""
LONGEST_TEXT = 20_000
"""The most characters of a persona or a summary in a prompt."""


MOST_RESTED_ON = 5
"""The best recalled excerpts that count as what an answer rests on. A prompt after a compaction
shows a dozen, and most of them bear on nothing."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Recalled memories as one line of a prompt, and the numbers of these memories."""

    numbers: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The data from which the prompt of a character's turn is made."""

    name: str
    persona: str = ""  # the whole persona
    written: str = (
        ""  # the persona as it was written, before the game changed it; empty if it is so
    )
    # where the two differ, in pairs: sentences that no longer hold, and what holds instead; one of
    # a pair may be empty
    no_longer: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()  # usages of the deeds that are always possible
    # usages, without names, of the deeds that need a person, a thing or an exit
    directed: tuple[str, ...] = ()
    longterm: str = ""  # the long-term summary
    longterm_span: str = ""  # the numbers of its memories: ``1 to 214``
    recent: str = ""  # the short-term summary
    recent_span: str = ""
    now: str = ""  # ``Thursday 26 November 2026, late evening, 22:14``
    daytime: str = ""  # the same without the clock
    moment: str = ""  # the clock alone if the window tells the rest, else the same as `now`
    place: str = ""
    description: str = ""
    detail: str = ""  # what a look at the detail of the room shows that the partner names
    here: tuple[str, ...] = ()  # people
    things: tuple[str, ...] = ()
    details: tuple[str, ...] = ()  # parts of the place that can be looked at
    lying: tuple[str, ...] = ()  # things that can be picked up
    carried: tuple[str, ...] = ()  # the names of the things that the character carries
    belongings: tuple[str, ...] = ()  # the same with descriptions: ``log page (Folded small …)``
    exits: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()  # other facts from the game
    usual: str = ""  # what the character does on an ordinary day
    usual_now: str = ""  # what it does at this hour of such a day
    ways: tuple[str, ...] = ()  # the exits with their destinations: ``north to The Quay``
    people: tuple[str, ...] = ()  # what the character knows of the people who are present
    known: tuple[PersonLine, ...] = ()  # the same in parts
    recalled: tuple[Excerpt, ...] = ()  # related memories, the best first
    # related words that others said before, the best first: ``Tom said, "Hello."``
    told: tuple[Excerpt, ...] = ()
    # what the persona says of those whom a question is about: ``Joss, the ferryman``
    knows: tuple[str, ...] = ()
    experiences: tuple[str, ...] = ()  # related earlier summaries
    notes: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()  # what the character means to do, with numbers
    intentions: tuple[str, ...] = ()  # the same in plain words, for a model that writes no deeds
    open_plans: tuple[str, ...] = ()  # those that anybody may know, without their progress
    progress: tuple[str, ...] = ()  # how far the others of them are: ``3. row (begun)``
    private_plans: tuple[str, ...] = ()  # the others
    may_plan: bool = False  # whether the character can make plans
    missed: tuple[str, ...] = ()  # plans whose time passed lately
    due: str = ""  # the plan that is the reason for the turn, and why it is due
    due_now: str = ""  # its beginning, if it is among the open plans
    options: tuple[str, ...] = ()  # usages of the deeds that are possible now, with names
    own_deeds: tuple[str, ...] = ()  # those of them that the game adds, without names
    not_now: tuple[str, ...] = ()  # names of directed deeds that may not be used in this turn
    # lines that only those who hear the answer know, if the window shows them without their words
    confided: tuple[str, ...] = ()
    whispered: bool = False  # whether the character answers a whisper
    invitation: str = ""  # where and when the partner asks it to meet: ``The Quay, Sunday …``
    partner: str = ""  # the person who is answered; empty for nobody
    came: tuple[str, ...] = ()  # who else has come, if the partner has come
    also: tuple[str, ...] = ()  # open questions of others to the character, with their names
    words: str = ""  # what the partner said, if something else that is answered came after it
    asked: str = ""  # what the partner said, if nothing came after it
    earlier: str = ""  # in the same case, the line of what the partner did, if it was no speech
    asks_all: str = ""  # who has asked everybody here, if nobody is answered
    called_by: str = ""  # who calls the character by its name from another room
    concern: str = ""  # what of the character's own the words of others bear on
    occasion: str = ""  # what the character may begin something from, if nobody turned to it
    trigger: str = ""  # why the character thinks: ``addressed``, ``arrival``, ``idle`` …
    examples: tuple[str, ...] = ()  # lines that show its voice: ``~Mira> say Sit down.``
    pinned: tuple[str, ...] = ()  # pins, verbatim
    noticed: tuple[str, ...] = ()  # requests to the character, and its promises
    # of both what everybody may know, and the rest, which only those who hear the answer know
    kept: tuple[str, ...] = ()
    private_kept: tuple[str, ...] = ()
    still_kept: tuple[str, ...] = ()  # `kept`, with what the window shows itself
    let_go: tuple[str, ...] = ()  # what the conversation tells of `still_kept` and is not there now
    commands: tuple[str, ...] = ()  # usages for a transcript: ``say <words>: speak so that …``
    refused: str = ""  # why the last answer was refused; empty at the first attempt
    window: tuple[Memory, ...] = ()  # the memories that the audience may know, oldest first
    # the deeds for a model that calls tools, each with its usage
    tools: tuple[tuple[Verb, str], ...] = ()
    answers: tuple[int, ...] = ()  # the numbers of the memories that are answered
    # the numbers of what was said to the character that gets no answer any more
    passed_over: frozenset[int] = frozenset()
    found: tuple[int, ...] = ()  # those of what the character looked up, as the window shows it
    portraits: tuple[str, ...] = ()  # what the pages of those here conclude; `people` shows it
    stated: Stated = NOTHING_STATED  # the facts of the moment that stand in the conversation
    # the numbers of private memories on which promises, plans and pages rest that are shown
    private: tuple[int, ...] = ()

    def variables(self) -> dict[str, Any]:
        """Return the variables of ``talk.md``, cleaned of text that could pass for another part."""
        values = {name: self.variable(name) for name in _VARIABLES}
        return values | {"always": values["pinned"] + values["noticed"]}

    def variable(self, name: str) -> Any:
        """Return one variable, made from the field of that name."""
        value: Any = getattr(self, name)
        if name == "recalled":  # a reader follows them best in order of time
            value = tuple(each.text for each in sorted(value, key=lambda each: each.numbers))
        elif name == "told":
            value = tuple(each.text for each in value)
        elif name == "examples":
            value = tuple(example_line(each, self.name) for each in value)
        if isinstance(value, str):
            lines = value.splitlines() if name in _PARAGRAPHS else [value]
            return "\n".join(for_prompt(x, limit=LONGEST_TEXT) for x in lines)
        if isinstance(value, tuple) and name not in _WITH_MARKUP:
            return [*filter(None, (for_prompt(each, limit=LONGEST_LINE) for each in value))]
        return [*value] if isinstance(value, tuple) else value

    def rests_on(self, *shown: str) -> tuple[int, ...]:
        """Return the numbers of the memories that bear on the answer, in order.

        Args:
            shown: Which of ``recalled`` and ``told`` the prompt shows.
        """
        excerpts = [each for name in shown for each in getattr(self, name)[:MOST_RESTED_ON]]
        recalled = {number for each in excerpts for number in each.numbers}
        return tuple(sorted(recalled.union(self.answers, self.found)))


_PARAGRAPHS = ("persona", "written", "longterm", "recent")
_WITH_MARKUP = ("deeds", "directed", "options", "own_deeds", "commands", "known")
"""Not cleaned: ``<thing>`` is a placeholder, and lines about people are cleaned when shown."""
_DATA = (
    "window",
    "tools",
    "answers",
    "passed_over",
    "found",
    "portraits",
    "known",
    "stated",
    "private",
)
"""Fields that are no variables."""
_VARIABLES = tuple(each.name for each in fields(Scene) if each.name not in _DATA)
TALK_VARIABLES = frozenset({*_VARIABLES, "always", "talk", "window", "cursor"})
"""The names that ``talk.md`` and ``act.md`` may use."""


def shrinking(scene: Scene, names: Sequence[str]) -> Iterator[tuple[Scene, dict[str, Any]]]:
    """Yield the scene and its variables, then again with one line less of ``names`` each time."""
    values = scene.variables()
    yield scene, values
    for name in names:
        while value := getattr(scene, name):
            shorter: dict[str, Any] = {name: "" if isinstance(value, str) else value[:-1]}
            scene = replace(scene, **shorter)
            values = values | {name: scene.variable(name)}
            yield scene, values
