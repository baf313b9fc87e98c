"""Says words to somebody who does not know what their prompt held in private, by leave.

Also finds for whom words are carried.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.acting.acts import Act, Carried
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.turns.consent.carried import carried_for
from keepsake.agent.turns.consent.question import Leave
from keepsake.agent.turns.consent.wanted import WordsFor
from keepsake.agent.turns.state import Turn
from keepsake.happening import KnownVerb, Person, PersonId


def carried_by(
    turn: Turn, to: Person, words: str, *, allowed_by: tuple[PersonId, ...] = ()
) -> Carried | None:
    """Return for whom an agent carries a whisper, by the plan that it is about; else None.

    ``allowed_by``: Who allowed the words by leave; nobody for words that need none.
    """
    number = turn.attempt.basis.plan
    plans = turn.tools.books.plans.items
    plan = next((each for each in plans if number and each.number == number), None)
    if plan is None:
        return None
    return carried_for(
        plan,
        to,
        words,
        by=identity_of(turn.agent),
        allowed_by=allowed_by,
        window=turn.tools.memory.memory.context().window,
        known=tuple(turn.tools.people_known),
    )


def pass_on(turn: Turn, wanted: WordsFor, leave: Leave) -> Act:
    """Say words so that nobody else hears them: in a whisper, or aloud if nobody else is here.

    Who is told knows of them then, with those who know all that the prompt held.
    """
    agent = turn.agent
    basis = turn.attempt.basis
    is_alone = {wanted.to.id}.issuperset(map(identity_of, people_near(agent)))
    whispers = wanted.verb == KnownVerb.WHISPER or not is_alone
    givers = tuple(sorted(leave.givers))
    return turn.actor.speak(
        agent,
        wanted.words,
        wanted.to,
        whispered=whispers,
        reason=wanted.reason,
        basis=replace(
            basis,
            confidants=(basis.confidants or frozenset()) | {wanted.to.id},
            rests_on=tuple(sorted({*basis.rests_on, leave.number} - {0})),
            allowed_by=givers,
            carried=carried_by(turn, wanted.to, wanted.words, allowed_by=givers)
            if whispers
            else None,
        ),
    )


def say_as_asked(turn: Turn, wanted: WordsFor) -> Act:
    """Say words that hold nothing private as they were written: somebody has asked aloud for them.

    Anybody may know of them, and of a whisper who asked for it.
    """
    basis = turn.attempt.basis
    whispers = wanted.verb == KnownVerb.WHISPER
    asked = (basis.aloud.number,) if basis.aloud is not None else ()
    return turn.actor.speak(
        turn.agent,
        wanted.words,
        wanted.to,
        whispered=whispers,
        reason=wanted.reason,
        basis=replace(
            basis,
            confidants=None,
            rests_on=asked,
            carried=carried_by(turn, wanted.to, wanted.words) if whispers else None,
        ),
    )
