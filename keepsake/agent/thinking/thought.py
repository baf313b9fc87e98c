"""A thought under way, and what is decided about it from what is known by then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.agent.body import Body
from keepsake.agent.happenings import NO_BASIS, Basis
from keepsake.agent.impulses import Impulse
from keepsake.agent.memory.keeper import LOOKUPS
from keepsake.agent.services import Services
from keepsake.agent.thinking.actor import Act
from keepsake.agent.thinking.options import options_of
from keepsake.agent.thinking.scene import verbs_of
from keepsake.agent.thinking_config import FREE, SCHEMA, ThinkingConfig
from keepsake.events.types import Thought as ThoughtEvent
from keepsake.models.profiles import SCRIPT, ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.grammars import verbs_grammar, verbs_schema
from keepsake.prompt.marks import Rendered
from keepsake.prompt.options import Options
from keepsake.prompt.verbs import Verb
from keepsake.recall.related import SearchResult

PROFILE = "agent"
"""The profile that agents think with."""
SHOWN = frozenset({"say", "whisper", "emote"})
"""What a small model does not do unasked: its words made no sense to whoever stood by."""
MOST_LOOKUPS = 2
"""How often an agent may look into its memory before it has to do something."""
HOTTER, HOTTEST = 0.25, 1.5
"""What each new try adds to the temperature, and where that ends."""
JSON_TOKENS = 40
"""What the marks and names of a JSON answer may cost besides its words."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent for a thought, and when."""

    request: GenerationRequest  # the request
    costs: Costs | None  # what its sections cost; None if they were not counted
    wait: float  # seconds that it had waited in the queue
    at: float  # seconds of the services' timer
    basis: Basis | None = None  # what the prompt was made from


@dataclass
class ThoughtInProgress:
    """A thought under way."""

    impulse: Impulse
    attempt: int = 1
    nudge: str = ""
    lead: str = ""
    """The verb that its answer begins with; empty when it is free."""
    lookups: int = 0
    """How often the agent has looked into its memory on the way here."""
    found: SearchResult | None = None
    """What recall brought for it."""
    rerouted: bool = False
    """Whether the model turned out to be of another form, so that it is asked in another way."""
    too_large: bool = False
    """Whether its prompt could not be brought under the budget."""
    queued: float = 0.0
    """Since when it waits in the queue, in seconds of the services' timer."""
    sent: Sent | None = None
    """What was sent for it, once its turn had come."""
    answer: Generation | None = None
    """What the model answered; None until it has."""


def second_thought(
    thought: ThoughtInProgress, act: Act, config: ThinkingConfig, *, speaks: bool = True
) -> ThoughtInProgress | None:
    """The thought that follows one whose answer was no use; None when it is enough.

    ``speaks``: Whether a player who was not answered is to hear something.
    """
    impulse, attempt, found = thought.impulse, thought.attempt + 1, thought.found
    waited_for = speaks and impulse.priority == "player" and config.insist
    if act.command is None and thought.attempt <= config.retries:
        # The last try for somebody who waits is made easy.
        last = waited_for and thought.attempt == config.retries
        lead = "say" if last else thought.lead
        return ThoughtInProgress(impulse, attempt, act.refusal, lead, thought.lookups, found=found)
    if act.command is not None and act.command.verb in LOOKUPS and thought.lookups < MOST_LOOKUPS:
        # It looked something up in order to use it.
        lookups = thought.lookups + 1
        return ThoughtInProgress(impulse, thought.attempt, lookups=lookups, found=found)
    if act.command is not None and waited_for and not act.answers and not thought.lead:
        lookups = thought.lookups
        return ThoughtInProgress(impulse, attempt, lead="say", lookups=lookups, found=found)
    return None


def addressee(impulse: Impulse) -> str:
    """Whom speech is for: whoever spoke, came or gave; empty for an idle thought."""
    return impulse.source if impulse.trigger in ("addressed", "named", "arrival", "given") else ""


def temperature(profile: ModelProfile, thought: ThoughtInProgress) -> float:
    """The profile's; hotter with each new try, which else would come to the same answer."""
    if thought.attempt == 1 or profile.temperature == 0:
        return profile.temperature
    return min(profile.temperature + HOTTER * (thought.attempt - 1), HOTTEST)


def act_request(
    agent: Body,
    prompt: Rendered,
    thought: ThoughtInProgress,
    profile: ModelProfile,
    services: Services,
) -> GenerationRequest:
    """What a model that continues text is sent for an act: the transcript up to the cursor."""
    options, verbs = options_of(agent), verbs_of(services)
    request = profile.request(f"{prompt.text} {thought.lead}".rstrip())
    request = replace(request, temperature=temperature(profile, thought))
    if profile.form != SCRIPT:
        verbs = tuple(each for each in verbs if each.name not in SHOWN)
    return request if thought.lead else held(request, verbs, options, profile, services)


def held(
    request: GenerationRequest,
    verbs: Sequence[Verb],
    options: Options,
    profile: ModelProfile,
    services: Services,
) -> GenerationRequest:
    """The request, held to what makes sense here as far as its server can."""
    constraint = services.thinking.current.constrain
    if constraint != FREE and profile.takes_grammar:
        return replace(request, grammar=verbs_grammar(verbs, options))
    if constraint == SCHEMA:
        # JSON may be written over several lines, and its marks and names cost tokens.
        longer = request.max_tokens + JSON_TOKENS
        schema = verbs_schema(verbs, options)
        return replace(request, json_schema=schema, stop=(), max_tokens=longer)
    return request


def led(lead: str, text: str) -> str:
    """``text`` behind the verb it was to begin with, unless it brings that verb itself."""
    return text if text.lstrip().casefold().startswith(f"{lead} ") else f"{lead}{text}"


def log_line(name: str, thought: ThoughtInProgress, answer: Generation | None, *acts: Act) -> str:
    """The line of the agents' log on a thought that was answered, or said without a model."""
    did = "; ".join(map(_told, acts))
    cost = "no model"
    if answer is not None:
        cost = (
            f"{answer.prompt_tokens}+{answer.completion_tokens} tokens, "
            f"{answer.cached_tokens} cached, {answer.seconds:.2f} s"
        )
    return f"[Thinker] {name}: {thought.impulse.trigger} -> {did} ({cost})"


def _told(act: Act) -> str:
    if act.command is None:
        return f"(refused: {act.refusal})"
    return f"{act.command.line} | {act.command.reason}".removesuffix(" | ")


def thought_event(
    name: str,
    thought: ThoughtInProgress,
    outcome: str,
    now: float,
    *acts: Act,
    answer: Generation | None = None,
    problem: str = "",
    costs: Costs | None = None,
) -> ThoughtEvent:
    """The event of a thought that has come to its end."""
    sent, impulse = thought.sent, thought.impulse
    request = sent.request if sent else None
    done = [act for act in acts if act.command is not None]
    commands = [act.command for act in done if act.command is not None]
    costs = sent.costs if sent else costs
    basis = (sent.basis if sent else None) or NO_BASIS
    return ThoughtEvent(
        agent=name,
        trigger=impulse.trigger,
        priority=impulse.priority,
        outcome=outcome,
        source=impulse.source,
        cause=impulse.memory,
        attempt=thought.attempt,
        lead=thought.lead,
        prompt=request.prompt if request else "",
        sections={each.name: each.tokens for each in costs.sections} if costs else {},
        budget=costs.budget if costs else 0,
        counted_by=costs.source if costs else "",
        prompt_tokens=answer.prompt_tokens if answer else 0,
        cached_tokens=answer.cached_tokens if answer else 0,
        completion_tokens=answer.completion_tokens if answer else 0,
        wait=round(sent.wait, 6) if sent else 0.0,
        # On a simulated clock no time passes while a model answers: then what it says itself.
        latency=round(max(now - sent.at, answer.seconds if answer else 0.0), 6) if sent else 0.0,
        model=answer.model if answer else "",
        seed=request.seed if request else None,
        temperature=request.temperature if request else 0.0,
        answer=answer.text if answer else "",
        command="; ".join(each.line for each in commands) or None,
        reason=next((each.reason for each in commands if each.reason), ""),
        problem=problem or next((act.refusal for act in acts if act.refusal), ""),
        memory=done[0].memory if done else 0,
        memories=[act.memory for act in done if act.memory],
        recalled=basis.recalled,
        longterm=basis.longterm,
        recent=basis.recent,
        total=basis.total,
        compaction=basis.compaction,
    )
