"""``@agent``: builders create, inspect and manage agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from keepsake.agent.attention.presence import AgentState
from keepsake.agent.body import Body
from keepsake.agent.mind import ActionResult, Mind
from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia.commands import books, compaction, why
from keepsake.contrib.evennia.commands.base import (
    BuilderCommand,
    Query,
    View,
    plain,
    shortened,
    table,
    tell,
)
from keepsake.contrib.evennia.creation import WRITTEN, all_agents, create_agent
from keepsake.contrib.evennia.minds import mind_by_number, missing_minds, state_of
from keepsake.errors import KeepsakeError
from keepsake.prompt.sections import Rendered, chart, costs_of

LONGEST_PROFILE = 4000
"""The most characters of a profile, about 1,000 tokens of every prompt."""
FORMER_PROFILES = 10
"""How many earlier profiles an agent keeps."""
VIEWS: dict[str, View] = {
    "compaction": compaction.view,
    "journal": partial(books.book, "journal"),
    "memories": why.memories,
    "note": books.note,
    "notes": partial(books.book, "notes"),
    "people": partial(books.book, "people"),
    "pin": books.pin,
    "plans": books.plans,
    "recall": why.search,
    "why": why.view,
}
"""The switches that show a part of an agent's mind."""
ACTIONS: dict[str, Callable[[Body, Mind, str], ActionResult]] = {
    "pause": lambda agent, mind, _: mind.pause(agent),
    "resume": lambda agent, mind, _: mind.resume(agent),
    "sleep": lambda agent, mind, who: mind.put_to_bed(agent, who),
    "wake": lambda agent, mind, who: mind.wake(agent, who),
}
"""The switches that act on an agent, in the name of that builder. Each returns the outcome."""
_OPTIONS = {"drop": "rules", "remove": "pin", "undo": "compaction"}
"""Switches that modify another one, by the switch that they imply."""
_NAMES = (*VIEWS, "rules", "sleep", "wake")
"""Switches that are commands of their own too: ``@why mira`` is ``@agent/why mira``."""
_SEEN = ("sleeps", "wakes up")
"""How outcomes end that everybody in the agent's room has seen."""


class CmdAgent(BuilderCommand):
    """Make agents, see what they remember and why they act, and change it.

    Usage:
      @agent [<name>]                     all agents, or one of them
      @agent <name> = <profile>           change its profile
      @agent/create <name> [= <profile>]  make one in this room
      @agent/delete <name>                delete it; its archive stays
      @agent/pause <name>                 it perceives, but does not think
      @agent/resume <name>                it thinks again
      @agent/prompt <name> [= <words>]    the prompt that it would send now, or
                                          if you said these words to it, and
                                          what each section costs
      @agent/sleep <name>                 it goes home to sleep
      @agent/wake <name>                  it wakes, and is no longer tired
     |wIts mind|n
      @agent/why <name> [<n>]             why it did its last act, or the n-th
                                          last
      @agent/recall <name> = <words>      what a search finds, with scores
      @agent/memories <name> [65-128]     its memories, word for word
      @agent/compaction <name>            its compactions;
                                          |w/compaction/undo|n: undo the last
      @agent/journal <name> [<words>]     its journal: the newest days, or those
                                          with these words: 2026-11-21 cup
      @agent/people <name> [<who>]        its pages about people
      @agent/notes <name> [<words>]       its notes
      @agent/note <name>/<title> [= <text>]  read a note, or add to it
      @agent/pin <name> [= <text>]        see its pins, or add one;
                                          |w/pin/remove <name> = <n>|n
      @agent/plans <name> [= <plan>]      what it means to do, or add to it:
                                          tomorrow 12:00, the Quay, Ada: row
      @agent/rules [<name>]               its promises and rules, or all agents';
                                          |w/rules/drop <person>|n: those of a person

    Without a name a command takes the agent in the room, except /create and
    /delete. Everything under "Its mind", /sleep and /wake are commands, too:
    |w@why mira|n. Write a profile as "You are Mira, …"; mark a secret sentence with
    "(secret)". If you create a deleted agent again, it has its memories back.
    All its files are in |wvault/agents/<name>|n; edit them while the game runs.

    Example:
      @agent/create Ada = You are Ada, a clockmaker. You love riddles.
      @note Ada/well = The cup lies at the bottom of the well.
      @why Ada 2

    See also: |whelp @memory-status|n, |whelp @compact-memories|n
    """

    key = "@agent"
    aliases = ("@agents", *(f"@{name}" for name in _NAMES))
    switch_options = (*VIEWS, *ACTIONS, "create", "delete", "prompt", "rules", *_OPTIONS)

    def run(self) -> None:
        """Run the action that the switch or the command's name selects."""
        action, options = self._asked()
        own: Mapping[str, Callable[[], None]] = {
            "": self._show_or_change,
            "create": self._create,
            "delete": self._delete,
            "prompt": self._prompt,
            "rules": lambda: self._rules(drop="drop" in options),
        }
        if action in VIEWS:
            self._view(VIEWS[action], options)
        elif action in ACTIONS:
            self._act_on(action)
        else:
            own[action]()

    def _show_or_change(self) -> None:
        """Show all agents or one of them, or change the profile of one."""
        if self.rhs is not None:
            agent = self.agent_named(self.lhs)
            before = change_profile(agent, self.rhs)
            old = f" The old one was:\n\n{plain(str(before))}" if before else ""
            self.page(f"Profile changed. The next thought uses it.{old}")
        elif self.args.strip():
            tell(self.caller, self._one(self.agent_named(self.args)))
        else:
            self.page(_all())

    def _asked(self) -> tuple[str, frozenset[str]]:
        """Return the switch that selects the action, and the switches that modify it."""
        name = self.cmdstring.lstrip("@")
        options = frozenset(self.switches) & _OPTIONS.keys()
        actions = {each for each in self.switches if each not in options}
        actions |= {name} & set(_NAMES)
        actions |= {_OPTIONS[each] for each in options}
        if len(actions) > 1:
            shown = ", ".join(f"/{each}" for each in sorted({*actions, *options}))
            raise KeepsakeError(f"{shown} cannot be combined", "Give one switch at a time")
        return next(iter(actions), ""), options

    def _view(self, view: View, options: frozenset[str]) -> None:
        words = self.args
        title = ""
        if view is books.note:  # `mira/well = text`
            left, _, text = words.partition("=")
            name, _, title = left.partition("/")
            words = f"{name}={text}"
        agent, words = self.split_agent(words)
        query = Query(agent, self.mind(agent), self.caller, words, title.strip(), options)
        if work := view(query):
            self.answer(work)

    # -- views

    def _one(self, agent: Body) -> str:
        """Return the page of one agent: its state, its files and its profile."""
        mind = self.mind(agent)
        place = agent.location.key if agent.location else "nowhere"
        awake = mind.sleeper.awake_seconds / 3600
        return (
            f"|w{agent.key}|n ({agent.dbref}), in {place}\n"
            f"  State:         {_state(mind)}\n"
            f"  Talkativeness: {agent.db.talkativeness}\n"
            f"  Awake:         {awake:.1f} h, {_tired(mind)} tired\n"
            f"  Vault:         {plain(str(mind.memory.folder))}\n"
            f"  Memory id:     {plain(mind.memory_id)}\n\n"
            f"{plain(str(agent.db.profile))}"
        )

    def _prompt(self) -> None:
        """Show the prompt of the next thought, or of the answer to words, with its costs."""
        agent = self.agent_named(self.lhs)
        partner = self.caller if self.rhs else None

        def show(found: tuple[Rendered, int]) -> None:
            prompt, budget = found
            costs = chart(costs_of(prompt, runtime().tokens, budget))
            self.page(plain("\n".join([*costs, "", prompt.text])))

        preview = self.mind(agent).preview(agent, partner, self.rhs)
        preview.addCallbacks(show, self.failed)

    def _rules(self, *, drop: bool) -> None:
        """Show promises and rules of one agent or of all, or drop those of a person."""
        wanted = self.args.strip()
        if drop and not wanted:
            raise KeepsakeError("No person is named", "Example: @rules/drop Tom")
        agents = [self.agent_named(wanted)] if wanted and not drop else all_agents()
        kept = [(agent.key, self.mind(agent).books) for agent in agents]
        self.answer(lambda: books.rules_dropped(kept, wanted) if drop else books.rules(kept))

    # -- creating, deleting and acting on agents

    def _create(self) -> None:
        """Make an agent in the caller's room; one that was deleted has its memories back."""
        if not self.caller.location:
            raise KeepsakeError("You are not in a room", "Go to the room where the agent should be")
        name = self.lhs.strip()
        profile = _profile_text(self.rhs) if self.rhs else f"You are {name}."
        room = self.caller.location
        agent = create_agent(name, location=room, profile=profile)
        mind = self.mind(agent)
        mind.thinker.schedule()
        earlier = mind.memory.memory.earlier
        memories = "memory" if earlier == 1 else "memories"
        back = f" {agent.key} has its {earlier:,} earlier {memories}." if earlier else ""
        tell(self.caller, f"|gMade {agent.key}|n, in {room.key}.{back}")
        if not self.rhs:
            tell(self.caller, f"Describe the agent: @agent {agent.key} = You are {agent.key}, …")

    def _delete(self) -> None:
        """Delete an agent whose whole name was written; its archive stays."""
        if not self.lhs:
            raise KeepsakeError("No agent is named", "Name the agent to delete")
        agent = self.agent_named(self.lhs)
        name = agent.key
        folder = self.mind(agent).memory.folder
        if name.casefold() != self.lhs.casefold():
            raise KeepsakeError(f"This would delete {name}", f"Write the whole name: {name}")
        agent.delete()
        tell(
            self.caller,
            f"{name} is deleted. Its archive stays in {plain(str(folder))}; @agent/create {name} "
            "brings its memories back.",
        )

    def _act_on(self, action: str) -> None:
        """Act on the agent, and show the outcome unless the caller has just seen it in the room."""
        agent = self.agent_named(self.args)
        done, said = ACTIONS[action](agent, self.mind(agent), plain(self.caller.key))
        if not done:
            raise KeepsakeError(said, "@agent shows the state of each agent")
        if agent.location != self.caller.location or not said.endswith(_SEEN):
            tell(self.caller, f"{said}.")


def _all() -> str:
    """Return the table of all agents: place, memories, prompt load, state and tiredness."""
    rows = [_row(agent, mind_by_number(agent.id)) for agent in all_agents()]
    shown = table(("Agent", "Place", "Memories", "Next at", "Load", "State", "Tired"), rows)
    return shown if rows else "There are no agents. Make one with @agent/create <name> = <profile>."


def _row(agent: Body, mind: Mind | None) -> tuple[str, ...]:
    """Return the row of an agent in the table of all; ``mind``: None if it is not open."""
    place = agent.location.key if agent.location else "nowhere"
    if mind is None:
        state = "no memory" if agent.key in missing_minds() else AgentState.OPENING
        return agent.key, place, "", "", "", state, ""
    try:
        memory = mind.memory.memory
        due = str(memory.next_due() or "undone")
        load = memory.load()
    except KeepsakeError as error:
        return agent.key, place, "?", "", "", plain(shortened(str(error))), _tired(mind)
    total = memory.tiers.last_number
    state = _state(mind)
    state = "compacting" if mind.compactions.compacting else state
    return agent.key, place, str(total), due, f"{load.share:.0%}", state, _tired(mind)


def _state(mind: Mind) -> str:
    """Return an agent's state; for a sleeper, from when to when it sleeps and what it works on."""
    sleeper = mind.sleeper
    if not sleeper.asleep or sleeper.fell_asleep is None:
        return state_of(mind)
    since = sleeper.fell_asleep
    step = sleeper.nights.step
    until = runtime().sleeping.current.wakes_at(since).astimezone()
    work = ", its work is waiting" if sleeper.nights.working else ""
    if step:
        work = f", {step}"
    return f"asleep {since.astimezone():%H:%M} to {until:%H:%M}{work}"


def _tired(mind: Mind) -> str:
    """Return how tired the agent is; at 100% it goes to bed."""
    return f"{mind.sleeper.awake_seconds / 3600 / runtime().sleeping.current.awake_hours:.0%}"


def change_profile(agent: Body, text: str) -> str:
    """Give an agent another profile, and return the old one, which is kept in ``former_profiles``.

    Raises:
        KeepsakeError: The text is empty or too long.
    """
    clean = _profile_text(text)
    before = str(agent.db.profile or "")
    if before and before != clean:
        agent.db.former_profiles = [*(agent.db.former_profiles or ()), before][-FORMER_PROFILES:]
    agent.db.profile = clean
    agent.attributes.remove(WRITTEN)
    return before


def _profile_text(text: str) -> str:
    clean = text.strip()
    if not clean or len(clean) > LONGEST_PROFILE:
        raise KeepsakeError(
            f"The profile has {len(clean)} characters", f"Write 1 to {LONGEST_PROFILE}"
        )
    return clean
