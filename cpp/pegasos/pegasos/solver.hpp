// Pegasos (Shalev-Shwartz, Singer, Srebro & Cotter 2011, Fig. 1 and 2), with the variants of both papers.
//
//   min_w f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, x_i> + b, y_i) / sum_i s_i
//
// In: the problem, how to step and sample, when to stop, and a state to go on from (w_{t+1}, t). Out: the state after
// the last step, the weights to return, and one checkpoint for each certificate taken.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/data/sampler.hpp"
#include "pegasos/data/validate.hpp"
#include "pegasos/linalg/scaled_vector.hpp"
#include "pegasos/pegasos/average.hpp"
#include "pegasos/pegasos/batch_sums.hpp"
#include "pegasos/pegasos/checkpoint_times.hpp"
#include "pegasos/pegasos/options.hpp"
#include "pegasos/pegasos/oracle.hpp"
#include "pegasos/proof/history.hpp"

namespace pegasos {

// L: a loss of the core, or one that answers from outside (pegasos/own_loss.hpp).
template <class Rows, class L>
class PegasosSolver {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  PegasosSolver(const Problem<Rows>& problem, const L& loss, const PegasosOptions& options, PegasosState& state,
                Team& team, Watch& watch)
      : p_(problem),
        o_(options),
        state_(state),
        team_(team),
        watch_(watch),
        oracle_(problem, loss, team, watch),
        history_(options.tol, watch, options.known),
        w_(state.v),
        average_(state.B, state.C, state.averaged),
        picks_(picks()),
        blocks_(blocks_of(loss)),
        batch_(size_t(options.k)),
        slopes_(size_t(options.k * width())),
        scores_(Oracle<Rows, L>::row_by_row && !options.batch_bias ? slopes_.size() : 0),
        b_(size_t(width()), state.b),
        batch_pass_(pass_over_some(problem, options.k, double(width()))),
        batch_sums_(problem, options.k, double(width())) {
    w_.set_c(state.c);
    if (is_joint<L> && p_.free_bias) std::copy(state.out.end() - width(), state.out.end(), b_.begin());
    // Without projection, with eta = 1/(lam t), w is a plain sum over lam t and c needs no multiplying (eq. 13).
    plain_ = o_.eta.kind == Steps::Kind::pegasos && o_.radius == 0;
  }

  // report hears of every new line of history; false stops the fit.
  Fit run(Report report) {
    history_.report = std::move(report);
    if (state_.snapshots.restore([this](Snapshot& s) { visit(s); })) picks_ = picks();
    do {  // a random stop may come before the first step: that, too, deserves its certificate
      if (last_ < 0) begin_stretch(next_checkpoint(o_, p_.m(), state_.t, history_));
      bool whole = take_steps(last_);
      if (whole) last_ = -1;
      keep_state();
      if (o_.one_pass || !o_.certify || watch_.interrupted()) break;
      if (watch_.out_of_time()) watch_.forgive_time();
      certify_now();
      if (watch_.out_of_time()) watch_.forgive_time(), whole = false, certify_now();  // amidst it: once more
      if (history_.empty() || watch_.interrupted() || !history_.tell() || !whole) break;
    } while (!done());
    if (history_.empty() || watch_.interrupted()) write_output();  // of this moment, not of the last certificate
    return history_.fit();
  }

 private:
  Picks picks() const {
    return {Sampler(o_.sampling, o_.seed, {p_.m(), p_.listed, p_.s}, o_.k), o_.first_pick(state_.t, p_.m())};
  }

  int64_t width() const { return blocks_.width(); }

  // Steps up to number `last` follow, then a certificate.
  void begin_stretch(int64_t last) {
    last_ = last;
    average_from_ = std::max(state_.t + 1, last - int64_t(o_.tail * double(last)) + 1);
  }

  // All that the next step, and whatever follows, depends on.
  void visit(Snapshot& s) {
    for (const std::span<double> each : {state_.v, state_.counts, state_.out, state_.B}) s.numbers(each);
    s.items(state_.t, state_.hits, last_, average_from_, best_value_, next_try_);
    w_.visit(s);
    average_.visit(s);
    s.numbers(b_);
    s.numbers(best_);
    history_.visit(s);
  }

  bool done() const { return (history_.converged() && !o_.to_the_end) || state_.t >= o_.steps; }

  // Steps up to number `last`; false when stopped early.
  bool take_steps(int64_t last) {
    return with_rows(p_.rows, [&](const auto& rows) { return take_steps(rows, last); });
  }
  bool take_steps(const auto& rows, int64_t last) {
    int64_t rows_left = p_.m();
    for (int64_t t = state_.t + 1; t <= last; ++t) {
      const int64_t k = o_.one_pass ? std::min(o_.k, rows_left) : o_.k;
      if (!look_at_batch(rows, k) || !ask_for_slopes(k)) return false;
      if (o_.tail > 0 && o_.tail < 1 && t == average_from_) average_.restart();
      if (o_.tail > 0 && t >= average_from_) average_.count_iterate(w_.c(), t, o_.fades());
      const auto end = slopes_.begin() + k * width();
      const bool loss = std::any_of(slopes_.begin(), end, [](double slope) { return slope != 0; });
      if (loss) ++state_.hits;
      if (loss || !o_.on_loss) move(rows, o_.on_loss ? state_.hits : t, k);
      state_.t = t;
      rows_left -= k;
      if (!o_.tries.empty() && !try_now()) return false;
      if (t % steps_between_looks == 0 && !state_.snapshots.keep_if_due([this](Snapshot& s) { visit(s); })) {
        watch_.interrupt();
        return false;
      }
    }
    return true;
  }

  // The scores of the whole batch with w_t, before anything moves, and the slopes where a row's own score says them.
  // Large batches are shared by the team.
  bool look_at_batch(const auto& rows, int64_t k) {
    const auto draw = [&](int64_t j) {
      const int64_t i = batch_[size_t(j)] = picks_.next();
      rows.prefetch(picks_.fetch());
      p_.y.prefetch(i);  // it is needed only after the scores: in a random order that would be a wait
      if (!o_.certify) check_drawn(rows, i);
    };
    const bool at_once = !scores_.empty();
    const auto look = [&](int64_t j) {
      const int64_t i = batch_[size_t(j)];
      const auto row = rows[i];
      double *const slope = slopes_.data() + j * width(), *const score = at_once ? scores_.data() + j * width() : slope;
      block_dot(blocks_, row, state_.v.data(), score);
      for (int64_t c = 0; c < width(); ++c) score[c] = w_.c() * score[c] + (o_.batch_bias ? 0 : b_[size_t(c)]);
      if constexpr (Oracle<Rows, L>::row_by_row)
        if (at_once) oracle_.slope(i, score, o_.share(p_, i), slope);
      return row.size() * width();
    };
    const bool together = batch_pass_.parts > 1 && k == o_.k;
    for (int64_t j = 0; j < k; ++j) {
      draw(j);
      if (!together && !watch_.go_on(look(j))) return false;
    }
    return !together || over_each(batch_pass_, team_, watch_, look);
  }

  // Slopes in the place of scores, where they are not yet.
  bool ask_for_slopes(int64_t k) {
    const std::span<const int64_t> rows(batch_.data(), size_t(k));
    const std::span<double> numbers(slopes_.data(), size_t(k * width()));
    if (o_.batch_bias) {
      b_[0] = oracle_.balanced_slopes(rows, numbers, [this](int64_t i) { return o_.share(p_, i); });
    } else if constexpr (!Oracle<Rows, L>::row_by_row) {
      if (!oracle_.slopes(rows, numbers)) return false;
      for (size_t j = 0; j < rows.size(); ++j) numbers[j] *= o_.share(p_, rows[j]);
    }
    return true;
  }

  // The step of Fig. 2 in the paper's order: shrink, add, project.
  void move(auto rows, int64_t t, int64_t k) {
    const double eta = o_.eta(p_.lam, t);
    rows.bias *= o_.bias_part(t);
    if (plain_) {
      if (double(t) + o_.eta.late == 1 && o_.from_start) clear_start();
      w_.set_c(eta);  // w <- (1 - eta lam) w
    } else if (1 - eta * p_.lam == 0 || (double(t) + o_.eta.late == 1 && o_.eta.kind == Steps::Kind::pegasos)) {
      clear_start();  // 1/lam * lam may be rounded to something else than 1
    } else {
      follow(w_.scale(1 - eta * p_.lam));
      if (average_.on()) average_.shrunk(w_.c(), state_.v);
    }
    // b is not penalised: its steps are those of a convex function that is not strongly convex.
    const bool steps_b = p_.free_bias && !o_.batch_bias && !o_.fixed_bias;
    const double eta_b = steps_b ? 1 / (double(k) * std::sqrt(double(t))) : 0;
    const bool together = batch_sums_.shared(k);
    if (together) {
      const auto sum = batch_sums_.of(rows, blocks_, batch_, slopes_.data(), team_);
      const double step = w_.add(sum, -eta / double(k));
      if (average_.on()) average_.added(sum, step);
    }
    for (int64_t j = 0; j < k * width(); ++j) {
      const double slope = slopes_[size_t(j)];
      if (slope == 0) continue;
      const int64_t i = batch_[size_t(j / width())];
      const double a = -eta / double(k) * slope, step = a / w_.c();
      if (!together) add_row(class_row(blocks_, rows[i], j % width()), a);
      if (!state_.counts.empty()) state_.counts[size_t(i * width() + j % width())] += step;
      b_[size_t(j % width())] -= eta_b * slope;
    }
    if (o_.radius > 0) follow(w_.project(o_.radius));
  }

  void add_row(const auto& row, double a) {
    const double step = o_.radius > 0 ? w_.add(row, a, w_.dot(row)) : w_.add(row, a);
    if (average_.on()) average_.added(row, step);
  }

  // Step 1 erases w: 1 - eta lam is zero.
  void clear_start() {
    if (average_.on()) average_.settle(state_.v);
    w_.clear();
    std::fill(state_.counts.begin(), state_.counts.end(), 0.0);
  }

  // v was multiplied by factor; what is kept in its units follows.
  void follow(double factor) {
    if (factor == 1) return;
    for (double& count : state_.counts) count *= factor;
    if (average_.on()) average_.rescaled(factor);
  }

  void keep_state() {
    state_.c = w_.c();
    if constexpr (!is_joint<L>) state_.b = b_[0];
    state_.C = average_.C();
    state_.averaged = average_.weight();
  }

  void write_last(std::span<double> out) const {
    for (size_t j = 0; j < out.size(); ++j) out[j] = state_.v[j] * w_.c();
    write_bias(out);
  }

  void write_bias(std::span<double> out) const {
    if (p_.free_bias) std::copy(b_.begin(), b_.end(), out.end() - width());
  }

  void write_output() {
    if (state_.out.empty()) return;  // steps alone were asked for
    if (!best_.empty())
      std::copy(best_.begin(), best_.end(), state_.out.begin());
    else if (o_.tail > 0 && average_.weight() > 0)
      average_.write(state_.v, state_.out), write_bias(state_.out);
    else
      write_last(state_.out);
  }

  // Keeps the best of the iterates at the random stopping times (the paper after lemma 3, and its footnote).
  bool try_now() {
    if (next_try_ >= o_.tries.size() || state_.t != o_.tries[next_try_]) return true;
    while (next_try_ < o_.tries.size() && o_.tries[next_try_] == state_.t) ++next_try_;
    std::vector<double> w(state_.v.size());
    write_last(w);
    const auto value = oracle_.value(w, o_.sample, Stream(o_.seed).split(1ULL << 62));
    if (!value) return false;
    if (*value < best_value_) {
      best_value_ = *value;
      best_ = std::move(w);
    }
    return true;
  }

  // alpha_i = min(1, m c_i / (t k)) for the hinge; any coefficient of w, read as a dual variable, for every loss.
  void certify_now() {
    write_output();
    const auto found = oracle_.certificate(state_.out, state_.counts, w_.c() * p_.lam * p_.total);
    if (!found) return;
    if (p_.free_bias && !is_joint<L>) state_.out.back() = found->bias;
    history_.add(state_.t, found->objective, found->dual, found->rounding);
  }

  const Problem<Rows>& p_;
  const PegasosOptions& o_;
  PegasosState& state_;
  Team& team_;
  Watch& watch_;
  Oracle<Rows, L> oracle_;
  History history_;
  ScaledVector w_;
  Average average_;
  Picks picks_;
  const Blocks blocks_;
  std::vector<int64_t> batch_;  // the rows of a step
  std::vector<double> slopes_;  // theirs, one for each class; where they are asked for together, first their scores
  std::vector<double> scores_;  // else their scores
  std::vector<double> b_;       // free bias, one number or one a class; where it is none, zero
  const Pass batch_pass_;
  BatchSums batch_sums_;
  std::vector<double> best_;
  double best_value_ = std::numeric_limits<double>::infinity();
  size_t next_try_ = 0;
  int64_t last_ = -1, average_from_ = 0;  // of the stretch of steps up to the next certificate; -1: none has begun
  bool plain_ = true;
  static constexpr int64_t steps_between_looks = 64;  // at the clock
};

}  // namespace pegasos
