"""The arguments and options of ``keepsake eval``, with what its help says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[
    str,
    typer.Argument(
        help="probes (generated transcripts), or a file in a format of docs/evaluation.md "
        "(LoCoMo, BEAM …), or a folder of such files."
    ),
]
Life = Annotated[
    str, typer.Option(help="Instead of a file: vault:NAME, the archive of that agent.")
]
Memories = Annotated[
    list[str] | None,
    typer.Option("--memory", "-m", help="The memory: keepsake (default), rag …; repeatable."),
]
MemorySettings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting: key=value for all, or memory.key=value; repeatable."),
]
QuestionLimit = Annotated[
    int, typer.Option(min=0, help="Ask a random sample of so many questions, by --seed; 0: all.")
]
AnswerProfile = Annotated[
    str, typer.Option(help="A profile of llm.md that answers; default: no answers.")
]
JudgeProfile = Annotated[str, typer.Option(help="A profile of llm.md that judges the answers.")]
JudgePrompts = Annotated[str, typer.Option(help="A YAML file with the judge's prompts.")]
RatingsFile = Annotated[
    Path | None,
    typer.Option(help="A CSV file for a person's ratings; created if it is missing."),
]
Price = Annotated[
    str, typer.Option(help="Dollars per million tokens, input and output: 0.15,0.60.")
]
WriterProfile = Annotated[
    str, typer.Option(help="A profile of llm.md that writes summaries; default: rules.")
]
DecomposeProfile = Annotated[
    str,
    typer.Option(
        "--decompose",
        help="A profile of llm.md that picks among the lines that were found, and writes further "
        "searches; default: none.",
    ),
]
Budget = Annotated[
    int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: as many as fit.")
]
RecalledLines = Annotated[int, typer.Option(min=0, help="The most lines to recall; 0: 100.")]
EmbedderName = Annotated[
    str,
    typer.Option(
        help="embedded, embedded:MODEL, none, ollama:MODEL@HOST, openai:MODEL@HOST, or a folder."
    ),
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Answers to request at the same time.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same transcripts.")]
Loads = Annotated[
    str, typer.Option(help="For probes: other memories per day; one transcript for each.")
]
HeldOut = Annotated[
    bool,
    typer.Option("--held-out", help="For probes: use the held-out third of the templates."),
]
CheckedMemory = Annotated[
    str, typer.Option(help="Only check whether this memory conforms to docs/research.md.")
]
ByKind = Annotated[
    bool, typer.Option("--kinds", help="For probes: also show each kind of question.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", help="Write figures and answers to this file.")
]
