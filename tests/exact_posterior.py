"""The exact posterior of the parameters of two or three angles, by quadrature.

The exchanged parameters u stand on a regular grid that covers their posterior; ν and χ have grids of their own. One
angle of every integral is done in closed form, ∫ exp(h·x) dφ = 2π I₀(|h|), the others by the trapezoidal rule on the
circle. For smooth integrands that have died out at both ends the rule is exact to far more digits than are tested.
"""

import itertools

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import i0e

from vmqp.precision import factorise


def log_i0(k):
    return k + np.log(i0e(k))


def log_sum(values, axis):
    top = values.max(axis=axis, keepdims=True)
    return (top + np.log(np.exp(values - top).sum(axis=axis, keepdims=True))).squeeze(axis)


def log_normaliser(M, field, points=48):
    """log ∫ exp(−½ Σ_{i≠j} M_ij cos(φ_i − φ_j) + Σ field_i·x_i) of d ≤ 3 angles; field is complex, (..., d)."""
    d = len(M)
    e = np.exp(2j * np.pi * np.arange(points) / points)
    spacing = np.log(2.0 * np.pi / points)
    if d == 1:
        return np.log(2.0 * np.pi) + log_i0(np.abs(field[..., 0]))
    if d == 2:
        h = field[..., 1, None] - M[1, 0] * e
        level = (field[..., 0, None].conj() * e).real
        return log_sum(level + np.log(2.0 * np.pi) + log_i0(np.abs(h)), -1) + spacing
    first, second = e[:, None], e[None, :]
    level = -M[0, 1] * (first * second.conj()).real
    level = level + (field[..., 0, None, None].conj() * first).real
    level = level + (field[..., 1, None, None].conj() * second).real
    h = field[..., 2, None, None] - M[2, 0] * first - M[2, 1] * second
    level = level + np.log(2.0 * np.pi) + log_i0(np.abs(h))
    return log_sum(level.reshape(*level.shape[:-2], -1), -1) + 2.0 * spacing


class ExactPosterior:
    """Weights on the grid (u_1, …, u_p, ν, χ) and expectations under them."""

    def __init__(self, problem, *, reach, points=17, turns=24, noise_points=15, angle_points=48):
        """``reach`` gives the ends of the grid of each exchanged parameter, and of log χ, by name."""
        self.problem, self.angle_points = problem, angle_points
        kappa_at = problem.exchanged.index("concentration") if "concentration" in problem.exchanged else None
        axes = [np.linspace(*reach[name], points) for name in problem.exchanged]
        kernel_axes = [axis for j, axis in enumerate(axes) if j != kappa_at]
        assert kappa_at in (None, len(axes) - 1), "κ comes last"
        learned_nu = "direction" in problem.learned
        nu = 2.0 * np.pi * np.arange(turns) / turns if learned_nu else np.array([problem.direction.typical()])
        chi_u = np.linspace(*reach["noise"], noise_points) if "noise" in problem.learned else np.zeros(1)
        if problem.noise is None:
            chi = None
        elif problem.noise.is_fixed:
            chi = np.array([problem.noise.typical()])
        else:
            chi = problem.noise.from_unconstrained(chi_u)
        kappa = np.array([problem.concentration.typical()])
        if kappa_at is not None:
            kappa = problem.concentration.from_unconstrained(axes[-1])
        blocks = []
        for point in itertools.product(*kernel_axes):
            names = [name for name in problem.exchanged if name != "concentration"]
            values = {
                name: float(problem.priors[name].from_unconstrained(u))
                for name, u in zip(names, point, strict=True)
            }
            M = factorise(problem.bound.covariance(values)).M
            blocks.append(self._log_likelihood(M, kappa, nu, chi))
        logs = np.array(blocks).reshape([len(a) for a in kernel_axes] + list(blocks[0].shape))
        if kappa_at is None:
            logs = logs[..., 0, :, :]
        self.axes = dict(zip(problem.exchanged, axes, strict=True))
        if learned_nu:
            self.axes["direction"] = nu
        else:
            logs = logs[..., 0, :]
        if "noise" in problem.learned:
            self.axes["noise"] = chi_u
        else:
            logs = logs[..., 0]
        for j, (name, axis) in enumerate(self.axes.items()):
            if name != "direction":
                prior = problem.priors[name]
                density = prior.log_density(prior.from_unconstrained(axis)) + prior.log_jacobian(axis)
                logs = logs + np.asarray(density).reshape([-1 if i == j else 1 for i in range(logs.ndim)])
        self.weights = np.exp(logs - logs.max())
        self.weights /= self.weights.sum()
        for name in self.axes:
            if name != "direction":
                edge = self.marginal(name)[[0, -1]] / self.marginal(name).max()
                assert edge.max() < 1e-4, f"the grid of {name} has to reach further: {edge}"

    def _log_z(self, M, field):
        return log_normaliser(M, field, self.angle_points)

    def _log_likelihood(self, M, kappa, nu, chi):
        """log p(θ | u, ν, χ) on the grid (κ, ν, χ)."""
        problem, d, n = self.problem, self.problem.d, self.problem.n
        weights = np.ones(d) if problem.drift == "constant" else M.sum(axis=1)
        theta = np.exp(1j * problem.observed)
        field = kappa[:, None, None] * np.exp(1j * nu)[:, None] * weights  # (κ, ν, d)
        log_z = self._log_z(M, kappa[:, None] * weights + 0j)[:, None, None]  # does not depend on ν
        if chi is None:
            known = -0.5 * ((theta.conj() @ (M - np.diag(np.diag(M)))[:n, :n]) @ theta).real
            level = known + (field[..., :n].conj() * theta).real.sum(axis=-1)
            if d > n:
                rho = field[..., n:] - M[n:, :n] @ theta
                level = level + self._log_z(M[n:, n:], rho)
            return level[..., None] - log_z
        out = np.empty((len(kappa), len(nu), len(chi)))
        for k, x in enumerate(chi):
            pulled = field.copy()
            pulled[..., :n] += x * theta
            out[..., k] = self._log_z(M, pulled) - n * (np.log(2.0 * np.pi) + log_i0(x))
        return out - log_z

    def marginal(self, name):
        """Weights on the grid of one parameter."""
        place = list(self.axes).index(name)
        return self.weights.sum(axis=tuple(i for i in range(self.weights.ndim) if i != place))

    def distribution_function(self, name):
        """The distribution function of one parameter on its unconstrained scale; of ν from 0 to 2π."""
        axis, weights = self.axes[name], self.marginal(name)
        if name == "direction":
            density = CubicSpline(
                np.append(axis, 2 * np.pi), np.append(weights, weights[0]), bc_type="periodic"
            )
        else:
            density = CubicSpline(axis, weights)
        integral = density.antiderivative()
        low, high = integral.x[0], integral.x[-1]
        return lambda u: (integral(np.clip(u, low, high)) - integral(low)) / (integral(high) - integral(low))

    def expectations(self):
        """Of ``statistics``."""
        functions = [self._functions(name, axis) for name, axis in self.axes.items()]
        result = []
        for i in range(len(functions)):
            for j in range(i, len(functions)):
                keep = (i, j)
                drop = tuple(k for k in range(self.weights.ndim) if k not in keep)
                joint = self.weights.sum(axis=drop)
                if i == j:
                    result.extend(functions[i] @ joint)
                else:
                    result.extend((functions[i] @ joint @ functions[j].T).ravel())
        return np.array(result)

    def statistics(self, draws):
        """Smooth bounded functions of each parameter and their products, of draws by name (N,): (N, S)."""
        functions = [self._functions(name, draws[name]) for name in self.axes]
        result = []
        for i in range(len(functions)):
            for j in range(i, len(functions)):
                if i == j:
                    result.extend(functions[i])
                else:
                    result.extend((functions[i][:, None] * functions[j]).reshape(-1, functions[i].shape[1]))
        return np.array(result).T

    def _functions(self, name, values):
        if name == "direction":
            return np.array([np.cos(values), np.sin(values)])
        axis, weights = self.axes[name], self.marginal(name)
        centre = axis @ weights
        spread = np.sqrt((axis - centre) ** 2 @ weights)
        scaled = np.tanh((values - centre) / spread)
        return np.array([scaled, scaled**2])
