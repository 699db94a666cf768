"""Kernels given as text: what is left out in it comes from the spread of the inputs."""

from collections.abc import Mapping

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.kernels.inputs import Inputs
from vmqp.kernels.text import Draft, parse
from vmqp.regression.defaults import NUGGET, VARIANCE, lengthscale_prior
from vmqp.tables import Table

__all__ = ["kernel_from_text"]


def kernel_from_text(
    text: str, table: Table, metric: str, variance: priors.Prior | float = VARIANCE
) -> kernels.Kernel:
    """Read a kernel; length scales, variances and the metric that it leaves out are the defaults.

    >>> import numpy as np
    >>> table = Table(np.array([[0.0], [2.0], [4.0]]), None, {}, "numpy")
    >>> kernel_from_text("gaussian + nugget(0.1)", table, "euclidean")
    HalfNormal(scale=1.0) * Gaussian(lengthscale=LogNormal(mu=0.0, sigma=1.0)) + Nugget(variance=0.1)
    """
    inputs = Inputs(table.values, table.names)

    def defaults(draft: Draft) -> Mapping[str, object]:
        chosen = inputs.indices(draft.columns)
        text_columns = [column for column in chosen if column in table.categories]
        if draft.metrics and text_columns and draft.kind is not kernels.Categorical:
            raise InputError(
                f"this kernel would measure distances in the text column {inputs.label(text_columns[0])!r}: name the "
                "columns of numbers with columns=[...], and multiply by categorical(columns=[...])."
            )
        found: dict[str, object] = {"variance": NUGGET, "correlation": priors.Uniform(0.0, 1.0)}
        own = draft.metric or (metric if metric in draft.metrics else "euclidean")
        if draft.kind is kernels.Periodic:
            found["lengthscale"] = priors.LogNormal(0.0, 1.0)  # in turns of the period, whatever the unit
        elif "lengthscale" in draft.missing:
            found["lengthscale"] = lengthscale_prior(table.values, chosen, own)
        return found | ({"metric": own} if draft.metrics else {})

    return parse(text, defaults=defaults, default_variance=variance)
