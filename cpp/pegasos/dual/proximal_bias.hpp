// A free bias is a penalised one whose penalty pulls towards the last b instead of zero, again and again: proximal
// point steps in b.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/dual/bias_step.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/class_balance.hpp"
#include "pegasos/run/snapshot.hpp"

namespace pegasos {

// The problem of one such step; any other problem is its own. The bias feature: bias_step.hpp.
template <class Rows, AnyLoss L>
Problem<Rows> inner_problem(const Problem<Rows>& p, const L& loss, Team& team) {
  Problem<Rows> inner = p;
  if (!p.free_bias) return inner;
  const int64_t step = std::max<int64_t>(1, p.m() / 1000);
  double sum = 0, count = 0;
  for (int64_t k = 0; k < p.m(); k += step) sum += p.rows[p.existing(k)].norm2(), ++count;
  inner.free_bias = false;
  const auto at_zero = [&] { return value_at_zero(p, loss, team); };
  inner.rows.bias = std::sqrt(bias_feature2<L>(sum / count, p.lam, 1, at_zero));
  return inner;
}

// The inner problem of a free bias, and where it pulls b to: one number, or one a class of a joint loss.
template <class Rows, AnyLoss L>
class ProximalBias {
 public:
  // w: the whole problem's weights, from whose bias it starts.
  ProximalBias(const Problem<Rows>& p, const L& loss, std::span<const double> w, Team& team)
      : inner(inner_problem(p, loss, team)) {
    if (!p.free_bias) return;
    const auto b = biases(blocks_of(loss), w);
    centres_.assign(b.begin(), b.end());
    pull();
  }
  ProximalBias(const ProximalBias&) = delete;  // the problem looks at the centres
  ProximalBias& operator=(const ProximalBias&) = delete;

  Problem<Rows> inner;

  // Of the bias feature of the inner problem, as a part of lam.
  double penalty() const { return centres_.empty() ? 1.0 : 1e-4; }

  // The current b is the next centre; w is of the inner problem.
  void recentre(std::span<double> w) {
    to_whole(w);
    std::copy(w.end() - int64_t(centres_.size()), w.end(), centres_.begin());
    std::fill(w.end() - int64_t(centres_.size()), w.end(), 0.0);
    pull();
  }

  // w of the inner problem to that of the whole one, in place.
  void to_whole(std::span<double> w) const {
    const size_t first = w.size() - centres_.size();
    for (size_t c = 0; c < centres_.size(); ++c) w[first + c] = centres_[c] + inner.rows.bias * w[first + c];
  }

  void forget() {
    std::fill(centres_.begin(), centres_.end(), 0.0);
    pull();
  }

  void visit(Snapshot& s) {
    s.numbers(std::span<double>(centres_));
    pull();
  }

 private:
  void pull() {
    inner.offsets = centres_;
    if (!is_joint<L> && !centres_.empty()) inner.offset = centres_[0];
  }

  std::vector<double> centres_;  // empty: the bias is not free
};

}  // namespace pegasos
