"""No claim of a fit with a joint loss is false: random problems against independent optima, in long double."""

from unittest import mock

import numpy as np
import pytest
from joint_campaign import judge, random_case, truth_of
from linear_campaign import fitted
from verdict import campaign

from pegasos import PegasosClassifier

COUNT = 100


@pytest.mark.parametrize("first", range(0, 3 * COUNT, COUNT))
def test_every_claim_is_true(first):
    wrong, sharp = campaign(random_case, judge, first, COUNT)
    assert not wrong, "\n".join(wrong)
    assert sharp > COUNT / 2


def test_a_bound_that_is_a_little_too_high_is_found_out():
    class Boastful(PegasosClassifier):
        def fit(self, *args, **kwargs):
            super().fit(*args, **kwargs)
            self.gap_ = self.gap_ / 2
            return self

    with mock.patch("linear_campaign.PegasosClassifier", Boastful):
        assert len(campaign(random_case, judge, 0, COUNT)[0]) > 5


def test_the_reference_is_as_good_as_what_it_judges():
    near = []
    for number in range(120):
        case = random_case(number)
        if (model := fitted(case)) is not None and model.converged_:
            truth = truth_of(case)
            zero = truth.value(np.zeros_like(model.coef_), np.zeros(len(model.coef_)))
            near.append(truth.optimum() - model.objective_ <= 1e-5 * zero)
    assert len(near) > 30
    assert np.mean(near) > 0.7
