"""What the prompt of a turn shows of the world: the agent, its place, people and things there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.surroundings.naming import name_of, names_of, place_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.surroundings.sights import belongings_of, description_of, things_seen
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.transcript import day_and_time
from keepsake.books.persona import changes_between
from keepsake.prompt.verbs import ANSWERS, LEAVING, NAMING, VERBS, Options, Takes, Verb
from keepsake.tasks.scene import Scene


def setting_of(
    agent: Body,
    context: TurnContext,
    now: datetime,
    *,
    withheld: Collection[str],
) -> Scene:
    """Return the agent's persona and surroundings as a scene; :func:`with_deeds` adds the rest.

    ``withheld``: The names of verbs that the settings take from all agents.
    """
    now = now.astimezone()
    daytime = day_and_time(now)
    impulse = context.impulse
    examples = (str(each).splitlines() for each in agent.db.examples or ())
    persona = str(agent.db.profile or f"You are {agent.key}.")
    written = str(agent.db.written_profile or "")
    changes = changes_between(written, persona) if written else ()
    return Scene(
        name=agent.key,
        persona=persona,
        written=written,
        no_longer=tuple(former for former, _ in changes),
        instead=tuple(latter for _, latter in changes),
        examples=tuple(chain.from_iterable(examples)),
        deeds=_deeds_always(withheld),
        directed=tuple(f"> {verb.usage}" for verb in _directed(withheld)),
        now=f"{daytime}, {now:%H:%M}",
        daytime=daytime,
        place=place_of(agent) or "nowhere",
        description=description_of(agent),
        here=_people_here(agent),
        things=names_of(things_seen(agent), agent),
        facts=_facts(agent),
        usual=call_hook(agent, "usual_day", str, ""),
        usual_now=call_hook(agent, "usual_now", str, ""),
        partner=context.partner.name if context.partner else "",
        came=tuple(each.name for each in impulse.others),
        trigger=impulse.kind,
        asks_all=impulse.source if impulse.to_all and context.partner is None else "",
        called_by=impulse.source if impulse.from_afar else "",
        concern=impulse.why if impulse.kind is ImpulseKind.HEARD else "",
        occasion=impulse.why if impulse.kind is ImpulseKind.IDLE else "",
    )


def with_deeds(
    scene: Scene,
    agent: Body,
    verbs: Sequence[Verb],
    options: Options,
    *,
    withheld: Collection[str],
) -> Scene:
    """Return the scene with what the agent carries, the ways out, and what it can do now.

    ``withheld``: The names of verbs that the settings take from all agents.
    """
    usages = options.usages([verb for verb in verbs if verb.takes is not Takes.TEXT])
    return replace(
        scene,
        details=_longest([each for each in options.things if each not in scene.things]),
        lying=options.lying,
        carried=options.carried,
        belongings=belongings_of(agent),
        exits=tuple(options.ways),
        ways=tuple(options.ways.values()),
        options=_deeds_now(usages, options, names_of(people_near(agent), agent)),
        own_deeds=tuple(f"{v.usage}: {v.help}" for v in usages if v.takes is Takes.OWN),
        not_now=_not_now(verbs, options, withheld),
        tools=tuple(usages.items()),
        commands=tuple(f"{verb.usage}: {verb.help}" for verb in verbs),
    )


def _deeds_always(withheld: Collection[str]) -> tuple[str, ...]:
    """Return the deeds that every prompt lists, each with its help.

    They are the same in every prompt, so that a server's prompt cache works. The last message says
    what a whisper forbids, and the deed is refused.
    """
    return tuple(
        f"> {verb.usage} ({verb.help})"
        for verb in VERBS
        if verb.takes is not Takes.TEXT and verb.takes not in NAMING and verb.name not in withheld
    )


def _longest(names: Sequence[str]) -> tuple[str, ...]:
    """Return names without those whose words another name has too: ``gauge``, ``tide gauge``."""
    words = [frozenset(each.split()) for each in names]
    return tuple(
        name
        for name, own in zip(names, words, strict=True)
        if not any(own < others for others in words)
    )


def _directed(withheld: Collection[str]) -> list[Verb]:
    """Return the verbs that name somebody or something here, whether there is any or not.

    Verbs that answer an invitation are left out. A prompt offers them beside it.
    """
    without = {*withheld, *ANSWERS}
    return [verb for verb in VERBS if verb.takes in NAMING and verb.name not in without]


def _not_now(verbs: Sequence[Verb], options: Options, withheld: Collection[str]) -> tuple[str, ...]:
    """Return the names of directed verbs that are forbidden in this turn.

    They are forbidden to an agent that must stay, or after words that were confided to it.
    """
    usable = {verb for verb in verbs if not (options.stays and verb.takes in LEAVING)}
    return tuple(verb.name for verb in _directed(withheld) if verb not in usable)


def _deeds_now(
    usages: Mapping[Verb, str], options: Options, here: Collection[str]
) -> tuple[str, ...]:
    """Return the deeds that depend on who and what is here; a game's own ones with their help.

    Names that stand above them, under "Here" and "Ways out", are not listed again.

    ``here``: The names of all people here.
    """
    above = (frozenset(here), frozenset(options.ways))
    deeds = list[str]()
    for verb, usage in usages.items():
        if verb.takes is Takes.OWN:
            deeds.append(f"{usage}: {verb.help}")
        elif verb.takes in NAMING:
            deeds.append(verb.usage if frozenset(options.of(verb.takes)) in above else usage)
    return tuple(deeds)


def _people_here(agent: Body) -> tuple[str, ...]:
    """Return the names of the people here, each once."""
    people = (
        f"{name_of(each, agent)}{' (asleep)' if each.db.asleep else ''}"
        for each in people_near(agent)
    )
    return tuple(dict.fromkeys(people))


def _facts(agent: Body) -> tuple[str, ...]:
    """Return whom the agent follows, and what the game adds."""
    leader = agent.mind.actor.leader if agent.mind is not None else None
    followed = [each for each in people_near(agent) if each.id == leader]
    facts = [f"You follow {name_of(each, agent)}." for each in followed]
    facts += call_hook(agent, "at_agent_prompt", list | tuple, [])
    return tuple(map(str, facts))
