"""A thought under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keepsake.agent.happenings import Basis
from keepsake.agent.impulses import Impulse
from keepsake.models.queue import Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.marks import Rendered
from keepsake.recall.related import SearchResult

PROFILE = "agent"
"""The profile that agents think with."""


@dataclass(slots=True)
class Sent:
    """What was sent for a thought, and when."""

    time: datetime  # when
    impulse: Impulse  # what the thought was about
    prompt: Rendered  # the prompt, with the section of each line
    request: GenerationRequest  # the request
    costs: Costs  # what its sections cost
    wait: float  # seconds that it had waited in the queue
    at: float  # seconds of the services' timer
    basis: Basis  # what the prompt was made from
    answer: Generation | None = None  # what came; None until it has


@dataclass
class ThoughtInProgress:
    """A thought under way."""

    impulse: Impulse
    attempt: int = 1
    found: SearchResult | None = None
    """What recall brought for it."""
    rerouted: bool = False
    """Whether the model turned out to be of another form, so that it is asked in another way."""
    too_large: bool = False
    """Whether its prompt could not be brought under the budget."""
    queued: float = 0.0
    """Since when it waits in the queue, in seconds of the services' timer."""
    ticket: Ticket | None = None
    """Its place in the model queue, once it has one."""
    sent: Sent | None = None
    """What was sent for it, once its turn had come."""
    answer: Generation | None = None
    """What the model answered; None until it has."""
