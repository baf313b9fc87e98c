"""Builders see and take back deeds, and have the world's files read again."""

from __future__ import annotations

from collections.abc import Iterator

from evennia.utils.utils import iter_to_str
from twisted.internet.defer import TimeoutError
from twisted.python.failure import Failure

from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia.commands.base import (
    PATIENCE,
    BuilderCommand,
    find_player,
    plain,
    table,
)
from keepsake.contrib.evennia.wording import counted, listed, quoted
from keepsake.errors import KeepsakeError
from world.atlas import FOLDER, Atlas, read_atlas
from world.build import build_world
from world.deed.order import reset
from world.deed.progress import WorldDeed, all_deeds, doers, progress, records
from world.deed_files import check_deeds, read_deeds
from world.scenes import read_scenes, scenes

type _Files = tuple[Atlas, dict[str, WorldDeed]]


class CmdDeed(BuilderCommand):
    """See the deeds and who has done them; take one back; read the world's files again.

    Usage:
      @deed                          all deeds
      @deed <deed>                   its steps, and who has taken them
      @deed/check                    read the files; say what is wrong, by line
      @deed/reset <deed>             as if nobody had ever done it
      @deed/reset <deed> = <player>  as if that player had not
      @world/reload                  read all files of the world again

    A deed is a file in |wworld/deeds|n, whose name it has. Taken back, words and ways
    that it changed are as before, and its things lie where |wthings.yaml|n has them.
    What agents remember stays with them.

    Reloading makes what is missing in the game, and changes what a file says
    otherwise than before, unless somebody, or a deed, has changed it in the game:
    that stays, and is named. With a mistake in any file nothing changes. Nothing
    is ever taken out of the game: |w@destroy|n does that.

    Example:
      @deed/reset twelfth_cup = Tom
    """

    key = "@deed"
    aliases = ("@world",)
    switch_options = ("check", "reset", "reload")

    def run(self) -> None:
        """Show, check, reset or reload."""
        if len(self.switches) > 1:
            raise KeepsakeError("Only one thing at a time", "As in: @deed/check")
        if "check" in self.switches:
            self.answer(_checked)
        elif "reset" in self.switches:
            self._reset()
        elif "reload" in self.switches and not self.args.strip():
            self._reload()
        elif self.switches or self.cmdstring.endswith("world"):
            raise KeepsakeError("It is not clear what to do with the world", "Try: @world/reload")
        else:
            self.page(_one(self._deed(self.args)) if self.args.strip() else _all())

    def _reset(self) -> None:
        deed = self._deed(self.lhs)
        player = find_player(self.rhs, "See: @deed") if self.rhs is not None else None
        names = reset(deed, player)
        whose = f" for {listed(names)}" if names else ""
        self.caller.msg(f"|gTaken back|n: {deed.name} can be done again{whose}.")

    def _reload(self) -> None:
        """Read in a worker thread, build in this one."""

        def read() -> _Files:
            atlas = read_atlas()
            read_scenes(atlas)
            return atlas, read_deeds(atlas)

        def refused(failure: Failure) -> None:
            error = failure.value
            why = "it took too long" if isinstance(error, TimeoutError) else str(error)
            self.caller.msg(f"|rNothing was changed:|n {plain(why)}")

        runtime().in_thread(read, PATIENCE).addCallbacks(self._build, refused)

    def _build(self, found: _Files) -> None:
        atlas, deeds = found
        scenes.cache_clear()
        built = build_world(atlas, deeds)
        lists = (("made", built.made), ("changed", built.changed), ("kept as it is", built.kept))
        told = [f"|w{what}|n: {', '.join(ids)}" for what, ids in lists if ids]
        counts = (
            f"{len(atlas.places)} places, {len(atlas.people)} people, {len(atlas.things)} things"
        )
        self.page("\n".join([f"Read again: {counts}, {len(deeds)} deeds.", *told]))

    def _deed(self, words: str) -> WorldDeed:
        wanted = words.strip().casefold()
        if not wanted:
            raise KeepsakeError("It is not clear which deed", "As in: @deed/reset twelfth_cup")
        found = [d for d in all_deeds() if wanted in (d.id, d.name.casefold())]
        if not found:
            there = listed([deed.id for deed in all_deeds()]) or "none"
            raise KeepsakeError(f"There is no deed {quoted(plain(wanted))}", f"There are: {there}")
        return found[0]


def _all() -> str:
    world = records()
    rows = [_row(deed, world.get(deed.id, {})) for deed in all_deeds()]
    shown = table(("Deed", "Done", "End", "By", "Begun by"), rows)
    count = counted(len(rows), "deed")
    return f"{shown}\n{count}" if rows else "There are no deeds. See: @deed/check"


def _row(deed: WorldDeed, record: dict[str, object]) -> tuple[object, ...]:
    begun = [p.key for p in doers(deed) if not progress(p)[deed.id]["end"]]
    done = [p.key for p in doers(deed) if progress(p)[deed.id]["end"]]
    by = listed(done) if done else "nobody"
    how = "once" if deed.once else "by each"
    return deed.id, how, record.get("end", ""), by, listed(begun) if begun else ""


def _one(deed: WorldDeed) -> str:
    lines = [f"|w{deed.name}|n ({deed.id}), {'once' if deed.once else 'by each player'}"]
    lines += [f"  {each}" for each in _steps(deed)]
    lines += [
        f"  |w{who.key}|n: {iter_to_str(progress(who)[deed.id]['steps'])}"
        + (f"; ended in {end}" if (end := progress(who)[deed.id]["end"]) else "")
        for who in doers(deed)
    ]
    return "\n".join(lines)


def _steps(deed: WorldDeed) -> Iterator[str]:
    for step in deed.steps.values():
        days = f", on {step.days} days" if step.days > 1 else ""
        after = f", after {iter_to_str(step.after)}" if step.after else ""
        yield f"{step.id}: {', '.join(step.when)}{after}{days}{' (an end)' if step.end else ''}"


def _checked() -> str:
    deeds, problems = check_deeds(read_atlas())
    told = [f"|r{plain(str(each)).removeprefix(f'{FOLDER}/')}|n" for each in problems]
    count = f"{counted(len(deeds), 'deed')} can be done, {counted(len(problems), 'mistake')}."
    return "\n".join([*told, count])
