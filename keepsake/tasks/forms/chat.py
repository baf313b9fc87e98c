"""The form of chat models: messages, the stable parts first.

The first message has the persona, how to answer and both summaries. The window follows as a
conversation, with pins and promises in it. The last message has what has just happened, the context
of the moment, and what is answered. So a prompt begins like the one before it, up to the newest
events, and a model server reads only what is new.

Whispers stand in the window without their words, whoever is answered. Their words follow in those
prompts that may show them (:mod:`keepsake.tasks.forms.confided`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from keepsake.archive.privacy import redacted
from keepsake.language.perception import for_prompt
from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage, FormName, GenerationRequest
from keepsake.prompt.sections import FRAME, PromptLine, Rendered
from keepsake.tasks.conversation import ChatTurn, turns_of
from keepsake.tasks.deed import tools_of
from keepsake.tasks.forms.confided import CONFIDED, Confidences
from keepsake.tasks.forms.facts import CHANGE, KEEP, Facts, news_of_people
from keepsake.tasks.forms.form import SHRINK_ORDER, Prompt, PromptForm, PromptLimits
from keepsake.tasks.others import OtherVoices
from keepsake.tasks.scene import Scene, shrinking
from keepsake.tasks.stated import Stated, Statement

_PER_MESSAGE = 4
"""Tokens that a chat template adds around each message."""
_CONFIDED_SHARE = 4
"""Whispered words may use one part in this many of the prompt: a quarter, as recall may."""
_STEP = 16
"""Turns of the window that are left out at a time, once it does not fit: eight answers or so."""


class ChatForm(PromptForm):
    """Messages for a chat endpoint."""

    name = FormName.CHAT

    @property
    def limits(self) -> PromptLimits:
        """The memory is fitted to the prompt, which shows the whole window."""
        return PromptLimits.of_conversation(self.target.prompt_tokens)

    def render(self, scene: Scene) -> Prompt:
        """Return the messages; the oldest lines of the window are left out if they do not fit."""
        if CHANGE in self.talk.parts:  # what the game has changed of the persona is a fact
            scene = replace(scene, persona=scene.written or scene.persona)
        always = scene
        if KEEP in self.talk.parts:  # pins and promises are facts, too: they come and go
            always = replace(scene, pinned=(), noticed=())
        head = self.lines(self.talk, "system", always.variables())
        # The plan that is due stands at the end, in full and once.
        number = scene.due.partition(" ")[0]
        plans = tuple(each for each in scene.plans if each.partition(" ")[0] != number)
        scene = replace(scene, plans=plans)
        turns, last, shown, stated, needed = self._fitted(scene, self.tokens_of(head))
        sections = dict(line for turn in turns for fact in turn.told for line in fact.lines)
        talk = [
            (f"{scene.name}: {line}", "window")
            if turn.role == ASSISTANT
            else (line, sections.get(line, "window"))
            for turn in turns
            for line in turn.lines
        ]
        first, news_of = ("\n".join(line for line, _ in part).strip() for part in (head, last))
        window = [ChatMessage(turn.role, "\n".join(turn.lines)) for turn in turns]
        messages = (ChatMessage(SYSTEM, first), *window, ChatMessage(USER, news_of))
        text = "\n\n".join(f"[{each.role}]\n{each.text}" for each in messages)
        tools = tools_of(dict(scene.tools)) if self.target.takes_tools else ()
        return Prompt(
            request=GenerationRequest(text, messages=messages, tools=tools),
            rendered=Rendered(text, (*head, *talk, *last)),
            budget=self.budget,
            rests_on=shown.rests_on("recalled"),
            instructions="\n".join(line for line, section in head if section == FRAME),
            said=self.said(scene),
            asked=self.asked(scene),
            others=OtherVoices.of_scene(scene, labelled=False),
            stated=stated,
            needed=needed,
        )

    def _fitted(
        self, scene: Scene, head: int
    ) -> tuple[list[ChatTurn], list[PromptLine], Scene, Stated, int]:
        """Return the turns before the last message, that message, its scene, and what stands.

        Also return the tokens of the prompt with all turns if some are left out; else 0.

        ``head``: The tokens of the first message.
        """
        render = partial(self.marked_lines, self.talk)
        facts = Facts(self.marked, render, self.tokens_of, self.budget)
        private = Confidences(self.marked, render, self.count, self.budget // _CONFIDED_SHARE)
        if CONFIDED not in self.talk.parts:
            scene = replace(scene, confided=private.newest(scene.window))
        lost = list[Statement]()
        while True:
            stated = facts.stated(scene, lost)
            confided = private.stated(scene, lost) if CONFIDED in self.talk.parts else {}
            told = (*stated.statements, *confided.values())
            stated = replace(stated, confided=tuple(confided))
            every = turns_of(map(redacted, scene.window), self._later, told)
            news = every.pop() if every and every[-1].role == USER else ChatTurn(USER, [], [])
            here = _with_news_of_people(scene, stated)
            last, shown = self._last_message(here, news)
            turns = self._fitting(every, self.budget - head - self.tokens_of(last))
            cut = [fact for turn in every[: len(every) - len(turns)] for fact in turn.told]
            if not cut:
                break
            lost += cut
        lines = (line for turn in (*turns, news) for line in turn.lines)
        is_stated = any(each.place for each in stated.statements)
        if not is_stated and _describes(lines, scene.description):
            last, shown = self._last_message(replace(here, description=""), news)
        needed = 0
        if len(turns) < len(every):
            needed = head + self.tokens_of(last) + sum(map(self._cost, every))
        return turns, last, shown, stated, needed

    def _cost(self, turn: ChatTurn) -> int:
        return self.count(turn.lines) + _PER_MESSAGE

    def _later(self, silence: timedelta) -> str:
        """Return a line that says how much time has passed, in the words of the template."""
        return self.talk.render("later", minutes=round(silence.total_seconds() / 60.0))

    def _fitting(self, turns: Sequence[ChatTurn], room: int) -> list[ChatTurn]:
        """Return the newest turns that fit into ``room`` tokens; the first is the user's.

        If they do not all fit, the first that is left out is one of every :data:`_STEP`. So most
        prompts at the limit begin like the one before.
        """
        costs = list(map(self._cost, turns))
        cost = sum(costs)
        first = 0
        while first < len(turns) and (cost > room or turns[first].role == ASSISTANT):
            cost -= costs[first]
            first += 1
        if first:
            while first < len(turns) and (first % _STEP or turns[first].role == ASSISTANT):
                first += 1
        return list(turns[first:])

    def _last_message(self, scene: Scene, news: ChatTurn) -> tuple[list[PromptLine], Scene]:
        """Return the last message, and the scene with as much as may be new in a prompt."""
        budget = self.budget
        most = min(self.target.tail_tokens or budget, budget // 2)
        sections = dict(line for fact in news.told for line in fact.lines)
        happened = [(line, sections.get(line, "window")) for line in news.lines]
        lines: list[PromptLine] = []
        shown = scene
        for shown, values in shrinking(scene, SHRINK_ORDER):
            lines = self._head_of_last(shown, values)
            if happened:
                lines = [*happened, ("", FRAME), *lines]
            if close := self.lines(self.talk, "close", values):
                lines += [line for line in close if line[0]]
            if self.tokens_of(lines) <= most:
                break
        return lines, shown

    def _head_of_last(self, scene: Scene, values: dict[str, Any]) -> list[PromptLine]:
        """Return the head of the last message: where the character is, and what bears on now."""
        lines = self.lines(self.talk, "turn", values, refused=for_prompt(scene.refused))
        if scene.due or (scene.trigger and not scene.partner):
            lines += self.lines(self.act, "turn", values)
        return lines


def _describes(lines: Iterable[str], description: str) -> bool:
    """Whether lines of the window have the description of the place, as a look showed it."""
    told = for_prompt(description)
    return bool(told) and any(told in line for line in lines)


def _with_news_of_people(scene: Scene, stated: Stated) -> Scene:
    """Return the scene with what its conversation does not tell of those who are here."""
    if not scene.known:
        return scene
    return replace(scene, people=tuple(x.text for x in news_of_people(scene.known, stated)))
