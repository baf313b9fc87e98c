"""``keepsake eval talk``: how well agents talk, in a table by kind of question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from game.cli.output import err, out, plain_table
from game.cli.progress import items_bar
from game.lab.simulations.plan import MOST_SEED
from game.lab.simulations.settings import AGENT
from game.lab.talk.evaluation import Talk, TalkUtterance, evaluate
from game.lab.talk.job import Job
from game.lab.talk.scores import CHECKED, EVERYTHING, Answer, QuestionScore, scores
from game.lab.talk.talk_set import ALL, AT_ONCE, PARTS
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import places

_COUNTED = ("markup", "repeat", "silent", "parrot")
_HEADINGS = ("kind", "n", "right", "95 %", "life", *_COUNTED, "med s", "p95 s")


def talk(
    file: Annotated[Path, typer.Argument(help="A .yaml file of talks, or a folder of them.")],
    *,
    profile: Annotated[str, typer.Option(help="The profile of llm.md that answers.")] = AGENT,
    part: Annotated[str, typer.Option(help="tuning, held-out or all.")] = ALL,
    agent: Annotated[str, typer.Option(help="Only talks with this agent.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="At most so many questions; 0: all.")] = 0,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Where chance comes from.")] = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write figures and answers there; - prints them.")
    ] = None,
    transcript: Annotated[
        Path | None, typer.Option(help="Write the talks there, with each answer's grade.")
    ] = None,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="With --json: each prompt and raw answer as well.")
    ] = False,
) -> None:
    """Talk to agents in a world of its own, ask them questions, and grade what they answer."""
    if part not in (*PARTS, ALL):
        raise KeepsakeError(f"--part is {part!r}", f"Use one of: {', '.join((*PARTS, ALL))}")
    job = Job(str(file.resolve()), part, agent, limit, seed)
    asked = sum(len(each.questions) for each in job.sets())
    talks: list[Talk] = []
    # After Ctrl-C what was graded by then counts.
    with _shown(talks, asked) as take, suppress(KeyboardInterrupt):
        evaluate(places(), job, profile, take)
    answers = [answer for each in talks for answer in each.answers]
    found = scores(answers)
    if transcript is not None:
        _write(transcript, "\n".join(_transcript(talks)) + "\n")
    text = json.dumps(as_json(answers, found, prompts=prompts), indent=2, ensure_ascii=False)
    if json_file is not None and str(json_file) == "-":
        print(text)
        return
    if json_file is not None:
        _write(json_file, text + "\n")
    out.print(as_table(found))
    if together := next((each for each in found if each.kind == AT_ONCE), None):
        of = f"{together.own_words} of {together.n}"
        out.print(f"Asked at once by several: {of} were answered to their own words")


@contextmanager
def _shown(talks: list[Talk], asked: int) -> Iterator[Callable[[Talk], None]]:
    """A bar on the screen while it goes on; ``talks`` gets each that has begun."""
    with items_bar("building the world", asked) as done:

        def take(talk: Talk) -> None:
            if begins := not talks or talks[-1] is not talk:
                talks.append(talk)
            done(talk.scene, 0 if begins else 1)

        yield take


def as_table(found: Sequence[QuestionScore]) -> Table:
    """The figures as a table."""
    table = plain_table(_HEADINGS, right=_HEADINGS[1:], no_wrap=True, collapse_padding=True)
    for score in found:
        if score.kind == CHECKED:
            table.add_section()
        table.add_row(*_cells(score), style="bold" if score.kind in (CHECKED, EVERYTHING) else "")
    return table


def _cells(score: QuestionScore) -> Iterator[str]:
    low, high = score.interval
    yield from (score.kind, str(score.n), f"{100 * score.right:.0f}%")
    yield f"{100 * low:.0f}-{100 * high:.0f}"
    yield f"{100 * score.whose_life / score.whose_life_of:.0f}%" if score.whose_life_of else ""
    yield from (str(score.counts[verdict]) for verdict in _COUNTED)
    yield from (f"{score.median_seconds:.1f}", f"{score.p95_seconds:.1f}")


def as_json(
    answers: Sequence[Answer], found: Sequence[QuestionScore], *, prompts: bool = False
) -> dict[str, Any]:
    """The figures and each answer, for other programs."""
    return {
        "scores": [_score_json(score) for score in found],
        "answers": [_answer_json(answer, prompts=prompts) for answer in answers],
    }


def _score_json(score: QuestionScore) -> dict[str, Any]:
    found = asdict(score)
    counts = {f"n_{verdict}": count for verdict, count in found.pop("counts").items()}
    return {**found, "right": score.right, **counts}


def _answer_json(answer: Answer, *, prompts: bool) -> dict[str, Any]:
    question = answer.question
    left_out = ("question", "text", "grade", *(() if prompts else ("prompt", "raw")))
    measured = [each.name for each in fields(answer) if each.name not in left_out]
    return {
        "id": question.id,
        "kind": question.kind,
        "speaker": question.speaker,
        "question": question.words,
        "answer": answer.text,
        **asdict(answer.grade),
        **{name: getattr(answer, name) for name in measured},
    }


def _transcript(talks: Sequence[Talk]) -> Iterator[str]:
    for number, each in enumerate(talks):
        yield from ("",) * bool(number)
        yield f"== {each.scene}: {each.agent} ({each.part}) =="
        for what in each.course:
            yield _said(what) if isinstance(what, TalkUtterance) else _graded(what)


def _said(said: TalkUtterance) -> str:
    if not said.who:
        return f"    ({said.words})"
    to = f" to {said.to}" if said.to else ""
    return f"{said.who}{' whispers' if said.whisper else ''}{to}: {said.words}"


def _graded(answer: Answer) -> str:
    grade = answer.grade
    whose = ", another's life" if grade.whose_life else ""
    why = f" ({grade.why})" if grade.why else ""
    text = "…" if answer.text is None else answer.text
    return (
        f"    [{grade.verdict.upper()}{whose}{why}] {answer.question.kind}, "
        f"{answer.seconds:.1f} s, {answer.prompt_tokens} tokens; {answer.question.speaker} "
        f"asked “{answer.question.words}” and got “{text}”"
    )


def _write(path: Path, text: str) -> None:
    with refusing(f"{path} could not be written", "Name a file that can be"):
        path.write_text(text, encoding="utf-8")
    err.print(f"Written to {escape(str(path))}")
