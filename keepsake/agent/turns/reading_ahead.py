"""Has a slow model read the start of an agent's next prompt before anybody speaks to the agent.

Reading a prompt of 600 tokens takes a small model on two cores five seconds and more. The server
keeps what it has read, so that the answer costs only the lines that are new.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.turns.context import context_of
from keepsake.agent.turns.prompts.prompting import prompt_of, supposed
from keepsake.errors import KeepsakeError, ModelTimeout, ModelUnavailable
from keepsake.logs import Subsystem, get_logger
from keepsake.models.model import Model
from keepsake.models.profiles import ModelProfile
from keepsake.models.tickets import Outcome, Priority
from keepsake.ports import GenerationRequest
from keepsake.tasks.forms.form import PromptForm

log = get_logger(Subsystem.WARM_UP)


def read_ahead(
    ref: AgentRef, impulse: Impulse, tools: MemoryTools, services: Runtime, *, in_talk: bool = True
) -> None:
    """Send a slow model the start of an agent's next prompt.

    Nothing is sent if the one who may speak has gone when the queue reaches the request.

    Args:
        impulse: Who may speak next; :data:`IDLE` for anybody.
        in_talk: Whether they talk with this agent. If not, nothing is sent to a server that keeps
            one prompt in its cache, because it would forget the prompt of another agent.
    """
    key = f"agent-{ref.number}"

    def request(profile: ModelProfile) -> GenerationRequest | None:
        form = services.prompt_form(profile)
        agent = ref.body()
        if agent is None or not (_pays(model, form, in_talk) and _can_hear(agent, impulse)):
            return None
        turn = context_of(agent, impulse, tools.memory)
        said = supposed(agent, turn.partner, "…", tools, services)
        built = prompt_of(agent, turn, tools, services, form=form, extra=said)
        return replace(profile.request(built.prompt.request), cache_key=key, max_tokens=1)

    def ended(outcome: Outcome | KeepsakeError) -> None:
        if isinstance(outcome, ModelTimeout):
            # A slow model is no fault. What it has read stays in its server's cache.
            log.info(f"A prompt was read in advance only in part: {outcome.what}", agent=ref.name)
        elif isinstance(outcome, KeepsakeError):
            log.warning("The warm-up failed", agent=ref.name, exc_info=outcome)

    try:
        model, _ = services.gateway.model(PROFILE)
    except ModelUnavailable:  # the profile uses none: the turn answers by rule
        return
    except KeepsakeError as error:
        ended(error)
        return
    try:
        form = services.prompt_form(model.resolved())
        if _pays(model, form, in_talk) or not model.capabilities.known:
            services.gateway.submit(PROFILE, Priority.READ_AHEAD, key, request, ended)
    except KeepsakeError as error:
        ended(error)


def _pays(model: Model, form: PromptForm, in_talk: bool) -> bool:
    """Whether reading ahead saves a player seconds.

    The models of a form that reads ahead are small and run on a processor. Another model is slow if
    its prompts are limited by its speed.
    """
    several = model.capabilities.slots > 1
    slow = several and form.target.tail_tokens > 0
    return (in_talk or several) and (form.reads_ahead or slow)


def _can_hear(agent: Body, impulse: Impulse) -> bool:
    """Whether the agent could answer now, and who may speak is here."""
    if agent.location is None or agent.db.paused or agent.db.asleep:
        return False
    return impulse.source_id in ("", *map(identity_of, people_near(agent)))
