"""Bad options of `regress`, one case each: the error is ours, names what was given, and says what to do."""

import re

import numpy as np
import pytest

import vmqp
from vmqp import kernels, priors
from vmqp.learning import Method
from vmqp.run import Converged

OPTIONS = {
    "inference": [
        ("quick", r"inference is 'quick', but the choices are 'bayes', 'fast'"),
        (None, r"inference is None, but the choices are"),
        (1, r"inference is 1, but the choices are"),
    ],
    "kernel": [
        (3, r"kernel is 3: give a kernel such as"),
        (kernels.Exponential, r"kernel is <class .*: give a kernel such as"),
        ("", r"found the end"),
        (1.0 * kernels.Exponential(1.0, columns=["east"]), r"column 'east' was asked for"),
        (1.0 * kernels.Exponential([1.0, 2.0]), r"lengthscale of Exponential has 2 values for 1 columns"),
    ],
    "noise": [
        (-1, r"noise is -1: give a positive χ"),
        (0.0, r"noise is 0\.0: give a positive χ"),
        ("a", r"noise is 'a': give a positive χ"),
        (True, r"noise is True: give a positive χ"),
        (np.nan, r"noise is NaN: give a positive χ"),
        (1e300, r"noise is 1e\+300: .*at most 1e\+12"),
        (10**400, r"noise is an integer of .* bits: give a positive χ"),
        ([1.0, 2.0], r"noise has shape \(2,\) for 8 observed rows: give one χ for each row"),
        ([[1.0], [2.0, 3.0]], r"noise is \[\[1\.0\], \[2\.0, 3\.0\]\]: give"),
        ([5.0] * 7 + [-5.0], r"noise of row 7 is -5: give a positive χ"),
        (["a"] * 8, r"noise is \['a', .*: give a positive χ"),
        (1j, r"noise is 1j: give a positive χ"),
    ],
    "noise_new": [(3.0, r"noise_new was given, but noise is None: give the noise of the observed rows too")],
    "concentration": [
        (-1, r"concentration is -1: give a number from 0"),
        ("strong", r"concentration is 'strong': give a number from 0"),
        ([1.0], r"concentration is \[1\.0\]: give a number from 0"),
        (10**400, r"concentration is an integer of .* bits: give a number"),
        (1e300, r"concentration is 1e\+300: give a number"),
        (None, r"concentration is None: give a number from 0"),
        (
            priors.UniformAngle(),
            r"concentration is UniformAngle.*: give a number or a prior of values from 0",
        ),
    ],
    "direction": [
        ("north", r"direction is 'north': give an angle in the period of the data, such as 90"),
        (np.nan, r"direction is NaN: give an angle"),
        (10**400, r"direction is an integer of .* bits: give an angle"),
        (None, r"direction is None: give an angle"),
        (priors.HalfNormal(1.0), r"direction is HalfNormal.*: give an angle .* or priors.UniformAngle"),
    ],
    "neighbors": [
        (
            0,
            r"neighbors is 0, but it is the number of neighbors of a location: give a whole number, at least 1",
        ),
        (2.5, r"neighbors is 2\.5, but it is the number of neighbors"),
        ("many", r"neighbors is 'many', but it is the number of neighbors"),
        (10**400, r"neighbors is a number of .* bits"),
    ],
    "parameter_draws": [
        (0, r"parameter_draws is 0, but it is the number of parameter draws.*at least 1"),
        (2.5, r"parameter_draws is 2\.5.*whole number"),
        ("all", r"parameter_draws is 'all'.*whole number"),
    ],
    "transductive": [
        ("yes", r"transductive is 'yes': give True or False"),
        (1, r"transductive is 1: give True or False"),
        (None, r"transductive is None: give True or False"),
    ],
    "memory": [
        ("lots", r"memory is 'lots': give a number of bytes, or a text such as '4GB'"),
        (-1, r"memory is -1: give a number of bytes"),
        (10**400, r"memory is a.* give a number of bytes"),
        ([1e9], r"memory is \[1000000000\.0\]: give a number of bytes"),
    ],
    "metric": [
        ("miles", r"metric is 'miles', but the choices are 'euclidean', 'geographic'"),
        (np.array(["euclidean", "euclidean"]), r"metric is .*, but the choices are"),
    ],
    "drift": [
        ("up", r"drift is 'up', but the choices are None, 'constant', 'mean'"),
        ("auto", r"drift is 'auto', but the choices are"),
    ],
    "precision": [("half", r"precision is 'half', but the choices are 'auto', 'dense'")],
    "sampler": [("nuts", r"sampler is 'nuts', but the choices are 'hybrid', 'heatbath', 'augmented'")],
    "method": [
        ("fast", r"method is 'fast': give vmqp\.learning\.Method"),
        (Method(steps=(1.0,)), r"1 fixed steps, but the parameters are"),
    ],
    "period": [
        (0, r"period must be a positive number or the name of a unit but is 0: give"),
        ("furlongs", r"period is 'furlongs', which is not known"),
        (-360, r"period must be a positive number"),
        (np.nan, r"period must be a positive number"),
        (None, r"period must be a positive number"),
        ([360], r"period must be a positive number"),
    ],
    "warmup": [(-1, r"warmup is -1.*at least 0"), (1.5, r"warmup is 1\.5.*whole number")],
    "thin": [(0, r"thin is 0.*at least 1")],
    "chains": [
        (0, r"chains is 0.*at least 1"),
        (True, r"chains is True.*whole number"),
        (10**9, r"the draws need about .*but the limit is"),
        (10**400, r"chains is a number of .* bits"),
    ],
    "draws": [
        ("x", r"draws is 'x'.*whole number"),
        (0, r"draws is 0.*at least 1"),
        (10**12, r"the draws need about .*but the limit is"),
        (10**400, r"draws is a number of .* bits"),
    ],
    "seed": [
        (-1, r"seed is -1.*at least 0"),
        (None, r"seed is None.*whole number"),
        (0.5, r"seed is 0\.5.*whole number"),
    ],
    "executor": [
        ("gpu", r"executor is 'gpu', but the choices are 'threads', 'processes'"),
        (3, r"executor is 3.*Executor"),
    ],
    "workers": [(0, r"workers is 0.*at least 1"), ("all", r"workers is 'all'.*whole number")],
    "checkpoint": [
        (3, r"checkpoint is 3.*give a path or None"),
        ("", r"checkpoint is ''.*give a path or None"),
        ("a\0b", r"checkpoint is .*give a path or None"),
    ],
    "progress": [("yes", r"progress is 'yes', but the choices are None, True and False")],
    "until": [
        (3, r"until is 3.*give vmqp\.run\.Converged"),
        (Converged(), r"until needs chains to compare, but chains is 1: give chains=2"),
    ],
    "time_limit": [
        (-1, r"time_limit is -1.*positive number"),
        ("1 min", r"time_limit is '1 min'.*positive number"),
        (10**400, r"time_limit is 1000.*positive number"),
    ],
    "dtype": [
        ("int8", r"dtype is 'int8', but the choices are 'float64' and 'float32'"),
        (np.float32, r"dtype is <class .*, but the choices are"),
    ],
}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [(option, value, message) for option, cases in OPTIONS.items() for value, message in cases],
    ids=lambda part: re.sub(r"\s+", " ", repr(part))[:30] if not isinstance(part, str) else part[:30],
)
@pytest.mark.parametrize("transductive", [False, True])
def test_options(refused, transductive, option, value, message):
    refused(message, **{"transductive": transductive, option: value})


@pytest.mark.parametrize(
    "options",
    [
        {"parameter_draws": 0},
        {"neighbors": 0},
        {"memory": "lots"},
        {"noise": 5.0, "noise_new": [1.0, 2.0, 3.0]},
        {"noise_new": 3.0},
    ],
    ids=str,
)
def test_options_of_predictions_are_read_before_anything_is_learned(refused, monkeypatch, options):
    def learned(*_, **__):
        raise AssertionError("the chains run")

    monkeypatch.setattr("vmqp.regression.fitting.run_chains", learned)
    refused("|".join(options), **options)


def test_every_option_is_tested():
    assert set(OPTIONS) == set(vmqp.CircularRegressor().get_params())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a", r"noise_new is 'a': give one positive χ, or one for each of 2 new rows"),
        (-1.0, r"noise_new of row 0 is -1: give a positive χ"),
        ([1.0, np.nan], r"noise_new of row 1 is nan: give a positive χ"),
        ([1.0, 2.0, 3.0], r"noise_new has shape \(3,\) for 2 new rows: give one"),
        (1j, r"noise_new is 1j: give one positive χ"),
    ],
    ids=str,
)
def test_noise_of_new_places(refused, value, message):
    refused(message, noise=np.full(8, 3.0), noise_new=value)


def test_a_text_that_is_no_kernel_is_pointed_at(refused):
    message = refused(r"found 'gausian'.*did you mean 'gaussian'\?", kernel="2 * gausian(300)")
    _, text, marker = message.splitlines()
    assert text[marker.index("^") :].startswith("gausian")
