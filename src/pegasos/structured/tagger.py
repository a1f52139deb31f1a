"""PegasosSequenceTagger: linear chains with the structured hinge or the log loss, and a proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import words
from . import run
from .labels import known_labels
from .run import OneOf, Rule
from .training import TrainedChain

Pairs = Literal["seen", "all"]
Boundaries = Literal["both", "start", "end", "none"]
Allowed = Literal["BIO", "IOB2", "IOBES"] | NDArray[np.bool_] | Callable[[Any, Any], bool] | None


class PegasosSequenceTagger(TrainedChain):
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
        of `classes_`; a frame, by its labels; or a function of two labels, of which the first is None at the start, the
        second at the end.
    transition_features : list, callable or None, default=None
        Features with a weight for each pair of labels, from the token before to theirs, beside those of emission: names
        (a name stands for all its values: "tag" for "tag:NN" and "tag:DT"), those of a frame's columns, a function of a
        name, or columns of matrices.
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
    feature_names_in_ : array of str
        Columns, where X was a frame, or a list of frames, with names that are strings.
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

    _needs_memory = "a sequence is learned as a whole"

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
    def fit(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
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
        sample_weight : array of shape (n_sequences,), default=None
            A weight of 2 has the optimum of the sequence twice, one of 0 that without it.
        """
        stop = run.stop_of(self)
        before = self._before()
        reader = self._reader(before, self.classes_ if before else None)
        return self._train(reader.read(X, y, lengths, groups, sample_weight), stop, before)

    @run.all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Any = None,
        groups: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> Self:
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
        known = self.classes_ if before else known_labels(classes)
        if before and classes is not None and known_labels(classes).tolist() != known.tolist():
            raise ValueError(f"classes={classes!r} differs from the classes of the first call, {known.tolist()!r}.")
        return self._train(self._reader(before, known).read(X, y, lengths, groups, sample_weight), stop, before)
