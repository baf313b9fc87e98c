"""A model as the judge of answers: right or not, in the manner of LongMemEval's own judge."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.lab.trials.answering import AnsweringModel
from keepsake.lab.trials.trial import TrialQuestion
from keepsake.language.words import words
from keepsake.ports import Tokens

KNOWN = """\
You grade an answer to a question. Say yes if the answer means the same as the correct answer, \
or holds it, in whatever words; dates may be written in any form. Say no if it says something \
else, or only a part of it.

Question: {question}
Correct answer: {right}
Answer to grade: {answer}

Is the answer right? Say yes or no, and nothing else."""
UNKNOWN = """\
You grade an answer to a question that cannot be answered from what is known. Say yes if the \
answer says so: that it is not known, not mentioned, or that the question assumes something wrong. \
Say no if it answers the question all the same.

Question: {question}
Answer to grade: {answer}

Does the answer say that it cannot be known? Say yes or no, and nothing else."""


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    """Judges by a model."""

    model: AnsweringModel

    def rates(self, question: TrialQuestion, answer: str, tokens: Tokens) -> float | None:
        """1 for a right answer, 0 for another; None where there is nothing to compare it with.

        Raises:
            ModelError: The model does not answer.
        """
        if not question.answers and (question.answerable or question.right):
            return None
        form = KNOWN if question.answerable else UNKNOWN
        right = " / ".join(question.answers)
        prompt = form.format(question=question.text, right=right, answer=answer or "(nothing)")
        judgement = self.model.ask(prompt, "Judgement:", tokens).text
        return float("yes" in map(str.casefold, words(judgement)))
