"""LAPACK, BLAS and Bessel functions inside compiled loops: SciPy's own, by the addresses that it gives to Cython.

Matrices are C-contiguous and symmetric; only their lower triangle counts. LAPACK, which counts along columns, sees it
as an upper one.

The functions are known to the compiler by name, so that what calls them can be cached on disk.
"""

import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba import config, njit, types
from numba.extending import get_cython_function_address
from scipy import special
from scipy.linalg import blas, lapack

__all__ = ["factorize", "gram", "i0e", "i1e", "invert"]

_UPPER, _TRANSPOSED = 85, 84  # "U" and "T"
_pointer: Any = types.CPointer
_CHAR, _INT, _DOUBLE = (_pointer(kind) for kind in (types.uint8, types.int32, types.float64))


def _external(module: str, name: str, signature: Any) -> Any:
    symbol = f"vmqp_{name}"
    llvm.add_symbol(symbol, get_cython_function_address(f"scipy.{module}", name))
    return types.ExternalFunction(symbol, signature)


assert ctypes.sizeof(ctypes.c_int) == 4
_dpotrf = _external("linalg.cython_lapack", "dpotrf", types.void(_CHAR, _INT, _DOUBLE, _INT, _INT))
_dpotri = _external("linalg.cython_lapack", "dpotri", types.void(_CHAR, _INT, _DOUBLE, _INT, _INT))
_dsyrk = _external(
    "linalg.cython_blas",
    "dsyrk",
    types.void(_CHAR, _CHAR, _INT, _INT, _DOUBLE, _DOUBLE, _INT, _DOUBLE, _DOUBLE, _INT),
)
_i0e = _external("special.cython_special", "i0e", types.float64(types.float64, types.int32))
_i1e = _external("special.cython_special", "i1e", types.float64(types.float64, types.int32))


@njit(cache=True, nogil=True)
def factorize(K):  # type: ignore[no-untyped-def]
    """Replace K by its Cholesky factor L, K = L Lᵀ; False where there is none."""
    n, info, upper = np.array([K.shape[0]], np.int32), np.zeros(1, np.int32), np.array([_UPPER], np.uint8)
    _dpotrf(upper.ctypes, n.ctypes, K.ctypes, n.ctypes, info.ctypes)
    return info[0] == 0


@njit(cache=True, nogil=True)
def invert(L):  # type: ignore[no-untyped-def]
    """Replace a Cholesky factor by the inverse of its matrix."""
    n, info, upper = np.array([L.shape[0]], np.int32), np.zeros(1, np.int32), np.array([_UPPER], np.uint8)
    _dpotri(upper.ctypes, n.ctypes, L.ctypes, n.ctypes, info.ctypes)
    return info[0] == 0


@njit(cache=True, nogil=True)
def gram(B, out):  # type: ignore[no-untyped-def]
    """Put the lower triangle of B Bᵀ, of B with n rows, into `out`."""
    n, k = np.array([B.shape[0]], np.int32), np.array([B.shape[1]], np.int32)
    upper, transposed = np.array([_UPPER], np.uint8), np.array([_TRANSPOSED], np.uint8)
    one, zero = np.ones(1), np.zeros(1)
    _dsyrk(
        upper.ctypes,
        transposed.ctypes,
        n.ctypes,
        k.ctypes,
        one.ctypes,
        B.ctypes,
        k.ctypes,
        zero.ctypes,
        out.ctypes,
        n.ctypes,
    )


@njit(cache=True, nogil=True)
def i0e(x):  # type: ignore[no-untyped-def]
    """I₀(x) e^(−|x|)."""
    return _i0e(x, np.int32(0))


@njit(cache=True, nogil=True)
def i1e(x):  # type: ignore[no-untyped-def]
    """I₁(x) e^(−|x|)."""
    return _i1e(x, np.int32(0))


if config.DISABLE_JIT:  # type: ignore[attr-defined]  # the same without a compiler, for tests that step through the loops

    def factorize(K: Any) -> bool:  # type: ignore[misc]
        """LAPACK's by way of SciPy."""
        found, info = lapack.dpotrf(K.T, lower=0, clean=0)
        K[:] = found.T
        return bool(info == 0)

    def invert(L: Any) -> bool:  # type: ignore[misc]
        """LAPACK's by way of SciPy."""
        found, info = lapack.dpotri(L.T, lower=0)
        L[:] = found.T
        return bool(info == 0)

    def gram(B: Any, out: Any) -> None:  # type: ignore[misc]
        """BLAS's by way of SciPy."""
        out[:] = blas.dsyrk(1.0, B.T, trans=1, lower=0).T

    i0e, i1e = special.i0e, special.i1e
