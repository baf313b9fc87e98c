"""Says words to somebody who does not know what their prompt held in private, by leave."""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.acting.acts import Act
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.turns.consent.question import Leave
from keepsake.agent.turns.consent.wanted import WordsFor
from keepsake.agent.turns.state import Turn
from keepsake.happening import KnownVerb


def pass_on(turn: Turn, wanted: WordsFor, leave: Leave) -> Act:
    """Say words so that nobody else hears them: in a whisper, or aloud if nobody else is here.

    Who is told knows of them then, with those who know all that the prompt held.
    """
    agent = turn.agent
    basis = turn.attempt.basis
    is_alone = {wanted.to.id}.issuperset(map(identity_of, people_near(agent)))
    return turn.actor.speak(
        agent,
        wanted.words,
        wanted.to,
        whispered=wanted.verb == KnownVerb.WHISPER or not is_alone,
        reason=wanted.reason,
        basis=replace(
            basis,
            confidants=(basis.confidants or frozenset()) | {wanted.to.id},
            rests_on=tuple(sorted({*basis.rests_on, leave.number} - {0})),
            allowed_by=tuple(sorted(leave.givers)),
        ),
    )
