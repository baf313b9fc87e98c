"""What the three prompt forms have in common: their interface, limits and prompts.

``ChatForm``, ``DialogueForm`` and ``ScriptForm`` each know how a kind of model wants to be asked.
No other code asks which form it is: it takes a :class:`PromptForm`, or the :class:`PromptLimits` of
the agents' model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from keepsake.ports import FormName, GenerationRequest, TargetModel
from keepsake.prompt.sections import Marks, PromptLine, Rendered
from keepsake.tasks.answer_reader import AnswerReader
from keepsake.tasks.conversation import OwnLine, own_lines, words_of
from keepsake.tasks.guard import SpeechGuard
from keepsake.tasks.others import NOBODY_ELSE, OtherVoices
from keepsake.tasks.scene import TALK_VARIABLES, Scene
from keepsake.tasks.stated import Stated
from keepsake.tasks.task import Prompts

LAST_LINES = 16
"""How many of the character's last lines an answer is compared with. A dialogue shows at least as
many lines of talk, so it holds them."""
FEW_LINES = 8
"""How many of them a capable model's answer is compared with: some three answers, each of which has
one to three lines."""
_RECALL_SHARE = 4
"""Recall may use one part in this many of a conversation's prompt: a quarter."""

SHRINK_ORDER = (
    "experiences",
    "recalled",
    "notes",
    "journal",
    "things",
    "people",
    "detail",
    "description",
    "facts",
    "usual",
)
"""Variables that are shortened if the prompt is too long, in this order, from their last line."""

_MARKS = Marks(sorted(TALK_VARIABLES - {"cursor"}), anywhere=("name", "partner"))


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """How much of a memory the prompts of the agents' model can show.

    The runtime publishes it when the model or its profile changes.

    Attributes:
        prompt_tokens: The most tokens of a prompt, if the memory is to be fitted to it; 0 if the
            settings of the memory decide.
        recall_tokens: How many of them recalled memories and notes may use; 0 if the settings of
            recall decide.
        shown_lines: How many of the newest memories a prompt shows; 0 for the whole window.
        shows_excerpts: Whether a recalled memory is shown with its neighbours. Then old summaries
            are not recalled: the memories behind them are shown instead.
    """

    prompt_tokens: int = 0
    recall_tokens: int = 0
    shown_lines: int = 0
    shows_excerpts: bool = False

    @classmethod
    def of_conversation(cls, tokens: int) -> PromptLimits:
        """Return the limits of a prompt of ``tokens`` that shows a whole conversation."""
        return cls(tokens, tokens // _RECALL_SHARE, shows_excerpts=True)


UNKNOWN = PromptLimits()
"""The limits before the agents' model is known: the settings decide."""
BY_RULES = PromptLimits(shown_lines=LAST_LINES)
"""The limits of agents without a model, which answer by rules."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for one model.

    Attributes:
        request: What the model is sent.
        rendered: The prompt as text, with the section of each line.
        budget: The most tokens that it may have.
        rests_on: The numbers of the memories that it shows because they bear on the answer.
        instructions: The part that the answer must not recite.
        said: The character's newest lines, which the answer may not repeat.
        asked: What the answer answers; empty for nothing.
        foreign: Words of others that the answer may not say as if they were its own.
        echoes: Lines of the prompt that no answer holds whole.
        listed: The names of those here as the prompt lists them, which no answer begins with;
            empty for fewer than two.
        others: Those whose lines the answer may not hold.
        stated: The facts that stand in its conversation; None if the form has none.
        needed: The tokens that it would have with the whole window, if the form has left out lines
            of it; else 0.
    """

    request: GenerationRequest
    rendered: Rendered
    budget: int
    rests_on: tuple[int, ...] = ()
    instructions: str = ""
    said: tuple[OwnLine, ...] = ()
    asked: str = ""
    foreign: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    listed: str = ""
    others: OtherVoices = NOBODY_ELSE
    stated: Stated | None = None
    needed: int = 0

    def guard(self, secrets: Sequence[str], *, last_try: bool) -> SpeechGuard:
        """Return what checks the spoken lines of an answer; see :class:`SpeechGuard`."""
        return SpeechGuard(
            self.instructions,
            self.said,
            asked=self.asked,
            foreign=self.foreign,
            echoes=self.echoes,
            listed=self.listed,
            secrets=secrets,
            last_try=last_try,
        )


@dataclass(frozen=True)
class PromptForm(ABC):
    """One way to ask a model what a character does next.

    Args:
        target: The model.
        talk: The template ``talk.md``.
        act: The template ``act.md``, for unprompted turns.
        count: Returns the total tokens of several texts.
        memory_tokens: The most tokens of a prompt by the settings of the memory.

    Attributes:
        name: The name of the form in ``llm.md``.
        acts_unprompted: Whether the character may do something when nobody turns to it.
        writes_deeds: Whether an answer may hold commands. If not, the model is asked if its words
            agree to a deed.
        reads_ahead: Whether the model is so slow that it should read the beginning of the next
            prompt in advance.
        unrepeated: How many of the character's newest lines an answer may not repeat.
    """

    target: TargetModel
    talk: Prompts
    act: Prompts
    count: Callable[[Sequence[str]], int]
    memory_tokens: int = 0

    name: ClassVar[FormName]
    acts_unprompted: ClassVar[bool] = True
    writes_deeds: ClassVar[bool] = True
    reads_ahead: ClassVar[bool] = False
    unrepeated: ClassVar[int] = FEW_LINES

    @property
    @abstractmethod
    def limits(self) -> PromptLimits:
        """How much of a memory a prompt can show."""

    @property
    def budget(self) -> int:
        """The most tokens of a prompt."""
        return self.target.prompt_tokens

    @abstractmethod
    def render(self, scene: Scene) -> Prompt:
        """Return the prompt of a scene, with as much of the scene as fits.

        Raises:
            ConfigError: A template fails on these values.
        """

    def beside(self, scene: Scene) -> tuple[str, ...]:
        """Return what the prompt says besides the window, which need not be recalled."""
        summaries = (scene.longterm, scene.recent)
        return (*summaries, *scene.pinned, *scene.noticed, *scene.journal, *scene.portraits)

    def answer_reader(self, name: str, others: OtherVoices) -> AnswerReader:
        """Return a reader of the answer's stream.

        Args:
            name: The character's name.
            others: Those whose lines the answer may not hold.
        """
        return AnswerReader(name, others=others)

    def lines(
        self, prompts: Prompts, part: str, values: dict[str, Any], **more: Any
    ) -> list[PromptLine]:
        """Render one part, and return its lines, each with the variable that it comes from."""
        return self.marked_lines(prompts, part, self.marked({**values, **more}))

    def marked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return variables with their marks, for several parts."""
        every = {"talk": [], **values}
        return {name: _MARKS.on(name, value) for name, value in every.items()}

    def marked_lines(
        self, prompts: Prompts, part: str, marked: Mapping[str, Any]
    ) -> list[PromptLine]:
        """Render one part with marked variables; see :meth:`lines`."""
        return _MARKS.read(prompts.render(part, **marked))

    def said(self, scene: Scene) -> tuple[OwnLine, ...]:
        """Return the newest lines of the character, which the answer may not repeat."""
        return tuple(own_lines(scene.window)[-self.unrepeated :])

    def asked(self, scene: Scene) -> str:
        """Return what the answer answers; empty if nobody is answered."""
        if not scene.partner:
            return ""
        return words_of(each for each in scene.window if each.number in scene.answers)

    def tokens_of(self, lines: Sequence[PromptLine]) -> int:
        """Return the tokens of lines of a prompt."""
        return self.count([line for line, _ in lines])
