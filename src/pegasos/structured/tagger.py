"""PegasosSequenceTagger: linear chains with the structured hinge or the log loss, and a proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core, words
from ..losses.costs import costs_between
from . import run
from .fitted import FittedChain, check_possible
from .labels import Codes, allowed_of, check_allowed, encode, flat
from .run import OneOf, Rule
from .solve import Going, Task, check_pegasos, solve
from .tokens import Features, Stacked, read
from .transition_features import chosen_columns
from .weights import Shape

Pairs = Literal["seen", "all"]
Boundaries = Literal["both", "start", "end", "none"]
Allowed = Literal["BIO", "IOB2", "IOBES"] | NDArray[np.bool_] | Callable[[Any, Any], bool] | None


class PegasosSequenceTagger(FittedChain):
    """Labels for every token of a sequence: a linear chain, trained to a proven distance from the optimum.

    The score of a labelling is the sum of emission weights (feature x label), transition weights (label x label), and
    weights of the first and the last label.

    Parameters
    ----------
    lam : float, default=1e-4
        Weight of the L2 penalty. Coming from crfsuite: lam = 2 * c2 / n_sequences.
    loss : {"hinge", "log"}, default="hinge"
        "hinge": the structured hinge, by loss-augmented Viterbi. "log": the log loss of a conditional random field.
    costs : array of shape (n_labels, n_labels), frame or dict, default=None
        For the hinge: what a label costs in the place of the right one, summed over tokens. None: 1.
    pairs : {"seen", "all"}, default="seen"
        Which pairs of feature and label have a weight: those of the training set, or all.
    boundaries : {"both", "start", "end", "none"}, default="both"
        Whether the first and the last label have weights of their own.
    allowed : {"BIO", "IOB2", "IOBES"}, array, callable or None, default=None
        Which labels may follow which, in training and prediction: a scheme; a boolean matrix, from x to, in the order
        of `classes_`; or a function of two labels, of which the first is None at the start, the second at the end.
    transition_features : list, callable or None, default=None
        Features with a weight for each pair of labels, from the token before to theirs, beside those of emission: names
        (a name stands for all its values: "tag" for "tag:NN" and "tag:DT"), a function of a name, or columns of
        matrices.
    min_count : int, default=1
        Features that occur less often in the training set are left out.
    n_hashed : int or None, default=None
        Hash the names of features to so many columns, instead of a vocabulary.
    tol : float, default=1e-3
        Stop when the proven distance from the minimum is at most tol times the objective of the zero model.
    max_epochs, max_time, solver, warm_start, n_jobs, random_state, verbose
        As in `PegasosClassifier`. The solver is "auto" (block-coordinate Frank-Wolfe for the hinge, stochastic steps
        and Newton's method for the log loss), "pegasos", or a `Pegasos` object, whose k counts sequences.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
    coef_ : array or sparse matrix of shape (n_labels, n_features)
        Emission weights; sparse with pairs="seen".
    transitions_ : array of shape (n_labels, n_labels)
        From label x to label; minus infinity where forbidden.
    transition_columns_ : array of shape (n_chosen,)
        Columns of the features that `transition_features` has chosen.
    transition_coef_ : array of shape (n_chosen, n_labels, n_labels)
        Their weights, from label x to label; minus infinity where forbidden.
    start_, end_ : arrays of shape (n_labels,)
    feature_names_ : list of str, or None without a vocabulary
    objective_, dual_objective_, gap_, converged_, history_, n_iter_, n_steps_
        As in `PegasosClassifier`; the mean is over sequences, and a step looks at sequences.
    n_unknown_ : int
        Features that the last call of a method found outside the vocabulary, and left out.

    Notes
    -----
    f(w) = lam/2 ||w||^2 + mean over sequences of their loss, eq. 20 and 21 of the Pegasos paper with the joint features
    of a chain; the Hamming cost is a sum over tokens.

    References
    ----------
    S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter, "Pegasos", Mathematical Programming 127, 2011, section 5.
    S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher, "Block-coordinate Frank-Wolfe optimization for structural
    SVMs", ICML 2013. A. Osokin et al., "Minding the gaps for block Frank-Wolfe optimization of structured SVMs", ICML
    2016.

    Examples
    --------
    >>> from pegasos import PegasosSequenceTagger
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> tagger = PegasosSequenceTagger(lam=0.1).fit(X, [["DET", "NOUN"], ["DET", "NOUN"]])
    >>> tagger.predict([[{"word": "the"}, {"word": "dog"}]])
    [['DET', 'NOUN']]
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "lam": run.LAM,
        "loss": OneOf(("hinge", "log")),
        "pairs": OneOf(("seen", "all")),
        "boundaries": OneOf(("both", "start", "end", "none")),
        "min_count": run.Integer(1),
        "n_hashed": run.OrNone(run.Integer(1)),
        "tol": run.Number(0.0),
        "max_epochs": run.Number(0.0, above=True),
        "max_time": run.OrNone(run.Number(0.0, above=True)),
        "warm_start": run.Flag(),
        "n_jobs": run.OrNone(run.Integer(None)),
        "verbose": run.Level(),
    }

    def __init__(
        self,
        lam: float = 1e-4,
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
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @run.with_callbacks
    @run.all_or_nothing
    def fit(self, X: Any, y: Any, lengths: Any = None, groups: Any = None) -> Self:
        """Train on labelled sequences.

        Parameters
        ----------
        X : list of sequences, or matrix
            A sequence is a list of tokens, each a dict of features (crfsuite's convention: numbers, strings, bools,
            nested dicts and lists) or a list of strings; or a matrix with one row a token. One stacked matrix of all
            tokens takes `lengths` or `groups`.
        y : list of label sequences; with a stacked matrix, one label a token
        lengths : array of int, default=None
            Tokens of each sequence.
        groups : array, default=None
            The sequence of each token; equal ones stand together.
        """
        stop = run.stop_of(self)
        before = self._before()
        stacked, features = read(
            X, lengths, groups, self._features if before else None, self.min_count, self.n_hashed or 0
        )
        if not len(stacked.lengths):
            raise ValueError("X has no sequences: there is nothing to learn from.")
        classes, codes = encode(flat(y, stacked), stacked, self.classes_ if before else None)
        if not len(codes):
            raise ValueError("all sequences are empty: there is nothing to learn from.")
        return self._train(stacked, features, classes, codes, stop, before, (X, y))

    @run.all_or_nothing
    def partial_fit(self, X: Any, y: Any, lengths: Any = None, groups: Any = None, classes: Any = None) -> Self:
        """One pass of Pegasos over these sequences, which need not come again.

        The first call names all labels in `classes`, and its features are the vocabulary, unless they are hashed:
        unknown ones in later calls are left out and counted. Needs pairs="all".
        """
        stop = run.stop_of(self, one_pass=True)
        if self.pairs != "all":
            raise ValueError(
                "partial_fit needs pairs='all': which pairs of feature and label will come is not known yet."
            )
        before = self._before(always=True)
        if not before and classes is None:
            raise ValueError("the first call of partial_fit needs classes=, every label that will ever come.")
        stacked, features = read(
            X, lengths, groups, self._features if before else None, self.min_count, self.n_hashed or 0
        )
        known = self.classes_ if before else encode(list(classes), stacked)[0]
        if before and classes is not None and encode(list(classes), stacked)[0].tolist() != known.tolist():
            raise ValueError(f"classes={classes!r} differs from the classes of the first call, {known.tolist()!r}.")
        codes = encode(flat(y, stacked), stacked, known)[1]
        if not len(codes):
            raise ValueError("all sequences are empty: there is nothing to learn from.")
        return self._train(stacked, features, known, codes, stop, before, (X, y))

    def _before(self, always: bool = False) -> bool:
        """Whether this fit goes on from the last one."""
        return (always or bool(self.warm_start)) and "_w" in vars(self)

    def _shape_of(
        self, stacked: Stacked, features: Features, chains: _core.Chains, classes: NDArray[Any], codes: Codes
    ) -> Shape:
        allowed = allowed_of(self.allowed, classes)
        check_allowed(allowed, classes, codes, stacked)
        seen = None if self.pairs == "all" else _core.seen_pairs(chains, codes, len(classes))
        start, end = self.boundaries in ("both", "start"), self.boundaries in ("both", "end")
        chosen = chosen_columns(self.transition_features, features, stacked.n_features)
        return Shape(stacked.n_features, len(classes), seen, start, end, allowed, chosen)

    def _train(
        self,
        stacked: Stacked,
        features: Features,
        classes: NDArray[Any],
        codes: Codes,
        stop: run.Run,
        before: bool,
        given: tuple[Any, Any],
    ) -> Self:
        if self.costs is not None and self.loss != "hinge":
            raise ValueError(f"costs are for loss='hinge'; with loss={self.loss!r} set costs=None.")
        solver = run.solver_of(self.solver)
        if type(solver).__name__ == "SDCA":
            raise ValueError("SDCA is not for sequences; use solver='auto', its counterpart for them, or 'pegasos'.")
        chains = stacked.native()
        shape = self._shape_of(stacked, features, chains, classes, codes)
        task = self._task(chains, shape, stacked, classes, codes)
        if isinstance(solver, run.Pegasos):
            run.check(solver._rules, solver)
            check_pegasos(solver, task, stop.one_pass)
        going = self._going(shape, stacked) if before else Going(np.zeros(task.n_weights))
        facts = {"classes_": classes, "_features": features, "_shape": shape, "_loss": self.loss}
        told = run.Told(*given, None, lambda weights: facts | {"_w": weights[0]})
        progress = run.Progress(self, [""], told, [going.w], lambda: float(self.tol * task.at_zero))
        stop = run.Run(**{**vars(stop), "report": progress.report_of(0), "threads": self._threads()})
        fit, left = solve(task, solver, stop, going, run.seed_of(self.random_state, solver))
        if not np.isfinite(fit.w).all():
            raise ValueError("the weights have overflown. Scale the features down, or raise lam.")
        progress.finish([fit.w])
        for name, value in facts.items():
            setattr(self, name, value)
        self._w, self.n_features_in_ = fit.w, stacked.n_features
        self._going_on = (left, stacked.lengths) if self.warm_start or stop.one_pass else None
        self._tell_unknown(stacked)
        run.set_history(self, fit)
        if fit.error is not None:
            raise fit.error
        if not stop.one_pass:
            run.warn_if_short(self, task.at_zero, not getattr(solver, "fixed_steps", False))
        return self

    def _task(self, chains: _core.Chains, shape: Shape, stacked: Stacked, classes: NDArray[Any], codes: Codes) -> Task:
        reach = float(chains.longest_feature2) * (1 if shape.chosen is None else 2)
        if not np.isfinite(4.0 * reach / self.lam):
            raise ValueError(
                f"the largest squared norm of a sequence's features, {reach:.3g}, divided by lam = {self.lam:g} "
                "overflows. Scale the features down, or raise lam."
            )
        costs = costs_between(self.costs, classes) if self.loss == "hinge" else None
        tagging = _core.Tagging(chains, shape.layout, labels=codes, costs=costs, lam=float(self.lam))
        check_possible(tagging, stacked)
        zero = np.zeros(shape.layout.size)
        if costs is not None:
            _, worst = tagging.decode(zero, self._threads(), run.quiet_watch())
        else:
            _, worst, _ = tagging.marginals(zero, self._threads(), run.quiet_watch())
        at_zero = float(np.mean(worst))
        return Task(tagging, shape.layout.size, len(stacked.lengths), float(self.lam), self.loss, at_zero, reach)

    def _going(self, shape: Shape, stacked: Stacked) -> Going:
        """From the last fit, in the shape of this one."""
        left, lengths = self._going_on or (None, np.zeros(0))
        same = self._shape.same(shape)
        w = self._w.copy() if same else self._shape.moved(self._w, shape)
        if left is None:
            return Going(w, int(self.n_steps_))
        dual = left.dual if np.array_equal(lengths, stacked.lengths) else None
        return Going(w, left.steps, left.lam, dual, left.running if same else None)
