// The labellings that matter to a sequence, with their dual variables, and the exact step on all of them.
//
// psi(y) = phi(x, truth) - phi(x, y). The dual variables of a sequence are a distribution over its labellings, truth
// included, whose psi is zero; w = sum over sequences and labellings of weight alpha psi / (lam m). With
//   H(y) = cost(y) - <w, psi(y)>
// the gap of a sequence is max_y H(y) - sum_y alpha(y) H(y).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "pegasos/run/snapshot.hpp"
#include "pegasos/structured/difference.hpp"

namespace pegasos::structured {

struct Kept {
  std::vector<Label> labels;
  std::vector<int64_t> places;  // of psi, ascending
  std::vector<double> values;
  double cost = 0, alpha = 0;
  int idle = 0;              // visits without any weight
  std::vector<double> gram;  // <psi, psi of those before and itself>

  double dot(const double* w) const {
    double sum = 0;
    for (size_t j = 0; j < places.size(); ++j) sum += values[j] * w[places[j]];
    return sum;
  }
  void axpy(double a, double* w) const {
    for (size_t j = 0; j < places.size(); ++j) w[places[j]] += a * values[j];
  }
};

inline double dot(const Kept& a, const Kept& b) {
  double sum = 0;
  for (size_t i = 0, j = 0; i < a.places.size() && j < b.places.size();) {
    if (a.places[i] == b.places[j])
      sum += a.values[i++] * b.values[j++];
    else if (a.places[i] < b.places[j])
      ++i;
    else
      ++j;
  }
  return sum;
}

class WorkingSet {
 public:
  static constexpr size_t most = 24;  // labellings kept
  static constexpr int patience = 8;  // visits a labelling stays without any weight

  const std::vector<Kept>& kept() const { return kept_; }

  // The number of the labelling, which is new or known.
  size_t add(const Chains& chains, int64_t i, const Layout& layout, const Label* truth, const Label* labels,
             double cost, SparseSum& sum) {
    const auto n = size_t(chains.length(i));
    for (size_t j = 0; j < kept_.size(); ++j)
      if (std::equal(labels, labels + n, kept_[j].labels.begin())) return j;
    if (kept_.size() == most) drop_least();
    const size_t j = append(chains, i, layout, truth, labels, cost, sum);
    work_ += price_new * numbers();
    return j;
  }

  // Operations of steps and of labellings that were new, since the last call.
  double take_work() { return std::exchange(work_, 0.0); }

  // All that the next steps depend on; cost_of(labels).
  template <class CostOf>
  void visit(Snapshot& s, const Chains& chains, int64_t i, const Layout& layout, const Label* truth,
             const CostOf& cost_of, SparseSum& sum) {
    auto count = int64_t(kept_.size());
    s.items(count);
    if (s.reads()) kept_.clear();
    std::vector<Label> labels(size_t(chains.length(i)));
    for (int64_t j = 0; j < count; ++j) {
      if (!s.reads()) labels = kept_[size_t(j)].labels;
      s.numbers(std::span(labels));
      if (s.reads()) {
        s.expect(std::all_of(labels.begin(), labels.end(), [&](Label k) { return k < layout.labels; }));
        append(chains, i, layout, truth, labels.data(), cost_of(labels.data()), sum);
      }
      s.items(kept_[size_t(j)].alpha, kept_[size_t(j)].idle);
    }
  }

  // Of a fit before.
  void set_alpha(size_t j, double alpha) { kept_[j].alpha = alpha; }

  // One more visit: labellings that had no weight for so many are dropped.
  void age(int most_idle = patience) {
    for (size_t j = kept_.size(); j-- > 0;) {
      kept_[j].idle = kept_[j].alpha > 0 ? 0 : kept_[j].idle + 1;
      if (kept_[j].idle > most_idle) drop(j);
    }
  }

  // Maximises the dual over the dual variables of this sequence, w follows. Returns the gap of the labellings kept,
  // before. unit = weight of the sequence / (lam m).
  double solve(double unit, double* w) {
    const size_t n = kept_.size();
    if (n == 0) return 0;
    H_.resize(n + 1);
    change_.assign(n, 0.0);
    double truth = 1, mean = 0;
    for (size_t j = 0; j < n; ++j) {
      H_[j] = kept_[j].cost - kept_[j].dot(w);
      truth -= kept_[j].alpha;
      mean += kept_[j].alpha * H_[j];
    }
    H_[n] = 0;
    const double gap = *std::max_element(H_.begin(), H_.end()) - mean;
    work_ += price_look * numbers() + 50;
    for (size_t step = 0; step < 4 * n + 8; ++step) {
      work_ += price_step * double(n);
      size_t best = n, worst = n;
      bool any = truth > 0;  // the truth has no alpha of its own: it is what the others leave
      for (size_t j = 0; j < n; ++j) {
        if (H_[j] > H_[best]) best = j;
        if (kept_[j].alpha > 0 && (!any || H_[j] < H_[worst])) {
          worst = j;
          any = true;
        }
      }
      const double rise = H_[best] - H_[worst];
      if (!(rise > 1e-3 * gap) || best == worst) break;
      const double curvature = unit * (gram(best, best) - 2 * gram(best, worst) + gram(worst, worst));
      const double available = worst == n ? truth : kept_[worst].alpha;
      const double move = curvature > 0 ? std::min(rise / curvature, available) : available;
      shift(best, move, truth);
      if (move == available)
        empty(worst, truth);
      else
        shift(worst, -move, truth);
      for (size_t j = 0; j < n; ++j) H_[j] -= move * unit * (gram(j, best) - gram(j, worst));
    }
    for (size_t j = 0; j < n; ++j)
      if (change_[j] != 0) {
        kept_[j].axpy(change_[j] * unit, w);
        work_ += price_look * double(kept_[j].places.size());
      }
    age();
    return gap;
  }

 private:
  // Operations: of a number of psi that is read or added to, of one that the products with a new labelling take, of
  // a labelling in a step.
  static constexpr double price_look = 1, price_new = 3, price_step = 5;

  double numbers() const {
    size_t sum = 0;
    for (const Kept& kept : kept_) sum += kept.places.size();
    return double(sum);
  }

  size_t append(const Chains& chains, int64_t i, const Layout& layout, const Label* truth, const Label* labels,
                double cost, SparseSum& sum) {
    Kept kept;
    kept.labels.assign(labels, labels + chains.length(i));
    kept.cost = cost;
    sum.clear();
    each_difference(chains, i, layout, truth, labels, [&](int64_t place, double x) { sum.add(place, x); });
    std::vector<size_t> order(sum.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sum.place(a) < sum.place(b); });
    for (const size_t j : order) {
      if (sum.value(j) == 0) continue;
      kept.places.push_back(sum.place(j));
      kept.values.push_back(sum.value(j));
    }
    for (const Kept& other : kept_) kept.gram.push_back(dot(other, kept));
    kept.gram.push_back(dot(kept, kept));
    kept_.push_back(std::move(kept));
    return kept_.size() - 1;
  }

  double gram(size_t a, size_t b) const {
    if (a == kept_.size() || b == kept_.size()) return 0;
    return a < b ? kept_[b].gram[a] : kept_[a].gram[b];
  }
  void shift(size_t j, double move, double& truth) {
    if (j == kept_.size()) {
      truth += move;
    } else {
      kept_[j].alpha += move;
      change_[j] += move;
    }
  }
  void empty(size_t j, double& truth) {
    if (j == kept_.size()) {
      truth = 0;
    } else {
      change_[j] -= kept_[j].alpha;
      kept_[j].alpha = 0;
    }
  }
  // Only one without weight may go, or w would change; where all have some, one more is kept.
  void drop_least() {
    size_t idlest = 0;
    for (size_t j = 1; j < kept_.size(); ++j)
      if (kept_[j].idle > kept_[idlest].idle) idlest = j;
    if (kept_[idlest].alpha == 0) drop(idlest);
  }
  void drop(size_t j) {
    for (size_t later = j + 1; later < kept_.size(); ++later)
      kept_[later].gram.erase(kept_[later].gram.begin() + int64_t(j));
    kept_.erase(kept_.begin() + int64_t(j));
  }

  std::vector<Kept> kept_;
  std::vector<double> H_, change_;
  double work_ = 0;
};

}  // namespace pegasos::structured
