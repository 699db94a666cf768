"""Posteriors on disk: what is read is what was written, and nothing else is read."""

import os

import numpy as np
import pytest
import xarray as xr

import vmqp
from posteriors import made
from vmqp.errors import InputError

RNG = np.random.default_rng(8)


@pytest.fixture
def post():
    draws = RNG.vonmises(0.5, 3.0, size=(2, 200, 3))
    return made(
        draws,
        fields=np.exp(1j * draws),
        parameters={"noise": RNG.gamma(9.0, size=(2, 200)), "direction": draws[..., 0]},
        names=("species",),
        categories={0: ("ant", "bee", "wasp", "fly", "gnat", "moth")},
        call="vmqp.regress(X, y, X_new, period=360)",
        target_ess=100.0,
    )


def test_what_is_loaded_is_what_was_saved(post, tmp_path):
    post.save(tmp_path / "run.nc")
    again = vmqp.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.draws, post.draws)
    np.testing.assert_array_equal(again.latent, post.latent)
    np.testing.assert_array_equal(again.density([1.0, 2.0]), post.density([1.0, 2.0]))
    for name, values in post.parameters.items():
        np.testing.assert_array_equal(again.parameters[name], values)
    assert again.range == post.range
    assert again.categories == post.categories
    assert again.call == post.call
    assert again.to_frame().equals(post.to_frame())
    assert [str(file.name) for file in tmp_path.iterdir()] == ["run.nc"]


def test_a_file_can_be_written_over_while_its_posterior_is_in_use(post, tmp_path):
    post.save(tmp_path / "run.nc")
    again = vmqp.load(tmp_path / "run.nc")
    again.save(tmp_path / "run.nc")
    np.testing.assert_array_equal(vmqp.load(tmp_path / "run.nc").mean, post.mean)


def test_joint_draws_of_the_format_before_are_read(post, tmp_path):
    post.save(tmp_path / "run.nc")
    tree = xr.load_datatree(tmp_path / "run.nc", engine="h5netcdf")
    assert tree.attrs["vmqp_format"] == 2
    tree.attrs["vmqp_format"] = 1
    tree.to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    np.testing.assert_array_equal(vmqp.load(tmp_path / "old.nc").draws, post.draws)


def test_other_programs_can_read_it(post, tmp_path):
    post.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", group="posterior", engine="h5netcdf") as data:
        assert data["angle"].shape == (2, 200, 3)


def test_a_folder_that_is_not_there_is_an_error_in_words(post, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        post.save(tmp_path / "nowhere" / "run.nc")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_rights_is_an_error_in_words(post, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="may write"):
        post.save(tmp_path / "run.nc")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(post, tmp_path, monkeypatch):
    post.save(tmp_path / "run.nc")
    before = (tmp_path / "run.nc").read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.DataTree, "to_netcdf", full)
    with pytest.raises(InputError, match="No space left"):
        post.save(tmp_path / "run.nc")
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]
    assert (tmp_path / "run.nc").read_bytes() == before


def written_by(tmp_path, **attributes):
    path = tmp_path / "other.nc"
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": ("draw", np.ones(3))})})
    tree.attrs |= attributes
    tree.to_netcdf(path, engine="h5netcdf")
    return path


def test_files_of_other_programs_and_versions_are_refused(tmp_path):
    with pytest.raises(InputError, match="written by PyMC"):
        vmqp.load(written_by(tmp_path, creation_library="PyMC"))
    with pytest.raises(InputError, match="another kind"):
        vmqp.load(written_by(tmp_path, creation_library="vmqp"))
    later = {
        "creation_library": "vmqp",
        "creation_library_version": "9.1",
        "vmqp_facts": "{}",
        "vmqp_format": 7,
    }
    with pytest.raises(InputError, match=r"format 7, written by vmqp 9\.1"):
        vmqp.load(written_by(tmp_path, **later))
    damaged = {"creation_library": "vmqp", "vmqp_facts": "{}", "vmqp_format": 1}
    with pytest.raises(InputError, match="damaged"):
        vmqp.load(written_by(tmp_path, **damaged))


def test_what_is_no_file_of_ours_is_refused(post, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        vmqp.load(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("mean,variance\n")
    with pytest.raises(InputError, match="not a NetCDF file"):
        vmqp.load(tmp_path / "text.nc")
    post.save(tmp_path / "run.nc")
    whole = (tmp_path / "run.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="damaged or cut short"):
        vmqp.load(tmp_path / "cut.nc")
