"""What an agent does after a reply whose partner asked for a deed; the choosing is the model's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from keepsake.agent.body import Body
from keepsake.agent.services import Services
from keepsake.agent.surroundings import hosts_guests, people_near
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.following import Following
from keepsake.agent.thinking.options import options_of
from keepsake.models.profiles import CHAT, ModelProfile
from keepsake.ports import GenerationRequest
from keepsake.prompt.act_messages import as_text
from keepsake.prompt.options import Options
from keepsake.prompt.parsing import Command
from keepsake.prompt.reply import deeds
from keepsake.prompt.reply.deeds import NOTHING, Deed

MOST_TOKENS = 24


@dataclass(frozen=True, slots=True)
class DeedChoice:
    """A deed that is still to be chosen."""

    partner: str  # who asked for it
    said: str  # their words
    answer: str  # what the agent answered
    reply: Act  # the act of that answer
    deeds: tuple[Deed, ...]  # what can be done; the last one is nothing


class Deeds:
    """Finds and does the deeds of one agent; on the reactor thread."""

    def __init__(self, actor: Actor, following: Following, services: Services) -> None:
        self._actor, self._following, self._services = actor, following, services

    def choice(
        self, agent: Body, partner: str, said: str, answer: str, reply: Act
    ) -> DeedChoice | None:
        """What there is to choose from; None if nothing was asked for, or nothing is possible."""
        if (leader := _near(agent, partner)) is not None:
            self._following.spoke(leader, self._services.seconds())
        if deeds.declines(answer) or not (there := self.wished(agent, partner, said)):
            return None
        return DeedChoice(partner, said, answer, reply, (*there, NOTHING))

    def wished(self, agent: Body, partner: str, said: str) -> tuple[Deed, ...]:
        """What is asked for and can be done now."""
        leader, wishes = _near(agent, partner), deeds.asked(said, agent.key)
        if leader is None or not wishes:
            return ()
        follows = self._following.follows(agent, leader, self._services.seconds())
        return deeds.possible(wishes, said, partner, self._options(agent), following=follows)

    def request(self, agent: Body, choice: DeedChoice, profile: ModelProfile) -> GenerationRequest:
        """What the model is sent to choose one."""
        grammar = profile.takes_grammar
        said = (agent.key, choice.partner, choice.said, choice.answer)
        if profile.format == CHAT:
            messages = deeds.chat(*said, choice.deeds)
            held = deeds.number_grammar(choice.deeds)
            request = profile.request(as_text(messages), messages=messages)
        else:
            held = deeds.grammar(choice.deeds)
            request = profile.request(deeds.dialogue(*said))
        return replace(
            request,
            grammar=held if grammar else None,
            max_tokens=MOST_TOKENS,
            temperature=0.0,
            dry_multiplier=0.0,
            repeat_penalty=1.0,
        )

    def do(self, agent: Body, choice: DeedChoice, answer: str) -> Act:
        """Do the one that was chosen, if it can still be done."""
        deed = deeds.read(answer, choice.deeds)
        leader = _near(agent, choice.partner)
        if deed is NOTHING or leader is None or not self._possible(agent, deed, choice.partner):
            return Act(NOTHING.command)
        if deed.verb == deeds.FOLLOW:
            self._following.begin(leader, self._services.seconds())
            return self._actor.do(agent, Command("emote", f"goes with {leader.key} from now on."))
        if deed.verb == deeds.UNFOLLOW:
            self._following.end()
            return self._actor.do(agent, Command("emote", f"follows {leader.key} no longer."))
        return self._actor.do(agent, deed.command)

    def _possible(self, agent: Body, deed: Deed, partner: str) -> bool:
        options = self._options(agent)
        if deed.verb == "give":
            return deed.names in options.carried and partner in options.people
        if deed.verb == "get":
            return deed.names in options.lying
        if deed.verb == "go":
            return not options.stays and deed.names in options.exits
        return deed.verb == deeds.UNFOLLOW or not options.stays

    def _options(self, agent: Body) -> Options:
        """What is there; an agent that is asked to may leave a talk, but not its guests."""
        options = options_of(agent, stays=hosts_guests(agent))
        ways = [e for e in agent.location.exits if e.access(agent, "traverse")]
        passable = {str(each.key) for each in ways}
        return replace(options, exits=tuple(e for e in options.exits if e in passable))


def _near(agent: Body, name: str) -> Any:
    return next((each for each in people_near(agent) if each.key == name), None)
