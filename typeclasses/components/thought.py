"""A thought under way, and what is decided about it from what is known by then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from game.agent.attention import Impulse
from game.agent.thinking_config import FREE, SCHEMA, ThinkingConfig
from game.llm.profiles import CHAT, ModelProfile
from game.llm.queue import Ticket
from game.mind.ports import Generation, GenerationRequest
from game.mind.prompt.act_messages import act_messages, as_text
from game.mind.prompt.grammars import verbs_grammar, verbs_schema
from game.mind.prompt.options import Options
from game.mind.prompt.template import Rendered
from game.mind.recall.related import SearchResult
from typeclasses.components.actor import Act
from typeclasses.components.deeds import DeedChoice
from typeclasses.components.happenings import Sent
from typeclasses.components.keeper import LOOKUPS
from typeclasses.components.options import options_of
from typeclasses.components.prompting import verbs_of
from typeclasses.components.replying import Reply
from typeclasses.services import Services

if TYPE_CHECKING:
    from typeclasses.agents import Agent

PROFILE = "agent"
"""The profile that agents think with."""
DEED = "deed"
"""What the choice of a deed goes by in the log, in the place of a verb."""
MOST_LOOKUPS = 2
"""How often an agent may look into its memory before it has to do something."""
HOTTER, HOTTEST = 0.25, 1.5
"""What each new try adds to the temperature, and where that ends."""
JSON_TOKENS = 40
"""What the marks and names of a JSON answer may cost besides its words."""


@dataclass
class ThoughtInProgress:
    """A thought under way."""

    impulse: Impulse
    attempt: int = 1
    nudge: str = ""
    lead: str = ""
    """The verb that its answer begins with, or :data:`DEED`; empty when it is free."""
    lookups: int = 0
    """How often the agent has looked into its memory on the way here."""
    reply: Reply | None = None
    """The answer that it is to become; None for a thought that ends in an act."""
    choice: DeedChoice | None = None
    """The deed that is to be chosen after a reply; None for any other thought."""
    restarts: int = 0
    """How often it was gathered anew, since they went on speaking."""
    found: SearchResult | None = None
    """What recall brought for it."""
    asked: bool = False
    """Whether recall was asked already."""
    squeezed: bool = False
    """Whether room was made for it after its prompt had been too large."""
    unwanted: bool = False
    """Whether nobody needed it any more when its turn had come."""
    ticket: Ticket | None = None
    queued: float = 0.0
    """Since when it waits in the queue, in seconds of the services' timer."""
    sent: Sent | None = None
    """What was sent for it, once its turn had come."""
    notice: Any = None


def second_thought(
    thought: ThoughtInProgress, act: Act, config: ThinkingConfig
) -> ThoughtInProgress | None:
    """The thought that follows one whose answer was no use; None when it is enough."""
    impulse, attempt = thought.impulse, thought.attempt + 1
    waited_for = impulse.priority == "player" and config.insist
    if act.command is None and thought.attempt <= config.retries:
        # The last try for somebody who waits is made easy.
        last = waited_for and thought.attempt == config.retries
        lead = "say" if last else thought.lead
        return ThoughtInProgress(impulse, attempt, act.refusal, lead, thought.lookups)
    if act.command is not None and act.command.verb in LOOKUPS and thought.lookups < MOST_LOOKUPS:
        # It looked something up in order to use it.
        return ThoughtInProgress(impulse, thought.attempt, lookups=thought.lookups + 1)
    if act.command is not None and waited_for and not act.answers and not thought.lead:
        return ThoughtInProgress(impulse, attempt, lead="say", lookups=thought.lookups)
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
    agent: Agent,
    prompt: Rendered,
    thought: ThoughtInProgress,
    profile: ModelProfile,
    services: Services,
) -> GenerationRequest:
    """What the model is sent for an act, in the form that it was made for.

    Args:
        agent: Who acts.
        prompt: Its prompt as a script.
        thought: The thought; what it is to begin with counts.
        profile: Of the model, its form decided.
        services: Where the configuration is.
    """
    options = options_of(agent)
    if profile.format == CHAT:
        usages = options.usages(verbs_of(services))
        messages = act_messages(prompt, usages, lead=thought.lead)
        request = profile.request(as_text(messages), messages=messages)
    else:
        request = profile.request(f"{prompt.text} {thought.lead}".rstrip())
    request = replace(request, temperature=temperature(profile, thought))
    return request if thought.lead else held(request, options, services)


def held(request: GenerationRequest, options: Options, services: Services) -> GenerationRequest:
    """The request, held to what makes sense here as far as its server can."""
    constraint, verbs = services.thinking.current.constrain, verbs_of(services)
    takes = services.gateway.capabilities(PROFILE)
    if constraint != FREE and takes.grammar:
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


def log_line(name: str, thought: ThoughtInProgress, answer: Generation, act: Act) -> str:
    """The line of the agents' log on a thought that was answered."""
    did = act.command.line if act.command else f"(refused: {act.refusal})"
    if act.command and act.command.reason:
        did += f" | {act.command.reason}"
    return (
        f"[Thinker] {name}: {thought.impulse.trigger} -> {did} "
        f"({answer.prompt_tokens}+{answer.completion_tokens} tokens, "
        f"{answer.cached_tokens} cached, {answer.seconds:.2f} s)"
    )
