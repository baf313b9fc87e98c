"""The prompt of a reply: who the agent is, what bears on what was said, the talk, the question.

Two forms. A base model continues a dialogue (``Tom: …`` / ``Mira:``), in which the agent's own life
stands in the first person and everybody else's as what they said. An instruct model gets chat
messages. What was measured of both, and of the layouts that lost, is in ``docs/talk.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from keepsake.language.perception import for_prompt
from keepsake.ports import ChatMessage, Tokens
from keepsake.prompt.marks import FRAME, PromptLine
from keepsake.prompt.reply.context import ReplyContext, without_opening
from keepsake.prompt.reply.examples import (
    ACKNOWLEDGED,
    GREETED,
    KNOWN,
    UNKNOWN,
    Example,
    from_script,
    named,
)
from keepsake.prompt.reply.material import Sentence, SentenceOrigin, of_profile
from keepsake.prompt.reply.turns import TalkTurn
from keepsake.prompt.template import Rendered

_LEAST = 0.2
_NEAR_BEST = 0.5
"""A sentence that is worth less than this share of the best one is no help, but a distraction."""
_HEAD, _FACTS, _TURNS, _EXAMPLES, _SAID = 0.35, 0.40, 0.25, 0.35, 0.40
"""The largest shares of the prompt that its parts may have."""
_TOKENS_A_FACT = 130
_LEAST_FACTS = 2
_MOST_TURNS = 12
_LAST_WORDS = 400
_LOOKED_AT = 5
"""Sentences that are shown for the question whether the answer is among them."""


@dataclass(frozen=True, slots=True)
class ReplyPrompt:
    """A prompt, and what an answer to it is judged by."""

    rendered: Rendered  # the text with the section of each line; of chat messages, their words
    messages: tuple[ChatMessage, ...] = ()  # for a chat endpoint; empty for a dialogue to continue
    chosen: tuple[Sentence, ...] = ()  # what was put before the question
    examples: tuple[Example, ...] = ()  # the exchanges that stood there to show how
    frame: tuple[str, ...] = ()  # lines of instruction that are nobody's speech


@dataclass
class _ReplyBudget:
    """Tokens that are left of a prompt."""

    tokens: Tokens
    left: int

    def spend(self, line: str) -> None:
        self.left -= self.tokens.of(line)

    def fit(self, lines: Iterable[str], share: int, most: int = 1000) -> list[str]:
        """As many of the first lines as ``share`` tokens hold."""
        kept: list[str] = []
        share = min(share, self.left)
        for line in lines:
            cost = self.tokens.of(line)
            if cost > share or len(kept) == most:
                break
            kept.append(line)
            share -= cost
            self.left -= cost
        return kept


def compose(
    scene: ReplyContext, budget: int, tokens: Tokens, *, chat: bool, attempt: int = 1
) -> ReplyPrompt:
    """The prompt of a reply within ``budget`` tokens.

    Args:
        scene: What it is made from.
        budget: Tokens of the whole prompt, about.
        tokens: What a line costs.
        chat: Chat messages in place of a dialogue.
        attempt: Which try this is: a later one leaves out what may have misled the one before.
    """
    purse = _ReplyBudget(tokens, budget)
    scene = replace(scene, said=_last_said(scene.said, tokens, int(budget * _SAID)))
    return (_chat if chat else _dialogue)(scene, purse, budget, attempt)


def _last_said(said: Sequence[str], tokens: Tokens, share: int) -> tuple[str, ...]:
    """As many of the last lines as fit, and the very last: some talk on and on."""
    fit: list[str] = []
    for words in reversed(said):
        share -= tokens.of(_cut(words))
        if fit and share < 0:
            break
        fit.append(words)
    return tuple(fit[::-1])


# -- a dialogue


def _dialogue(scene: ReplyContext, purse: _ReplyBudget, budget: int, attempt: int) -> ReplyPrompt:
    own = [each.text for each in of_profile(scene.profile) if each.origin is SentenceOrigin.SELF]
    where = _where(scene, "I am")
    last = [f"{scene.partner}: {_cut(each)}" for each in scene.said] or [f"({scene.event})"]
    for line in (where, *last):
        purse.spend(line)
    # The head is the same whatever is asked: the server has it in its cache.
    head = purse.fit(own, int(budget * _HEAD)) or [f"I am {scene.name}."]
    chosen = _chosen(scene, budget, purse, attempt)
    examples = _shown(scene, attempt)
    texts = ["\n".join([*e.facts, e.line, f"{scene.name}: {e.answer}"]) for e in examples]
    shown = purse.fit(texts, int(budget * _EXAMPLES))
    turns = _turns(scene, purse, budget, attempt)
    lines = [
        PromptLine(" ".join(head), "profile"),
        PromptLine(where, "situation"),
        PromptLine("", FRAME),
        *(PromptLine(line, "examples") for text in shown for line in [*text.split("\n"), ""]),
        *(PromptLine(line, "window") for line in turns),
        *(PromptLine("", FRAME) for _ in turns[:1]),
        *(PromptLine(each.text, "related_experiences") for each in chosen),
        *(PromptLine(line, "situation") for line in last),
        PromptLine(f"{scene.name}:", FRAME),
    ]
    rendered = Rendered("\n".join(line.text for line in lines), tuple(lines))
    return ReplyPrompt(rendered, (), chosen, tuple(examples[: len(shown)]), (where,))


def _where(scene: ReplyContext, subject: str) -> str:
    company = " and ".join(for_prompt(name) for name in (scene.partner, *scene.others[:4]))
    return f"{subject} in {for_prompt(scene.place) or 'the middle of nowhere'} with {company}."


def _cut(words: str) -> str:
    return for_prompt(words, limit=_LAST_WORDS)


def _chosen(
    scene: ReplyContext, budget: int, purse: _ReplyBudget, attempt: int
) -> tuple[Sentence, ...]:
    """What bears on what was said, the best last, next to the question."""
    most = max(budget // _TOKENS_A_FACT, _LEAST_FACTS) if attempt == 1 else 1
    floor = max(scene.best * _NEAR_BEST, _LEAST)
    best = _different(each.sentence for each in scene.ranked if each.worth >= floor)[:most]
    fit = purse.fit([each.text for each in best], int(budget * _FACTS))
    return tuple(_newest_last(best[: len(fit)][::-1]))


def _different(found: Iterable[Sentence]) -> list[Sentence]:
    """Without what one better than it says, too, or says with more words around it."""
    kept: list[Sentence] = []
    for each in found:
        same = (k for k in kept if k.who == each.who)
        if not any(each.bare in k.bare or k.bare in each.bare for k in same):
            kept.append(each)
    return kept


def _newest_last(chosen: Sequence[Sentence]) -> list[Sentence]:
    """What one person said stands in the order in which they said it: the newest holds."""
    ordered = list(chosen)
    for who in {each.who for each in chosen if each.who}:
        places = [i for i, each in enumerate(chosen) if each.who == who]
        theirs = sorted((chosen[i] for i in places), key=lambda each: each.time)
        for place, sentence in zip(places, theirs, strict=True):
            ordered[place] = sentence
    return ordered


def _shown(scene: ReplyContext, attempt: int) -> list[Example]:
    """Exchanges that show how such words are answered; none once they may have misled."""
    if attempt > 2:
        return []
    own = from_script(scene.examples, scene.name)
    if scene.event:
        arrivals = [each for each in own if not each.heard_words]
        return (arrivals or [named(GREETED, scene)])[:2]
    if scene.asks:
        general = KNOWN if scene.knows else UNKNOWN
        return [named(each, scene) for each in general]
    spoken = [each for each in own if each.heard_words]
    return [*(named(each, scene) for each in ACKNOWLEDGED), *spoken[:2]]


def _turns(scene: ReplyContext, purse: _ReplyBudget, budget: int, attempt: int) -> list[str]:
    """The last turns of the talk; none in a later try, since the agent's own may be nonsense."""
    turns = scene.turns if attempt == 1 else ()
    most = max(min(budget // 100, _MOST_TURNS), 2)
    lines = [
        f"{turn.who}: {turn.words}" if turn.who else f"{scene.name}: {without_opening(turn.words)}"
        for turn in turns
    ]
    return purse.fit(reversed(lines), int(budget * _TURNS), most)[::-1]


# -- chat messages


def _chat(scene: ReplyContext, purse: _ReplyBudget, budget: int, attempt: int) -> ReplyPrompt:
    frame = _instructions(scene)
    for line in (*frame, scene.words):
        purse.spend(line)
    chosen = _chosen(scene, budget, purse, attempt)
    own = [each for each in from_script(scene.examples, scene.name) if each.heard_words][:2]
    own = own if attempt == 1 else []
    turns = scene.turns if attempt == 1 else ()
    profile = purse.fit(filter(str.strip, scene.profile.splitlines()), purse.left * 2 // 3)
    kept = purse.fit([t.words for t in reversed(turns)], int(budget * _TURNS), _MOST_TURNS)
    shown = purse.fit([f"{e.heard_words}\n{e.answer}" for e in own], purse.left)
    # Beside the question: what stands in the system's message alone is lost.
    told = f"(You remember: {' '.join(e.to_agent for e in chosen)})\n" if chosen else ""
    messages = (
        ChatMessage("system", "\n".join([*profile, _where(scene, "You are"), *frame])),
        *(m for e in own[: len(shown)] for m in _messages(e.heard_words, e.answer)),
        *_talk(turns[len(turns) - len(kept) :]),
        ChatMessage("user", f"{told}{_asked(scene)}"),
    )
    sections = {"system": "profile", "assistant": "window", "user": "window"}
    lines = [PromptLine(m.text, sections[m.role]) for m in messages[:-1]]
    lines += [PromptLine(each.text, "related_experiences") for each in chosen]
    lines.append(PromptLine(_asked(scene), "situation"))
    text = "\n\n".join(f"{m.role}: {m.text}" for m in messages)
    return ReplyPrompt(
        Rendered(text, tuple(lines)),
        _merged(messages),
        chosen,
        tuple(own[: len(shown)]),
        tuple(frame),
    )


def second_look(scene: ReplyContext) -> ReplyPrompt:
    """Asks the model, before it answers, whether what the agent has tells the answer: yes or no."""
    notes = [each.sentence.text for each in scene.ranked[:_LOOKED_AT]][::-1]
    asked = f'{scene.partner} asks {scene.name}: "{_asked(scene)}"'
    lines = (
        PromptLine(f"Notes of {scene.name}:", FRAME),
        *(PromptLine(each, "related_experiences") for each in notes),
        PromptLine("", FRAME),
        PromptLine(asked, "situation"),
        PromptLine("Do the notes tell the answer? Answer only yes or no.", FRAME),
    )
    text = "\n".join(line.text for line in lines)
    return ReplyPrompt(Rendered(text, lines), (ChatMessage("user", text),))


def _instructions(scene: ReplyContext) -> list[str]:
    return [
        f"{scene.partner} is talking to you. Answer as {scene.name} would, aloud, in one or two "
        f"short sentences. You are not {scene.partner}: what {scene.partner} says of themselves "
        "is not your life.",
        "Use what you remember. What you do not know, you do not make up: you say so.",
    ]


def _asked(scene: ReplyContext) -> str:
    return " ".join(map(_cut, scene.said)) if scene.said else f"({scene.event})"


def _messages(heard: str, answer: str) -> tuple[ChatMessage, ChatMessage]:
    return ChatMessage("user", heard), ChatMessage("assistant", answer)


def _talk(turns: Sequence[TalkTurn]) -> Iterable[ChatMessage]:
    """From the first words of the other on: many templates want a user's message first."""
    first = next((place for place, turn in enumerate(turns) if turn.who), len(turns))
    for turn in turns[first:]:
        yield ChatMessage("user" if turn.who else "assistant", turn.words)


def _merged(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Messages of one role in a row as one: many chat templates refuse them."""
    merged: list[ChatMessage] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = ChatMessage(message.role, f"{merged[-1].text}\n{message.text}")
        else:
            merged.append(message)
    return tuple(merged)
