// Coordinate ascent for several problems at once that differ in weights and labels alone: the folds of one lam.
//
//   max_a D_l(a) = -(1/S_l) sum_i s_li loss*(-a_li) - lam/2 ||u_l||^2 / (lam S_l)^2,   u_l = sum_i s_li a_li x_i
//
// In: problems of one score a row over the same rows, with the same lam, a penalised bias or none, and feasible dual
// variables; u of these. Out: better ones, weights with a certificate each, and the scores of all rows, held out or
// not. The numbers of a feature lie side by side, u[j n + l], so that a row is loaded once for all problems.
//
// It is made for fits of a few digits: an epoch as in dual/sdca.hpp, one replica, and a row sits out while it is calm
// in all problems. Certificates do not build u anew from a: what rounding has done to it is bounded step by step
// (`drift`), and only where that bound is no longer small next to tol it is summed up again (dual/side_sums.hpp).
// Measured in benchmarks/EXPERIMENTS.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/dual/each_pick.hpp"
#include "pegasos/dual/pace.hpp"
#include "pegasos/dual/side_sums.hpp"
#include "pegasos/dual/tally.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

struct SideBySideOptions {
  uint64_t seed = 0;
  double tol = 0;            // absolute
  int64_t most_epochs = 0;   // where coordinate ascent would crawl, others should go on
  double trust = 1;          // exact gap over expected, as far as it is known from fits before
  bool many_epochs = false;  // fine fits: settled rows sit out until a certificate, of which there are more
  bool new_lam = false;      // the dual variables come from another lam: begin with the best part of them
};

template <Loss L>
class SideBySide {
 public:
  SideBySide(std::span<const Problem<AnyRows>> problems, const L& loss, const SideBySideOptions& options,
             SideBySideState& state, Team& team, Watch& watch)
      : p_(problems),
        rows_(problems[0].rows),
        n_(int64_t(problems.size())),
        loss_(loss),
        o_(options),
        s_(state),
        team_(team),
        watch_(watch),
        sums_(problems, state, team, watch) {
    if (options.new_lam) std::fill(state.calm.begin(), state.calm.end(), uint8_t(0));
    for (const auto& p : p_) {
      lanes_.push_back({1 / (p.lam * p.total), History(options.tol, watch)});
      lanes_.back().trust = Trust<L>::in(options.trust);
    }
  }

  // One fit a problem.
  std::vector<Fit> run() {
    const bool from_zero = std::all_of(s_.a.begin(), s_.a.end(), [](const auto& a) {
      return std::all_of(a.begin(), a.end(), [](float x) { return x == 0; });
    });
    const bool known = std::all_of(s_.drift.begin(), s_.drift.end(), [](double x) { return std::isfinite(x); });
    bool go_on = known || sums_.sum_up();
    if (go_on && !from_zero) {
      const std::vector<double> squares = sums_.squares();
      for (size_t l = 0; l < p_.size(); ++l) lanes_[l].length = 2 * std::sqrt(squares[l]);
      go_on = !o_.new_lam || sums_.shorten_all(loss_, squares);
    }
    bool proven = false;
    for (int64_t epoch = 0; go_on && epoch < o_.most_epochs && !proven; ++epoch) {
      go_on = visit(epoch, from_zero && epoch == 0);
      if (!go_on || (!is_time() && epoch + 1 < o_.most_epochs)) continue;
      go_on = certify();
      proven = std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.history.converged(); });
    }
    std::vector<Fit> fits;
    s_.trust = 0;
    for (const Lane& lane : lanes_) {
      fits.push_back(lane.history.fit());
      s_.trust = std::max(s_.trust, lane.trust);
    }
    return fits;
  }

 private:
  static constexpr uint8_t calmest = 3, out = 255;  // as in dual/sdca.hpp
  static constexpr double usual_trust = 0.7;        // what most exact gaps are above, in expected ones

  struct Lane {
    double scale;  // 1 / (lam S); while S grows, of the rows seen
    History history;
    double seen = 0;                                         // their weight
    double gap = 0, before = -1, expected = 0;               // estimates: of this epoch and the last one, and for now
    double length = 0;                                       // ||u|| at most
    double trust = 1;                                        // exact gap over expected, learnt
    double slack = std::numeric_limits<double>::infinity();  // who is settled by more sits out
    double violation = 0, squares = 0;                       // of this epoch: the largest, and the sum of squares
  };

  // Calm rows come every second, fourth, eighth epoch; settled ones when a certificate finds that they would move.
  void choose_due(int64_t epoch) {
    due_.clear();
    due_.reserve(size_t(rows_.size()));  // a vector that grows would take twice the memory
    for (int64_t i = 0; i < rows_.size(); ++i) {
      const uint8_t calm = s_.calm[size_t(i)];
      if (calm != out && ((epoch + i) & ((1 << calm) - 1)) == 0) due_.push_back(uint32_t(i));
    }
  }

  // growing: S counts the rows seen so far, as in an epoch of Pegasos.
  bool visit(int64_t epoch, bool growing) {
    choose_due(epoch);
    for (Lane& lane : lanes_)
      lane.before = epoch == 0 ? -1 : lane.gap, lane.gap = lane.seen = lane.violation = lane.squares = 0;
    const auto m = int64_t(due_.size());
    for (Lane& lane : lanes_) lane.expected = 0;
    if (m == 0) return true;  // all are at rest
    Sampler sampler(Sampling::blocks, Stream(o_.seed).split(uint64_t(epoch)).at(0), Population{m, due_, {}});
    std::vector<double> score(p_.size()), change(p_.size());
    int64_t nonzeros = 0;
    bool go_on = true;
    rows_.visit([&](const auto& rows) {
      for (int64_t begin = 0; begin < m && go_on; begin += picks_at_once) {
        int64_t work = 0;
        each_pick(rows, sampler, begin, std::min(begin + picks_at_once, m), NoFacts(), [&](size_t, int64_t i) {
          const auto row = rows[i];
          simd::dot(row, n_, s_.u.data(), score.data());
          if (ascend(row, i, growing, score.data(), change.data())) simd::axpy_all(row, n_, change.data(), s_.u.data());
          work += row.size();
        });
        nonzeros += work;
        go_on = watch_.go_on(work * n_);
      }
    });
    s_.visits += m;
    s_.operations +=
        price::visits(rows_.is_dense(), double(nonzeros * n_), double(m), double(n_), L::costly) + double(rows_.size());
    for (Lane& lane : lanes_) {
      lane.gap *= 1 / p_[size_t(&lane - lanes_.data())].total;
      const double fall = lane.before > 0 ? std::min(1.0, lane.gap / lane.before) : 1.0;
      lane.expected = lane.gap * (L::smooth ? fall : std::sqrt(fall));
      lane.scale = 1 / (p_[0].lam * p_[size_t(&lane - lanes_.data())].total);
      if (!growing && o_.many_epochs) lane.slack = settled_by(lane.violation, lane.squares, double(m));
    }
    return go_on;
  }

  // The dual variables of a row in all problems; `change` is what u gains of it. False where nothing moves.
  bool ascend(const auto& row, int64_t i, bool growing, const double* score, double* change) {
    bool moves = false, calm = true, settled = true;
    const double norm2 = sums_.norm2(row, i);
    for (size_t l = 0; l < p_.size(); ++l) {
      const Problem<AnyRows>& p = p_[l];
      Lane& lane = lanes_[l];
      change[l] = 0;
      const double s = s_.s[l][i];
      if (s == 0) continue;
      if (growing) lane.scale = 1 / (p.lam * (lane.seen += s));
      const double a = double(s_.a[l][size_t(i)]), y = p.y[i], now = lane.scale * score[l];
      const double violation = loss_.violation(a, now, y);
      if (!(violation > 0)) {
        settled = settled && loss_.settled(a, now, y, lane.slack);
        continue;
      }
      calm = false;
      lane.violation = std::max(lane.violation, violation);
      lane.squares += violation * violation;
      lane.gap += s * (loss_.value(now, y) + loss_.conjugate(a, y) + a * now);
      const auto better = float(loss_.ascend(a, now, y, s * lane.scale * norm2));
      change[l] = s * (double(better) - a);
      const double by = std::abs(change[l]) * SideSums::longest(norm2);
      lane.length += by;
      s_.drift[l] += 4 * rounding_unit * (lane.length + by);
      moves |= change[l] != 0;
      s_.a[l][size_t(i)] = better;
    }
    uint8_t& known = s_.calm[size_t(i)];
    known = !calm || growing ? uint8_t(0) : settled ? out : uint8_t(std::min<int>(known + 1, calmest));
    return moves;
  }

  // Whether a certificate will probably prove tol for all, or is due.
  bool is_time() const {
    const auto all = [&](const auto& trust) {
      return std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.expected * trust(l) <= o_.tol; });
    };
    if (all([](const Lane& l) { return l.trust; })) return true;
    if (!o_.many_epochs) return false;
    return is_certificate_due(s_.operations, certified_at_, certificate_price()) &&
           all([](const Lane&) { return usual_trust; });
  }

  double certificate_price() const {
    return price::pass(p_[0], double(n_)) + price::look(double(rows_.size() * n_), L::costly) + double(2 * s_.u.size());
  }

  // w of u, side by side and of each problem. Returns lam/2 ||w||^2.
  std::vector<double> take_weights(std::span<double> w) {
    const size_t n = p_.size();
    for (size_t j = 0; j < w.size() / n; ++j)
      for (size_t l = 0; l < n; ++l) s_.w[l][j] = w[j * n + l] = lanes_[l].scale * s_.u[j * n + l];
    std::vector<double> square;
    for (size_t l = 0; l < n; ++l) square.push_back(half_square(s_.w[l], std::sqrt(p_[l].lam)));
    return square;
  }

  // The certificates of all problems in one pass; see proof/certificate.hpp.
  bool certify() {
    struct Sums {
      double losses = 0, conjugates = 0;
      RoundingSums rounding;
    };
    const size_t n = p_.size();
    std::vector<double> w(s_.u.size()), size(n);
    std::vector<double> square = take_weights(w);
    if (sums_.has_drifted(square, o_.tol)) {
      if (!sums_.sum_up()) return false;
      square = take_weights(w);
    }
    for (size_t l = 0; l < n; ++l) size[l] = std::sqrt(2 * square[l] / p_[l].lam);
    const Pass pass = pass_over(p_[0], n_);
    std::vector<Sums> sums(size_t(pass.parts) * n);
    const auto work = [&](int64_t part, int64_t from, int64_t to) {
      int64_t done = 0;
      for (int64_t i = from; i < to; ++i) {
        const auto row = rows_[i];
        double* const score = s_.scores.data() + size_t(i) * n;
        simd::dot(row, n_, w.data(), score);
        const double norm = std::sqrt(sums_.norm2(row, i)) * (1 + 1e-6);
        const double error = double(row.size() + 4) * rounding_unit * norm;
        for (size_t l = 0; l < n; ++l) {
          const double s = s_.s[l][i], y = p_[l].y[i], a = double(s_.a[l][size_t(i)]);
          if (s == 0) continue;
          Sums& mine = sums[size_t(part) * n + l];
          const double conjugate = loss_.conjugate(a, y);
          mine.losses += s * loss_.value(score[l], y);
          mine.conjugates += s * conjugate;
          mine.rounding.row(s, error * size[l], norm, std::abs(a), conjugate, std::abs(y));
          if (loss_.violation(a, score[l], y) > 0) s_.calm[size_t(i)] = 0;  // if it goes on, with all that could move
        }
        done += row.size() * n_;
      }
      return done;
    };
    s_.operations += certificate_price();
    certified_at_ = s_.operations;
    if (!over_parts(pass, team_, watch_, {}, work)) return false;
    for (size_t l = 0; l < n; ++l) {
      Sums all;
      for (int64_t part = 0; part < pass.parts; ++part) {
        const Sums& mine = sums[size_t(part) * n + l];
        all.losses += mine.losses, all.conjugates += mine.conjugates;
        all.rounding.add(mine.rounding);
      }
      const double off = s_.drift[l] / (std::sqrt(p_[l].lam) * p_[l].total), far = std::sqrt(2 * square[l]) + off;
      conclude(l, square[l], far * far / 2, all.losses, all.conjugates, all.rounding);
    }
    return true;
  }

  void conclude(size_t l, double square, double dual_square, double losses, double conjugates,
                const RoundingSums& rounding) {
    const Problem<AnyRows>& p = p_[l];
    const double objective = square + losses / p.total, dual = -conjugates / p.total - dual_square;
    const Certified found = in_numbers(p, loss_, s_.w[l], 0, square, dual_square, losses);
    lanes_[l].history.add(s_.visits, objective, dual, rounding_of(rounding, found));
    lanes_[l].trust = Trust<L>::in((objective - dual) / std::max(lanes_[l].expected, 1e-300));
  }

  std::span<const Problem<AnyRows>> p_;
  const AnyRows& rows_;
  const int64_t n_;
  const L& loss_;
  const SideBySideOptions& o_;
  SideBySideState& s_;
  Team& team_;
  Watch& watch_;
  SideSums sums_;
  std::vector<Lane> lanes_;
  double certified_at_ = 0;    // operations, when the last certificate was taken
  std::vector<uint32_t> due_;  // the rows of this epoch, ascending
};

}  // namespace pegasos
