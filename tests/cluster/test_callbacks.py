"""scikit-learn's callbacks hear of every round."""

import numpy as np
import pytest
from here_models import HereClassifier, HereRegressor, bytes_of, data
from sklearn.base import clone

from pegasos.dask import DaskPegasosClassifier

callback = pytest.importorskip("sklearn.callback")


class Watcher:
    """Keeps the models it is shown."""

    def __init__(self, stops_at=None):
        self.models, self.begun, self.ended, self.is_torn_down = [], 0, 0, False
        self.stops_at = stops_at

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.models.append(fitted_estimator)
        self.ended += 1
        return self.ended == self.stops_at

    def teardown(self, estimator, context):
        self.is_torn_down = True


@pytest.mark.parametrize(
    ("kind", "what"), [(HereClassifier, "two"), (HereClassifier, "three"), (HereRegressor, "numbers")]
)
def test_they_see_the_model_of_each_round_and_change_nothing(kind, what):
    heard = Watcher()
    X, y = data("table", what)
    model = kind(lam=1e-2).set_callbacks(heard).fit(X, y)
    assert heard.begun == heard.ended == 1 + len(model.history_["gap"])
    assert heard.is_torn_down
    np.testing.assert_array_equal(heard.models[-1].coef_, model.coef_)
    answers = [each.predict(X).compute(scheduler="synchronous") for each in (heard.models[-1], model)]
    np.testing.assert_array_equal(*answers)
    assert bytes_of(model) == bytes_of(kind(lam=1e-2).fit(X, y))


def test_they_may_end_a_fit():
    model = HereClassifier(lam=1e-2, tol=1e-12).set_callbacks(Watcher(stops_at=3))
    with pytest.warns(UserWarning, match="not converged"):
        assert model.fit(*data("table", "two")).n_rounds_ == 3


def test_the_progress_bar_works_on_a_cluster(client, capsys):
    DaskPegasosClassifier(client=client).set_callbacks(callback.ProgressBar()).fit(*data("table", "two"))
    assert "DaskPegasosClassifier" in capsys.readouterr().out


def test_clones_have_them_too():
    heard = Watcher()
    clone(HereClassifier(lam=1e-2).set_callbacks(heard)).fit(*data("table", "two"))
    assert heard.ended
