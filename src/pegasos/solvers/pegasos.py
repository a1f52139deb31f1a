"""Pegasos, with the variants of both papers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from .. import _core, words
from ..problem.problem import Floats, Problem
from ..rules import Flag, Integer, Number, OneOf, OrNone, Rule, StartVector, StepSize, check
from .base import Fit, Resume, Run
from .bias_search import search_bias
from .own import Answers
from .pegasos_options import Stream, average_left, counted_steps, native_options, norma_p, radius_of, stream_of
from .pegasos_refusals import refuse, refuse_far_start


class Pegasos(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """The stochastic sub-gradient method of the Pegasos papers.

    Step t looks at k rows, shrinks w by 1 - 1/t and adds 1/(lam t k) times the negative slope of each row's loss.

    Parameters
    ----------
    k : int, default=1
        Rows per step. The stream of rows is cut every k, across the ends of epochs. With bias="batch" a small k is
        biased: the best b of a few rows is not that of all.
    T : int or None, default=None
        Take exactly this many steps. `tol` and `max_epochs` are then ignored; `gap_` is still computed, at the end.
    sampling : {"blocks", "runs", "permutation", "fixed", "iid", "subsets"}, default="blocks"
        The order of the rows. "iid" draws each row independently, as the papers' theorems ask; its certificate is
        valid but loose (on 20,000 texts, lam=1e-4: 0.13, 0.05, 0.02, 0.009 after 1, 4, 16, 64 epochs, where
        "permutation" has 0.06, 0.01, 0.002, 0.0005). So is that of "subsets", which draws k distinct rows for each
        step, all subsets alike. "permutation" shuffles all rows anew each epoch, "fixed" uses one permutation again and
        again. "blocks" shuffles buckets of up to 32 consecutive rows, and the rows of a few buckets at a time: as good
        as a permutation in every measurement, and two to three times faster on data larger than the cache. "runs"
        does the same with runs of up to 1,024 rows: for a disk, of which long stretches are then read, and for rows
        that are in random order already. Rows sorted by label, or alike otherwise, mislead it.
    step : {"pegasos", "norma"} or float, default="pegasos"
        Step size: 1/(lam t), p/(lam sqrt(t)), or a constant below 1/lam. For the squared losses, whose slopes are not
        bounded, 1/(lam (t + t0)) with t0 = L R^2/lam, where R is the length of the longest row and L = 2, and no step
        above 1/(L R^2). `partial_fit` begins with such steps for every loss, and the bias with shorter ones
        (docs/coming-from-scikit-learn.md).
    p : float or None, default=None
        For step="norma", in (0, 1]. None: the best by NORMA's bound, 0.5 sqrt(2 + 0.5 / sqrt(T)) when T is given,
        else 1/sqrt(2).
    projection : bool, default=False
        Whether to project w onto the ball of radius sqrt(f(0)/lam) after each step; always on in the 2007 paper.
    start : {"zero", "random"} or array of shape (n_features,), default="zero"
        w_1. With step="pegasos" it only decides which rows count as loss in step 1, since that step multiplies w by
        1 - 1/1 = 0; it matters for the other step sizes. It lies in the ball of radius sqrt(f(0)/lam), as the optimum
        does. "random": a random direction, and a length drawn uniformly up to that radius. To go on from a w use
        `warm_start` or `partial_fit`, which continue with step t + 1.
    output : {"last", "average", "tail", "random", "best"}, default="last"
        The last w, the average of all, the average of the last part, w at a random step, or the best of several random
        steps by objective. The last two need T. `objective_` and `gap_` belong to what is returned. In `partial_fit`
        "average" goes over all calls, and step t has weight t (t + 1) (t + 2), since rows that come once leave no time
        to outweigh the first steps (docs/coming-from-scikit-learn.md); "tail" goes back to the beginning of the call
        at most.
    attempts : int, default=3
        Random steps for output="best". Where the paper's footnote allows a sample of 1/(lam tol) rows to compare them,
        that is used; `objective_` is exact.
    tail : float, default=0.5
        Part of the steps averaged by output="tail", in (0, 1]. Without T it reaches back to the last certificate at
        most, in a warm start to its beginning.
    advance : {"always", "on_loss"}, default="always"
        "on_loss": steps without a loss change nothing, and t does not count them. The limit is the optimum for lam
        times the share of the steps that have a loss, not that of f: `gap_` stays honest and does not vanish (0.3 on
        20,000 texts, lam=1e-4). T and max_epochs count all steps.
    certify : bool, default=True
        False: take T steps and nothing else. A linear model then looks at no row that is not drawn: rows are checked
        when they are, and a bad one that never comes goes unnoticed. `objective_`, `dual_objective_` and `gap_` are
        NaN, `history_` is empty, `converged_` is False. A free bias is the running one, not the best for all rows. With
        sampling="iid" or "subsets" and no weights the work does not grow with the number of rows, but for that on y:
        `label_seconds_` says how long it took to encode. Needs T, a loss whose slope is bounded, and CSR rows whose
        indices are in order; output="best" and bias="search", which compare objectives, are refused.

    Notes
    -----
    Each fit ends with a certificate. The coefficients that rows have accumulated in w, clipped to what the loss
    allows, form a dual point. At whole epochs of "blocks" and "permutation" it is w's own and the bound is tight up to
    the method's error, which falls like 1/t; elsewhere it is a valid and loose bound.

    References
    ----------
    S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter, "Pegasos: primal estimated sub-gradient solver for SVM",
    Mathematical Programming 127, 2011; by the first three, ICML 2007.

    J. Kivinen, A. J. Smola, R. C. Williamson, "Online learning with kernels", IEEE Transactions on Signal Processing
    52, 2004, for step="norma".

    T. Zhang, "Solving large scale linear prediction problems using stochastic gradient descent algorithms", ICML 2004,
    for constant steps.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "k": Integer(1),
        "T": OrNone(Integer(1)),
        "sampling": OneOf(("blocks", "runs", "permutation", "fixed", "iid", "subsets")),
        "step": StepSize(),
        "p": OrNone(Number(0.0, above=True, high=1.0)),
        "projection": Flag(),
        "start": StartVector(),
        "output": OneOf(("last", "average", "tail", "random", "best")),
        "attempts": Integer(1),
        "tail": Number(0.0, above=True, high=1.0),
        "advance": OneOf(("always", "on_loss")),
        "certify": Flag(),
    }

    def __init__(
        self,
        k: int = 1,
        T: int | None = None,
        sampling: words.Sampling = "blocks",
        step: words.Step = "pegasos",
        p: float | None = None,
        projection: bool = False,
        start: Any = "zero",
        output: words.Output = "last",
        attempts: int = 3,
        tail: float = 0.5,
        advance: words.Advance = "always",
        certify: bool = True,
    ) -> None:
        self.k = k
        self.T = T
        self.sampling = sampling
        self.step = step
        self.p = p
        self.projection = projection
        self.start = start
        self.output = output
        self.attempts = attempts
        self.tail = tail
        self.advance = advance
        self.certify = certify

    depends_on_seed = True  # for more than the last bits

    @classmethod
    def paper(cls, k: int, T: int, projection: bool = False) -> Pegasos:
        """The algorithm of the journal paper, to the letter: Fig. 1 for k = 1, Fig. 2 for larger k.

        T steps of 1/(lam t) from w_1 = 0, each on k different rows drawn at random, all sets of k alike; the last w is
        the answer. What is minimised is the model's affair: the paper's figures are about the hinge and `bias="none"`;
        in a kernel model this is Fig. 3. Where the theorems want picks with repetition, set `sampling="iid"`, which for
        k = 1 is the same.

        What the defaults of `Pegasos` change: `sampling="blocks"` visits every row once an epoch, and steps go on until
        `gap_ <= tol * f(0)` is proven. Those of the linear models: `bias="regularized"` appends a constant feature to
        every row (section 6), and `solver="auto"` is another method. All fits end with a certificate, which the paper
        does not have: `certify=False` leaves it out.

        Parameters
        ----------
        k : int
            Rows per step.
        T : int
            Steps.
        projection : bool, default=False
            The line that the figures call optional; it is none in the conference paper.

        Returns
        -------
        solver : Pegasos
        """
        if T is None:  # Pegasos takes it for "until tol is proven", which no figure has
            raise ValueError("T is the number of steps of the paper's algorithm, which has no other end; got None.")
        return cls(k=k, T=T, sampling="iid" if k == 1 else "subsets", projection=projection)

    @property
    def fixed_steps(self) -> bool:
        """Whether the number of steps was given, so that not reaching tol is no surprise."""
        return self.T is not None

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs."""
        check(self._rules, self)
        refuse(self, problem, run)

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Minimise; `start.steps` steps have been taken already."""
        if problem.bias == "search" and not run.one_pass:

            def at(run: Run, b: float, steps: int, left: Resume) -> Fit:
                return self._with(T=steps, p=norma_p(self))._run(problem, run, left, seed, b)

            whole = replace(run, job_store=None)  # its trials are not told apart: a checkpoint begins it anew
            found = search_bias(at, problem, whole, self.T, self.k, start.steps)
            if found.resume is not None and not run.remember:  # trials need dual variables, nobody else does
                found.resume = replace(found.resume, dual=None) if self._leaves_more(run) else None
            return found
        return self._run(problem, run, start, seed, None)

    def _with(self, **params: Any) -> Pegasos:
        return Pegasos(**{**self.get_params(deep=False), **params})

    def _run(self, problem: Problem, run: Run, start: Resume, seed: int, b: float | None) -> Fit:
        stream = stream_of(self, problem, run, start)
        options = native_options(self, problem, run, start, seed)
        state = self._state(problem, run, start, seed, stream.late, options.certify)
        if b is not None:
            state["b"], options.fixed_bias = b, True
        w: Floats = state["out"]
        own = None if problem.loss.has_native_twin else Answers(problem, options.k)
        kept = run.snapshots() if own is None else {}
        with problem.naming_columns():
            found = _core.pegasos_fit(problem.native(), options, state, run.threads, run.watch(w.copy), own, **kept)
        visits = (state["t"] - start.steps) * self.k
        return Fit(
            w=w,
            steps=state["t"],
            epochs=(min(visits, problem.m) if run.one_pass else visits) / problem.m,
            history=found["history"],
            converged=found["converged"],
            interrupted=found["interrupted"],
            rounding=found["rounding"],
            error=found["error"],
            resume=self._resume(problem, run, state, stream),
        )

    def _state(
        self, problem: Problem, run: Run, start: Resume, seed: int, late: float, counting: bool
    ) -> dict[str, Any]:
        """w = c * v with c = 1/(lam t), eq. 13 of the paper, or later steps. At t = 0 both are zero and c is free."""
        t, averages = start.steps, self.output in ("average", "tail")
        left = start.left_by("pegasos")
        out, B = np.zeros(problem.n_weights), np.zeros(problem.n_weights if averages else 0)
        plain = self.step == "pegasos" and not self.projection
        hits, counted = left.get("hits", t), counted_steps(self, start) + late
        c = 1.0 / (problem.lam * counted) if counted and plain else 1.0
        goes_on = t > 0 or (run.one_pass and counted > 0 and bool(start.w.any()))  # weights from elsewhere have no t
        v = (start.w if goes_on else self._first(problem, seed)) / c
        b = float(start.w[-1]) if problem.free_bias and goes_on else 0.0
        if problem.free_bias and goes_on and problem.width > 1:
            out[-problem.width :] = start.w[-problem.width :]  # of a joint loss: one a class, what was returned goes on
        C, averaged = 0.0, 0.0
        if left and start.is_unchanged:  # go on with the running iterate, not with what was returned
            if plain:
                v = left["v"] * (left["c"] / c) if left["c"] != c else left["v"].copy()
            else:
                v, c = left["v"].copy(), left["c"]
            if problem.free_bias and left["v"][-1] == 0.0:  # b was apart from w then, too
                b = left["b"]
            if averages and len(left["B"]):
                B, C, averaged = average_left(left, c, t, run.one_pass)
        if problem.free_bias:
            v[-problem.width :] = 0.0
        counts = run.memory.zeros(problem.n_duals if counting else 0)
        if start.dual is not None and counting:
            counts = start.dual * problem.per_dual(start.lam) / c
        return {
            "v": v, "counts": counts, "out": out, "B": B,
            "c": c, "t": t, "hits": hits, "b": b, "C": C, "averaged": averaged,
        }  # fmt: skip

    def _first(self, problem: Problem, seed: int) -> Floats:
        w = np.zeros(problem.n_weights)
        features = w[: len(w) - problem.width]  # all but the bias
        if isinstance(self.start, str) and self.start == "random":
            rng = np.random.default_rng(seed)
            direction = rng.normal(size=len(features))
            features[:] = direction * (rng.uniform() * radius_of(problem) / np.linalg.norm(direction))
        elif not isinstance(self.start, str):
            features[:] = self.start
            refuse_far_start(features, problem)
        return w

    def _leaves_more(self, run: Run) -> bool:
        """Than w and t, which are attributes: partial_fit may come."""
        return run.remember or run.one_pass or self.output != "last" or self.advance != "always"

    def _resume(self, problem: Problem, run: Run, state: dict[str, Any], stream: Stream) -> Resume | None:
        if not self._leaves_more(run):
            return None
        counts, out = state.pop("counts"), state.pop("out")
        dual = None
        if run.remember and len(counts):
            unit = np.asarray(problem.per_dual(problem.lam))
            counts *= state["c"]
            dual = np.divide(counts, unit, out=np.zeros_like(counts), where=unit > 0)  # rows of weight zero have none
        return Resume(out, state.pop("t"), dual, problem.lam, state | stream.left(), "pegasos").beside(out)
