"""``keepsake serve``, ``mcp`` and ``service``: memories for programs in any language."""

# ruff: noqa: PLC0415 - the service is an extra, and slow to import

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keepsake.cli.output import out
from keepsake.errors import KeepsakeError, require

app = typer.Typer(
    no_args_is_help=True, help="The agents and tokens of a folder that `keepsake serve` serves."
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder with the agents.")]
Model = Annotated[
    str,
    typer.Option(
        envvar="KEEPSAKE_MODEL",
        help="ollama:MODEL or openai:MODEL@HOST; none or nothing: no answers.",
    ),
]
Embedder = Annotated[
    str,
    typer.Option(
        help="embedded, embedded:MODEL, ollama:MODEL, openai:MODEL@HOST; without: by words alone."
    ),
]
PromptTokens = Annotated[
    int, typer.Option(help="The most tokens of a prompt; 0: the model decides.", min=0)
]


def serve(
    folder: Folder,
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 8765,
    model: Model = "",
    embedder: Embedder = "",
    prompt_tokens: PromptTokens = 0,
    per_minute: Annotated[int, typer.Option(help="Requests of a token in a minute.", min=1)] = 600,
) -> None:
    """Serve the memories of a folder over HTTP and MCP, until a signal."""
    require("serve")
    # Imported here, because only these commands need them.
    from keepsake.serve.gatekeeper import ServiceLimits
    from keepsake.serve.house import MemoryOptions, agents_in
    from keepsake.serve.run import serve as run

    options = MemoryOptions(_asked(model), embedder or None, prompt_tokens)
    names = ", ".join(agents_in(folder)) if folder.is_dir() else ""
    out.print(f"Keepsake serves {names or folder} on http://{host}:{port}", markup=False)
    status = run(folder, options, host, port, ServiceLimits(per_minute=per_minute))
    raise typer.Exit(status)


def mcp(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="MEMORY", help="The folder of one agent, or the folder with several."
        ),
    ],
    model: Model = "",
    embedder: Embedder = "",
) -> None:
    """Serve memories over MCP on standard input and output, to the program that starts this."""
    require("serve")
    from keepsake.serve.house import MemoryOptions
    from keepsake.serve.run import serve_stdio

    serve_stdio(folder, MemoryOptions(_asked(model), embedder or None))


def _asked(model: str) -> str | None:
    """Return the model that is named; None for none at all, which KEEPSAKE_MODEL may say too."""
    from keepsake.models.profiles import NO_MODEL

    return None if model in ("", NO_MODEL) else model


@app.command("add-agent")
def add_agent(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="The name of its folder, such as mira.")],
    persona: Annotated[str, typer.Option(help="Who it is: You are Mira, who keeps the inn.")],
) -> None:
    """Make an agent; a service that runs has it at once."""
    from keepsake.serve.house import make_agent

    path = make_agent(folder, name, persona)
    out.print(f"{path} is there; its persona is in profile.md", markup=False)


@app.command("add-token")
def add_token(
    folder: Folder,
    agent: Annotated[
        list[str], typer.Option("--agent", "-a", help="The agent; may be repeated. *: all.")
    ],
    right: Annotated[
        list[str] | None,
        typer.Option("--right", "-r", help="read, write or forget; may be repeated."),
    ] = None,
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Make a token, by default to read and write, and print it: it is stored as a hash alone."""
    from keepsake.serve.house import agents_in
    from keepsake.serve.tokens import ALL, Right, ServiceTokens

    there = agents_in(folder) if folder.is_dir() else []
    if missing := [each for each in agent if each != ALL and each not in there]:
        cure = f"There are: {', '.join(there) or 'none'}"
        raise KeepsakeError(f"There is no agent {missing[0]!r} in {folder}", cure)
    try:
        rights = [Right(each) for each in right or (Right.READ, Right.WRITE)]
    except ValueError as error:
        raise KeepsakeError(f"{error}", f"Write: {', '.join(Right)}") from None
    typer.echo(ServiceTokens(folder).add(agent, rights, label))


@app.command("tokens")
def list_tokens(folder: Folder) -> None:
    """List the tokens, without the tokens themselves."""
    from keepsake.serve.tokens import ServiceTokens

    for each in ServiceTokens(folder).grants():
        agents = ", ".join(each.agents)
        rights = ", ".join(each.rights)
        out.print(f"{each.id}  {agents}: {rights}  {each.made}  {each.label}", markup=False)


@app.command("remove-token")
def remove_token(
    folder: Folder,
    token: Annotated[str, typer.Argument(help="Its id, or the token itself.")],
) -> None:
    """Remove a token; a service that runs refuses it at once."""
    from keepsake.serve.tokens import ServiceTokens

    ServiceTokens(folder).remove(token)
    out.print("The token is removed.")
