// Minimises f, the structured hinge of all sequences, where block-coordinate Frank-Wolfe crawls: columns of very
// different size, a lam far below what the data ask for, few and long sequences.
//
// The maximum over labellings is softened to tau log sum_y e^(. / tau) (Nesterov 2005). With u = w / tau this is tau
// times the log loss of u, with costs / tau added to the scores and lam tau in the place of lam: what newton.hpp
// minimises. tau falls, each time from the w before. Labellings drawn by the marginals p are dual variables of the
// hinge as well: with w(p) = w - gradient / lam,
//   f* >= mean expected cost - lam/2 ||w(p)||^2,
// and the gap is about tau times the entropy of p.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "pegasos/run/meter.hpp"
#include "pegasos/structured/newton.hpp"
#include "pegasos/structured/predict.hpp"

namespace pegasos::structured {

class Softened {
 public:
  // w: where to begin, whose objective is the last of the history.
  Softened(const Tagging& task, std::span<double> w, Team& team, Watch& watch, History& history, int64_t& visits)
      : task_(task),
        soft_(task),
        w_(w),
        team_(team),
        watch_(watch),
        history_(history),
        visits_(visits),
        rounding_(task),
        viterbi_(Pieces(task.chains, task.layout.labels).work()),
        at_(w.begin(), w.end()),
        gradient_(w.size()),
        f_(history.last().objective) {}

  // Operations since the last call.
  double take_spent() { return meter_.spent() - std::exchange(taken_, meter_.spent()); }
  // The next run may take so many.
  void allow(double operations) {
    if (tired()) patience_ *= 2;
    meter_.allow(operations), turn_ = 0;
  }

  // Ends when the history has converged, after so many passes over all sequences, when the watch says stop, where what
  // it may take is used up, where a stage takes too many steps, and where a smaller tau proves no more. w is the best
  // that was seen, and the last line belongs to it. Another run goes on. kept(): between two stages; false: the fit
  // ends.
  template <class Kept>
  void run(uint64_t seed, double max_epochs, const Kept& kept) {
    if (tau_ == 0 && !begin()) return;
    while (goes_on() && !ends(max_epochs) && kept()) {
      if (!stage(seed, max_epochs) || history_.converged() || history_.stopped()) return;
    }
  }
  bool goes_on() const { return idle_ < 2; }

  // All that the next stage depends on, but for w, visits and the history, which are somebody else's.
  void visit(Snapshot& s) {
    s.numbers(at_);
    s.numbers(before_);
    s.expect(at_.size() == w_.size() && (before_.empty() || before_.size() == w_.size()));
    meter_.visit(s);
    s.items(taken_, patience_, f_, tau_, tau_before_, gap_, error_, idle_, steps_, turn_);
  }

  // w is another one now, of this objective.
  void better(double objective) { f_ = objective; }

 private:
  static constexpr int first_patience = 30;

  // Whether somebody else should have a turn: where labels tie, a stage may take hundreds of short steps.
  bool tired() const { return turn_ > patience_; }
  bool ends(double max_epochs) const {
    return double(visits_) >= max_epochs * double(task_.m()) || meter_.used_up() || tired();
  }

  // The first tau, whose entropy, a third of what it can be, makes about the gap that there is.
  bool begin() {
    double zero = 0;
    if (!hinge_of(task_, std::vector<double>(w_.size()), team_, watch_, labels_, zero)) return false;
    if (zero < f_) {
      f_ = zero;
      for (auto& x : {std::span(at_), w_}) std::fill(x.begin(), x.end(), 0.0);
      history_.add(visits_, f_, history_.bound(), {});
    }
    const double tokens = double(task_.chains.tokens()) / double(task_.m());
    const double most = *std::max_element(task_.costs.begin(), task_.costs.end());
    gap_ = f_ - history_.last().dual;
    tau_ = std::min(gap_ / (0.3 * tokens * std::log(1 + double(task_.layout.labels))), most);
    error_ = 0.1 * gap_;
    return true;
  }

  // Minimises the softened f and proves what it can; then the next tau. False: the watch says stop.
  bool stage(uint64_t seed, double max_epochs) {
    costs_.assign(task_.costs.begin(), task_.costs.end());
    for (double& cost : costs_) cost /= tau_;
    soft_.costs = costs_;
    soft_.lam = task_.lam * tau_;
    for (double& x : at_) x /= tau_;
    Likelihood likelihood(soft_);
    History inside(std::max(error_, 0.3 * history_.tol()) / tau_, watch_);
    Newton newton(likelihood, at_, seed, team_, watch_, inside);
    newton.hold_back();
    const auto kept = [&] {
      ++steps_, ++turn_;
      meter_.take(newton.take_spent());
      return prove(likelihood, newton.gradient()) && !history_.converged() && !history_.stopped() &&
             !meter_.used_up() && !tired();
    };
    newton.run(std::numeric_limits<double>::infinity(), max_epochs, visits_, kept);
    meter_.take(newton.take_spent());
    if (!watch_.look() || inside.empty()) return false;
    if (history_.converged() || history_.stopped()) return true;
    double f = 0;
    visits_ += 2 * task_.m();
    meter_.take(likelihood.work());
    if (!likelihood.evaluate(at_, team_, watch_, f, gradient_) || !prove(likelihood, gradient_)) return false;
    for (double& x : at_) x *= tau_;
    if (inside.converged() || !ends(max_epochs)) next_tau(seen_gap_);
    return true;
  }

  // A line about w = tau u, from u = at, its marginals and its gradient. False: the watch says stop.
  bool prove(const Likelihood& likelihood, std::span<const double> gradient) {
    double f = 0;
    const double bound = bound_of(likelihood, gradient);
    scaled_ = at_;
    for (double& x : scaled_) x *= tau_;
    if (!hinge_of(task_, scaled_, team_, watch_, labels_, f)) return false;
    meter_.take(1.5 * viterbi_ + 3 * double(w_.size()));
    const double slack = rounding_.objective(scaled_, task_.lam / 2 * norm2(scaled_));
    if (f < f_) {
      f_ = f;
      std::copy(scaled_.begin(), scaled_.end(), w_.begin());
    }
    seen_gap_ = f - bound + slack;
    history_.note(visits_, f_, bound - slack);
    return true;
  }

  // The minimum for a smaller tau is looked for where the last two point to: it moves on a straight line as soon as it
  // is known which labels tie. tau falls by as much as the last stage was easy: from too far away, Newton's steps are
  // short and many.
  void next_tau(double gap) {
    idle_ = gap < 0.8 * gap_ ? 0 : idle_ + 1;
    gap_ = gap;
    const double least = steps_ <= 6 ? 0.1 : steps_ <= 12 ? 0.3 : 0.5;
    steps_ = turn_ = 0, patience_ = first_patience;
    const double factor = std::clamp(0.5 * history_.tol() / gap, least, 0.5), tau = factor * tau_;
    const std::vector<double> now = at_;
    if (!before_.empty()) {
      const double further = (tau_ - tau) / (tau_before_ - tau_);
      for (size_t j = 0; j < at_.size(); ++j) at_[j] += further * (now[j] - before_[j]);
    }
    before_ = now;
    tau_before_ = tau_;
    tau_ = tau;
    error_ = 0.3 * factor * std::min(gap, f_ - history_.bound());  // a stage may prove nothing at all
  }

  // From the marginals and the gradient at u = w / tau.
  double bound_of(const Likelihood& likelihood, std::span<const double> gradient) const {
    double square = 0;
    for (size_t j = 0; j < at_.size(); ++j) {
      const double x = tau_ * at_[j] - gradient[j] / task_.lam;
      square += x * x;
    }
    const double length = std::sqrt(square) * (1 + 0x1p-52 * double(at_.size())) + likelihood.rounding(at_) / task_.lam;
    return likelihood.expected_cost(at_) * tau_ - task_.lam / 2 * length * length;
  }

  const Tagging& task_;
  Tagging soft_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  int64_t& visits_;
  Rounding rounding_;
  double viterbi_;  // a pass, in operations
  Meter meter_;
  double taken_ = 0;  // operations that somebody knows of
  std::vector<Label> labels_;
  std::vector<double> at_, gradient_, costs_;  // at: w of the last stage, which begins the next; during one, u
  std::vector<double> before_;                 // what the stage before has found
  double f_;                                   // of w
  std::vector<double> scaled_;
  double seen_gap_ = 0;  // of the last line
  double tau_ = 0, tau_before_ = 0, gap_ = 0, error_ = 0;
  int patience_ = first_patience;  // steps of a stage in one turn
  int steps_ = 0, turn_ = 0;       // of this stage, and those in this turn
  int idle_ = 0;                   // stages that have not narrowed the gap
};

}  // namespace pegasos::structured
