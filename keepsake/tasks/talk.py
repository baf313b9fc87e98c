"""The prompt of one turn of a character: to answer somebody, or to act unprompted.

A chat model gets messages, stable parts first: the persona and how to answer, both summaries, pins
and promises; then the window as a conversation; last the context of the moment and what has just
happened. A model that continues raw text gets the same facts as a dialogue, or as a transcript: a
play script that the model continues at a cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

from keepsake.archive.records import Memory
from keepsake.language.perception import for_prompt
from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage, GenerationRequest, TargetModel
from keepsake.prompt.script import script
from keepsake.prompt.sections import FRAME, Marks, PromptLine, Rendered
from keepsake.prompt.verbs import Verb
from keepsake.tasks.answer import EMPTY, SHORT_LINE, AnswerReader, bare, recites
from keepsake.tasks.conversation import dialogue_line, example_line, turns_of
from keepsake.tasks.deed import tools_of
from keepsake.tasks.task import Prompts

LONGEST_LINE = 2000
"""The most characters of one line of the scene, such as what the agent knows of a person."""
LONGEST_TEXT = 20_000
"""The most characters of a persona or a summary in a prompt."""


@dataclass(frozen=True, slots=True)
class TalkScene:
    """The data from which the prompt of a character's turn is made."""

    name: str
    persona: str = ""  # the whole persona
    deeds: tuple[str, ...] = ()  # usages of the deeds that are always possible
    longterm: str = ""  # the long-term summary
    longterm_span: str = ""  # the numbers of its memories: ``1 to 214``
    recent: str = ""  # the short-term summary
    recent_span: str = ""
    now: str = ""  # ``Thursday 26 November 2026, late evening``
    place: str = ""
    description: str = ""
    here: tuple[str, ...] = ()  # people
    things: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()  # other facts from the game
    ways: tuple[str, ...] = ()  # the exits with their destinations: ``north to The Quay``
    people: tuple[str, ...] = ()  # what the character knows of the people who are present
    # related memories, each with its number, the best first
    recalled: tuple[tuple[int, str], ...] = ()
    # related words that others said before, the best first: ``Tom said, "Hello."``
    told: tuple[str, ...] = ()
    experiences: tuple[str, ...] = ()  # related earlier summaries
    notes: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # usages of the deeds that are possible now, with names
    whispered: bool = False  # whether the character answers a whisper
    partner: str = ""  # the person who is answered; empty for nobody
    words: str = ""  # what the partner said, unless it is the last event of the window
    trigger: str = ""  # why the character thinks: ``addressed``, ``arrival``, ``idle`` …
    examples: tuple[str, ...] = ()  # lines that show its voice: ``~Mira> say Sit down.``
    pinned: tuple[str, ...] = ()  # pins, verbatim
    noticed: tuple[str, ...] = ()  # requests to the character, and its promises
    commands: tuple[str, ...] = ()  # usages for a transcript: ``say <words>: speak so that …``
    window: tuple[Memory, ...] = ()  # the memories that the audience may know, oldest first
    # the deeds for a model that calls tools, each with its usage
    tools: Mapping[Verb, str] = field(default_factory=dict)

    def variables(self) -> dict[str, Any]:
        """Return the variables of ``talk.md``, cleaned of text that could pass for another part."""
        values = {name: self.variable(name) for name in _SCENE_FIELDS}
        return values | {"always": values["pinned"] + values["noticed"]}

    def variable(self, name: str) -> Any:
        """Return one variable, made from the field of that name."""
        value: Any = getattr(self, name)
        if name == "recalled":
            value = tuple(line for _, line in sorted(value))
        elif name == "examples":
            value = tuple(example_line(each, self.name) for each in value)
        if isinstance(value, str):
            lines = value.splitlines() if name in _PARAGRAPHS else [value]
            return "\n".join(for_prompt(x, limit=LONGEST_TEXT) for x in lines)
        if isinstance(value, tuple) and name not in _WITH_MARKUP:
            return [*filter(None, (for_prompt(each, limit=LONGEST_LINE) for each in value))]
        return [*value] if isinstance(value, tuple) else value


_PARAGRAPHS = ("persona", "longterm", "recent")
_WITH_MARKUP = ("deeds", "options", "commands")  # not cleaned: <thing> is a placeholder
_SCENE_FIELDS = tuple(f.name for f in fields(TalkScene) if f.name not in ("window", "tools"))
TALK_VARIABLES = frozenset({*_SCENE_FIELDS, "always", "refused", "talk", "window", "cursor"})
"""The names that ``talk.md`` and ``act.md`` may use."""


@dataclass(frozen=True, slots=True)
class TalkPrompt:
    """A prompt for one model."""

    question: GenerationRequest
    rendered: Rendered  # the prompt as text, with the section of each line


def shrinking(
    scene: TalkScene, values: dict[str, Any], names: Sequence[str]
) -> Iterator[tuple[TalkScene, dict[str, Any]]]:
    """Yield the scene and its variables, then again with one line less of ``names`` each time."""
    yield scene, values
    for name in names:
        while value := getattr(scene, name):
            shorter: dict[str, Any] = {name: "" if isinstance(value, str) else value[:-1]}
            scene = replace(scene, **shorter)
            values = values | {name: scene.variable(name)}
            yield scene, values


CHAT = "chat"
DIALOGUE = "dialogue"
SCRIPT = "script"
LAST_LINES = 16
"""The least lines of talk in a dialogue. They grow to twice this number and are then cut back to
it, so that most prompts begin like the previous one and the server's prefix cache works."""

_MARKS = Marks(sorted(TALK_VARIABLES - {"cursor"}), anywhere=("name", "partner"))
_SHRINK_ORDER = (
    "experiences",
    "recalled",
    "notes",
    "journal",
    "things",
    "people",
    "description",
    "facts",
)
_TEXT_SHRINK_ORDER = (*_SHRINK_ORDER, "told", "examples")
"""Variables that are shortened if the prompt is too long, in this order, from their last line."""


@dataclass
class Talk:
    """One turn of a character, from its scene to the check of its speech.

    Args:
        count: Returns the total tokens of several texts.

    Attributes:
        answer: The parser of the answer to the last prompt.
    """

    scene: TalkScene
    prompts: Prompts
    act: Prompts
    count: Callable[[Sequence[str]], int]
    answer: AnswerReader = field(init=False)
    _instructions: str = ""  # the part of the prompt that says how to answer
    # the character's words before this answer, the newest first
    _own: list[str] = field(default_factory=list)
    _said_last: str = ""  # the character's last line
    _may_repeat: bool = True  # False for small models, which tend to repeat their own sentences

    def prompt(self, target: TargetModel, refused: str = "") -> TalkPrompt:
        """Return the prompt for a model.

        Args:
            refused: Why the last answer was refused; empty at the first attempt.

        Raises:
            ConfigError: A template fails on these values.
        """
        owns = filter(None, (memory.said for memory in reversed(self.scene.window)))
        said = [own.words for own in islice(owns, LAST_LINES)]
        self.answer = AnswerReader(self.scene.name, script=target.form == SCRIPT)
        self._own = said
        self._said_last = said[0] if said else ""
        self._may_repeat = target.form != DIALOGUE
        return self._chat(target, refused) if target.form == CHAT else self._text(target, refused)

    def fault(self, words: str) -> str:
        """Return why a spoken line is refused, phrased for the model; empty if it is accepted."""
        said = bare(words)
        again = not self._may_repeat and words in self._own
        if not said:
            return EMPTY
        if len(said) > SHORT_LINE and (again or said == bare(self._said_last)):
            return "You said exactly this a moment ago. Say something else, or write > wait"
        if recites(said, bare(self._instructions)):
            return "The answer repeats the instructions. Answer as the character, in your own words"
        self._said_last = words
        return ""

    def _chat(self, target: TargetModel, refused: str) -> TalkPrompt:
        values = self.scene.variables()
        head = self._lines(self.prompts, "system", values)
        turns = turns_of(self.scene.window)
        news = turns.pop().lines if turns and turns[-1].role == USER else []
        day = self.scene.now.rpartition(", ")[0]
        if news and news[0] == f"[{day}, {self.scene.place}]":  # the message's head says it
            news = news[1:]
        last = self._last_message(target, values, refused, [(line, "window") for line in news])
        room = target.prompt_tokens - self.count([line for line, _ in (*head, *last)])
        cost = self.count([line for turn in turns for line in turn.lines]) + 4 * len(turns)
        while turns and (cost > room or turns[0].role == ASSISTANT):  # drop the oldest
            cost -= self.count(turns.pop(0).lines) + 4
        talk = list[PromptLine]()
        messages = list[ChatMessage]()
        for role, lines in turns:
            own = role == ASSISTANT
            shown = [f"{self.scene.name}: {line}" for line in lines] if own else lines
            talk += [(line, "window") for line in shown]
            messages.append(ChatMessage(role, "\n".join(lines)))
        first, news_of = ("\n".join(line for line, _ in part).strip() for part in (head, last))
        messages = [ChatMessage(SYSTEM, first), *messages, ChatMessage(USER, news_of)]
        text = "\n\n".join(f"[{each.role}]\n{each.text}" for each in messages)
        tools = tools_of(self.scene.tools) if target.takes_tools else ()
        self._instructions = "\n".join(line for line, section in head if section == FRAME)
        rendered = Rendered(text, (*head, *talk, *last))
        return TalkPrompt(GenerationRequest(text, messages=tuple(messages), tools=tools), rendered)

    def _last_message(
        self, target: TargetModel, values: dict[str, Any], refused: str, news: Sequence[PromptLine]
    ) -> list[PromptLine]:
        """Return the last message, with as much of the scene as may be new in a prompt."""
        most = min(target.tail_tokens or target.prompt_tokens, target.prompt_tokens // 2)
        lines: list[PromptLine] = []
        for scene, shown in shrinking(self.scene, values, _SHRINK_ORDER):
            lines = self._lines(self.prompts, "turn", shown, refused=for_prompt(refused))
            if scene.trigger and not scene.partner:
                lines += self._lines(self.act, "turn", shown)
            lines += [("", FRAME), *news] if news else []
            if self.count([line for line, _ in lines]) <= most:
                break
        return lines

    def _text(self, target: TargetModel, refused: str) -> TalkPrompt:
        """Return a dialogue or a transcript to continue, with as much of the scene as fits."""
        name = self.scene.name
        window = self.scene.window
        lines = list[PromptLine]()
        if target.form == SCRIPT:
            talk = script(window, name)
        else:
            talk = [*filter(None, (dialogue_line(memory, name) for memory in window))]
            talk = talk[max(len(talk) // LAST_LINES - 1, 0) * LAST_LINES :]
        for scene, values in shrinking(self.scene, self.scene.variables(), _TEXT_SHRINK_ORDER):
            more: dict[str, Any]
            if target.form == SCRIPT:
                more = {"window": talk, "cursor": f"~{name}>", "refused": for_prompt(refused)}
                more["examples"] = [*map(_script_line, scene.examples)]
                lines = self._lines(self.prompts, "transcript", values, **more)
                self._instructions = "\n".join(scene.examples)  # shown as answers in a transcript
            else:
                # These tokens are evaluated again at every turn, and a small model is slow.
                more = {"talk": talk, "now": values["now"].rpartition(", ")[0]}
                more["people"] = [x for x in values["people"] if x.startswith(scene.partner)]
                lines = self._lines(self.prompts, "dialogue", values, **more)
                self._instructions = "\n".join((scene.persona, *values["examples"]))
            if self.count([line for line, _ in lines]) <= target.prompt_tokens:
                break
        text = "\n".join(line for line, _ in lines)
        # Text in brackets is an event, not speech.
        stop = ("\n", "(") if target.form == DIALOGUE else ("\n",)
        return TalkPrompt(GenerationRequest(text, stop=stop), Rendered(text, tuple(lines)))

    def _lines(
        self, prompts: Prompts, part: str, values: dict[str, Any], **more: Any
    ) -> list[PromptLine]:
        """Render one part, and return its lines, each with the variable that it comes from."""
        every = {"refused": "", "talk": [], **values, **more}
        marked = {name: _MARKS.on(name, value) for name, value in every.items()}
        return _MARKS.read(prompts.render(part, **marked))


def _script_line(line: str) -> str:
    """Clean a script line by the character's author, but keep its cursor."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)
