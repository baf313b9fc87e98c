"""Asks the agents of a simulation questions at its end, outside the game."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from twisted.python.failure import Failure

from game.simulation.timeline import Timeline
from keepsake.agent.mind import Mind
from keepsake.agent.turns.aside import AsideAnswer
from keepsake.contrib.evennia.minds import open_minds
from keepsake.errors import KeepsakeError
from keepsake.json_lines import line_of
from keepsake.lab.simulations.interview import AskedQuestion, questions_left
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.record import INTERVIEW, lines_of

MOST_FAILURES = 3
"""Questions in a row that the model does not answer, after which the interview ends. What is
missing is asked when the simulation is continued."""


class Interviewer:
    """Asks every agent the questions that are not answered yet.

    Args:
        folder: The simulation's folder.
        say: Called with each line of progress.
        stop: When set, :meth:`ask_all` ends after the current question.
    """

    def __init__(
        self,
        folder: Path,
        plan: SimulationPlan,
        timeline: Timeline,
        say: Callable[[str], None],
        stop: threading.Event,
    ) -> None:
        self._path = folder / INTERVIEW
        self._plan = plan
        self._timeline = timeline
        self._say = say
        self._stop = stop
        self._failures = 0

    def ask_all(self, cast: Sequence[str]) -> bool:
        """Ask all questions; return whether no question is left.

        Raises:
            KeepsakeError: The model does not answer.
        """
        plan = self._plan
        minds = {mind.memory.name: mind for mind in open_minds()}
        left = questions_left(cast, plan.interview, plan.items, lines_of(self._path))
        agent = ""
        for question in left:
            if self._stop.is_set():
                return False
            if question.agent != agent:
                agent = question.agent
                mine = sum(each.agent == agent for each in left)
                self._say(f"{plan.name}: asking {agent} {mine} questions")
            mind = minds.get(agent)
            if mind is None:
                self._fail(KeepsakeError(f"The memory of {agent} is not open"))
                continue
            self._ask(mind, question)
        return not self._failures

    def _ask(self, mind: Mind, question: AskedQuestion) -> None:
        """Ask one question, and write down the answer; what is not answered stays open."""
        outcome: list[AsideAnswer | Failure] = []
        asked = mind.ask_aside(question.text)
        asked.addBoth(outcome.append)
        self._timeline.settle()
        match outcome:
            case [AsideAnswer() as answer]:
                self._failures = 0
                self._write(question, answer)
            case [Failure() as failure]:
                self._fail(failure.value)
            case _:
                self._fail(KeepsakeError("The question was not asked"))

    def _write(self, question: AskedQuestion, answer: AsideAnswer) -> None:
        line = question.to_line(
            words=answer.words,
            problem=answer.problem,
            raw=answer.raw,
            model=answer.model,
            calls=answer.calls,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
        )
        with self._path.open("ab") as file:
            file.write(line_of(line))

    def _fail(self, error: BaseException | None) -> None:
        if not isinstance(error, KeepsakeError):
            raise error or RuntimeError("a question failed without an error")
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            cure = f"Start its server, then continue: keepsake simulate --resume {self._plan.name}"
            raise KeepsakeError(f"The interview could not go on ({error})", cure) from error
