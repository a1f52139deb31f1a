"""Generated data keeps its promises; the loaders return what the files are known to hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import datasets
from pegasos.datasets import make_binary, make_multiclass, make_text


@pytest.fixture(scope="module")
def text():
    return make_text(20_000, 10_000)


def row_norms(X):
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())


def assert_indices_strictly_increase(X):
    steps = np.diff(X.indices.astype(np.int64))
    ends = X.indptr[1:-1]
    ends = ends[(ends > 0) & (ends < X.nnz)]
    assert np.all(np.delete(steps, np.unique(ends) - 1) > 0)


def assert_same(a, b):
    assert (a[0] != b[0]).nnz == 0
    np.testing.assert_array_equal(a[1], b[1])


# ---- generated text


def test_text_has_the_promised_shape_and_types(text):
    X, y = text
    assert isinstance(X, sp.csr_matrix)
    assert X.shape == (20_000, 10_000)
    assert (X.dtype, X.indices.dtype, X.indptr.dtype, y.dtype) == (np.float32, np.int32, np.int32, np.int8)
    assert set(np.unique(y)) == {-1, 1}
    assert X.data.min() > 0
    assert make_text(50, 400, n_nonzeros=5, dtype=np.float64)[0].dtype == np.float64


def test_text_rows_have_unit_norm_and_strictly_increasing_indices(text):
    X, _ = text
    np.testing.assert_allclose(row_norms(X), 1, atol=1e-5)
    assert_indices_strictly_increase(X)


def test_text_row_lengths_vary_around_the_asked_mean(text):
    lengths = np.diff(text[0].indptr)
    assert lengths.mean() == pytest.approx(76, rel=0.03)
    assert lengths.min() >= 1
    assert lengths.std() > 20
    assert np.diff(make_text(5000, 3000, n_nonzeros=20)[0].indptr).mean() == pytest.approx(20, rel=0.05)


def test_text_words_follow_a_zipf_like_law(text):
    df = np.sort(np.bincount(text[0].indices, minlength=10_000))[::-1]
    ranks = np.unique(np.geomspace(100, 10_000, 40).astype(int))
    slope = np.polyfit(np.log(ranks), np.log(np.maximum(df[ranks - 1], 1)), 1)[0]
    assert -2 < slope < -0.8
    assert df[0] > 50 * np.median(df)


@pytest.mark.parametrize("positive", [0.1, 0.47, 0.5])
def test_text_share_of_positives_is_met_to_the_row(positive):
    y = make_text(2001, 500, positive=positive)[1]
    assert np.sum(y == 1) == round(2001 * positive)


def test_text_rows_are_not_sorted_by_label(text):
    shares = [np.mean(part == 1) for part in np.array_split(text[1], 10)]
    assert 0.43 < min(shares) <= max(shares) < 0.51


def test_text_noise_flips_that_share_of_labels():
    clean, noisy = (make_text(2000, 500, noise=noise)[1] for noise in (0.0, 0.1))
    assert np.sum(clean != noisy) == 200


def test_text_is_the_same_for_the_same_seed_and_another_for_another():
    first = make_text(10_000, 1000, n_nonzeros=10, random_state=3)  # more rows than one chunk
    assert_same(first, make_text(10_000, 1000, n_nonzeros=10, random_state=3))
    assert (first[0] != make_text(10_000, 1000, n_nonzeros=10, random_state=4)[0]).nnz > 0
    assert (first[0][:1000] != first[0][8192:9192]).nnz > 0


def test_a_linear_svm_learns_text_to_6_to_9_percent():
    from sklearn.linear_model import SGDClassifier

    X, y = make_text(60_000)
    model = SGDClassifier(alpha=1e-4, fit_intercept=False, max_iter=10, tol=None, random_state=0)
    error = 1 - model.fit(X[:50_000], y[:50_000]).score(X[50_000:], y[50_000:])
    assert 0.06 < error < 0.09


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_text_of_very_few_rows_works(n_rows):
    X, y = make_text(n_rows, 100, n_nonzeros=10)
    assert X.shape == (n_rows, 100)
    assert y.shape == (n_rows,)
    np.testing.assert_allclose(row_norms(X), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_rows": 0}, "n_rows must be at least 1, got 0"),
        ({"n_features": 100}, "n_nonzeros must be 1 to 25, a quarter of n_features=100, got 76"),
        ({"positive": 1.5}, "positive must be from 0 to 1, got 1.5"),
        ({"noise": 0.95}, "noise must be from 0 to 0.94, got 0.95"),
        ({"dtype": np.int32}, "dtype must be float32 or float64, got int32"),
    ],
)
def test_text_refuses_what_it_cannot_make(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_text(**{"n_rows": 10, **arguments})


# ---- small generators


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_generators_give_seeded_rows_of_the_asked_kind(sparse, dtype):
    for make, classes in ((make_binary, {-1, 1}), (make_multiclass, {0, 1, 2})):
        X, y = make(500, 30, sparse=sparse, density=0.2, dtype=dtype, random_state=1)
        again, y_again = make(500, 30, sparse=sparse, density=0.2, dtype=dtype, random_state=1)
        assert sp.issparse(X) == sparse
        assert (X.shape, X.dtype, set(np.unique(y))) == ((500, 30), dtype, classes)
        assert abs(X - again).sum() == 0
        np.testing.assert_array_equal(y, y_again)
        assert np.any(y != make(500, 30, sparse=sparse, random_state=2)[1])
        if sparse:
            assert X.nnz == pytest.approx(0.2 * 500 * 30, rel=0.1)
            assert_indices_strictly_increase(X)


def test_binary_noise_is_the_chance_of_a_flipped_label():
    clean, noisy = (make_binary(4000, 5, noise=noise)[1] for noise in (0.0, 0.25))
    assert np.mean(clean != noisy) == pytest.approx(0.25, abs=0.03)


def test_multiclass_has_as_many_classes_as_asked():
    assert set(make_multiclass(2000, 10, 7)[1]) == set(range(7))


# ---- where the real files are


def test_the_data_folder_is_the_one_named_else_one_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    assert datasets.data_folder() == tmp_path
    monkeypatch.delenv("PEGASOS_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert datasets.data_folder() == tmp_path / "pegasos_data"


@pytest.mark.parametrize("loader", [name for name in datasets.__all__ if name.startswith("load_")])
def test_a_loader_without_its_files_says_what_is_missing_where_and_what_to_do(loader, monkeypatch, tmp_path):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as caught:
        getattr(datasets, loader)()
    sentence = str(caught.value)
    assert sentence == datasets.missing(loader.removeprefix("load_"))
    assert ".xz" in sentence or ".npz" in sentence
    assert f"not found in {tmp_path}: set PEGASOS_DATA" in sentence


def test_missing_refuses_a_name_it_does_not_know():
    with pytest.raises(ValueError, match="unknown data set 'a9a'; known: adult mnist"):
        datasets.missing("a9a")


# ---- real files


def load(name, **options):
    if reason := datasets.missing(name):
        pytest.skip(reason)
    return getattr(datasets, f"load_{name}")(**options)


def assert_split(split, rows_train, rows_test, n_features):
    X_train, y_train, X_test, y_test = split
    assert (X_train.shape, X_test.shape) == ((rows_train, n_features), (rows_test, n_features))
    assert (len(y_train), len(y_test)) == (rows_train, rows_test)
    assert X_train.dtype == X_test.dtype == np.float32
    if sp.issparse(X_train):
        assert_indices_strictly_increase(X_train)
        assert_indices_strictly_increase(X_test)


def test_adult():
    X_train, y_train, X_test, y_test = split = load("adult")
    assert_split(split, 32_561, 16_281, 123)
    assert (X_train.nnz, X_test.nnz) == (451_592, 225_731)
    assert (np.sum(y_train == 1), np.sum(y_train == -1), np.sum(y_test == 1)) == (7_841, 24_720, 3_846)
    assert set(X_train.data) == {1}


def test_mnist():
    X_train, y_train, X_test, y_test = split = load("mnist")
    assert_split(split, 60_000, 10_000, 784)
    assert (X_train.min(), X_train.max(), X_test.max()) == (0, 1, 1)
    assert (np.sum(y_train == 8), np.sum(y_test == 8)) == (5_851, 974)
    assert y_train[:5].tolist() == [5, 0, 4, 1, 9]


def test_usps():
    X_train, y_train, _, y_test = split = load("usps")
    assert_split(split, 7_291, 2_007, 256)
    assert (X_train.min(), X_train.max()) == (-1, 1)
    assert (np.sum(y_train == 8), np.sum(y_test == 8)) == (542, 166)
    np.testing.assert_allclose(X_train[0, 6:10], [-1, -0.631, 0.862, -0.167], rtol=1e-6)


def test_reuters():
    X_train, Y_train, _, Y_test = split = load("reuters")
    assert_split(split, 7_770, 3_299, 8_101)
    topics = datasets.reuters_topics()
    assert (len(topics), topics[:3]) == (90, ["earn", "acq", "money-fx"])
    assert Y_train.shape[1] == Y_test.shape[1] == 90
    assert (Y_train[:, 2].sum(), Y_test[:, 2].sum()) == (538, 179)
    assert (np.sum(~Y_train.any(axis=1)), np.sum(~Y_test.any(axis=1))) == (0, 280)
    assert X_train[0, 410] == 4


def test_covertype():
    X, y = load("covertype")
    assert X.shape == (92_962, 54)
    assert X.dtype == np.float64
    assert set(y) == set(range(1, 8))
    assert np.all(X[:, 10:14].sum(axis=1) == 1)
    assert np.all(X[:, 14:].sum(axis=1) == 1)
    assert X[0, :10].tolist() == [3218, 343, 13, 42, 8, 3218, 194, 220, 165, 4121]
    assert np.flatnonzero(X[0, 10:]).tolist() == [0, 4 + 22]


def test_rcv1_small():
    X_train, y_train, X_test, y_test = split = load("rcv1_small")
    assert_split(split, 1_000, 500, 47_236)
    assert (X_train.nnz, X_test.nnz) == (77_739, 39_448)
    assert (np.sum(y_train == 1), np.sum(y_test == 1)) == (459, 245)
    np.testing.assert_allclose(row_norms(X_train), 1, atol=1e-4)


def test_arxiv():
    X_train, y_train, X_test, y_test = split = load("arxiv")
    assert_split(split, 697_957, 23_149, 47_236)
    assert (X_train.nnz, X_train.nnz + X_test.nnz) == (38_489_330, 39_767_259)
    assert np.sum(y_train == 1) + np.sum(y_test == 1) == 321_232
    assert set(np.unique(y_train)) == {-1, 1}
    np.testing.assert_allclose(row_norms(X_test), 1, atol=1e-5)


def test_arxiv_can_name_one_of_20_archives_as_the_label():
    _, y_train, _, y_test = load("arxiv", labels="primary")
    assert set(np.unique(y_train)) == set(np.unique(y_test)) == set(range(20))


def test_arxiv_refuses_labels_it_does_not_know():
    with pytest.raises(ValueError, match="labels must be 'binary' or 'primary', got 'year'"):
        datasets.load_arxiv(labels="year")


def test_arxiv_astroph():
    X_train, y_train, X_test, y_test = split = load("arxiv_astroph")
    assert_split(split, 29_882, 32_487, 73_363)
    assert X_train.nnz + X_test.nnz == 3_861_022
    assert np.sum(y_train == 1) + np.sum(y_test == 1) == 15_289
    np.testing.assert_allclose(row_norms(X_train), 1, atol=1e-5)


def test_conll2000():
    train, test = load("conll2000")
    assert (len(train), len(test)) == (8_936, 2_012)
    assert train[0][:3] == [("Confidence", "NN", "B-NP"), ("in", "IN", "B-PP"), ("the", "DT", "B-NP")]
    assert len({tag for sentence in train for _, _, tag in sentence}) == 22


def test_california_housing():
    X, y = load("california_housing")
    assert (X.shape, y.shape) == ((20_640, 8), (20_640,))
    assert (X[0, 0], X[0, 7], y[0]) == (8.3252, -122.23, 4.526)
