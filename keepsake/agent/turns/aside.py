"""Asks an agent a question outside the game: its memory, its plans and its world stay as they are.

The question is put into the prompt of a turn as if somebody unknown, or a person whom the agent
knows, had just said it. The prompt is built by the function that builds every prompt, so the agent
answers from what it would have before it now. Only the words of the answer are read. Nobody hears
them, no deed is done, and neither question nor answer becomes a memory. Whoever asks several
questions says again what was said before, and the prompt has it as the newest lines. Words that
were whispered to the agent are not in the prompt, except by the person as whom it is asked.
Memories can be left out, to see what the agent says without them. Then the window, recall, the
journal, pages about people, promises and rules do not have them either. Summaries, portraits and
plans stay as they are.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import Deferred

from keepsake.agent.acting.acts import SPEECH
from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.turns.abilities import available_verbs
from keepsake.agent.turns.prompts.prompting import BuiltPrompt, Exchange, SupposedTurn, suppose
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.errors import KeepsakeError, ModelUnavailable
from keepsake.events.values import RecallPurpose
from keepsake.happening import Person
from keepsake.models.profiles import ModelProfile
from keepsake.models.tickets import Outcome, Priority
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard
from keepsake.tasks.task import TRIES

ASKER = "Stranger"
"""The name of who asks. One word, because the scripted model reads names of one word."""
_ONLY_WORDS = "Only words are heard here, and no deed is done. Answer in words"


@dataclass(frozen=True, slots=True)
class AsideAnswer:
    """What an agent answered.

    Attributes:
        words: The words of the answer; empty if there was none.
        problem: Why there are no words; empty if there are.
        raw: The last answer of the model, as it wrote it.
        model: The model that answered.
        calls: How many times the model was asked.
        summarised: Those of the memories left out that a summary in the prompt covers. It may still
            tell of them.
        prompt_tokens, completion_tokens: The sums over these calls, as the server counts.
    """

    words: str = ""
    problem: str = ""
    raw: str = ""
    model: str = ""
    calls: int = 0
    summarised: tuple[int, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _AsideQuestion:
    """A question to one agent, with the turn that it would begin."""

    def __init__(
        self,
        ref: AgentRef,
        agent: Body,
        turn: SupposedTurn,
        tools: MemoryTools,
        services: Runtime,
    ) -> None:
        self._key = f"agent-{ref.number}"
        self._agent = agent
        self._turn = turn
        self._tools = tools
        self._services = services
        self._built: BuiltPrompt | None = None
        self._refused = ""

    async def ask(self, refused: str) -> Generation:
        """Return the model's answer; ``refused``: why the last one was not used, else empty.

        Raises:
            ModelError: There was no answer.
        """
        self._refused = refused
        done: Deferred[Outcome] = Deferred()
        gateway = self._services.gateway
        gateway.submit(PROFILE, Priority.IDLE, self._key, self._request, done.callback)
        outcome = await done
        if isinstance(outcome, Generation):
            return outcome
        raise outcome or ModelUnavailable("The question was not asked", "Try again")

    def _request(self, profile: ModelProfile) -> GenerationRequest:
        form = self._services.prompt_form(profile)
        self._built = self._turn.prompt(
            self._agent, self._tools, self._services, form=form, refused=self._refused
        )
        return replace(profile.request(self._built.prompt.request), cache_key=self._key)

    def read(self, answer: Generation) -> tuple[str, str]:
        """Return the words of an answer; or empty words, and why there are none."""
        assert self._built is not None
        form = self._built.form
        prompt = self._built.prompt
        guard = SpeechGuard(prompt.instructions, prompt.said, asked=prompt.asked)
        parts = form.answer_reader(self._agent.key, prompt.others).feed(f"{answer.text}\n")
        parts += [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        spoken = self._spoken(parts)
        if not spoken:
            return "", _ONLY_WORDS if parts else SpeechFault.EMPTY
        faults = [guard.fault(line) for line in spoken]
        good = [line for line, fault in zip(spoken, faults, strict=True) if not fault]
        return " ".join(good), "" if good else faults[0]

    def _spoken(self, parts: Sequence[AnswerPart]) -> list[str]:
        """Return the lines that the agent says, plainly or as a deed: ``say Good day.``."""
        able = available_verbs(self._agent, self._turn.context, self._tools)
        lines = list[str]()
        for part in parts:
            if part.kind is PartKind.SPEECH:
                lines.append(part.text)
            elif part.kind is PartKind.DEED:
                read = read_deed(part.text, *able)
                if isinstance(read, Command) and read.verb in SPEECH:
                    lines.append(read.words)
        return lines


async def ask_aside(
    ref: AgentRef,
    question: str,
    tools: MemoryTools,
    services: Runtime,
    without: Collection[int] = (),
    *,
    before: Sequence[Exchange] = (),
    by: Person | None = None,
) -> AsideAnswer:
    """Ask an agent a question outside the game.

    ``without``: The memories to leave out. ``before``: What was asked and answered before. ``by``:
    As whom to ask; None for a stranger.

    A model whose answer has no words, or only words that the guard refuses, is asked once more.

    Raises:
        ModelError: The model does not answer.
        KeepsakeError: The memory or a template cannot be read, or no model can be asked.
    """
    agent = ref.body()
    if agent is None:
        raise KeepsakeError(f"{ref.name} is gone")
    services.update_limits()
    who = by or Person(ASKER, "")
    impulse = Impulse(ImpulseKind.ADDRESSED, True, who.name, source_id=who.id)
    turn = await suppose(
        agent,
        impulse,
        question,
        tools,
        services,
        purpose=RecallPurpose.INTERVIEW,
        audience=frozenset({by.id}) if by is not None else NO_PRIVATE_WORDS,
        without=without,
        before=before,
    )
    remembered = tools.memory.memory.context()
    spans = [(s.first, s.last) for s in (remembered.longterm, remembered.recent) if s is not None]
    summarised = tuple(n for n in sorted(without) if any(a <= n <= b for a, b in spans))
    asked = _AsideQuestion(ref, agent, turn, tools, services)
    answer = AsideAnswer()
    for _ in range(TRIES):
        made = await asked.ask(answer.problem)
        words, fault = asked.read(made)
        answer = AsideAnswer(
            words=words,
            problem=fault,
            raw=made.text,
            model=made.model,
            calls=answer.calls + 1,
            summarised=summarised,
            prompt_tokens=answer.prompt_tokens + made.prompt_tokens,
            completion_tokens=answer.completion_tokens + made.completion_tokens,
        )
        if words:
            break
    return answer
