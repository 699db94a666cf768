"""Kernels written as text, for command lines and files: the algebra of Python, read without running it.

Names of kernels, priors and parameters are those of Python. Case, hyphens, underscores and a prefix such as
``kernels.`` do not matter: ``half-normal(1)`` is ``HalfNormal(1)``, and ``matern-3/2`` is ``Matern32``. Names
of columns do keep their case, and need quotes only if they hold more than letters, digits and ``_ - . /``.
The text that Python shows for a kernel reads back as an equal kernel, unless it holds a `Custom` one.

>>> parse("2 * gaussian(lengthscale=300, columns=[lon, lat]) + nugget(HalfNormal(0.1))")
2.0 * Gaussian(lengthscale=300.0, columns=['lon', 'lat']) + Nugget(variance=HalfNormal(scale=0.1))
"""

from functools import reduce
from operator import add, mul

from vmqp.errors import InputError
from vmqp.kernels.algebra import Kernel, Product, Scaled, Setting, Sum
from vmqp.kernels.grammar import Defaults, Draft, read
from vmqp.kernels.others import Constant, Nugget
from vmqp.priors import as_prior

__all__ = ["Defaults", "Draft", "parse"]

_LONGEST = 20_000


def parse(text: str, *, defaults: Defaults | None = None, default_variance: Setting | None = None) -> Kernel:
    """Read a kernel from text.

    `defaults` is asked once for each kernel in the text and supplies what was left out there: see `Defaults`.
    A parameter that neither gives has the value that it has in Python, and without one it is an error. With
    `default_variance`, each term of the sum that has no variance gets this one; a nugget and a constant have
    their own.

    A product takes one variance. As in Python it is the first kernel's where it comes first, and belongs to
    all kernels before it where it comes later.

    >>> from vmqp.priors import HalfNormal
    >>> def by_spread(draft):
    ...     spread = {"lon": 4.0, "lat": 3.0}
    ...     chosen = draft.columns or tuple(spread)
    ...     return {"lengthscale": max(spread[name] for name in chosen), "variance": 0.1}
    >>> parse("exponential(columns=lat) + nugget", defaults=by_spread, default_variance=HalfNormal(1))
    HalfNormal(scale=1.0) * Exponential(lengthscale=3.0, columns=['lat']) + Nugget(variance=0.1)

    >>> parse("2 * gausian(300)")
    Traceback (most recent call last):
    vmqp.errors.InputError: the kernel cannot be read: found 'gausian', ...; did you mean 'gaussian'?
        2 * gausian(300)
            ^
    """
    if not isinstance(text, str):
        raise InputError(f"a kernel's text must be a string but is {text!r}: write 'exponential + nugget'.")
    if len(text) > _LONGEST:
        raise InputError(
            f"the kernel's text has {len(text)} characters, and at most {_LONGEST} are read: "
            "build a kernel as large as this in Python."
        )
    kernel = read(text, defaults)
    if default_variance is None:
        return kernel
    return _with_variance(kernel, as_prior(default_variance, "default_variance"))


def _with_variance(kernel: Kernel, variance: Setting) -> Kernel:
    """Give the variance to each term that has none, as if it were written before the term."""
    terms = kernel.parts() if isinstance(kernel, Sum) else (kernel,)
    return reduce(add, [term if _has_variance(term) else _times(variance, term) for term in terms])


def _times(variance: Setting, term: Kernel) -> Kernel:
    first, *rest = term.parts() if isinstance(term, Product) else (term,)
    return reduce(mul, rest, variance * first)


def _has_variance(kernel: Kernel) -> bool:
    if isinstance(kernel, Sum):
        return all(_has_variance(term) for term in kernel.parts())
    if isinstance(kernel, Product):
        return any(_has_variance(factor) for factor in kernel.parts())
    return isinstance(kernel, Scaled | Constant | Nugget)
