"""`vmqp paper`: figures and tables of the paper by name, and what became of each."""

from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from vmqp import paper
from vmqp.cli.errors import DONE, INTERRUPTED, said
from vmqp.cli.options import at_least, read_engine
from vmqp.cli.output import Terminal
from vmqp.errors import InputError
from vmqp.paper.catalogue import find
from vmqp.paper.sources import sort_files
from vmqp.tables.words import listed

__all__ = ["Options", "run_paper"]


@dataclass(frozen=True)
class Options:
    """The options of `vmqp paper` as they were given."""

    names: tuple[str, ...]
    out: str
    quick: bool
    engine: str
    data: tuple[str, ...]
    seed: int


def run_paper(options: Options, terminal: Terminal) -> int:
    """List the items, or make those that are named; what is wrong is said before the first is made."""
    if options.names == ("list",):
        terminal.print_table(_table())
        return DONE
    names = _names(options.names)
    at_least(options.seed, 0, "--seed", "it numbers a stream of random numbers")
    engine = read_engine(options.engine)
    files = sort_files(options.data)
    taken = {kind for name in names for kind in find(name).data}
    for kind, file in files.items():
        if kind not in taken:
            raise InputError(
                f"--data {str(file)!r} is a table of {kind}, which {listed(names)} "
                f"{'does' if len(names) == 1 else 'do'} not take: leave it out."
            )
    for name in names:
        folder = Path(options.out) / name
        terminal.say(f"{name}: {find(name).title}{' (a short run)' if options.quick else ''} …")
        try:
            with said():
                outcome = paper.make(
                    name,
                    out=options.out,
                    quick=options.quick,
                    engine=None if engine == "auto" else engine,
                    data=[file for kind, file in files.items() if kind in find(name).data],
                    progress=terminal.progress,
                    seed=options.seed,
                )
        except KeyboardInterrupt:
            terminal.fail(f"stopped before {name} was done; what came before it is written.", INTERRUPTED)
            return INTERRUPTED
        terminal.say(f"  agrees with the paper? {outcome.agrees}", f"  {folder / name}.md")
        terminal.say(*(f"  {folder / stem}.png" for stem in outcome.figures))
        terminal.say(*(f"  {folder / stem}.csv" for stem in outcome.tables))
    return DONE


def _names(given: tuple[str, ...]) -> list[str]:
    """The items that are meant, each once, in the order in which they were given."""
    if "list" in given:
        raise InputError("'list' stands alone: give vmqp paper list, or the names of figures and tables.")
    if "all" in given:
        return list(paper.list_items())
    for name in given:
        find(name)
    return list(dict.fromkeys(given))


def _table() -> Table:
    table = Table("name", "in the paper", "what", box=None, pad_edge=False)
    for name, item in paper.list_items().items():
        table.add_row(Text(name), Text(item.title), Text(item.what))
    return table
