"""The prompt of one turn of a character: to answer somebody, or to act of its own accord.

A chat model gets the whole mind as messages, stable parts first: who it is and how to answer, both
summaries, pins and promises; then the window as a conversation; last what bears on now, and what
has just happened. A model that continues raw text gets the same facts as a dialogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import for_prompt
from keepsake.ports import ChatMessage, TargetModel, Tool
from keepsake.prompt.marks import FRAME, Marks, PromptLine
from keepsake.prompt.template import Rendered
from keepsake.tasks.answer import AnswerReader
from keepsake.tasks.conversation import ASSISTANT, SYSTEM, USER, ChatTurn, turns_of
from keepsake.tasks.guards import fault_of
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import Question

TALK_PARTS, ACT_PARTS = ("system", "turn", "dialogue"), ("turn",)
CHAT, IDLE = "chat", "idle"
LAST_LINES = 14
"""Lines of the talk that a dialogue shows."""
LONGEST_LINE = 2000
"""Characters of one line of the scene: what the agent knows of somebody is one."""
_LONGEST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class TalkScene:
    """What a character's turn is made from; the fields are the template's variables."""

    name: str
    persona: str = ""  # who it is, whole
    deeds: tuple[str, ...] = ()  # usages of what can always be done
    longterm: str = ""  # the long-term summary
    longterm_span: str = ""  # its memories: ``1 to 214``
    recent: str = ""  # the short-term summary
    recent_span: str = ""
    context: tuple[str, ...] = ()  # what another memory than ours brings in place of summaries
    always: tuple[str, ...] = ()  # pins and promises, word for word
    now: str = ""  # ``Thursday 26 November 2026, late evening``
    place: str = ""
    description: str = ""
    here: tuple[str, ...] = ()  # people
    things: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    people: tuple[str, ...] = ()  # what it knows of those who are there
    # memories that bear on now, each with its number, the best first; shown oldest first
    recalled: tuple[tuple[int, str], ...] = ()
    experiences: tuple[str, ...] = ()  # earlier summaries that bear on now
    notes: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    called_back: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # usages of what can be done now, with names
    partner: str = ""  # who is answered; empty for nobody
    words: str = ""  # what they said, where it is not the last thing that happened
    trigger: str = ""  # why it thinks: ``addressed``, ``arrival``, ``idle`` …
    examples: tuple[str, ...] = ()  # lines that show its voice, ``Tom: Hello.``; for a dialogue
    # what stands beside the template's variables
    window: tuple[Memory, ...] = ()  # as the hearers may know it, oldest first
    tools: tuple[Tool, ...] = ()  # the deeds for a model that calls tools

    def variables(self) -> dict[str, Any]:
        """The template's variables, with nothing in them that could pass for another part."""
        found: dict[str, Any] = {}
        for name in _SHOWN:
            value = getattr(self, name)
            if name == "recalled":
                value = [line for _, line in sorted(value)]
            if name in _LONG:
                found[name] = "\n".join(
                    for_prompt(x, limit=_LONGEST_TEXT) for x in value.splitlines()
                )
            elif isinstance(value, str):
                found[name] = for_prompt(value, limit=_LONGEST_TEXT)
            else:
                shown = (for_prompt(line, limit=LONGEST_LINE) for line in value)
                found[name] = [line for line in shown if line]
        return found | {"deeds": list(self.deeds), "options": list(self.options)}  # ours: <thing>


_SHOWN = tuple(f.name for f in fields(TalkScene) if f.name not in ("window", "tools"))
_LONG = frozenset({"persona", "longterm", "recent"})
TALK_VARIABLES = frozenset({*_SHOWN, "refused", "talk"})
"""The names that ``talk.md`` and ``act.md`` may use."""
_MARKS = Marks(sorted(TALK_VARIABLES), anywhere=("name", "partner"))
_FEWER = (
    *("experiences", "recalled", "called_back", "notes", "journal"),
    *("things", "people", "description"),
)
"""What a turn is shown less of where it may not be so long, in this order, the last first."""


@dataclass(frozen=True, slots=True)
class TalkPrompt:
    """A prompt that was made for one model."""

    question: Question
    rendered: Rendered  # the same as text, with the section of each line
    instructions: str  # the part that says how to answer
    scene: TalkScene  # as much of it as is shown


@dataclass
class Talk:
    """One turn of a character, from its scene to the check of what it says.

    Args:
        scene: What the turn is made from.
        prompts: The parts of ``talk.md``.
        act: The parts of ``act.md``.
        count: Tokens of each of several texts.
    """

    scene: TalkScene
    prompts: Prompts
    act: Prompts
    count: Callable[[Sequence[str]], list[int]]
    spoken: list[str] = field(default_factory=list)  # what was said of this answer so far

    def prompt(self, target: TargetModel, refused: str = "") -> TalkPrompt:
        """The prompt for a model.

        Args:
            target: The model that will answer.
            refused: Why the last answer was not used; empty at the first try.

        Raises:
            ConfigError: A template fails on these values.
        """
        return (
            self._chat(target, refused) if target.form == CHAT else self._dialogue(target, refused)
        )

    def reader(self) -> AnswerReader:
        """What reads the answer."""
        self.spoken.clear()
        return AnswerReader(self.scene.name)

    def fault(self, words: str, instructions: str) -> str:
        """Why a spoken line is refused; empty if it is not."""
        own = [*_last_said(self.scene.window), *self.spoken]
        found = fault_of(words, instructions=instructions, own_lines=own)
        if not found:
            self.spoken.append(words)
        return found

    # -- a chat

    def _chat(self, target: TargetModel, refused: str) -> TalkPrompt:
        head = _lines(self.prompts, "system", self.scene.variables())
        turns = turns_of(self.scene.window)
        news = turns.pop().lines if turns and turns[-1].role == USER else ()
        scene, last = self._last(target, refused, news)
        room = target.prompt_tokens - self._tokens([*head, *last])
        turns = self._newest(turns, room)
        messages = (
            ChatMessage(SYSTEM, _text(head)),
            *(turn.message for turn in turns),
            ChatMessage(USER, _text(last)),
        )
        talk = [PromptLine(line, "window") for turn in turns for line in _shown(turn, scene.name)]
        rendered = Rendered(as_text(messages), (*head, *talk, *last))
        frame = _text([line for line in head if line.section == FRAME])
        tools = scene.tools if target.takes_tools else ()
        return TalkPrompt(Question(messages, rendered.text, tools=tools), rendered, frame, scene)

    def _last(
        self, target: TargetModel, refused: str, news: Sequence[str]
    ) -> tuple[TalkScene, list[PromptLine]]:
        """The last message, with as much of the scene as may be new in a prompt."""
        happened = [PromptLine(line, "window") for line in news]
        most = min(target.tail_tokens or target.prompt_tokens, target.prompt_tokens // 2)
        for scene in _ever_less(self.scene):
            values = scene.variables()
            head = _lines(self.prompts, "turn", values, refused=for_prompt(refused))
            if scene.trigger and not scene.partner:
                head = [*head, *_lines(self.act, "turn", values, refused="")]
            lines = [*head, *([PromptLine("", FRAME)] if happened else []), *happened]
            if self._tokens(lines) <= most:
                break
        return scene, lines

    def _newest(self, turns: list[ChatTurn], room: int) -> list[ChatTurn]:
        """The newest turns that fit, beginning with one of the user."""
        costs = [sum(self.count(turn.lines)) + 4 for turn in turns]
        while turns and (sum(costs) > room or turns[0].role == ASSISTANT):
            turns, costs = turns[1:], costs[1:]
        return turns

    def _tokens(self, lines: Sequence[PromptLine]) -> int:
        return sum(self.count([line.text for line in lines]))

    # -- a dialogue

    def _dialogue(self, target: TargetModel, refused: str) -> TalkPrompt:
        talk = [
            line
            for memory in self.scene.window
            if (line := _dialogue_line(memory, self.scene.name))
        ]
        talk = talk[-LAST_LINES:]
        for scene in _ever_less(self.scene):
            lines = _lines(self.prompts, "dialogue", scene.variables(), talk=talk, refused=refused)
            if self._tokens(lines) <= target.prompt_tokens:
                break
        rendered = Rendered("\n".join(line.text for line in lines), tuple(lines))
        return TalkPrompt(Question(text=rendered.text, stop=("\n",)), rendered, "", scene)


def example_line(line: str, name: str) -> str:
    """A line of a script, ``~Mira> say Good day! | kind``, as one of a dialogue."""
    head, sign, command = line.partition("> ")
    now = datetime.min.replace(tzinfo=UTC)
    if sign and head.startswith("~"):
        return _dialogue_line(Memory(0, now, MemoryKind.ACT, command.partition(" | ")[0]), name)
    return _dialogue_line(Memory(0, now, MemoryKind.PERCEPTION, line), name)


def as_text(messages: Sequence[ChatMessage]) -> str:
    """Messages in words, for logs and token counts."""
    return "\n\n".join(f"[{each.role}]\n{each.text}" for each in messages)


def _lines(prompts: Prompts, part: str, values: dict[str, Any], **more: Any) -> list[PromptLine]:
    """One rendered part, with the variable that each of its lines comes from."""
    marked = {name: _MARKS.on(name, value) for name, value in (values | more).items()}
    printed = prompts.render(part, **{"refused": "", "talk": [], **marked})
    return list(_MARKS.read(printed))


def _text(lines: Sequence[PromptLine]) -> str:
    return "\n".join(line.text for line in lines).strip()


def _shown(turn: ChatTurn, name: str) -> list[str]:
    return [f"{name}: {line}" for line in turn.lines] if turn.role == ASSISTANT else [*turn.lines]


def _ever_less(scene: TalkScene) -> Iterator[TalkScene]:
    """The scene, then with one line less of what it can do without, each time."""
    yield scene
    for name in _FEWER:
        while value := getattr(scene, name):
            less: dict[str, Any] = {name: "" if isinstance(value, str) else value[:-1]}
            scene = replace(scene, **less)
            yield scene


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


def _dialogue_line(memory: Memory, name: str) -> str:
    """A memory as a line of a dialogue: ``Tom: Hello.``, ``Mira: Sit down.``, ``(Tom leaves.)``."""
    if memory.is_shrug or memory.kind is MemoryKind.RESULT:
        return ""
    if memory.kind is MemoryKind.ACT:
        own = spoken(memory)
        verb, _, rest = memory.text.partition(" ")
        if own is not None:
            return f"{name}: {for_prompt(own.words)}"
        return f"({name} {for_prompt(rest)})" if verb == "emote" else ""
    said = heard(memory)
    return f"{said.who}: {for_prompt(said.words)}" if said else f"({for_prompt(memory.line)})"
