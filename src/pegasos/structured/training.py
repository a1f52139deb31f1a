"""One fit of a chain: from a training set to the attributes of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core, words
from ..losses.costs import costs_between
from . import run
from .fitted import FittedChain, check_possible
from .kept import begin, solve_once
from .labels import allowed_of, check_allowed
from .solve import Going, Task, check_pegasos, solver_for
from .streams import reach_of
from .tokens import Places
from .training_set import Reader, TrainingSet
from .transition_features import chosen_columns
from .weights import Shape


class TrainedChain(FittedChain):
    """What the parameters of a tagger make of its training set."""

    lam: float
    loss: Literal["hinge", "log"]
    costs: Any
    pairs: Literal["seen", "all"]
    boundaries: Literal["both", "start", "end", "none"]
    allowed: Any
    transition_features: Any
    min_count: int
    n_hashed: int | None
    tol: float
    solver: words.Solver
    warm_start: bool
    random_state: words.RandomState
    _keeps_checkpoints = True
    _going_on: tuple[Going, Places, bytes] | None

    def _before(self, always: bool = False) -> bool:
        """Whether this fit goes on from the last one."""
        return (always or bool(self.warm_start)) and "_w" in vars(self)

    def _reader(self, before: bool, classes: NDArray[Any] | None) -> Reader:
        return Reader(self._features if before else None, classes, self.min_count, self.n_hashed or 0)

    def _train(self, data: TrainingSet, stop: run.Run, before: bool) -> Self:
        try:
            return self._train_on(data, stop, before)
        except MemoryError as error:
            if "bad_alloc" not in str(error):
                raise
            raise MemoryError(_what_takes_how_much(data, self.pairs)) from None

    def _train_on(self, data: TrainingSet, stop: run.Run, before: bool) -> Self:
        if self.costs is not None and self.loss != "hinge":
            raise ValueError(f"costs are for loss='hinge'; with loss={self.loss!r} set costs=None.")
        solver = solver_for(self.solver, "sequences")
        stacked, chains = data.stacked, data.stacked.native()
        shape = self._shape_of(data, chains)
        task = self._task(data, chains, shape)
        if stop.one_pass:
            averages = isinstance(solver, run.Pegasos) and solver.output in ("average", "tail")
            task = replace(task, stream_reach=reach_of(stacked, len(data.classes), data.s, self.loss, averages))
        if isinstance(solver, run.Pegasos):
            run.check(solver._rules, solver)
            check_pegasos(solver, task, stop.one_pass)
        remembers = bool(self.warm_start) or stop.one_pass
        about = self._about(data) if remembers and not stop.one_pass else b""
        going = self._going(shape, stacked.lengths, about) if before else Going(np.zeros(task.n_weights))
        facts = {"classes_": data.classes, "_features": data.features, "_shape": shape, "_loss": self.loss}
        told = run.Told(*data.given, lambda weights: facts | {"_w": weights[0]})
        progress = run.Progress(self, [""], told, [going.w], lambda: float(self.tol * task.at_zero))
        stop = run.Run(**{**vars(stop), "report": progress.report_of(0)})
        stop, seed = begin(stop, self, data, shape, going, run.seed_of(self.random_state, solver))
        fit, left = solve_once(task, solver, stop, going, seed)
        if not np.isfinite(fit.w).all():
            raise ValueError("the weights have overflown. Scale the features down, or raise lam.")
        progress.finish([fit.w])
        for name, value in facts.items():
            setattr(self, name, value)
        self._w, self.n_features_in_ = fit.w, stacked.n_features
        self._going_on = (left, stacked.lengths, about) if remembers else None
        self._tell_unknown(stacked)
        run.set_history(self, fit)
        if fit.error is not None:
            raise fit.error
        if not stop.one_pass:
            run.warn_if_short(self, task.at_zero, not getattr(solver, "fixed_steps", False), fit.rounding)
        return self

    def _shape_of(self, data: TrainingSet, chains: _core.Chains) -> Shape:
        n_features, n_labels = data.stacked.n_features, len(data.classes)
        allowed = allowed_of(self.allowed, data.classes)
        check_allowed(allowed, data.classes, data.codes, data.stacked)
        seen = None if self.pairs == "all" else _core.seen_pairs(chains, data.codes, n_labels)
        start, end = self.boundaries in ("both", "start"), self.boundaries in ("both", "end")
        chosen = chosen_columns(self.transition_features, data.features, n_features)
        return Shape(n_features, n_labels, seen, start, end, allowed, chosen)

    def _task(self, data: TrainingSet, chains: _core.Chains, shape: Shape) -> Task:
        heaviest = 1.0 if data.s is None else float(data.s.max())
        reach = float(chains.longest_feature2) * (1 if shape.chosen is None else 2)
        if not np.isfinite(4.0 * reach * heaviest / self.lam):
            raise ValueError(
                f"the largest squared norm of a sequence's features, {reach:.3g}, divided by lam = {self.lam:g} "
                "overflows. Scale the features down, or raise lam."
            )
        costs = costs_between(self.costs, data.classes) if self.loss == "hinge" else None
        tagging = _core.Tagging(
            chains, shape.layout, labels=data.codes, costs=costs, lam=float(self.lam), weights=data.s
        )
        check_possible(tagging, data.stacked)
        if shape.allowed is None:  # at w = 0 every token is for itself: no need to try all labels against all
            most = np.full(len(data.classes), np.log(len(data.classes))) if costs is None else costs.max(axis=1)
            sums = np.concatenate([[0.0], np.cumsum(most[data.codes])])
            worst = np.diff(sums[data.stacked.begins])
        elif costs is not None:
            _, worst = tagging.decode(np.zeros(shape.layout.size), self._threads(), run.quiet_watch())
        else:
            _, worst, _ = tagging.marginals(np.zeros(shape.layout.size), self._threads(), run.quiet_watch())
        at_zero = float(np.mean(worst) if data.s is None else np.mean(data.s * worst))
        return Task(tagging, shape.layout.size, len(worst), float(self.lam), self.loss, at_zero)

    def _about(self, data: TrainingSet) -> bytes:
        """What dual variables that are sums over labellings, as those of Pegasos, are about."""
        costs = costs_between(self.costs, data.classes).tobytes() if self.loss == "hinge" else b""
        return data.fingerprint + costs

    def _going(self, shape: Shape, lengths: Places, about: bytes) -> Going:
        """From the last fit, in the shape of this one."""
        same = self._shape.same(shape)
        w = self._w.copy() if same else self._shape.moved(self._w, shape)
        if self._going_on is None:
            return Going(w, int(self.n_steps_))
        left, its_lengths, its_about = self._going_on
        fits = np.array_equal(its_lengths, lengths) and self._shape.allows_the_same(shape)
        running = left.running if same else None
        if running is not None and its_about != about:  # of other sequences: they prove nothing here
            running = running | {"known": False}
        return Going(w, left.steps, left.lam, left.dual if fits else None, running)


def _what_takes_how_much(data: TrainingSet, pairs: str) -> str:
    n, d, K = data.stacked.n_tokens, data.stacked.n_features, len(data.classes)
    each = {
        f"{d:,} features x {K:,} labels" + (" at most" if pairs == "seen" else ""): d * K,
        f"{K:,} x {K:,} transitions": K * K,
        f"{n:,} tokens x {K:,} labels": n * K,
    }
    sizes = ", ".join(f"{what}: {8e-9 * numbers:.2g} GB" for what, numbers in each.items())
    return (
        f"no memory for this fit. {sizes}; there are several of each. Lower the number of labels, cut sequences, or "
        "have fewer features (pairs='seen', min_count, n_hashed)."
    )
