"""Deformed images: the formula, the same rows for the same seed, digits that stay digits."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from nearlinear.streams import deformed_images
from nearlinear.streams.digits import deform


@pytest.mark.passes
def test_the_pass_reads_images_between_pixels():
    rng = np.random.default_rng(0)
    images, fields = rng.random((3, 5, 7)), rng.standard_normal((4, 5, 7, 2))
    chosen, pairs = rng.integers(3, size=6), rng.integers(4, size=(6, 2))
    maps, shares = rng.standard_normal((6, 6)), rng.standard_normal((6, 2))
    found = np.empty((6, 35))
    deform(images, chosen, maps, fields, pairs, shares, 0.0, found)
    middle = np.array([2.0, 3.0])
    places = np.moveaxis(np.indices((5, 7)), 0, -1) - middle
    for i in range(6):
        field = np.einsum("f,frsc->rsc", shares[i], fields[pairs[i]])
        places_in_image = places @ maps[i, :4].reshape(2, 2).T + maps[i, 4:] + middle + field
        wanted = map_coordinates(
            np.pad(images[chosen[i]], 1), np.moveaxis(places_in_image + 1, -1, 0), order=1, cval=0.0
        )
        assert np.allclose(found[i], wanted.ravel())


def test_without_deformations_rows_are_the_images():
    images = np.random.default_rng(0).random((5, 6, 4)).astype(np.float32)
    none = dict.fromkeys(["rotation", "scaling", "shear", "shift", "elastic"], 0.0)
    for X, y, _ in deformed_images(images, np.arange(5), 40, block_rows=15, **none):
        assert np.allclose(X, images[y].reshape(len(y), -1), atol=1e-6)


def test_a_row_depends_on_the_seed_and_its_number_alone():
    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    one, again, other, longer = (
        deformed_images(images, labels, n, seed=seed, block_rows=100)
        for n, seed in [(250, 0), (250, 0), (250, 1), (900, 0)]
    )
    assert [block.X.shape[0] for block in one] == [100, 100, 50]
    (a,), (b,), (c,), (d,) = (source.part(1) for source in (one, again, other, longer))
    assert np.array_equal(a.X, b.X) and np.array_equal(a.X, d.X)
    assert not np.array_equal(a.X, c.X)
    assert not np.array_equal(a.X, next(one.part(0)).X)
    (whole,) = deformed_images(images, labels, 250, block_rows=250)
    assert np.array_equal(whole.X[100:200], a.X) and np.array_equal(whole.y[100:200], a.y)


def test_deformed_digits_are_still_told_by_their_neighbors():
    images, labels = load_digits(return_X_y=True)
    ((X, y, _),) = deformed_images(images.reshape(-1, 8, 8), labels, 500)
    assert KNeighborsClassifier(1).fit(images, labels).score(X, y) > 0.8
    assert np.abs(X - images[:500]).max() > 1.0


def test_images_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="n_images, height, width"):
        deformed_images(np.ones((5, 16)), np.ones(5), 10)
