"""The prompt of one turn of a character: to answer somebody, or to act of its own accord.

A chat model gets the whole mind as messages, stable parts first: who it is and how to answer, both
summaries, pins and promises; then the window as a conversation; last what bears on now, and what
has just happened. A model that continues raw text gets the same facts as a dialogue, or as the
transcript, a play script that goes on at a cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import for_prompt
from keepsake.ports import ChatMessage, Embedder, TargetModel, Tool
from keepsake.prompt.script import cursor, script
from keepsake.prompt.sections import FRAME, Marks, PromptLine, Rendered
from keepsake.tasks.answer import SHORT, AnswerReader, fault_of, most_fitting
from keepsake.tasks.conversation import (
    ASSISTANT,
    SYSTEM,
    USER,
    dialogue_line,
    example_line,
    turns_of,
)
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import Question

LONGEST_LINE = 2000
"""Characters of one line of the scene: what the agent knows of somebody is one."""
LONGEST_TEXT = 20_000
"""Characters of a persona or a summary that a prompt shows."""


@dataclass(frozen=True, slots=True)
class TalkScene:
    """What a character's turn is made from."""

    name: str
    persona: str = ""  # who it is, whole
    deeds: tuple[str, ...] = ()  # usages of what can always be done
    longterm: str = ""  # the long-term summary
    longterm_span: str = ""  # its memories: ``1 to 214``
    recent: str = ""  # the short-term summary
    recent_span: str = ""
    context: tuple[str, ...] = ()  # what another memory than ours brings in place of summaries
    now: str = ""  # ``Thursday 26 November 2026, late evening``
    place: str = ""
    description: str = ""
    here: tuple[str, ...] = ()  # people
    things: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()  # the same with where they lead: ``north to The Quay``
    people: tuple[str, ...] = ()  # what it knows of those who are there
    # memories that bear on now, each with its number, the best first
    recalled: tuple[tuple[int, str], ...] = ()
    # what others said before that bears on now, the best first: ``Tom said, "Hello."``
    told: tuple[str, ...] = ()
    experiences: tuple[str, ...] = ()  # earlier summaries that bear on now
    notes: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    called_back: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # usages of what can be done now, with names
    whispered: bool = False  # whether it answers a whisper
    partner: str = ""  # who is answered; empty for nobody
    words: str = ""  # what they said, where it is not the last thing that happened
    trigger: str = ""  # why it thinks: ``addressed``, ``arrival``, ``idle`` …
    examples: tuple[str, ...] = ()  # lines that show its voice: ``~Mira> say Sit down.``
    pinned: tuple[str, ...] = ()  # word for word
    noticed: tuple[str, ...] = ()  # what others asked of it and what it promised
    commands: tuple[str, ...] = ()  # usages for a transcript: ``say <words>: speak so that …``
    window: tuple[Memory, ...] = ()  # as the hearers may know it, oldest first
    tools: tuple[Tool, ...] = ()  # the deeds for a model that calls tools

    def variables(self) -> dict[str, Any]:
        """The variables of ``talk.md``, with nothing in them that could pass for another part."""
        values = {name: getattr(self, name) for name in (*_SHOWN, *_PARAGRAPHS)}
        values["always"] = (*self.pinned, *self.noticed)
        values["recalled"] = tuple(line for _, line in sorted(self.recalled))
        for name, value in values.items():
            if isinstance(value, str):
                lines = value.splitlines() if name in _PARAGRAPHS else [value]
                values[name] = "\n".join(for_prompt(x, limit=LONGEST_TEXT) for x in lines)
            elif isinstance(value, tuple):
                lines = [for_prompt(each, limit=LONGEST_LINE) for each in value]
                values[name] = [*filter(None, lines)]
        examples = (example_line(each, self.name) for each in self.examples)
        ours = ("deeds", "options", "commands")  # <thing> is meant
        values |= {name: [*getattr(self, name)] for name in ours}
        return values | {"examples": [*filter(None, examples)]}


_BESIDE = ("window", "tools")
_MADE = ("recalled", "examples", "deeds", "options", "commands")
_PARAGRAPHS = ("persona", "longterm", "recent")
_SHOWN = tuple(f.name for f in fields(TalkScene) if f.name not in (*_BESIDE, *_MADE, *_PARAGRAPHS))
_ADDED = ("always", "refused", "talk", "window", "cursor")
TALK_VARIABLES = frozenset({*_SHOWN, *_MADE, *_PARAGRAPHS, *_ADDED})
"""The names that ``talk.md`` and ``act.md`` may use."""


@dataclass(frozen=True, slots=True)
class TalkPrompt:
    """A prompt that was made for one model."""

    question: Question
    rendered: Rendered  # the same as text, with the section of each line
    instructions: str  # the part that says how to answer


def ever_less(scene: TalkScene, names: Sequence[str]) -> Iterator[TalkScene]:
    """The scene, then with one line less of these, the last of each first."""
    yield scene
    for name in names:
        while value := getattr(scene, name):
            less: dict[str, Any] = {name: "" if isinstance(value, str) else value[:-1]}
            scene = replace(scene, **less)
            yield scene


TALK_PARTS, ACT_PARTS = ("system", "turn", "dialogue", "transcript"), ("turn",)
CHAT, DIALOGUE, SCRIPT = "chat", "dialogue", "script"
DIALOGUE_TEMPERATURE = 0.8
"""Colder, the answers among which one is chosen would be alike."""
LAST_LINES = 16
"""Lines of the talk that a dialogue shows at least. It grows to twice as many and is then cut to
these, so that most prompts begin as the one before did, and a server finds that in its cache."""

_MARKS = Marks(sorted(TALK_VARIABLES - {"cursor"}), anywhere=("name", "partner"))
_FEWER = (
    *("experiences", "recalled", "called_back", "notes", "journal"),
    *("things", "people", "description"),
)
_FEWER_IN_TEXT = (*_FEWER, "told", "examples", "context")
"""What a turn is shown less of where it may not be so long, in this order, the last first."""


@dataclass
class Talk:
    """One turn of a character, from its scene to the check of what it says.

    Args:
        scene: What the turn is made from.
        prompts: The parts of ``talk.md``.
        act: The parts of ``act.md``.
        count: Tokens of each of several texts.

    Attributes:
        answer: Reads the answer to the last prompt that was made.
    """

    scene: TalkScene
    prompts: Prompts
    act: Prompts
    count: Callable[[Sequence[str]], list[int]]
    answer: AnswerReader = field(init=False)
    _instructions: str = ""  # the part of its prompt that says how to answer
    _spoken: list[str] = field(default_factory=list)  # what was said last, and of this answer
    # what a small model may not say again, as it falls into its own sentences
    _said_before: list[str] = field(default_factory=list)

    def prompt(self, target: TargetModel, refused: str = "") -> TalkPrompt:
        """The prompt for a model.

        Args:
            target: The model that will answer.
            refused: Why the last answer was not used; empty at the first try.

        Raises:
            ConfigError: A template fails on these values.
        """
        self.answer = AnswerReader(self.scene.name, script=target.form == SCRIPT)
        made = self._chat(target, refused) if target.form == CHAT else self._text(target, refused)
        self._instructions, self._spoken = made.instructions, _last_said(self.scene.window)
        self._said_before = self._own_lines() if target.form == DIALOGUE else []
        return made

    def chooser(self, embedder: Embedder) -> Callable[[Sequence[str]], int] | None:
        """Chooses among answers to the partner's last words; None where nobody has said anything.

        ``embedder``: Turns texts into vectors; what it raises leaves the first answer.
        """
        window = self.scene.window
        own = self._own_lines()
        told = (heard(each) for each in reversed(window))
        words = self.scene.words or next((said.words for said in told if said is not None), "")
        if not words:
            return None

        def choose(answers: Sequence[str]) -> int:
            try:
                return most_fitting(answers, words, own, embedder)
            except KeepsakeError:
                return 0

        return choose

    def fault(self, words: str) -> str:
        """Why a spoken line of the answer is refused; empty if it is not."""
        instructions, own = self._instructions, self._spoken
        if words in self._said_before and len(words) > SHORT:
            own = [words]
        if not (found := fault_of(words, instructions=instructions, own_lines=own)):
            self._spoken.append(words)
        return found

    def _own_lines(self) -> list[str]:
        found = (spoken(each) for each in self.scene.window)
        return [own.words for own in found if own is not None][-LAST_LINES:]

    def _chat(self, target: TargetModel, refused: str) -> TalkPrompt:
        head = self._lines(self.prompts, "system", self.scene.variables())
        turns = turns_of(self.scene.window)
        news = turns.pop().lines if turns and turns[-1].role == USER else []
        day = self.scene.now.rpartition(", ")[0]
        if news and news[0] == f"[{day}, {self.scene.place}]":  # as the head of the message says
            news = news[1:]
        last = self._last(target, refused, [PromptLine(line, "window") for line in news])
        room = target.prompt_tokens - self._tokens([*head, *last])
        costs = [sum(self.count(turn.lines)) + 4 for turn in turns]
        while turns and (sum(costs) > room or turns[0].role == ASSISTANT):  # the oldest give way
            turns, costs = turns[1:], costs[1:]
        talk: list[PromptLine] = []
        for role, lines in turns:
            name = f"{self.scene.name}: " if role == ASSISTANT else ""
            talk += [PromptLine(f"{name}{line}", "window") for line in lines]
        messages = (
            ChatMessage(SYSTEM, _text(head)),
            *(ChatMessage(role, "\n".join(lines)) for role, lines in turns),
            ChatMessage(USER, _text(last)),
        )
        text = "\n\n".join(f"[{each.role}]\n{each.text}" for each in messages)
        tools = self.scene.tools if target.takes_tools else ()
        frame = _text([line for line in head if line.section == FRAME])
        rendered = Rendered(text, (*head, *talk, *last))
        return TalkPrompt(Question(messages, text, tools=tools), rendered, frame)

    def _last(
        self, target: TargetModel, refused: str, news: Sequence[PromptLine]
    ) -> list[PromptLine]:
        """The last message, with as much of the scene as may be new in a prompt."""
        most = min(target.tail_tokens or target.prompt_tokens, target.prompt_tokens // 2)
        lines: list[PromptLine] = []
        for scene in ever_less(self.scene, _FEWER):
            values = scene.variables()
            lines = self._lines(self.prompts, "turn", values, refused=for_prompt(refused))
            if scene.trigger and not scene.partner:
                lines += self._lines(self.act, "turn", values)
            lines += [PromptLine("", FRAME), *news] if news else []
            if self._tokens(lines) <= most:
                break
        return lines

    def _text(self, target: TargetModel, refused: str) -> TalkPrompt:
        """A dialogue or a transcript to continue, with as much of the scene as fits."""
        lines, examples = list[PromptLine](), ""
        for scene in ever_less(self.scene, _FEWER_IN_TEXT):
            values = scene.variables()
            if target.form == SCRIPT:
                examples = "\n".join(scene.examples)  # only here are they shown as answers
                shown: dict[str, Any] = {"examples": [*map(_script_line, scene.examples)]}
                shown |= {"window": script(scene.window, scene.name), "cursor": cursor(scene.name)}
                values |= shown | {"refused": for_prompt(refused)}
                lines = self._lines(self.prompts, "transcript", values)
            else:
                every = (dialogue_line(memory, scene.name) for memory in scene.window)
                talk = [*filter(None, every)]
                talk = talk[max(len(talk) // LAST_LINES - 1, 0) * LAST_LINES :]
                lines = self._lines(self.prompts, "dialogue", values, talk=talk)
                examples = "\n".join((scene.persona, *values["examples"]))  # not to be recited
            if self._tokens(lines) <= target.prompt_tokens:
                break
        text = "\n".join(line.text for line in lines)
        warmth = DIALOGUE_TEMPERATURE if target.form == DIALOGUE else None
        question = Question(text=text, stop=("\n",), temperature=warmth)
        return TalkPrompt(question, Rendered(text, tuple(lines)), examples)

    def _tokens(self, lines: Sequence[PromptLine]) -> int:
        return sum(self.count([line.text for line in lines]))

    def _lines(
        self, prompts: Prompts, part: str, values: dict[str, Any], **more: Any
    ) -> list[PromptLine]:
        """One rendered part, with the variable that each of its lines comes from."""
        every = {"refused": "", "talk": [], **values, **more}
        marked = {name: _MARKS.on(name, value) for name, value in every.items()}
        return _MARKS.read(prompts.render(part, **marked))


def _text(lines: Sequence[PromptLine]) -> str:
    return "\n".join(line.text for line in lines).strip()


def _script_line(line: str) -> str:
    """A line of a script that the character's author wrote: its cursor is meant."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)


def _last_said(window: Sequence[Memory]) -> list[str]:
    """What the character said in its last turn."""
    said: list[str] = []
    for memory in reversed(window):
        own = spoken(memory)
        if own is not None:
            said.append(own.words)
        elif said:
            break
    return said[::-1]
