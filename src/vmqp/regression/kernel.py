"""The kernel of a regression: the default, one given as text, or an object; checked against the places."""

from typing import Any

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.kernels.inputs import Inputs, as_columns
from vmqp.kernels.leaf import ColumnLeaf
from vmqp.regression.defaults import VARIANCE, default_kernel
from vmqp.regression.earth import check_earth
from vmqp.regression.places import first_repeat, has_nugget, repeat_error
from vmqp.regression.text import kernel_from_text
from vmqp.tables import Table
from vmqp.tables.words import shown

__all__ = ["check_columns", "choose_kernel", "metric_of"]

_JITTER = 1e-3  # variance in radians² that tells rows of one place apart where noise is modelled: 1.8 degrees


def choose_kernel(
    X: Table,
    X_new: Table | None,
    given: Any,
    *,
    metric: str,
    noisy: bool,
    variance: priors.Prior | float = VARIANCE,
) -> kernels.Kernel:
    """Make or read the kernel; see that it can tell the locations apart and takes each column for what it is.

    `X_new` are new locations that belong to the model, if any. `variance` is that of a kernel whose variance is not
    given.

    >>> import numpy as np
    >>> table = Table(np.array([[0.0], [2.0]]), None, {}, "numpy")
    >>> choose_kernel(table, table, "2 * gaussian(1)", metric="euclidean", noisy=True)
    2.0 * Gaussian(lengthscale=1.0) + Nugget(variance=0.001)
    """
    if given is None:
        kernel = default_kernel(X, metric=metric, nugget=not noisy, variance=variance)
    elif isinstance(given, str):
        kernel = kernel_from_text(given, X, metric, variance)
    elif isinstance(given, kernels.Kernel):
        kernel = given
        if metric != metric_of(kernel) == "euclidean":
            raise InputError(
                f"metric={metric!r} was given, but no part of the kernel has it: give it to the kernel, as in "
                f"kernels.Exponential(300.0, metric={metric!r})."
            )
    else:
        raise InputError(
            f"kernel is {shown(given)}: give a kernel such as 1.0 * kernels.Exponential(1.0), its text, or None for "
            "the default."
        )
    check_columns(kernel, X, X if X_new is None else X_new)
    if has_nugget(kernel):
        return kernel
    repeated = first_repeat(X, X_new)
    if repeated is None:
        return kernel
    if not noisy:
        raise repeat_error(repeated)
    return kernel + kernels.Nugget(_JITTER)


def metric_of(kernel: kernels.Kernel) -> str:
    """The metric of the kernel: geographic where a part of it is."""
    found = {node.metric for node in kernel.nodes() if isinstance(node, ColumnLeaf)}
    return "geographic" if "geographic" in found else "euclidean"


def check_columns(kernel: kernels.Kernel, X: Table, X_new: Table) -> None:
    """Refuse distances between codes of categories, and between places that are not on the earth."""
    inputs = Inputs(X.values, X.names)
    for node in kernel.nodes():
        if not isinstance(node, ColumnLeaf) or isinstance(node, kernels.Categorical):
            continue
        columns = inputs.indices(as_columns(node.columns))
        text = [column for column in columns if column in X.categories]
        if text:
            raise InputError(
                f"{type(node).__name__} would take differences in the text column {X.label(text[0])!r}: give it "
                "columns=[...] with the columns of numbers, and multiply by kernels.Categorical(0.5, columns=[...])."
            )
        if node.metric == "geographic":
            check_earth(columns, X, X_new)
