"""What `vmqp.load` makes of a file: a fitted model or a posterior, whichever was saved."""

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import xarray as xr

from vmqp import priors
from vmqp.errors import InputError
from vmqp.kernels import Kernel, parse
from vmqp.kernels.algebra import Scaled
from vmqp.learning import make_problem
from vmqp.peers import ProjectedGP, WrappedGP
from vmqp.posterior import Facts
from vmqp.posterior.posterior import posterior_of
from vmqp.posterior.saving import read_kernel, read_tree
from vmqp.regression.base import PosteriorRegressor
from vmqp.regression.estimator import CircularRegressor
from vmqp.regression.fitting import Data, Learned, learned_table

__all__ = ["load"]

_MODELS = {model.__name__: model for model in (CircularRegressor, ProjectedGP, WrappedGP)}


def _from_text(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "rows" in value:
        return np.array(value["rows"], dtype=float)
    text = str(value["prior"])
    if text == repr(priors.UniformAngle()):
        return priors.UniformAngle()
    found = parse(f"{text} * exponential(1)")
    if not isinstance(found, Scaled):
        raise ValueError(f"{name} is {text!r}")
    return found.variance


def load(path: str | PathLike[str], *, kernel: Kernel | None = None) -> Any:
    """Read a model or a `Posterior`, whichever was saved.

    Parameters
    ----------
    path
        A file that ``save`` wrote.
    kernel
        The kernel, where it holds a function of yours: no file can hold that.

    Returns
    -------
    CircularRegressor, WrappedGP, ProjectedGP or Posterior

    Examples
    --------
    >>> load("nowhere.nc")
    Traceback (most recent call last):
    vmqp.errors.InputError: nowhere.nc cannot be read (No such file or directory): check the path.
    """
    tree, facts = read_tree(path)
    if not facts.estimator:
        return posterior_of(tree, facts, str(path), kernel)
    return _model(tree, facts, str(path), kernel)


def _model(tree: xr.DataTree, facts: Facts, path: str, given: Kernel | None) -> PosteriorRegressor:
    try:
        kind, options = str(facts.estimator["class"]), dict(facts.estimator["options"])
        values = {name: _from_text(name, value) for name, value in options.items()}
        kernel = read_kernel(tree, path, given)
        model: PosteriorRegressor = _MODELS[kind](kernel=kernel, **values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the description of the model in {path} cannot be read ({error!r}): it is damaged."
        ) from error
    facts = replace(facts, estimator={})  # what is predicted with it is saved as predictions
    learned = Learned(tree, kernel, facts)
    table = learned_table(learned)
    data = Data(table, np.asarray(tree["observed_data"]["angle"].values, dtype=float), facts.range)
    if kind == "CircularRegressor":
        learned = Learned(tree, kernel, facts, _problem(tree, kernel, data, values))
    model.n_features_in_ = table.values.shape[1]
    if table.names is not None:
        model.feature_names_in_ = np.array(table.names, dtype=object)
    model._period = model.period
    return model._keep(data, learned)


def _problem(tree: xr.DataTree, kernel: Kernel, data: Data, options: dict[str, Any]) -> Any:
    attributes = tree.attrs
    noise: Any = options.get("noise")
    if "noise" in tree["constant_data"]:  # known: one number, or one for each row of these data
        noise = np.asarray(tree["constant_data"]["noise"].values, dtype=float)
    direction = attributes.get("fixed_direction", priors.UniformAngle())
    neighbors = attributes.get("neighbors")
    return make_problem(
        data.table.values,
        data.radians,
        kernel=kernel,
        drift=str(attributes["drift"]),  # type: ignore[arg-type]  # one of the two
        concentration=attributes.get("fixed_concentration", options.get("concentration", 0.0)),
        direction=direction,
        noise=float(noise) if isinstance(noise, np.ndarray) and noise.ndim == 0 else noise,
        column_names=data.table.names,
        neighbors=None if neighbors is None else int(neighbors),
    )
