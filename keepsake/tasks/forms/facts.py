"""Facts of the moment that stand in the conversation of a chat prompt.

:mod:`keepsake.tasks.stated` says why. Each block of :data:`BLOCKS` in ``talk.md`` is one fact, or
one for each person or plan. A template without these blocks tells everything in its ``turn``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepsake.archive.records import Memory
from keepsake.books.person_line import PersonLine
from keepsake.language.perception import for_prompt, sentences
from keepsake.prompt.sections import PromptLine
from keepsake.tasks.conversation import asks
from keepsake.tasks.scene import Scene, shrinking
from keepsake.tasks.stated import Stated, Statement

PLACE = "surroundings"
PERSON = "person"
PLAN = "intention"
CHANGE = "changed"
KEEP = "keep"
BLOCKS = (PLACE, "objects", "belongings", "daily", CHANGE, KEEP, PERSON, PLAN)
"""The blocks of ``talk.md`` whose text stands in the conversation, in the order of a prompt."""
_OF_PLACE = (PLACE, "objects")
"""Blocks about the place. What they tell holds again when the character comes back."""
_SHRINKS = ("known", "details", "things", "description")
"""Variables that are shortened if the facts take too much of a prompt, in this order."""
_NEW_SHARE = 4
"""All facts of the moment may use one part in this many of a prompt, as recall may."""
_OLD_SHARE = 6
"""Facts that stand may use one part in this many of a prompt. Most hold no more, so less than
recall may use."""

type Mark = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Marks variables, so that each line shows from which one it comes."""
type Render = Callable[[str, Mapping[str, Any]], list[PromptLine]]
"""Renders a block of ``talk.md`` with marked variables."""
type Cost = Callable[[Sequence[PromptLine]], int]
"""Returns the tokens of lines."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Makes the statements of a form.

    Attributes:
        mark: Marks variables.
        render: Renders a block.
        cost: Counts tokens.
        budget: The most tokens of a prompt.
    """

    mark: Mark
    render: Render
    cost: Cost
    budget: int

    def stated(self, scene: Scene, lost: Sequence[Statement] = ()) -> Stated:
        """Return what stands in the conversation, with what the prompt of a scene tells anew.

        Args:
            lost: Statements for which the window has no room. What still holds is told anew.
        """
        # What somebody confided stands in the pages of a whispered turn: it is told at its end.
        scene = replace(scene, known=()) if scene.whispered else scene
        window = scene.window
        newest = window[-1].number if window else 0
        after = newest if lost else _place_of_news(scene)
        before = scene.stated.behind(window[0].number if window else 0).without(lost)
        before = before.without([*_changes_undone(scene, before)])
        if not scene.may_plan:  # the setting has changed: nothing stands of what it meant to do
            before = before.without([each for each in before.statements if _is_plan(each)])
        now = self._now(scene, before, after)
        if self._costs(before.statements) > self.budget // _OLD_SHARE:
            before = before.among(now)
            now = self._now(scene, before, after)
        return before.with_new(filter(before.lacks, now), newest)

    def _now(self, scene: Scene, before: Stated, after: int) -> tuple[Statement, ...]:
        """Return the facts of the moment, with as much of each as fits; of people what is new."""
        told = self._fitted(scene, before, after)
        if _is_described(scene, before, told):
            told = self._fitted(replace(scene, description=""), before, after)
        return told

    def _fitted(self, scene: Scene, before: Stated, after: int) -> tuple[Statement, ...]:
        told: tuple[Statement, ...] = ()
        for shown, values in shrinking(scene, _SHRINKS):
            told = tuple(self._statements(shown, values, before, after))
            if self._costs(told) <= self.budget // _NEW_SHARE:
                break
        return told

    def _statements(
        self, scene: Scene, values: dict[str, Any], before: Stated, after: int
    ) -> Iterator[Statement]:
        """Yield a statement for each block that says something."""
        marked = self.mark(values)
        for block in BLOCKS:
            for about, more, parts in _each(block, scene, before):
                lines = tuple(self.render(block, {**marked, **self.mark(more)} if more else marked))
                if any(line for line, _ in lines):
                    place = scene.place if block == PLACE else ""
                    fact = Statement(after, f"{block}: {about}", lines, place, parts)
                    yield self._changed(fact, values, marked, before) if place else fact

    def _changed(
        self, fact: Statement, values: dict[str, Any], marked: dict[str, Any], before: Stated
    ) -> Statement:
        """Return a description of a place, or its new sentences if the others stand already.

        If sentences are gone and none came for them, the whole is told: else the old ones would
        seem to hold.
        """
        last = before.last(fact.about)
        if last is None or last.says(fact):
            return fact
        told = {part for line, _ in last.fact for part in sentences(line)}
        described = sentences(values["description"])
        new = [each for each in described if each not in told]
        if not new or len(new) == len(described):
            return fact
        shown = {**marked, **self.mark({"description": " ".join(new)})}
        return replace(fact, lines=tuple(self.render(PLACE, shown)), whole=fact.lines)

    def _costs(self, statements: Sequence[Statement]) -> int:
        return self.cost([line for each in statements for line in each.lines])


def _each(
    block: str, scene: Scene, before: Stated
) -> Iterator[tuple[str, dict[str, Any], frozenset[str]]]:
    """Yield what a block tells of, the variables that differ, and the parts of what it tells."""
    if block == PERSON:
        for line in news_of_people(scene.known, before):
            yield line.about, {"people": [line.text]}, line.parts
    elif block == CHANGE:
        for about, pair in _changes(scene):
            yield about, pair, frozenset()
    elif block == KEEP:
        for kept in scene.variable("kept"):
            yield kept, {"kept": [kept]}, frozenset()
        for former in _let_go(scene, before):
            yield former, {"kept": [], "let_go": [former]}, frozenset()
    elif block == PLAN:
        for plan in scene.variable("open_plans"):
            yield plan, {"open_plans": [plan]}, frozenset()
    else:
        yield scene.place if block in _OF_PLACE else "", {}, frozenset()


def _let_go(scene: Scene, before: Stated) -> list[str]:
    """Return the pins, promises and rules that stand in the conversation and do not hold now."""
    told = (each.about.partition(": ") for each in before.statements)
    stand = dict.fromkeys(line for block, _, line in told if block == KEEP)
    return [*filter(lambda line: line not in scene.variable("still_kept"), stand)]


def _changes(scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what has changed of the persona since it was written: what it is of, and a pair."""
    for former, latter in zip(scene.no_longer, scene.instead, strict=True):
        pair = {"no_longer": [former], "instead": [latter]}
        shown = {name: [*filter(None, map(for_prompt, told))] for name, told in pair.items()}
        yield former or latter, shown


def _changes_undone(scene: Scene, before: Stated) -> Iterator[Statement]:
    """Yield what stands of changes of the persona that do not hold any more."""
    holds = {f"{CHANGE}: {about}" for about, _ in _changes(scene)}
    for each in before.statements:
        if each.about.startswith(f"{CHANGE}: ") and each.about not in holds:
            yield each


def without_kept(stated: Stated) -> Stated:
    """Return what stands in the conversation besides pins, promises and rules."""
    return stated.without([x for x in stated.statements if x.about.startswith(f"{KEEP}: ")])


def news_of_people(known: Iterable[PersonLine], stated: Stated) -> list[PersonLine]:
    """Return what the conversation does not tell of people."""
    told = stated.parts
    named = {each.about for each in stated.statements}
    lines = (each.without(told) for each in known)
    return [each for each in lines if each.quotes or f"{PERSON}: {each.about}" not in named]


def _place_of_news(scene: Scene) -> int:
    """Return the memory behind which new facts stand: the last before what is answered.

    So a prompt ends with the words that are answered. What the last prompt showed, and what the
    character has done, stays before them.
    """
    newest = scene.window[-1].number if scene.window else 0
    own = (each.number for each in reversed(scene.window) if each.is_own)
    old = max(scene.stated.seen, next(own, 0))
    answered = [number for number in scene.answers if old < number <= newest]
    if not answered and old < newest and asks(scene.window[-1]):
        return newest - 1  # words that a prompt supposes, so that a model reads the facts ahead
    return min(answered, default=newest + 1) - 1


def _is_described(scene: Scene, before: Stated, now: Sequence[Statement]) -> bool:
    """Whether the place need not be described, because a look in the window did so."""
    told = for_prompt(scene.description)
    stands = any(each.says(fact) for fact in now if fact.place for each in before.statements)
    return bool(told) and not stands and any(told in _text_of(each) for each in scene.window)


def _text_of(memory: Memory) -> str:
    return for_prompt(memory.line)


def _is_plan(statement: Statement) -> bool:
    return statement.about.startswith(f"{PLAN}: ")
