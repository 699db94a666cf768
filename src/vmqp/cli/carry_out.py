"""A run from its request to its files, and what to answer: begun by `vmqp predict`, taken up by `vmqp resume`."""

import time
from dataclasses import dataclass, replace

from vmqp.cli.errors import DONE, INTERRUPTED, UNTRUSTED, said
from vmqp.cli.options import at_least, read_engine, read_seconds
from vmqp.cli.output import Terminal
from vmqp.cli.results import Outcome, read_outcome, summarise, write_missing, write_outputs
from vmqp.cli.work import MOST_DRAWS, Limits, Work, affordable_draws, map_draws
from vmqp.errors import TimeLimitError
from vmqp.maps.memory import FIELDS, read_memory
from vmqp.posterior import load

__all__ = ["Changes", "begin", "take_up"]

_MANY = 1500


@dataclass(frozen=True)
class Changes:
    """What `vmqp resume` may give anew."""

    draws: int | None = None
    target_ess: float | None = None
    time_limit: float | None = None
    engine: str | None = None
    memory: float | None = None

    @classmethod
    def read(
        cls,
        *,
        draws: int | None,
        target_ess: float | None,
        time_limit: str | None,
        engine: str | None,
        memory: str | None,
    ) -> "Changes":
        """Read them from options as they were given."""
        if draws is not None:
            at_least(draws, 1, "--draws", "it is a number of draws")
        if target_ess is not None:
            at_least(target_ess, 1, "--target-ess", "it is a number of samples")
        seconds = None if time_limit is None else read_seconds(time_limit)
        return cls(
            draws,
            target_ess,
            seconds,
            None if engine is None else read_engine(engine),
            None if memory is None else read_memory(memory),
        )


def begin(work: Work, terminal: Terminal, *, overwrite: bool, allow_unconverged: bool, began: float) -> int:
    """Write the request, draw, and write the results; a start that fails leaves nothing behind."""
    folder, request = work.folder, work.request
    folder.check_free(request, overwrite=overwrite)
    folder.claim()
    try:
        work.write_start()
        terminal.say(*request.notes, *_size_note(work))
        limits = Limits(
            request.draws, request.target_ess, request.time_limit, request.engine, terminal.progress
        )
        code = _go_on(work, terminal, limits, allow_unconverged=allow_unconverged, began=began)
        folder.commit()
    except Exception:
        if folder.has_draws():
            folder.commit()
        else:
            folder.rollback()
        raise
    except KeyboardInterrupt:  # while the request was written
        folder.rollback()
        raise
    finally:
        folder.release()
    return code


def take_up(
    work: Work, terminal: Terminal, changes: Changes, *, allow_unconverged: bool, began: float
) -> int:
    """Go on with a run; one that is finished and trusted stays as it is, but for files that are missing."""
    work.folder.lock()
    if changes.memory is not None:
        work = replace(work, request=replace(work.request, memory=changes.memory))
    try:
        before = read_outcome(work)
        target = changes.target_ess or work.request.target_ess
        if before is not None and _enough(before, target) and _restored(work, terminal):
            terminal.finish(before, DONE, "")
            return DONE
        limits = Limits(
            draws=_more_draws(work, before, changes.draws),
            target_ess=target,
            time_limit=changes.time_limit,
            engine=changes.engine or work.request.engine,
            progress=terminal.progress,
        )
        return _go_on(work, terminal, limits, allow_unconverged=allow_unconverged, began=began)
    finally:
        work.folder.release()


def _go_on(work: Work, terminal: Terminal, limits: Limits, *, allow_unconverged: bool, began: float) -> int:
    place = work.folder.path
    if limits.time_limit is not None:  # the time for reading and checking counts too
        limits = replace(limits, time_limit=max(limits.time_limit - (time.monotonic() - began), 0.001))
    try:
        with said():
            posterior = work.sample(limits)
            terminal.say(f"Drawn. Summing up and writing {place}.")
            outcome = summarise(work, posterior, limits.target_ess)
            write_outputs(work, posterior, outcome)
    except TimeLimitError:
        message = f"the time limit came before the first draw, so there are no results: vmqp resume {place} goes on."
        terminal.fail(message, UNTRUSTED)
        return UNTRUSTED
    except KeyboardInterrupt:
        terminal.fail(f"stopped before there were results: vmqp resume {place} goes on.", INTERRUPTED)
        return INTERRUPTED
    code = _code(outcome, allow_unconverged)
    terminal.finish(outcome, code, _advice(work, outcome))
    return code


def _size_note(work: Work) -> list[str]:
    """What to expect of many places."""
    places = len(work.data) + len(work.places)
    if work.is_map:
        return [
            f"There are {places:,} places in all: the parameters are learned with some of them, then the whole map is "
            "drawn."
        ]
    if places <= _MANY:
        return []
    return [
        f"There are {places:,} places in all, so that the run may take an hour: fewer places are faster, and "
        "--time-limit bounds it."
    ]


def _code(outcome: Outcome, allow_unconverged: bool) -> int:
    if outcome.stopped == "interrupted":
        return INTERRUPTED
    return DONE if outcome.trusted or allow_unconverged else UNTRUSTED


def _advice(work: Work, outcome: Outcome) -> str:
    place = work.folder.path
    if outcome.stopped == "interrupted":
        return f"Stopped by Ctrl-C; the files hold the draws up to then, and vmqp resume {place} goes on."
    if outcome.trusted:
        return ""
    if outcome.stopped == "converged":
        # The chains agree, and more draws would not mend what is said against them.
        return f"Run it again with --warmup {max(3 * work.request.warmup, 1000)} --overwrite."
    if work.is_map and outcome.stopped == "draws" and _more_draws(work, outcome, None) <= outcome.draws:
        return f"No more draws fit the memory: vmqp resume {place} --memory SIZE goes on with a larger one."
    n, m = len(work.data), len(work.places)
    fewer = (
        f" Fewer places may do too: {m:,} are many beside {n:,} observed ones."
        if m > n and not work.is_map
        else ""
    )
    return f"vmqp resume {place} goes on for longer.{fewer}"


def _enough(before: Outcome, target_ess: float) -> bool:
    least = before.worst["ess"]["value"]
    return before.trusted and (target_ess <= before.target_ess or (least is not None and least >= target_ess))


def _restored(work: Work, terminal: Terminal) -> bool:
    """Whether all files of a finished run are there; those that can be made from the draws are made."""
    if not work.folder.posterior.exists():
        return False
    missing = [path for path in work.folder.outputs.values() if not path.exists()]
    if missing:
        with said():
            written = write_missing(work, load(work.folder.posterior))
        terminal.say(f"Written anew: {', '.join(written)}.")
    terminal.say("This run is finished.")
    return True


def _more_draws(work: Work, before: Outcome | None, given: int | None) -> int:
    """A run that has used up its draws gets at least twice as many, as far as the memory goes."""
    request = work.request
    if given is not None:
        return given
    if before is None or before.trusted or before.stopped != "draws":
        return max(request.draws, 0 if before is None else before.draws)
    n, m, latent = len(work.data), len(work.places), request.noise.kind != "none"
    if work.is_map:
        most = map_draws(n, m, request.neighbors, request.chains, request.memory, noisy=latent)
        if FIELDS * request.draws <= most:  # then it keeps its fields
            most //= FIELDS
        return max(before.draws, min(2 * before.draws, most))
    most = affordable_draws(n, m, request.chains, latent=latent)
    return max(before.draws, min(max(2 * before.draws, MOST_DRAWS), most))
