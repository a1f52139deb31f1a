"""Pictures, as scikit-learn's display classes draw them: `from_estimator`, then `plot`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..problem.problem import Floats


def _two_axes(axes: Any) -> Any:
    """One above the other, new ones if none are given."""
    if axes is not None:
        if np.size(axes) != 2:
            raise ValueError(f"axes must be two of matplotlib's axes, got {np.size(axes)}.")
        return np.ravel(axes)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install pegasos[plot].") from None
    return plt.subplots(2, sharex=True, figsize=(6.4, 6.4), layout="constrained")[1]


class LamPathDisplay:
    """Scores, objective and support rows over lam, with the chosen lam marked.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
    scores, train_scores, objectives, n_support : ndarray of shape (n_folds, n_lams)
    lam : float
        The chosen one.
    exact : ndarray of bool, shape (n_folds, n_lams), or None, default=None
        Which fits have met `tol`: a lam with others has an empty mark.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib axes
        Scores, and below them objective and support rows.
    figure_ : matplotlib figure

    Examples
    --------
    >>> from pegasos import LamPathDisplay, PegasosClassifierCV, datasets
    >>> model = PegasosClassifierCV().fit(*datasets.make_binary(500, 20, random_state=0))
    >>> LamPathDisplay.from_estimator(model).axes_[0].get_ylabel()
    'score'
    """

    def __init__(
        self,
        lams: Floats,
        scores: Floats,
        train_scores: Floats,
        objectives: Floats,
        n_support: Floats,
        lam: float,
        exact: NDArray[np.bool_] | None = None,
    ) -> None:
        self.lams, self.scores, self.train_scores, self.exact = lams, scores, train_scores, exact
        self.objectives, self.n_support, self.lam = objectives, n_support, lam

    @classmethod
    def from_estimator(cls, estimator: Any, *, axes: Any = None) -> Self:
        """Draw the search of a fitted `PegasosClassifierCV` or `PegasosRegressorCV`.

        Parameters
        ----------
        estimator : fitted estimator
        axes : two matplotlib axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : LamPathDisplay
        """
        if "lams" not in estimator.get_params(deep=False):
            raise TypeError(
                f"{type(estimator).__name__} has one lam: LamPathDisplay draws a search, such as PegasosClassifierCV."
            )
        check_is_fitted(estimator, "lams_")
        if not hasattr(estimator, "lam_"):
            raise NotFittedError(
                f"this {type(estimator).__name__} was interrupted before any lam had a score in every fold: there is "
                "nothing to draw. Fit it again."
            )
        m = estimator
        exact = getattr(m, "exact_", None)
        return cls(m.lams_, m.scores_, m.train_scores_, m.objectives_, m.n_support_, m.lam_, exact).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw it. Lines end where lams were left out.

        Parameters
        ----------
        axes : two matplotlib axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : LamPathDisplay
        """
        above, below = self.axes_ = _two_axes(axes)
        self.figure_ = above.figure
        mean, spread = self.scores.mean(axis=0), self.scores.std(axis=0, ddof=1 if len(self.scores) > 1 else 0)
        error = spread / np.sqrt(len(self.scores))
        above.fill_between(self.lams, mean - error, mean + error, alpha=0.25, linewidth=0)
        above.plot(self.lams, mean, marker="o", label="held out, ± one standard error")
        rough = np.zeros(len(mean), bool) if self.exact is None else ~(self.exact.all(axis=0) | np.isnan(mean))
        if rough.any():
            empty = {"color": "white", "markeredgecolor": "C0", "linestyle": "none", "zorder": 3}
            above.plot(self.lams[rough], mean[rough], marker="o", label="folds rougher than tol", **empty)
        above.plot(self.lams, self.train_scores.mean(axis=0), linestyle="--", color="gray", label="training rows")
        above.set_ylabel("score")
        support = below.twinx()
        (first,) = below.plot(self.lams, self.objectives.mean(axis=0), marker="o", color="C1", label="objective")
        (second,) = support.plot(self.lams, self.n_support.mean(axis=0), marker="s", color="C2", label="support rows")
        below.set_ylabel("objective")
        support.set_ylabel("support rows")
        for axis in (below, support):
            axis.set_ylim(0, 1.35 * axis.get_ylim()[1])  # room for the legend
        for axis in (above, below):
            axis.axvline(self.lam, color="black", linewidth=1, linestyle=":", label=f"lam = {self.lam:.3g}")
            axis.set_xscale("log")
        left, right = float(np.min(self.lams)), float(np.max(self.lams))
        if left < right:
            below.set_xlim(right * 1.3, left / 1.3)  # as the search goes, from simple models to complicated ones
            above.set_xlim(right * 1.3, left / 1.3)
        below.set_xlabel("lam")
        above.legend()
        below.legend(handles=[first, second])
        return self


class HistoryDisplay:
    """Objective and bound over time, and the gap between them.

    Parameters
    ----------
    history : dict of ndarray
        `history_` of a fitted estimator.
    x : {"seconds", "steps"}, default="seconds"

    Attributes
    ----------
    axes_ : ndarray of two matplotlib axes
        Objective and bound, and below them the gap.
    figure_ : matplotlib figure

    Examples
    --------
    >>> from pegasos import HistoryDisplay, PegasosClassifier, datasets
    >>> model = PegasosClassifier(tol=1e-6).fit(*datasets.make_binary(500, 20, random_state=0))
    >>> HistoryDisplay.from_estimator(model).axes_[1].get_ylabel()
    'gap'
    """

    def __init__(self, history: dict[str, Any], x: str = "seconds") -> None:
        if x not in ("seconds", "steps"):
            raise ValueError(f"x must be 'seconds' or 'steps', got {x!r}.")
        self.history, self.x = history, x

    @classmethod
    def from_estimator(cls, estimator: Any, *, x: str = "seconds", axes: Any = None) -> Self:
        """Draw the history of any fitted estimator of this package.

        Parameters
        ----------
        estimator : fitted estimator
        x : {"seconds", "steps"}, default="seconds"
        axes : two matplotlib axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : HistoryDisplay
        """
        check_is_fitted(estimator, "history_")
        return cls(estimator.history_, x).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw it, one line a class where classes were fitted one by one.

        Parameters
        ----------
        axes : two matplotlib axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : HistoryDisplay
        """
        above, below = self.axes_ = _two_axes(axes)
        self.figure_ = above.figure
        every = np.asarray(self.history.get("class", np.full(len(self.history["gap"]), "")))
        for i, name in enumerate(dict.fromkeys(every.tolist())):
            mine = every == name
            x, colour, who = self.history[self.x][mine], f"C{i % 10}", f"class {name}" if name != "" else None
            above.plot(x, self.history["objective"][mine], marker=".", color=colour, label=who or "objective")
            above.plot(
                x, self.history["dual"][mine], marker=".", linestyle="--", color=colour, label=None if who else "bound"
            )
            gap = self.history["gap"][mine]
            below.plot(x, np.where(gap > 0, gap, np.nan), marker=".", color=colour)
        above.set_ylabel("objective and bound" if "class" in self.history else "objective")
        if "class" in self.history:
            above.legend(loc="upper left", bbox_to_anchor=(1, 1))
        else:
            above.legend()
        below.set_yscale("log")
        below.set_ylabel("gap")
        below.set_xlabel(self.x)
        return self
