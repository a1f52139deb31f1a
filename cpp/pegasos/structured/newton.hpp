// Minimises f, the log loss of all sequences, by Newton's method (Dembo, Eisenstat and Steihaug 1982: conjugate
// gradients that stop early, with shorter steps where f asks for them) from a w that first_steps.hpp has found. In: the
// problem, w. Out: w, and a history whose last line belongs to it.
//
// Gradients are exact, the second derivative is that of the labels in doubt (curvature.hpp): its products are cheap. To
// the objective at which python-crfsuite's L-BFGS stops on CoNLL-2000 it takes 17 gradients and 210 products, where
// L-BFGS from the same start took 109 gradients, 25 s of one thread. Predicted, with 0.21 s a gradient and 13 ms a
// product: 6.3 s; measured: 5.6 s, before places.hpp halved the gradients.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "pegasos/linalg/conjugate_gradients.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/structured/curvature.hpp"
#include "pegasos/structured/likelihood.hpp"

namespace pegasos::structured {

class Newton {
 public:
  static constexpr double much_larger = 100;       // squares of sizes of features
  static constexpr double price_of_product = 0.2;  // of what the watch is told, measured on tables

  Newton(Likelihood& likelihood, std::span<double> w, uint64_t seed, Team& team, Watch& watch, History& history)
      : likelihood_(likelihood),
        w_(w),
        team_(team),
        watch_(watch),
        history_(history),
        draws_(Stream(seed).split(2)),
        curvature_(likelihood.task()) {
    for (auto* vector : {&gradient_, &direction_, &trial_, &trial_gradient_}) vector->resize(w.size());
    size2_ = sizes_of(likelihood.task());
  }

  // Where labels tie, a direction that costs little goes too far, and all of the step would have to be shorter: from
  // now on such directions are held back, more after every short step, less after every whole one.
  void hold_back() { holds_back_ = true; }

  // at_zero: f(0), for a start that is no better. max_epochs: passes over all sequences; 0: the start is proven, no
  // step is taken. visits: counted before, in sequences. kept(): between two steps; false: the fit ends.
  template <class Kept>
  void run(double at_zero, double max_epochs, int64_t& visits, const Kept& kept) {
    if (!(round_ < 0 ? begin(at_zero, visits, max_epochs == 0) : look_again())) return;
    const double most = max_epochs * double(likelihood_.task().m());
    for (; double(visits) < most && kept(); ++round_) {
      if (!find_direction(draws_.split(uint64_t(round_)))) return;
      const double slope = dot(gradient_, direction_);
      if (!(slope < 0)) return;
      if (!walk(slope, visits)) {  // no step is any better: rounding has the last word, of f at first
        if (std::exchange(flat_, true) || !watch_.look() || !look_again()) return;
        continue;
      }
      if (note(visits)) return;
    }
  }

  // Operations since the last call.
  double take_spent() { return std::exchange(spent_, 0.0); }

  // Of the w that the last step has found, whose marginals the likelihood has.
  std::span<const double> gradient() const { return gradient_; }

  // All that the next step depends on, but for w, visits and the history, which are somebody else's.
  void visit(Snapshot& s) { s.items(round_, least_, exactness_, flat_); }

 private:
  // False: there is nothing more to do.
  bool begin(double at_zero, int64_t& visits, bool proof_alone) {
    if (!evaluate(w_, f_, gradient_, visits)) return false;
    if (!(f_ <= at_zero)) {
      std::fill(w_.begin(), w_.end(), 0.0);
      if (proof_alone) {  // time is up, and what zero is worth is known
        history_.note(visits, at_zero, 0);
        return false;
      }
      if (!evaluate(w_, f_, gradient_, visits)) return false;
    }
    round_ = 0;
    return !note(visits);
  }

  // The gradient and the marginals of w: a snapshot leaves them out, since they are large and follow from w, and a step
  // that was not taken leaves those of another.
  bool look_again() {
    int64_t seen_before = 0;
    return evaluate(w_, f_, gradient_, seen_before);
  }

  bool evaluate(std::span<const double> w, double& f, std::vector<double>& gradient, int64_t& visits) {
    visits += likelihood_.task().m();
    spent_ += likelihood_.work();
    return likelihood_.evaluate(w, team_, watch_, f, gradient);
  }

  bool note(int64_t visits) {
    const double bound = likelihood_.bound(w_, f_, gradient_);
    const double exact = f_ - norm2(gradient_) / (2 * likelihood_.task().lam);
    return history_.note(visits, f_, bound, exact - bound);
  }

  // Labels less probable than that are drawn: as few as the price of products allows. A gradient is worth about 25 of
  // them, and 20 to 40 make a step. Where a step was much too long, they may cost more.
  double least() {
    const Tagging& task = likelihood_.task();
    const auto labels = double(task.layout.labels);
    const double numbers = double(task.chains.indptr.back()) + 3 * labels * double(task.chains.tokens());
    const double most = exactness_ * std::max(1e6, numbers * labels / 170);
    const auto affordable = [&](double x) { return InDoubt::cost(task, likelihood_.marginals(), x) <= most; };
    while (least_ < 0.5 && !affordable(least_)) least_ *= 2;
    while (least_ > 1e-6 && affordable(least_ / 2)) least_ /= 2;
    return least_;
  }

  // direction <- minus the inverse of the second derivative times the gradient, roughly. False: the watch says stop.
  bool find_direction(const Stream& draws) {
    const Tagging& task = likelihood_.task();
    if (!curvature_.build(w_, likelihood_.marginals(), least(), draws, team_, watch_)) return false;
    const auto& places = curvature_.places();
    std::vector<double> b(places.size()), x(places.size());
    for (size_t at = 0; at < b.size(); ++at) b[at] = -gradient_[size_t(places[at])];
    const auto multiply = [&](const std::vector<double>& v, std::vector<double>& out) {
      curvature_.product(v, team_, out);
      if (held_ > 0)
        for (size_t at = 0; at < v.size(); ++at) out[at] += held_ * size2(places[at]) * v[at];
    };
    const std::vector<double> diagonal = diagonal_of(multiply, draws.split(1));
    const auto divide = [&](const std::vector<double>& r, std::vector<double>& z) {
      z = r;
      for (size_t at = 0; at < diagonal.size(); ++at) z[at] /= diagonal[at];
      return dot(r, z);
    };
    // A tenth of the squared residual is enough while w is far away. The true diagonal is no help: features that come
    // together share their weight, and it would part them (4.4 above the minimum after 60 passes instead of 0.1).
    const Enough enough{.part = flat_ ? 1e-20 : 0.2, .rounds = 100};
    const int products = conjugate_gradients(multiply, divide, b, x, watch_, curvature_.work(), enough);
    if (products < 0) return false;
    spent_ += (products + 4) * (price_of_product * double(curvature_.work()) + 3 * double(places.size()));
    for (size_t at = 0; at < direction_.size(); ++at)
      direction_[at] = -gradient_[at] / (task.lam + held_ * size2(int64_t(at)));
    for (size_t at = 0; at < x.size(); ++at) direction_[size_t(places[at])] = x[at];
    return true;
  }

  // Squares of the sizes of features, of each weight, where these are very different; else nothing.
  static std::vector<double> sizes_of(const Tagging& task) {
    const Layout& layout = task.layout;
    const auto d = size_t(task.chains.n_features);
    std::vector<double> sum(d), count(d), out;
    if (task.chains.values.empty()) return out;
    for (int64_t t = 0; t < task.chains.tokens(); ++t)
      for (int64_t j = 0; j < task.chains[t].n; ++j) {
        const auto f = size_t(task.chains[t].index[j]);
        sum[f] += task.chains[t].at(j) * task.chains[t].at(j), count[f] += 1;
      }
    for (size_t f = 0; f < d; ++f) sum[f] = sum[f] > 0 ? sum[f] / count[f] : 1;
    const auto [least, most] = std::minmax_element(sum.begin(), sum.end());
    if (d == 0 || *most < much_larger * *least) return out;
    out.assign(size_t(layout.size), 1.0);
    for (int64_t f = 0; f < int64_t(d); ++f) {
      std::fill(out.begin() + layout.row(f), out.begin() + layout.row(f + 1), sum[size_t(f)]);
      if (const int64_t block = layout.has_blocks() ? layout.block(f) : -1; block >= 0)
        std::fill_n(out.begin() + block, layout.labels * layout.width, sum[size_t(f)]);
    }
    return out;
  }

  // What stands for the diagonal of the second derivative, in the order of the curvature's places: lam, and a part of
  // the squared size of the feature, the same for all. A product with random signs tells which. Empty: all ones.
  template <class Multiply>
  std::vector<double> diagonal_of(const Multiply& multiply, const Stream& signs) const {
    const auto& places = curvature_.places();
    if (size2_.empty() || places.empty()) return {};
    std::vector<double> v(places.size()), out(places.size());
    for (size_t at = 0; at < v.size(); ++at)
      v[at] = (signs.uniform(at) < 0.5 ? 1 : -1) / std::sqrt(size2_[size_t(places[at])]);
    multiply(v, out);
    const double lam = likelihood_.task().lam, part = std::max(dot(v, out) - lam * dot(v, v), 0.0) / double(v.size());
    for (size_t at = 0; at < v.size(); ++at) out[at] = lam + part * size2_[size_t(places[at])];
    return out;
  }

  // Goes along the direction as far as f falls as it should. Where the fall would be lost in the rounding of f, the
  // gradient tells, which is what the bound is made of. False: not at all, or stopped.
  bool walk(double slope, int64_t& visits) {
    double step = 1;
    for (int tries = 0; tries < 20; ++tries) {
      for (size_t at = 0; at < trial_.size(); ++at) trial_[at] = w_[at] + step * direction_[at];
      double f = 0;
      if (!evaluate(trial_, f, trial_gradient_, visits)) return false;
      const double rounding = 0x1p-44 * std::abs(f_);
      const bool closer = -step * slope < rounding && f <= f_ + rounding && norm2(trial_gradient_) < norm2(gradient_);
      if (f <= f_ + 1e-4 * step * slope || closer) {
        if (holds_back_) hold(step, slope);
        exactness_ = step < 0.25 ? std::min(2 * exactness_, 64.0) : exactness_;
        f_ = f;
        std::copy(trial_.begin(), trial_.end(), w_.begin());
        gradient_.swap(trial_gradient_);
        return true;
      }
      const double curved = 2 * (f - f_ - step * slope);
      step *= curved > 0 ? std::clamp(-slope * step / curved, 0.1, 0.5) : 0.5;
    }
    return false;
  }

  double size2(int64_t place) const { return size2_.empty() ? 1 : size2_[size_t(place)]; }

  // After a step of this length: so much that the direction would have been as short.
  void hold(double step, double slope) {
    if (step == 1) {
      held_ = held_ > 1e-3 * likelihood_.task().lam ? held_ / 4 : 0;
      return;
    }
    double square = 0;
    for (size_t at = 0; at < direction_.size(); ++at) square += direction_[at] * direction_[at] * size2(int64_t(at));
    if (square > 0) held_ = std::max(held_, -slope / square * (1 / step - 1));
  }

  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return simd::dot(a.data(), int64_t(a.size()), b.data());
  }

  Likelihood& likelihood_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  Stream draws_;
  Curvature curvature_;
  double f_ = 0, least_ = 0.0625, exactness_ = 1;
  double spent_ = 0;  // operations
  bool holds_back_ = false;
  bool flat_ = false;   // f says nothing any more: directions have to be exact
  double held_ = 0;     // added to the second derivative, times squared sizes
  int64_t round_ = -1;  // steps taken; -1: the start has not been looked at
  std::vector<double> gradient_, direction_, trial_, trial_gradient_;
  std::vector<double> size2_;  // squared sizes of features; empty: they are alike
};

}  // namespace pegasos::structured
