"""Sequence taggers that choose their lam."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import check_cv

from .. import _core, words
from ..caller import user_level
from ..losses.costs import costs_between
from ..problem.problem import Floats
from ..structured import run
from ..structured.labels import allowed_of
from ..structured.tagger import Allowed, Boundaries, Pairs, PegasosSequenceTagger
from ..structured.tokens import Stacked, is_stacked
from ..structured.training_set import Whole, sequence_weights
from .base import SEARCH_RULES, NotHere
from .folds import folds_of
from .found import Found
from .grid import spaced, values_of
from .results import best_of, is_past, table
from .search import warn_unfinished
from .tagged_folds import FoldTagger, TaggedFold, refuse_empty

_SPAN = 1e6  # the largest lam over the smallest: sums over tokens make gradients large


class PegasosSequenceTaggerCV(PegasosSequenceTagger):
    """`PegasosSequenceTagger` that chooses lam by cross-validation over sequences.

    Tokens are read once. lam falls, and every fit of a fold begins with the weights and dual variables of the one
    before. A fold has the features, counted by `min_count`, and the labels of its own training part.

    Parameters
    ----------
    lams : int or array-like, default=10
        The values to choose from, or how many: spaced evenly on a logarithmic scale over six decades, down from
        ||g||^2 / f(0), g the gradient at zero, above which no model halves the objective of the zero model.
    cv : int, splitter or iterable, default=5
        As in GridSearchCV, over sequences: a number of folds, a splitter of scikit-learn, or pairs of numbers of
        sequences.
    scoring : callable or None, default=None
        None: the share of right tokens, where sequences count by their weight. A function of a model, sequences and
        labellings; for chunks ``make_scorer(pegasos.metrics.chunk_f1)``.
    rule, refit, stop_early
        As in `PegasosClassifierCV`. The model that is fitted to all sequences has the bytes of
        ``PegasosSequenceTagger(lam=lam_)``.
    loss, costs, pairs, boundaries, allowed, transition_features, min_count, n_hashed, tol, max_epochs, max_time, \
solver, n_jobs, random_state, verbose
        As in `PegasosSequenceTagger`. `max_time` is for all fits together; Pegasos starts every fit anew.

    Attributes
    ----------
    lam_, lams_, scores_, train_scores_, gaps_, exact_, objectives_, best_index_, best_score_, best_params_, \
stopped_early_, n_splits_, cv_results_
        As in `PegasosClassifierCV`.
    n_support_ : ndarray of shape (n_folds, n_lams)
        Sequences that w is made of; NaN for the log loss and for Pegasos.
    classes_, coef_, transitions_, start_, end_, feature_names_, objective_, dual_objective_, gap_, converged_, \
n_iter_, n_steps_, history_
        Of the model that was fitted to all sequences, as in `PegasosSequenceTagger`.

    Examples
    --------
    >>> from pegasos import PegasosSequenceTaggerCV
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]] * 5
    >>> tagger = PegasosSequenceTaggerCV([1.0, 0.1], cv=2).fit(X, [["DET", "NOUN"]] * 10)
    >>> tagger.best_score_, tagger.lam_ in tagger.lams_
    (1.0, True)
    """

    warm_start = False
    partial_fit = NotHere()  # there is no lam to choose from a part of the sequences
    _keeps_checkpoints = False  # it is many fits

    _rules: ClassVar[dict[str, run.Rule]] = {
        **{name: rule for name, rule in PegasosSequenceTagger._rules.items() if name not in ("lam", "warm_start")},
        **SEARCH_RULES,
    }

    def __init__(
        self,
        lams: Any = 10,
        cv: Any = 5,
        scoring: Any = None,
        rule: words.SearchRule = "best",
        refit: bool = True,
        stop_early: bool = True,
        loss: Literal["hinge", "log"] = "hinge",
        costs: Any = None,
        pairs: Pairs = "seen",
        boundaries: Boundaries = "both",
        allowed: Allowed = None,
        transition_features: Any = None,
        min_count: int = 1,
        n_hashed: int | None = None,
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: words.Solver = "auto",
        n_jobs: int | None = None,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.stop_early = stop_early
        self.loss = loss
        self.costs = costs
        self.pairs = pairs
        self.boundaries = boundaries
        self.allowed = allowed
        self.transition_features = transition_features
        self.min_count = min_count
        self.n_hashed = n_hashed
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def lam(self) -> float:  # type: ignore[override]  # nobody sets it
        """The chosen one, with which the last model is fitted."""
        return self.lam_

    @run.with_callbacks
    @run.all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        sequence_groups: Any = None,
    ) -> Self:
        """Choose lam by cross-validation, then train on all sequences with it.

        Parameters
        ----------
        X, y, lengths, groups, sample_weight
            As in `PegasosSequenceTagger`; `groups` tells which tokens of one stacked matrix are a sequence. Where X is
            a list of sequences, `groups` are those of sequences, as in searches of scikit-learn.
        sequence_groups : array of shape (n_sequences,), default=None
            For splitters such as GroupKFold: sequences of a group stay together.
        """
        stop = run.stop_of(self)
        if self.scoring is not None and not callable(self.scoring):
            raise ValueError(
                "scoring must be None, the share of right tokens, or a function of a model, sequences and labellings, "
                f"such as make_scorer(pegasos.metrics.chunk_f1); got {self.scoring!r}."
            )
        reader = self._reader(False, None)
        X, y = (part if part is None or hasattr(part, "__len__") else [*part] for part in (X, y))
        if groups is not None and not is_stacked(X):  # nobody has to be told where its sequences begin
            if sequence_groups is not None:
                raise ValueError("groups and sequence_groups say the same of a list of sequences: give one of them.")
            groups, sequence_groups = None, groups
        whole = reader.whole(X, y, lengths, groups, sample_weight)
        s = sequence_weights(sample_weight, whole.stacked)
        data = reader.chosen(whole, s)
        self._check_matrices(data.classes)
        seed = run.seed_of(self.random_state, run.solver_of(self.solver))
        given = values_of(self.lams)
        numbers = np.zeros(len(whole.stacked.lengths), int)
        folds = folds_of(check_cv(self.cv, classifier=False), numbers[:, None], numbers, sequence_groups, False)
        for k, fold in enumerate(folds):
            refuse_empty(k, fold, whole, s, self.scoring is None)
        parts = [TaggedFold(self._fold_tagger(seed), whole, fold, s, reader, data.classes) for fold in folds]
        lams = self._spaced(whole, s, seed) if given is None else given
        found = Found.nothing(len(parts), len(lams), False)
        try:
            self._search(parts, lams, found, stop)
        except KeyboardInterrupt:
            self._keep_found(lams, found)
            warn_unfinished([found], 0, "no model was fitted to all sequences")
            raise
        self._keep_found(lams, found)
        self._warn_of_gaps(found)
        if self.refit:
            self._train(data, stop, False)
        return self

    def _check_matrices(self, classes: NDArray[Any]) -> None:
        """They are between all labels, and folds have their part of them."""
        allowed_of(self.allowed, classes)
        if self.loss == "hinge":
            costs_between(self.costs, classes)

    def _fold_tagger(self, seed: int, **more: Any) -> FoldTagger:
        names = [name for name in PegasosSequenceTagger._get_param_names() if name not in ("lam", "warm_start")]
        goes_on = not isinstance(run.solver_of(self.solver), run.Pegasos)
        given = {name: getattr(self, name) for name in names} | {"verbose": 0, "random_state": seed}
        return FoldTagger(**(given | {"warm_start": goes_on} | more))

    def _spaced(self, whole: Whole, s: Floats | None, seed: int) -> Floats:
        """A step of Pegasos with all sequences and lam = 1 is minus the gradient at zero."""
        data = self._reader(False, None).chosen(whole, s)
        m = len(data.stacked.lengths)
        once = self._fold_tagger(seed, solver=run.Pegasos(k=m, T=1, sampling="permutation"), max_time=None, lam=1.0)
        once.set_params(warm_start=False)
        chains = data.stacked.native()
        at_zero = once._task(data, chains, once._shape_of(data, chains)).at_zero
        once._train(data, run.stop_of(once), False)
        largest = float(once._w @ once._w) / at_zero if at_zero > 0 else 0.0
        return spaced(largest if largest > 0 else 1.0, int(self.lams), _SPAN)

    def _search(self, parts: list[TaggedFold], lams: Floats, found: Found, stop: run.Run) -> None:
        for i, lam in enumerate(lams.tolist()):
            for k, part in enumerate(parts):
                share = None
                if self.max_time is not None:  # what is left is for the other fits, and for that of all sequences
                    left = (len(lams) - i) * len(parts) - k + 2
                    share = max(stop.seconds_left() / left, 1e-9)
                part.fit(lam, share)
                model = part.model
                found.scores[k, i], found.train_scores[k, i] = part.scores(self.scoring)
                found.gaps[k, i], found.objectives[k, i] = model.gap_, model.objective_
                found.exact[k, i] = model.converged_
                found.missed[k, i] = not model.converged_ and not getattr(model.solver, "fixed_steps", False)
                found.n_support[k, i] = part.n_support()
            found.n_lams = i + 1
            self._tell(found, i, lams, stop)
            if self.stop_early and is_past(found.scores[:, : i + 1]):
                found.stopped_early = i + 1 < len(lams)
                break

    def _tell(self, found: Found, i: int, lams: Floats, stop: run.Run) -> None:
        if self.verbose:
            each = found.scores[:, i]
            print(
                f"[pegasos] {stop.seconds():8.2f} s  lam {lams[i]:.3g} ({i + 1} of {len(lams)}), {len(each)} folds  "
                f"score {each.mean():.4g} +- {each.std():.2g}  gap {np.max(found.gaps[:, i]):.3g}"
            )

    def _keep_found(self, lams: Floats, found: Found) -> None:
        """What is told of the folds. What a fit before has left is not about these sequences."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_w"]:
            delattr(self, name)
        self.lams_, self.scores_, self.train_scores_ = lams, found.scores, found.train_scores
        self.gaps_, self.exact_ = found.gaps, found.exact
        self.objectives_, self.n_support_ = found.objectives, found.n_support
        self.n_splits_, self.stopped_early_ = len(found.scores), found.stopped_early
        candidates = [{"lam": lam} for lam in lams.tolist()]
        self.cv_results_ = table(candidates, found.scores, found.train_scores)
        if found.n_lams:
            self.best_index_ = i = best_of(found.scores, self.rule)
            self.lam_, self.best_score_ = float(lams[i]), float(found.scores[:, i].mean())
            self.best_params_ = candidates[i]

    def _warn_of_gaps(self, found: Found) -> None:
        if found.missed.any():
            warnings.warn(
                f"not converged for {int(found.missed.sum())} of {found.n_lams * self.n_splits_} fits of folds: gaps_ "
                f"has how far from the minimum they can be, {np.max(found.gaps[found.missed]):.3g} at most. Raise "
                "max_epochs or tol, leave out the smallest lams, or scale the features.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )

    def _tagging(self, X: Any, lengths: Any, groups: Any, y: Any = None) -> tuple[Stacked, _core.Tagging]:
        if "lams_" in vars(self) and "_w" not in vars(self):
            raise NotFittedError(
                "this PegasosSequenceTaggerCV has scored values of lam, but no model was fitted to all sequences, "
                "since refit=False or the fit was interrupted. Set refit=True, or fit a tagger with lam=lam_."
            )
        return super()._tagging(X, lengths, groups, y)
