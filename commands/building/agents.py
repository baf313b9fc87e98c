"""Builders make agents and mend them."""

from __future__ import annotations

from evennia.locks.lockhandler import check_lockstring

from commands.building.base import BuilderCommand, plain, shortened, table
from commands.wording import counted, quoted
from keepsake.agent import tending
from keepsake.agent.memory.named import told
from keepsake.agent.thinking.thinker import SHORTEST_INTERVAL
from keepsake.errors import KeepsakeError
from keepsake.prompt.marks import Rendered
from typeclasses.agents import (
    Agent,
    all_agents,
    create_agent,
    has_lived,
    keep_profile,
    kept_profile,
    set_memory,
    summary_of,
)

LONGEST_INTERVAL = 86_400
LONGEST_PROFILE = 4000


class CmdAgent(BuilderCommand):
    """Make agents, see them, mend them.

    Usage:
      @agent                               all agents
      @agent <name>                        one of them
      @agent/create <name> [= <profile>]   a new one, in this room
      @agent/profile <name> [= <profile>]  see or change who it is
      @agent/memory <name> [= <memory>]    what it remembers with: keepsake, rag, mem0 …
      @agent/pause <name>                  it remembers, but does not think
      @agent/resume <name>                 it thinks again
      @agent/interval <name> = <seconds>   how often it acts unasked; |wdefault|n
      @agent/prompt <name>                 the very prompt it would send now, of itself
      @agent/prompt <name> = <words>       the one with which it would answer you, or its words
      @agent/delete <name>                 take it out of the world

    The profile says who the agent is, best in the second person: "You are Mira,
    keeper of the inn. You …". A sentence with "(secret)" in it is a secret. A
    deleted agent's archive and profile stay in the vault; creating one of the
    same name gives it its memories back. The switches but /create and /delete
    take the agent in the room if you name none.

    Example:
      @agent/create Ada = You are Ada, a clockmaker. You love riddles.

    See also: |whelp @memory-status|n, |whelp @llm-status|n
    """

    key = "@agent"
    aliases = ("@agents",)
    switch_options = (
        *("create", "profile", "memory", "pause", "resume", "interval", "prompt", "delete"),
    )

    def run(self) -> None:
        """Do what the switch says."""
        if "delete" in self.switches and not self.lhs:
            raise KeepsakeError("It is not clear which agent to delete", "Name it")
        if len(self.switches) > 1:
            raise KeepsakeError("That is more than one switch", "Give one at a time")
        if self.switches:
            getattr(self, f"_{self.switches[0]}")()
        elif self.args.strip():
            self.caller.msg(self._one(self.agent_named(self.args)))
        else:
            self.caller.msg(self._all())

    # -- seeing

    def _all(self) -> str:
        agents = all_agents()
        if not agents:
            return "There are no agents. Make one with @agent/create <name> = <profile>."
        summaries = [(agent.key, summary_of(agent)) for agent in agents]
        rows = [(name, each["place"], each["memories"], each["state"]) for name, each in summaries]
        return table(("Agent", "Place", "Memories", "State"), rows)

    def _one(self, agent: Agent) -> str:
        summary = summary_of(agent)
        interval = f"every {agent.db.idle_interval} s" if agent.db.idle_interval else "default"
        return (
            f"|w{agent.key}|n ({agent.dbref}), in {summary['place']}\n"
            f"  State:        {summary['state']}\n"
            f"  Memories:     {summary['memories']}\n"
            f"  Idle thoughts: {interval}, talkativeness {agent.db.talkativeness}\n"
            f"  Vault:        {plain(str(self.mind(agent).memory.folder))}\n\n"
            f"{plain(str(agent.db.profile))}"
        )

    def _prompt(self) -> None:
        agent = self.agent_named(self.lhs)
        partner = self.caller if self.rhs else None

        def show(prompt: Rendered, _budget: int) -> None:
            self.page(plain(prompt.text))

        self.mind(agent).thinker.preview.show(agent, show, partner, self.rhs)

    # -- making and mending

    def _create(self) -> None:
        if not self.caller.location:
            raise KeepsakeError("You are nowhere", "Go to the room where the agent shall stand")
        name = self.lhs.strip()
        lived = has_lived(name)
        profile, examples = (_profile_text(self.rhs), []) if self.rhs else kept_profile(name)
        agent = create_agent(
            name,
            location=self.caller.location,
            profile=profile or f"You are {name}.",
            examples=examples,
        )
        mind = self.mind(agent)
        mind.thinker.start()
        total = mind.memory.memory.status().total
        back = (
            f" {agent.key} remembers an earlier life: {counted(total, 'memory')}." if lived else ""
        )
        self.caller.msg(f"|gMade {agent.key}|n, in {agent.location.key}.{back}")
        if not profile:
            self.caller.msg(f"Say who that is: @agent/profile {agent.key} = You are {agent.key}, …")

    def _profile(self) -> None:
        agent = self.agent_named(self.lhs)
        if self.rhs is None:
            self.caller.msg(plain(str(agent.db.profile)))
            return
        agent.db.profile = _profile_text(self.rhs)
        self.caller.msg(f"Changed {agent.key}'s profile; the next thought uses it.")

    def _memory(self) -> None:
        agent = self.agent_named(self.lhs)
        if self.rhs is not None:
            if ":" in self.rhs and not check_lockstring(self.caller, "set:perm(Developer)"):
                why = "A class by its module is for developers, as it runs whatever is there"
                raise KeepsakeError(why, "Ask one, or name a memory of the list")
            set_memory(agent, self.rhs.strip())
        plugged = self.mind(agent).plugged
        has = told("" if plugged is None else plugged.name)
        self.caller.msg(f"{agent.key} remembers with {plain(has)}.")

    def _pause(self) -> None:
        agent = self.agent_named(self.lhs)
        self.told(agent, tending.pause(agent, self.mind(agent)))

    def _resume(self) -> None:
        agent = self.agent_named(self.lhs)
        self.told(agent, tending.resume(agent, self.mind(agent)))

    def _interval(self) -> None:
        agent, given = self.agent_named(self.lhs), (self.rhs or "").strip()
        if given == "default":
            agent.attributes.remove("idle_interval")
            self.caller.msg(f"{agent.key} has idle thoughts as often as thinking.md says.")
            return
        if given.isdecimal() and SHORTEST_INTERVAL <= int(given) <= LONGEST_INTERVAL:
            agent.db.idle_interval = int(given)
            self.caller.msg(f"{agent.key} has idle thoughts every {given} seconds or so.")
        else:
            raise KeepsakeError(
                f"{quoted(plain(shortened(given)))} is no interval",
                f"Give whole seconds, {SHORTEST_INTERVAL} to {LONGEST_INTERVAL}, or `default`",
            )

    def _delete(self) -> None:
        agent = self.agent_named(self.lhs)
        name, folder = agent.key, self.mind(agent).memory.folder
        keep_profile(agent)
        agent.delete()
        self.caller.msg(
            f"{name} is gone. The archive and the profile stay in {plain(str(folder))}; "
            f"@agent/create {name} brings both back."
        )


def _profile_text(text: str) -> str:
    clean = text.strip()
    if not clean or len(clean) > LONGEST_PROFILE:
        raise KeepsakeError(
            f"A profile of {len(clean)} characters is of no use",
            f"Write 1 to {LONGEST_PROFILE}",
        )
    return clean
