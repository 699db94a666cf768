"""Laws of one observation for each draw: parts of them, and how they are widened."""

import numpy as np
import pytest

from vmqp.posterior.laws import ProjectedNormal, VonMises, WrappedNormal

GRID = np.linspace(-np.pi, np.pi, 1500, endpoint=False)
SPACING = 2.0 * np.pi / len(GRID)
RNG = np.random.default_rng(4)
DRAWS, PLACES = 5, 3


def numbers(low, high):
    return RNG.uniform(low, high, (DRAWS, PLACES))


def projected(scale):
    a, c = numbers(0.5, 2.0), numbers(0.5, 2.0)
    b = 0.7 * np.sqrt(a * c) * numbers(-1.0, 1.0)
    return ProjectedNormal(numbers(-4.0, 4.0), numbers(-4.0, 4.0), scale * a, scale * b, scale * c)


LAWS = {
    "von mises": lambda scale: VonMises(numbers(-3.0, 3.0), numbers(1.0, 5.0) / scale, None),
    "noisy": lambda scale: VonMises(numbers(-3.0, 3.0), numbers(1.0, 5.0), numbers(1.0, 3.0) / scale),
    "wrapped": lambda scale: WrappedNormal(numbers(-3.0, 3.0), scale * numbers(0.5, 4.0)),
    "projected": projected,
}


def masses(law):
    """Of each draw and place, by the trapezoidal rule."""
    return np.exp(law.log_density(GRID[:, None, None])).sum(axis=0) * SPACING


def deviations(law):
    """√(−2 log R) of each law, from its density: of a narrow one the standard deviation."""
    densities = np.exp(law.log_density(GRID[:, None, None])) * SPACING
    length = np.abs(np.einsum("gdp,g->dp", densities, np.exp(1j * GRID)))
    return np.sqrt(-2.0 * np.log(np.minimum(length, 1.0)))


@pytest.mark.parametrize("name", LAWS)
def test_a_law_has_mass_one_before_and_after_it_is_widened(name):
    law = LAWS[name](1.0)
    np.testing.assert_allclose(masses(law), 1.0, rtol=1e-6)
    np.testing.assert_allclose(masses(law.widened(np.array([0.1, 0.5, 1.0]))), 1.0, rtol=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_a_narrow_law_becomes_as_wide_as_it_is_told(name):
    """About: a von Mises law has not quite the deviation 1/√k, nor a projected one that across over its length."""
    width = np.array([0.02, 0.05, 0.1])
    law = LAWS[name](1e-6).widened(width)
    np.testing.assert_allclose(masses(law), 1.0, rtol=1e-6)
    assert (deviations(law) > 0.95 * width).all()
    if name != "noisy":
        # A projected law is stretched along its vector too, which makes its angle up to 8 % wider than across alone.
        rtol = 0.1 if name == "projected" else 0.05
        np.testing.assert_allclose(deviations(law), np.tile(width, (DRAWS, 1)), rtol=rtol)


@pytest.mark.parametrize("name", LAWS)
def test_a_wide_law_stays_as_it_is(name):
    law = LAWS[name](1.0)
    same = law.widened(1e-4)
    np.testing.assert_array_equal(same.log_density(GRID[:, None, None]), law.log_density(GRID[:, None, None]))
    np.testing.assert_array_equal(same.direction, law.direction)


@pytest.mark.parametrize("name", LAWS)
def test_laws_of_some_places(name):
    law = LAWS[name](1.0)
    part, angle = law.at(slice(1, 3)), np.array([0.3, -1.0])
    np.testing.assert_array_equal(part.log_density(angle), law.log_density(np.array([9.0, *angle]))[:, 1:])
    np.testing.assert_array_equal(part.direction, law.direction[:, 1:])


def test_the_direction_of_a_projected_law_is_that_of_its_mean_vector():
    law = ProjectedNormal(*(np.array([[value]]) for value in (-1.0, 1.0, 1.0, 0.2, 0.5)))
    np.testing.assert_allclose(law.direction, [[0.75 * np.pi]])


def test_a_vector_without_length_is_not_widened():
    flat = np.zeros((1, 1))
    law = ProjectedNormal(flat, flat, flat + 1e-9, flat, flat + 1e-9).widened(0.3)
    np.testing.assert_allclose(law.log_density(np.array([1.0])), -np.log(2.0 * np.pi))
