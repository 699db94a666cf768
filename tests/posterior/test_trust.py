"""Diagnostics and the verdict in words."""

import numpy as np
import pytest

from posteriors import made

RNG = np.random.default_rng(7)


def draws(chains=4, count=1000, m=2):
    return RNG.vonmises(0.5, 3.0, size=(chains, count, m))


def test_independent_draws_are_trusted():
    post = made(
        draws(), parameters={"variance": RNG.gamma(2.0, size=(4, 1000)), "direction": draws(m=1)[..., 0]}
    )
    verdict = post.verdict()
    assert verdict.trusted
    assert "agree" in str(verdict)
    table = post.diagnostics()
    assert table.index.tolist() == ["variance", "direction", "angle[3]", "angle[4]"]
    assert (table["rhat"] < 1.01).all()
    assert (table["ess"] > 2000).all()


def test_chains_apart_are_not_trusted_and_the_worst_is_named():
    angles = draws()
    angles[0, :, 1] += 2.0
    verdict = made(angles, parameters={"variance": RNG.gamma(2.0, size=(4, 1000))}).verdict()
    assert not verdict.trusted
    assert "R-hat of angle[4]" in str(verdict)


def test_too_few_effective_samples_are_not_trusted():
    slow = np.repeat(RNG.gamma(2.0, size=(4, 40)), 25, axis=1)
    post = made(draws(), parameters={"variance": slow})
    verdict = post.verdict()
    assert not verdict.trusted
    assert "effective samples of variance" in str(verdict)
    assert made(draws(), target_ess=1e6).verdict().trusted is False


def test_chains_on_either_side_of_the_cut_agree():
    """Angles near ±π differ by a turn and yet are the same."""
    angles = np.pi + 0.01 * RNG.standard_normal((4, 1000, 1))
    angles = np.where(angles > np.pi, angles - 2 * np.pi, angles)
    assert made(angles).verdict().trusted


@pytest.mark.parametrize(("chains", "count", "word"), [(1, 1000, "one chain"), (2, 3, "too few")])
def test_what_cannot_be_judged_is_not_trusted(chains, count, word):
    verdict = made(draws(chains, count)).verdict()
    assert not verdict.trusted
    assert word in str(verdict)


def test_summary_has_a_row_for_each_parameter_and_treats_directions_as_such():
    direction = np.pi + 0.1 * RNG.standard_normal((4, 1000))
    post = made(
        draws(), parameters={"lengthscale_east": RNG.gamma(2.0, size=(4, 1000)), "direction": direction}
    )
    table = post.summary(0.5)
    assert table.loc["direction", "mean"] == pytest.approx(180.0, abs=1.0)
    assert table.loc["direction", "sd"] == pytest.approx(np.rad2deg(0.1), rel=0.1)
    lower, upper = np.quantile(post.parameters["lengthscale_east"], [0.25, 0.75])
    assert table.loc["lengthscale_east", ["lower", "upper"]].tolist() == pytest.approx([lower, upper])
    assert table.loc["lengthscale_east", "meaning"].endswith("alike (l), east")


def test_html_says_the_verdict_and_escapes_names():
    post = made(draws(), names=("<b>x</b>",))
    text = post._repr_html_()
    assert "can be trusted" in text
    assert "<b>x</b>" not in text
    assert "Do not trust" in made(draws(1))._repr_html_()
