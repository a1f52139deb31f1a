// The second-order finish: proximal Newton steps, and for small piecewise linear problems the way through the middle,
// from wherever coordinate ascent has got to. What it may cost is on the meter.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "pegasos/dual/options.hpp"
#include "pegasos/proof/proofs.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/second_order/interior_path.hpp"
#include "pegasos/second_order/newton.hpp"
#include "pegasos/second_order/quasi_newton.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class SecondOrder {
 public:
  // certify(w, a) takes a certificate and is false when interrupted; recentre(w) makes the current b of a free bias
  // the next centre.
  using Certify = std::function<bool(std::span<const double>, std::span<const double>)>;
  using Recentre = std::function<void(std::span<double>)>;

  SecondOrder(Problem<Rows>& inner, const L& loss, double bias_penalty, const DualOptions& options, DualState& state,
              Proofs<Rows, L>& proofs, Meter& meter, Team& team, Watch& watch, Certify certify, Recentre recentre)
      : p_(inner),
        loss_(loss),
        bias_penalty_(bias_penalty),
        o_(options),
        state_(state),
        proofs_(proofs),
        meter_(meter),
        watch_(watch),
        newton_(inner, loss, bias_penalty, team, watch, meter),
        quasi_newton_(inner, newton_.passes(), team, watch, meter),
        certify_(std::move(certify)),
        recentre_(std::move(recentre)) {}

  // Operations that it takes from here to tol, and from there to the last digits.
  struct Prices {
    double finish, polish;
  };

  // Going by the rows that can move now: it takes a look at all of them.
  Prices prices(std::span<const double> a) {
    if (!newton_.prepare()) return {never, never};  // interrupted
    meter_.take(look_cost());
    const double path = path_possible() ? path_steps * path_step() : never;
    return {std::min({path, newton_.cost(a, L::smooth) * rounds(false), price_by_class()}),
            std::min(path, newton_.cost(a, false) * rounds(true))};
  }
  // Smooth losses: the price of getting from this gap to tol where coordinate ascent would take longer,
  // 0 where it would not. (1 + beta R^2 / (lam m)) log(gap / tol) epochs are enough for a loss whose slope changes by
  // beta at most (Shalev-Shwartz and Zhang 2013). Measured: a third of that, and of what follows if R^2 / (lam m) is
  // taken for no more than rows are alike. Several classes take more steps (digits and USPS, 5 to 10).
  double price_where_ascent_crawls(double gap, double epoch, bool free_bias) {
    if (gap <= o_.tol || epochs_left() < 5 || !newton_.prepare()) return 0;
    const double digits = std::log(gap / o_.tol), steps = (JointLoss<L> ? 2 : 1) * (3 + 0.2 * digits);
    const double price = std::min(newton_.cost_of_all() * steps, price_by_class());
    const double beta = steepest();
    const double slow = std::min(200.0, beta * newton_.mean_square() / (p_.lam * double(p_.m())));
    const double centres = free_bias ? 2 : 1;  // every new one takes as many epochs as the others: twice in all
    const auto pays = [&](double times) { return price <= 0.5 * (1 + times) * centres * digits * epoch; };
    return pays(slow) && pays(std::min(slow, newton_.alike())) ? price : 0;
  }
  double look_cost() const { return 5 * double(state_.a.size()); }

  // Improves state.a and the certified weights from w, until tol, until the gap stops falling when `to_the_floor`, or
  // until `budget` is used up without bringing the gap down: what was best stays. Returns false when interrupted.
  bool run(std::vector<double> w, bool to_the_floor, bool free_bias, double zero, double budget) {
    meter_.allow(to_the_floor || L::smooth ? budget : trial * budget);
    std::vector<double> a(state_.a.begin(), state_.a.end());
    if (!newton_.prepare()) return false;
    std::vector<double> kept_w = w;
    const bool paid_before = begun_ == 0 || paid();  // the run before this one, if there was one
    best_ = paid_ = begun_ = proofs_.gap();
    // Keeps the step just taken where it is an improvement, takes it back otherwise.
    const auto keep = [&] {
      const bool better = proofs_.gap() < best_;
      if (better) {
        if (proofs_.gap() < pays * paid_) {
          paid_ = proofs_.gap();
          if (!to_the_floor) meter_.allow(budget);  // it pays: once more
        }
        best_ = proofs_.gap();
        std::copy(a.begin(), a.end(), state_.a.begin());
        if (free_bias) recentre_(w);
        kept_w = w;
      } else {
        std::copy(state_.a.begin(), state_.a.end(), a.begin());
        w = kept_w;
      }
      return better;
    };
    floor_ = 1e-15 * std::max(zero, std::abs(proofs_.objective()));
    // The smaller the curvature, the nearer the answer and the harder the step: it falls as fast as steps stay easy.
    const auto first_curvature = [&] { return L::smooth ? 0 : std::clamp(worked_ * best_, 1e-11, 10.0); };
    double curvature = first_curvature();
    bool path_left = path_possible();
    const bool path_first = path_steps * path_step() <= newton_.cost(a, L::smooth) * rounds(false);
    const double path_cost = PreciseSystem<Rows>::cost(double(p_.m()), double(p_.rows.dim()));
    const auto tries = [&] { return best_ <= floor_ ? 0 : best_ <= 1e3 * floor_ ? 3 : 10; };
    bool crawls = false;
    double care = 1;  // smaller after a step that looked good enough and was not
    for (int failures = 0; failures < tries() && (to_the_floor || !proofs_.converged()) && epochs_left() >= 5;) {
      const double path_limit = failures > 0 || crawls || !paid_before ? 3e7
                                : path_first && best_ > 1e-6 * zero    ? 3e5
                                                                       : 0;
      if (path_left && path_cost < path_limit && meter_.left() >= path_steps * path_step()) {
        path_left = false;
        if (!follow(w, a, zero) || !prove(w, a)) return false;
        if (keep()) curvature = first_curvature();
        if (meter_.used_up()) return true;
        continue;
      }
      const double before = best_;
      // A step more, and `settle`, do the rest; a large tol must still be below what there is to gain.
      const double accuracy = L::smooth && !to_the_floor ? care * std::min(10 * o_.tol, 0.1 * best_) : 0;
      const double step = newton_.cost(a, L::smooth);
      const bool by_class =
          accuracy > 0 && price_by_class() < step * rounds(false) && !(crawls && step < price_by_class());
      const int rounds =
          by_class ? run_by_class(w, a, care * 0.9 * o_.tol)
                   : newton_.step(w, a, curvature, int(std::min(epochs_left() - 4, double(most_rounds))), accuracy);
      state_.visits += newton_.take_visits();
      // The better the model, the better Newton's steps from there. What it proves says nothing before it is there.
      if (rounds > 0 && by_class && !crawls && step < price_by_class() &&
          (rounds > most_by_class || meter_.used_up())) {
        crawls = true;
        meter_.allow(std::max(meter_.left(), 2 * step * SecondOrder::rounds(false)));
        continue;
      }
      if (rounds == 0 || !prove(w, a)) return false;
      if (proofs_.gap() < best_) {
        keep();
        if (by_class) care *= 0.1;  // a free bias may take some rounds
        failures = best_ < 0.99 * before ? 0 : failures + 1;
        if (best_ > 0) worked_ = std::clamp(curvature / best_, least_curvature, most_curvature);
        crawls = rounds >= most_rounds && best_ > pays * before;
        if (!L::smooth) curvature = std::max(curvature / (rounds < 4 ? 100 : rounds < 12 ? 10 : 3), 1e-12);
      } else if (meter_.used_up()) {
        return true;  // it was cut short, and says nothing about the next one
      } else {
        const bool solved = rounds < most_rounds;  // but too small a step to show, or not well enough
        if (!solved) keep();
        care *= 0.01;
        // Far above the rounding floor more of the same comes first: more digits would cost several times as much.
        if (!solved || failures > 0 || best_ <= 1e6 * floor_) {
          curvature *= solved ? 0.1 : 10;
          newton_.change_precision();
        }
        ++failures;
      }
      if (meter_.used_up()) return true;
    }
    return true;
  }

  // Whether the last run brought the gap down a lot, and whether it is as small as rounding allows.
  bool paid() const { return paid_ < pays * begun_; }
  bool at_floor() const { return best_ <= floor_; }

 private:
  static constexpr double never = 1e300;    // a price
  static constexpr double path_steps = 25;  // mostly
  // Of a proximal step: one that needs more is better taken with more curvature. Smooth losses of one score have none to
  // add; their budget ends them (one digit of ten, lam 1e-6, which a plane separates: 40 to 60).
  static constexpr int most_rounds = L::smooth && !JointLoss<L> ? 200 : 40;
  static constexpr int most_by_class = 80;
  static constexpr double trial = 0.5;  // of the budget, until the first step has paid; smooth losses always do
  static constexpr double pays = 0.3;   // of the gap left
  // Curvatures to begin with, in gaps. Measured where steps are easy, and where they are hard (5,000 rows of 300
  // features, of which nearly as many rows are free).
  static constexpr double least_curvature = 10, most_curvature = 2000;

  // Newton steps of a phase, in one or more proximal steps. Measured on texts and small tables: 2 to 10 for smooth
  // losses, 8 to 12 for those of several classes, 8 to 30 for others, 25 to 70 for their last digits.
  static double rounds(bool near) {
    return L::smooth ? (JointLoss<L> && !near ? 8 : 6) : !near ? 16 : JointLoss<L> ? 10 : 30;
  }

  // Quasi-Newton steps with a matrix for each class, where there are several.
  double price_by_class() const {
    if constexpr (JointLoss<L> && L::smooth) return quasi_newton_.price();
    return never;
  }
  int run_by_class([[maybe_unused]] std::span<double> w, [[maybe_unused]] std::span<double> a,
                   [[maybe_unused]] double tol) {
    if constexpr (JointLoss<L> && L::smooth)
      return quasi_newton_.run(w, a, tol, int(std::min(epochs_left() - 4, double(most_by_class))));
    return 0;
  }

  // By how much the slope of the loss changes at most.
  double steepest() const {
    if constexpr (JointLoss<L>)
      return 0.5;  // of the logarithm's J = diag(p) - p p^T
    else
      return loss_.softness(0.5, 1.0, 0.0);
  }

  double epochs_left() const { return o_.max_epochs - double(state_.visits) / double(p_.m()); }

  // Its rows are dense.
  bool path_possible() const { return PiecewiseLinear<L> && double(p_.m()) * double(p_.rows.dim()) < 1e6; }

  double path_step() const {
    return PreciseSystem<Rows>::price(double(p_.m()), double(p_.rows.dim())) + 100 * double(p_.m());
  }

  bool follow(std::span<double> w, std::span<double> a, double zero) {
    const int most = int(std::min({epochs_left(), 80.0, meter_.left() / path_step()}));
    const int steps = follow_path(p_, loss_, bias_penalty_, watch_, w, a, zero, most);
    state_.visits += steps * p_.m();
    meter_.take(steps * path_step());
    return steps > 0;
  }

  // A certificate. Where its bound, with better weights found before, is enough, what is handed back is what proves it.
  bool prove(std::span<const double> w, std::span<const double> a) {
    const bool go_on = certify_(w, a);
    if (proofs_.converged() && proofs_.raised_bound()) std::copy(a.begin(), a.end(), state_.a.begin());
    return go_on;
  }

  Problem<Rows>& p_;
  const L& loss_;
  double bias_penalty_;
  const DualOptions& o_;
  DualState& state_;
  Proofs<Rows, L>& proofs_;
  Meter& meter_;
  Watch& watch_;
  Newton<Rows, L> newton_;
  QuasiNewton<Rows, L> quasi_newton_;
  Certify certify_;
  Recentre recentre_;
  // Gaps: the smallest yet, at the beginning, when the budget was last renewed, and what rounding leaves.
  double best_ = 0, begun_ = 0, paid_ = 0, floor_ = 0;
  double worked_ = least_curvature;  // the curvature of the last step that helped, in gaps
};

}  // namespace pegasos
