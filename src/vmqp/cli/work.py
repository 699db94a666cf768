"""A run: its request, data and places, and the regression that they ask for.

`vmqp predict` and `vmqp resume` both end here, so that a run that is resumed does what it would have done.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from vmqp.circle import FloatArray
from vmqp.cli.folder import RunFolder
from vmqp.cli.options import engine_for
from vmqp.cli.request import Request
from vmqp.cli.sheet import Sheet
from vmqp.errors import InputError
from vmqp.maps.memory import affordable_draws as affordable_map_draws
from vmqp.maps.memory import read_memory
from vmqp.posterior import Posterior
from vmqp.priors import HalfNormal
from vmqp.regression import CircularRegressor
from vmqp.regression.stages import read_sizes
from vmqp.run import Converged, machine

__all__ = ["MOST_DRAWS", "Limits", "Work", "affordable_draws", "load_work", "map_draws"]

MOST_DRAWS = 20_000
_BYTES = 1e9  # for the draws; results and pictures need some more beside
_BESIDE = 16  # parameters and statistics of a draw


def affordable_draws(n: int, m: int, chains: int, *, latent: bool) -> int:
    """Draws of each chain whose angles, fields and likelihoods fit the memory.

    >>> affordable_draws(200, 400, 4, latent=False) > 10_000
    True
    """
    draw = chains * (8 * (m + latent * n) + 4 * (n + 2 * m) + 8 * _BESIDE)
    return max(100, int(min(_BYTES, machine.memory() / 4) // draw))


def map_draws(n: int, m: int, k: int, chains: int, memory: float | None, *, noisy: bool) -> int:
    """Draws of each chain of a map that fit a bound on the memory.

    >>> 1000 < map_draws(260, 90_000, 20, 4, 4e9, noisy=False) < 2000
    True
    """
    workers = min(chains, machine.cores())
    return affordable_map_draws(n + m, m, k, chains, workers, read_memory(memory), noisy=noisy)


@dataclass(frozen=True)
class Limits:
    """What may differ each time that a run is taken up."""

    draws: int
    target_ess: float
    time_limit: float | None
    engine: str
    progress: bool | None


@dataclass(frozen=True, eq=False)
class Work:
    """A run in memory."""

    folder: RunFolder
    request: Request
    data: Sheet
    places: Sheet

    def arrays(self) -> tuple[pd.DataFrame, FloatArray, pd.DataFrame]:
        """Observed inputs, observed angles, and the inputs of the places."""
        kinds = self.request.inputs
        return self.data.frame(kinds), self.data.numbers(self.request.angle), self.places.frame(kinds)

    @property
    def is_map(self) -> bool:
        """Whether parameters are learned first, and then the whole map is drawn."""
        request = self.request
        given = {"precision": request.precision, "neighbors": request.neighbors, "stages": "auto"}
        return read_sizes(len(self.data), len(self.places), given).two_stages

    def truth(self) -> FloatArray | None:
        """The true angles at the places, where they are known."""
        return None if self.request.observed is None else self.places.numbers(self.request.observed)

    def regressor(self, **limits: Any) -> CircularRegressor:
        """The regression that the request asks for."""
        request, noise = self.request, self.request.noise
        settings: dict[str, Any] = {}
        if noise.kind == "learned":
            # Half of its mass is on scatter of more than 10 degrees, and hardly any below 5.
            settings["noise"] = HalfNormal(50.0)
        elif noise.kind == "fixed":
            settings["noise"] = noise.value
        elif noise.column is not None:
            settings["noise"] = self.data.numbers(noise.column)
            if noise.column in self.places.columns:
                settings["noise_new"] = self.places.numbers(noise.column)
        return CircularRegressor(
            period=request.period,
            kernel=request.kernel,
            metric=request.metric,
            precision=request.precision,
            neighbors=request.neighbors,
            memory=request.memory,
            drift=request.drift,
            warmup=request.warmup,
            chains=request.chains,
            seed=request.seed,
            **settings,
            **limits,
        )

    def sample(self, limits: Limits) -> Posterior:
        """Draw until the diagnostics hold or a limit comes; goes on from the checkpoint, if there is one."""
        X, y, X_new = self.arrays()
        regressor = self.regressor(
            draws=limits.draws,
            executor=engine_for(limits.engine, len(self.data) + len(self.places)),
            checkpoint=self.folder.checkpoint,
            progress=limits.progress,
            until=Converged(ess=limits.target_ess),
            time_limit=limits.time_limit,
        )
        return regressor.fit(X, y).posterior(X_new)

    def write_start(self) -> None:
        """Write what `load_work` reads; the request comes last."""
        folder = self.folder
        for path, text in (
            (folder.data, self.data.text()),
            (folder.places, self.places.text()),
            (folder.request, self.request.to_text()),
        ):
            folder.write(path, text)


def load_work(path: Path) -> Work:
    """Read a run from its directory; what was changed since is refused."""
    folder = RunFolder(path)
    request = folder.read_request()
    sheets = []
    for file, expected in ((folder.data, request.data), (folder.places, request.places)):
        sheet = Sheet.parse(folder.read(file), str(file))
        if sheet.digest() != expected:
            raise InputError(
                f"{file} is not what the run began with: restore it, or run vmqp predict again in another directory."
            )
        sheets.append(sheet)
    work = Work(folder, request, sheets[0], sheets[1])
    _check_columns(work)
    return work


def _check_columns(work: Work) -> None:
    request = work.request
    needed = {work.folder.data: [request.angle, *request.inputs], work.folder.places: [*request.inputs]}
    needed[work.folder.places] += [name for name in (request.observed, request.label) if name is not None]
    if request.noise.column is not None:
        needed[work.folder.data].append(request.noise.column)
    for sheet, (file, names) in zip((work.data, work.places), needed.items(), strict=True):
        for name in names:
            if name not in sheet.columns:
                raise InputError(
                    f"{file} has no column {name!r}, which the request names: restore both files."
                )
