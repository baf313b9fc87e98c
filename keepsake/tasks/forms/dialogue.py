"""The form of small models that continue text: a dialogue, whose next line is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from keepsake.archive.message_types import MOVES
from keepsake.archive.records import Memory
from keepsake.books.persona import known_of, open_lines
from keepsake.language.perception import for_prompt, is_question, names, sentences, telling
from keepsake.language.persons import Whom, about_whom
from keepsake.language.recited import bare
from keepsake.ports import FormName, GenerationRequest
from keepsake.prompt.sections import PromptLine, Rendered
from keepsake.tasks.conversation import dialogue_line, in_pieces
from keepsake.tasks.forms.form import (
    LAST_LINES,
    SHRINK_ORDER,
    Prompt,
    PromptForm,
    PromptLimits,
)
from keepsake.tasks.others import OtherVoices
from keepsake.tasks.scene import Scene, shrinking

MOST_KNOWN = 2
"""The most things that a prompt repeats because a question is about them: a small model follows few
lines."""
LEAST_SHARED = 2
"""A single word that a question shares with what the character knows is chance."""
_GIVEN_UP = LAST_LINES // 4
"""How many of the oldest lines give way at a time if a dialogue is too long. So the next prompts
begin like this one, until these lines are used up, too."""
_LEAST_TALK = 2
"""The lines that stay: what is answered, and what was said before it."""
_OWN_SPREAD = 1.0
"""The temperature of the second try, at which a model writes as it was trained. A dialogue cannot
tell it why the first answer was refused, and at a low temperature it writes the same again."""
_STOP = ("\n", "(")
"""Strings that end an answer. Text in brackets is an event, not speech."""


def newest_words(scene: Scene) -> str:
    """Return what the partner said last of all that is answered: a small model answers one line."""
    heard = [each.heard for each in scene.window if each.number in scene.answers]
    said = [each.words for each in heard if each is not None]
    return said[-1] if said else scene.words


def talk_of(scene: Scene) -> list[Memory]:
    """Return the memories of the window that a dialogue shows, oldest first.

    Left out are questions that got no answer, as a model would continue with one, and how people
    came who have spoken since: a small model takes the place that they came from for their home.
    """
    shown = list[Memory]()
    spoke = set[str]()
    for memory in reversed(scene.window):
        if (said := memory.heard) is not None:
            spoke.add(said.speaker.key)
        came = memory.event in MOVES and memory.actor is not None and memory.actor.key in spoke
        if memory.number not in scene.passed_over and not came:
            shown.append(memory)
    return shown[::-1]


def foreign_words(scene: Scene) -> tuple[str, ...]:
    """Return the words of others that are no answer: those that are answered, or else all.

    A small model that does not know what to say copies a line, also one that says who somebody
    else is. To a question the words of another one may be the right answer.
    """
    heard = [each for each in scene.window if each.heard is not None]
    asked = [each for each in heard if each.number in scene.answers]
    return tuple(each.heard.words for each in asked or heard if each.heard is not None)


def questions_of_others(scene: Scene) -> tuple[str, ...]:
    """Return the questions that others have asked. A small model asks them again as its own."""
    said = (each.heard.words for each in scene.window if each.heard is not None)
    return tuple(each for words in said for each in sentences(words) if is_question(each))


def people_beside(scene: Scene, talk: Sequence[str]) -> tuple[str, ...]:
    """Return what the character knows of those here, without what the talk shows already.

    A small model says such a line again as it stands, with its marks.
    """
    if not scene.known:
        return scene.people
    shown = bare(" ".join(talk))
    lines = []
    for line in scene.known:
        told = {quote for quote in line.parts if bare(quote) in shown}
        lines.append(line.without(told).text)
    return tuple(lines)


def nearest_sentence(text: str, words: str) -> str:
    """Return the sentence of a text that shares the most words with others; else the first."""
    about = telling(words)
    return max(sentences(text), key=lambda each: len(about & telling(each)), default="")


def known_about(persona: str, words: str) -> tuple[str, ...]:
    """Return what a persona says of those whom a question is about: ``Joss, the ferryman``.

    A small model does not find it in the persona, far above: it denies that it knows them. An entry
    bears on a question that has its name, or else at least :data:`LEAST_SHARED` of its words. A
    question about what the asker said is not about what the character knows.
    """
    if not is_question(words) or about_whom(words) is Whom.ASKER:
        return ()
    about = telling(words)
    entries = known_of(persona)
    named = [entry for entry in entries if names(words, entry[0])]
    alike = [each for each in entries if len(about & telling(each[1])) >= LEAST_SHARED]
    return tuple(f"{name}, {what}" for name, what in (named or alike)[:MOST_KNOWN])


def _shorter_and_shorter(
    scene: Scene, talk: Sequence[str]
) -> Iterator[tuple[Scene, dict[str, Any], Sequence[str]]]:
    """Yield the scene, its variables and its talk, then again with less each time.

    The oldest lines give way before what was recalled for the question and the examples of the
    character's voice: a dialogue always fits, however long its lines are.
    """
    shown = scene
    for shown, values in shrinking(scene, SHRINK_ORDER):
        yield shown, values, talk
    while len(talk) > _LEAST_TALK:
        talk = talk[min(_GIVEN_UP, len(talk) - _LEAST_TALK) :]
        yield shown, shown.variables(), talk
    for least, values in shrinking(shown, ("told", "examples")):
        yield least, values, talk


class DialogueForm(PromptForm):
    """A dialogue to continue: ``Tom: Hello.``, ``Mira:``."""

    name = FormName.DIALOGUE
    acts_unprompted = False
    writes_deeds = False
    reads_ahead = True
    unrepeated = LAST_LINES  # small models tend to repeat themselves

    @property
    def limits(self) -> PromptLimits:
        """Only the last lines are shown."""
        return PromptLimits(shown_lines=LAST_LINES)

    def beside(self, scene: Scene) -> tuple[str, ...]:
        """Return nothing: a small model needs what it is asked for next to the question."""
        return ()

    def render(self, scene: Scene) -> Prompt:
        """Return the dialogue. It has no rule about secrets, so the persona is shown without."""
        known = known_about(scene.persona, scene.words or scene.asked)
        scene = replace(scene, persona=" ".join(open_lines(scene.persona)), knows=known)
        name = scene.name
        talk = [*filter(None, (dialogue_line(memory, name) for memory in talk_of(scene)))]
        # The lines grow to twice the least number and are then cut back to it, so that most
        # prompts begin like the previous one and the server's prefix cache works.
        talk = talk[max(len(talk) // LAST_LINES - 1, 0) * LAST_LINES :]
        if scene.words:  # others have spoken since
            talk.append(f"{for_prompt(scene.partner)}: {for_prompt(newest_words(scene))}")
        # All of it would be read anew at every turn, and a look may stand in the talk already.
        seen = nearest_sentence(scene.description, scene.words or scene.asked)
        in_talk = any(seen in line for line in talk)
        scene = replace(
            scene,
            description="" if in_talk else seen,
            people=people_beside(scene, talk),
        )
        lines: list[PromptLine] = []
        shown = scene
        instructions = ""
        beside: tuple[str, ...] = ()
        for shown, values, lately in _shorter_and_shorter(scene, talk):
            # These tokens are evaluated again at every turn, and a small model is slow.
            more: dict[str, Any] = {
                "talk": lately,
                "now": values["daytime"],
                "people": [each for each in values["people"] if each.startswith(shown.partner)],
            }
            lines = self.lines(self.talk, "dialogue", values, **more)
            beside = (*more["people"], *values["intentions"])
            instructions = "\n".join((shown.persona, *values["examples"], *beside))
            if self.tokens_of(lines) <= self.budget:
                break
        text = "\n".join(line for line, _ in lines)
        return Prompt(
            request=GenerationRequest(
                text, stop=_STOP, temperature=_OWN_SPREAD if scene.refused else None
            ),
            rendered=Rendered(text, tuple(lines)),
            budget=self.budget,
            rests_on=shown.rests_on("told"),
            instructions=instructions,
            said=in_pieces(self.said(scene)),
            asked=self.asked(scene),
            foreign=foreign_words(scene),
            echoes=(*questions_of_others(scene), *beside),
            listed=", ".join(shown.here) if len(shown.here) > 1 else "",
            others=OtherVoices.of_scene(scene),
        )
