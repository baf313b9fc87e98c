"""Which words come from a quotation in their prompt."""

from __future__ import annotations

from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Thought
from keepsake.events.values import ThoughtOutcome, Urgency
from keepsake.happening import Manner
from keepsake.tracing.bases import Link
from keepsake.web.questions.quoted import with_quotations
from tests.unit.made_archives import BEGIN, Village

SOCK = "The guilders are all in a blue sock, behind the loose board."


class StillClock:
    """A clock that stands."""

    def now(self):
        return BEGIN


def test_a_whisper_that_the_prompt_quoted_is_named_as_quoted(tmp_path):
    village = Village(tmp_path, "7")
    village.said("Anneke", SOCK, to=["7"], manner=Manner.WHISPER)
    village.compact("7", "Anneke whispered with me.")
    prompts = (f"Of Anneke: {SOCK}", "Of Anneke: she hums.")
    subscribers = Subscribers()
    subscribers.agent_ids["7"] = 7
    log = EventLog(tmp_path / "events", clock=StillClock(), subscribers=subscribers)
    for prompt in prompts:
        told = village.said("7", "In a blue sock.", to=["Anneke"], manner=Manner.WHISPER)
        thought = {"agent": "7", "agent_id": 7, "trigger": "said", "prompt": prompt}
        thought |= {"priority": Urgency.PLAYER, "outcome": ThoughtOutcome.ACTED}
        log.emit(Thought(**thought, memory=told["7"]))
    assert log.flush(60)
    log.close()

    def remembered(key, number):
        return village.archives[key].read(number, number)[0]

    found = with_quotations(village.follow("sock"), tmp_path / "events", remembered)
    _, first, second = found.tellings
    assert (first.link, first.rests_on) == (Link.QUOTED, 1)
    assert (second.link, second.rests_on) == (Link.EARLIER, 1)
