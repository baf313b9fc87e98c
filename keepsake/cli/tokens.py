"""``keepsake token``: tokens with which programs use the API of the dashboard."""

from __future__ import annotations

from typing import Annotated

import typer

from keepsake.cli.output import out, print_json
from keepsake.paths import places
from keepsake.web.programs.tokens import TokenStore

app = typer.Typer(no_args_is_help=True, help="Tokens with which programs use the API.")

Name = Annotated[str, typer.Argument(help="What the token is for, or its number.")]


@app.command("make")
def make(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Let the program change things, as builders may.")
    ] = False,
) -> None:
    """Make a token, and print it this once: only its hash is stored."""
    made, secret = TokenStore(places().home).make(name, writes=write)
    out.print(secret, markup=False, highlight=False, soft_wrap=True)
    may = "read and write" if made.writes else "read"
    out.print(f"Token {made.name!r} may {may}. Send it as: Authorization: Bearer …", markup=False)


@app.command("list")
def list_tokens(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """List the tokens, without their secrets."""
    found = TokenStore(places().home).all()
    rows = [
        {"id": each.id, "name": each.name, "writes": each.writes, "by": each.by, "made": each.made}
        for each in found
    ]
    if as_json:
        print_json(rows)
        return
    for each in rows:
        may = "read and write" if each["writes"] else "read"
        by = f", made by {each['by']}" if each["by"] else ""
        out.print(f"{each['id']:>3}  {each['name']}: {may}{by}, {each['made']}", markup=False)
    if not rows:
        out.print("There are no tokens.")


@app.command("revoke")
def revoke(name: Name) -> None:
    """Revoke a token: it is refused from the next request on."""
    out.print(f"Revoked {TokenStore(places().home).revoke(name).name!r}.", markup=False)
