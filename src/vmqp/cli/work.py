"""A run in memory: its request, data and locations, and the regression that they ask for.

`vmqp fit`, `vmqp predict` and `vmqp resume` all end here, so that a run that is resumed does what it would have done.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from vmqp.circle import FloatArray
from vmqp.cli.folder import RunFolder
from vmqp.cli.options import engine_for
from vmqp.cli.request import Learning, Predicting, Request
from vmqp.cli.sheet import Sheet
from vmqp.errors import InputError
from vmqp.files import load
from vmqp.posterior import Posterior
from vmqp.priors import HalfNormal
from vmqp.regression import CircularRegressor
from vmqp.regression.base import PosteriorRegressor
from vmqp.run import Converged, machine

__all__ = ["MOST_DRAWS", "Limits", "Work", "affordable_draws", "load_work", "read_model"]

MOST_DRAWS = 20_000
_BYTES = 1e9  # for the draws; results and plots need some more beside
_BESIDE = 16  # parameters and statistics of a draw


def affordable_draws(n: int, m: int, chains: int, *, latent: bool) -> int:
    """Draws of each chain whose angles, fields and likelihoods fit the memory; m locations belong to the model.

    >>> affordable_draws(200, 400, 4, latent=False) > 10_000
    True
    """
    draw = chains * (8 * (m + latent * n) + 4 * (n + 2 * m) + 8 * _BESIDE)
    return max(100, int(min(_BYTES, machine.memory() / 4) // draw))


@dataclass(frozen=True)
class Limits:
    """What may differ each time that a run is resumed."""

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
    data: Sheet | None
    places: Sheet | None
    source: Path | None = None
    """The file of a model that was learned elsewhere; once the run has begun, its copy is in the directory."""
    unfilled: Sheet | None = None
    """The whole table, where its gaps are filled; "true" in its column ``filled`` for the rows that are predicted."""

    @property
    def learning(self) -> Learning:
        """What is learned, in a run that learns."""
        assert self.request.learning is not None
        return self.request.learning

    @property
    def predicting(self) -> Predicting:
        """What is predicted, in a run that predicts."""
        assert self.request.predicting is not None
        return self.request.predicting

    @property
    def transductive(self) -> bool:
        """Whether the new locations belong to the model that is learned."""
        return self.request.learning is not None and self.request.learning.transductive

    @property
    def keeps_model(self) -> bool:
        """Whether the run learns a model that predicts any locations later."""
        return self.request.learning is not None and not self.request.learning.transductive

    @property
    def outputs(self) -> dict[str, Path]:
        """The files for the user, by what they are."""
        folder, found = self.folder, {}
        if self.keeps_model:
            found["model"] = folder.model
        if self.places is not None:
            found["predictions"] = folder.predictions
            if self.unfilled is not None:
                found["filled"] = folder.filled
            found |= {"posterior": folder.posterior, "report": folder.report}
        return found

    @property
    def in_model(self) -> tuple[int, int]:
        """Observed locations that are learned from, and new ones that belong to the model."""
        n = 0 if self.data is None else len(self.data)
        return n, len(self.places) if self.transductive and self.places is not None else 0

    def observed(self) -> tuple[pd.DataFrame, FloatArray]:
        """Observed inputs and angles."""
        assert self.data is not None
        return self.data.frame(self.request.inputs), self.data.numbers(self.learning.angle)

    def new(self) -> pd.DataFrame:
        """The inputs of the locations to predict."""
        assert self.places is not None
        return self.places.frame(self.request.inputs)

    def truth(self) -> FloatArray | None:
        """The true angles at the locations, nan where they are not known; None where none is."""
        if self.places is None or self.predicting.observed is None:
            return None
        return self.places.known(self.predicting.observed)

    def settings(self) -> dict[str, Any]:
        """Options of a model that belong to these locations alone."""
        predicting = self.request.predicting
        if predicting is None or self.places is None:
            return {}
        found: dict[str, Any] = {}
        if predicting.parameter_draws is not None:
            found["parameter_draws"] = predicting.parameter_draws
        if predicting.noise is not None:
            found["noise_new"] = self.places.numbers(predicting.noise)
        return found

    def regressor(self, **limits: Any) -> CircularRegressor:
        """The regression that the request asks for."""
        asked, noise = self.learning, self.learning.noise
        given: Any = None
        if noise.kind == "learned":
            # Half of its mass is on scatter of more than 10 degrees, and hardly any below 5.
            given = HalfNormal(50.0)
        elif noise.kind == "fixed":
            given = noise.value
        elif noise.column is not None:
            assert self.data is not None
            given = self.data.numbers(noise.column)
        return CircularRegressor(
            period=asked.period,
            kernel=asked.kernel,
            inference=asked.inference,
            metric=asked.metric,
            precision=asked.precision,
            neighbors=asked.neighbors,
            drift=asked.drift,
            noise=given,
            transductive=asked.transductive,
            warmup=asked.warmup,
            chains=asked.chains,
            seed=asked.seed,
            **self.settings(),
            **limits,
        )

    def learn(self, limits: Limits) -> CircularRegressor:
        """Draw until the diagnostics hold or a limit comes; goes on from the checkpoint, if there is one.

        With `transductive` it is `predict` that draws.
        """
        regressor = self.regressor(
            draws=limits.draws,
            executor=engine_for(limits.engine, sum(self.in_model)),
            checkpoint=self.folder.checkpoint,
            progress=limits.progress,
            until=Converged(ess=limits.target_ess),
            time_limit=limits.time_limit,
        )
        return regressor.fit(*self.observed())

    def predict(self, model: PosteriorRegressor) -> Posterior:
        """Predict the locations."""
        found: Posterior = model.set_params(**self.settings()).posterior(self.new())
        return found

    def save(self, model: PosteriorRegressor) -> None:
        """Write what was learned, without what belongs to the locations of this run."""
        model.set_params(**dict.fromkeys(self.settings())).save(self.folder.model)

    def write_start(self) -> None:
        """Write what `load_work` reads; the request comes last."""
        folder = self.folder
        if self.source is not None:
            folder.write(folder.model, [self.source.read_bytes()])
        if self.data is not None:
            folder.write(folder.data, self.data.pieces())
        if self.places is not None:
            folder.write(folder.places, self.places.pieces())
        if self.unfilled is not None:
            folder.write(folder.unfilled, self.unfilled.pieces())
        folder.write(folder.request, [self.request.to_text().encode()])


def read_model(path: Path) -> PosteriorRegressor:
    """Read a model from its file."""
    found = load(path)
    if not isinstance(found, PosteriorRegressor):
        raise InputError(f"{path} holds predictions and not a model: give the model.nc that vmqp fit wrote.")
    return found


def load_work(path: Path) -> Work:
    """Read a run from its directory; what was changed since is refused."""
    folder = RunFolder(path)
    request = folder.read_request()
    data = None if request.learning is None else _sheet(folder, folder.data, request.learning.data)
    told = request.predicting
    places = None if told is None else _sheet(folder, folder.places, told.places)
    unfilled = None
    if told is not None and told.unfilled is not None:
        unfilled = _sheet(folder, folder.unfilled, told.unfilled)
    if request.model is not None and folder.digest(folder.model) != request.model:
        raise _changed(folder.model)
    work = Work(folder, request, data, places, unfilled=unfilled)
    _check_columns(work)
    return work


def _sheet(folder: RunFolder, file: Path, expected: str) -> Sheet:
    sheet = Sheet.parse(folder.read(file), str(file))
    if sheet.digest() != expected:
        raise _changed(file)
    return sheet


def _changed(file: Path) -> InputError:
    return InputError(
        f"{file} is not what the run began with: restore it, or run the command again in another directory."
    )


def _check_columns(work: Work) -> None:
    request, inputs = work.request, list(work.request.inputs)
    needed: list[tuple[Path, Sheet | None, list[str | None]]] = []
    if request.learning is not None:
        asked = request.learning
        needed.append((work.folder.data, work.data, [asked.angle, *inputs, asked.noise.column]))
    if request.predicting is not None:
        told = request.predicting
        needed.append((work.folder.places, work.places, [*inputs, told.observed, told.noise, told.label]))
    for file, sheet, names in needed:
        for name in names:
            if name is not None and sheet is not None and name not in sheet.columns:
                raise InputError(
                    f"{file} has no column {name!r}, which the request names: restore both files."
                )
