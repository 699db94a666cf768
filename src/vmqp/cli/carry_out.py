"""A run from its request to its files, and what to answer: begun by `vmqp fit` or `vmqp predict`, or resumed."""

import time
from dataclasses import dataclass, replace

from vmqp.cli.errors import DONE, INTERRUPTED, UNTRUSTED, said
from vmqp.cli.options import at_least, read_engine, read_seconds
from vmqp.cli.output import Terminal
from vmqp.cli.results import PROBABILITY, Outcome, read_outcome, summarise, write_outputs
from vmqp.cli.work import MOST_DRAWS, Limits, Work, affordable_draws, read_model
from vmqp.errors import InputError, TimeLimitError
from vmqp.posterior import load
from vmqp.posterior.predictive import ClosedForm, default_draws

__all__ = ["Changes", "begin", "go_on"]

_MANY = 1500
_WRITING = 3.0  # seconds that a report takes
_COMPONENT = 3.5e-6  # seconds of one location at one draw of the parameters


@dataclass(frozen=True)
class Changes:
    """What `vmqp resume` may give anew."""

    draws: int | None = None
    target_ess: float | None = None
    time_limit: float | None = None
    engine: str | None = None

    @classmethod
    def read(
        cls, *, draws: int | None, target_ess: float | None, time_limit: str | None, engine: str | None
    ) -> "Changes":
        """Read them from options as they were given."""
        if draws is not None:
            at_least(draws, 1, "--draws", "it is a number of draws")
        if target_ess is not None:
            at_least(target_ess, 1, "--target-ess", "it is a number of samples")
        seconds = None if time_limit is None else read_seconds(time_limit)
        return cls(draws, target_ess, seconds, None if engine is None else read_engine(engine))


def begin(work: Work, terminal: Terminal, *, overwrite: bool, allow_unconverged: bool, began: float) -> int:
    """Write the request, run it, and write the results; a start that fails leaves nothing behind."""
    folder, request = work.folder, work.request
    folder.check_free(request, overwrite=overwrite)
    folder.claim()
    try:
        work.write_start()
        terminal.say(*request.notes, *_size_note(work))
        limits = None
        if request.learning is not None:
            asked = request.learning
            limits = Limits(asked.draws, asked.target_ess, asked.time_limit, asked.engine, terminal.progress)
        code = _run(work, terminal, limits, allow_unconverged=allow_unconverged, began=began)
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


def go_on(work: Work, terminal: Terminal, changes: Changes, *, allow_unconverged: bool, began: float) -> int:
    """Go on with a run; one that is finished and trusted stays as it is, but for files that are missing."""
    asked = work.request.learning
    if asked is None and changes != Changes():
        raise InputError(
            f"{work.folder.path} holds predictions from a model, and a resumed one takes no other options: resume the "
            "directory of the model with them, and predict again."
        )
    work.folder.lock()
    try:
        before = read_outcome(work)
        enough = before is not None and (
            asked is None or _enough(before, changes.target_ess or asked.target_ess)
        )
        if before is not None and enough and _restored(work, terminal):
            code = DONE if before.trusted or allow_unconverged else UNTRUSTED
            terminal.finish(before, code, "" if before.trusted else _advice(work, before))
            return code
        limits = None
        if asked is not None:
            limits = Limits(
                draws=_more_draws(work, before, changes.draws),
                target_ess=changes.target_ess or asked.target_ess,
                time_limit=changes.time_limit,
                engine=changes.engine or asked.engine,
                progress=terminal.progress,
            )
        return _run(work, terminal, limits, allow_unconverged=allow_unconverged, began=began)
    finally:
        work.folder.release()


def _run(
    work: Work, terminal: Terminal, limits: Limits | None, *, allow_unconverged: bool, began: float
) -> int:
    place = work.folder.path
    if limits is not None and limits.time_limit is not None:  # the time for reading and checking counts too
        left = limits.time_limit - (time.monotonic() - began) - _seconds_after(work)
        limits = replace(limits, time_limit=max(left, 0.001))
    try:
        with said():
            outcome = _carried_out(work, terminal, limits)
            work.folder.write(work.folder.result, [outcome.to_text().encode()])  # last: all others are there
    except TimeLimitError:
        message = f"the time limit came before the first draw, so there are no results: vmqp resume {place} goes on."
        terminal.fail(message, UNTRUSTED)
        return UNTRUSTED
    except KeyboardInterrupt:
        terminal.fail(f"stopped before there were results: vmqp resume {place} goes on.", INTERRUPTED)
        return INTERRUPTED
    code = _code(work, outcome, allow_unconverged)
    terminal.finish(outcome, code, _advice(work, outcome))
    return code


def _carried_out(work: Work, terminal: Terminal, limits: Limits | None) -> Outcome:
    """Learn, where there are limits for it, and predict, where there are locations; write the files."""
    model = read_model(work.folder.model) if limits is None else work.learn(limits)
    if work.keeps_model:
        work.save(model)
    if work.places is None:
        return summarise(work, model)
    if not work.transductive:
        terminal.say(f"Predicting {len(work.places):,} locations.")
    began = time.monotonic()
    posterior = work.predict(model)
    if isinstance(posterior._predictive, ClosedForm):
        # One pass over the locations: what is written needs no other.
        with terminal.bar("Predicting") as posterior._predictive.watch:
            posterior.interval(PROBABILITY)
        posterior._predictive.watch = None
    seconds = 0.0 if work.transductive else time.monotonic() - began
    terminal.say(f"Writing {work.folder.path}.")
    outcome = summarise(work, posterior, seconds)
    write_outputs(work, posterior, work.outputs)
    return outcome


def _size_note(work: Work) -> list[str]:
    """What to expect of many locations in the model; without those that are predicted, the learner says it."""
    n, m = work.in_model
    if n + m <= _MANY or not work.transductive:
        return []
    return [
        f"There are {n + m:,} locations in the model, so that learning may take an hour: --time-limit bounds it."
    ]


def _seconds_after(work: Work) -> float:
    """About how long predicting and writing take."""
    if work.places is None:
        return _WRITING / 4
    m = len(work.places)
    draws = 0 if work.transductive else work.predicting.parameter_draws or default_draws(m)
    return _WRITING + _COMPONENT * m * draws


def _code(work: Work, outcome: Outcome, allow_unconverged: bool) -> int:
    if outcome.stopped == "interrupted" and work.request.learning is not None:
        return INTERRUPTED
    return DONE if outcome.trusted or allow_unconverged else UNTRUSTED


def _advice(work: Work, outcome: Outcome) -> str:
    place, asked = work.folder.path, work.request.learning
    if asked is None:
        more = "The model needs more draws: give its directory to vmqp resume, and predict again."
        return "" if outcome.trusted else more
    if outcome.stopped == "interrupted":
        return f"Stopped by Ctrl-C; the files hold the draws up to then, and vmqp resume {place} goes on."
    if outcome.trusted or outcome.stopped == "optimum":
        return ""
    if outcome.stopped == "converged":
        # The chains agree, and more draws would not change what is said against them.
        return f"Run it again with --warmup {max(3 * asked.warmup, 1000)} --overwrite."
    n, m = work.in_model
    fewer = f" Fewer locations may do too: {m:,} are many beside {n:,} observed ones." if m > n else ""
    return f"vmqp resume {place} goes on for longer.{fewer}"


def _enough(before: Outcome, target_ess: float) -> bool:
    least = before.worst["ess"]["value"]
    return before.trusted and (target_ess <= before.target_ess or (least is not None and least >= target_ess))


def _restored(work: Work, terminal: Terminal) -> bool:
    """Whether all files of a finished run are there; those that can be made without drawing are made."""
    missing = [name for name, path in work.outputs.items() if not path.exists()]
    if missing:
        source = work.folder.posterior if work.transductive else work.folder.model
        if not source.exists():
            return False
        with said():
            posterior = load(source) if work.transductive else work.predict(read_model(source))
            write_outputs(work, posterior, missing)
        terminal.say(f"Written anew: {', '.join(missing)}.")
    terminal.say("This run is finished.")
    return True


def _more_draws(work: Work, before: Outcome | None, given: int | None) -> int:
    """A run that has used up its draws gets at least twice as many, as far as the memory goes."""
    asked = work.learning
    if given is not None:
        return given
    if before is None or before.trusted or before.stopped != "draws":
        return max(asked.draws, 0 if before is None else before.draws)
    most = affordable_draws(*work.in_model, asked.chains, latent=asked.noise.kind != "none")
    return max(before.draws, min(max(2 * before.draws, MOST_DRAWS), most))
