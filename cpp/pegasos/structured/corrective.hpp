// Minimises f, the structured hinge of all sequences, to the last digits of tol, where steps on one sequence at a time
// crawl and the weights are few: columns of very different size, a small lam, a small tol.
//
// The dual variables of all labellings that are kept are found at once (interior.hpp), then Viterbi looks for
// labellings that are missing: the cutting planes of SVM-struct (Tsochantaridis et al. 2005). The minimum over a few
// planes may be far away. So w is the best that was seen, and planes are looked for on the way from there, too (Franc
// and Sonnenburg 2009). Many are drawn at once: the labellings that will have to share a sequence's dual variables are
// all nearly as good as the best of them (likely.hpp).
#pragma once

#include <array>
#include <utility>

#include "pegasos/proof/history.hpp"
#include "pegasos/structured/interior.hpp"
#include "pegasos/structured/likely.hpp"
#include "pegasos/structured/predict.hpp"
#include "pegasos/structured/rounding.hpp"

namespace pegasos::structured {

class Corrective {
 public:
  // sets: labellings to begin with, whose dual variables are replaced when it has converged; until then it has its own:
  // those of an interior point are all positive, and too many for steps on one sequence at a time. w: the best that is
  // known; its objective is the last of the history when a turn begins.
  Corrective(const Tagging& task, std::vector<WorkingSet>& sets, std::span<double> w, Team& team, Watch& watch,
             History& history, int64_t& visits)
      : task_(task),
        given_sets_(sets),
        w_(w),
        team_(team),
        watch_(watch),
        history_(history),
        visits_(visits),
        rounding_(task),
        interior_(task, sets_),
        pass_(Pieces(task.chains, task.layout.labels).work()),
        drawing_(Likely::price * double(task.chains.tokens() * task.layout.labels) *
                 double(task.layout.labels + int64_t(drawn))) {}

  // Operations since the last call.
  double take_spent() { return std::exchange(spent_, 0.0); }

  // Whether the weights are few enough.
  bool possible() {
    if (sets_.empty()) sets_ = given_sets_;
    return price() < price::never;
  }

  // Whether the rounds that it usually takes would cost no more than the fit has so far, in operations.
  bool cheap(double so_far) { return possible() && usual_rounds * price() <= so_far; }

  // A turn may cost as much as the fit has so far, in operations, and again each time that this has halved its own gap;
  // a quarter of that after a turn that has not. False: not even a few rounds are affordable.
  bool begin(double so_far) {
    if (sets_.empty()) sets_ = given_sets_;
    given_ = left_ = std::max(share_ * so_far, least_budget);
    if (least_rounds * price() > left_) return false;
    f_ = history_.last().objective;
    first_gap_ = begun_gap_ = f_ - own_;
    return true;
  }

  // Ends when the history has converged, after so many passes over all sequences, when the watch says stop, and where
  // the budget is used up. kept(): between two rounds; false: the fit ends.
  template <class Kept>
  void run(uint64_t seed, double max_epochs, const Kept& kept) {
    seed_ = seed;
    while (double(visits_) < max_epochs * double(task_.m()) && kept()) {
      const double cost = price();
      if (cost > left_) {
        share_ = f_ - own_ < pays * first_gap_ ? 1 : share_ / 4;
        return;
      }
      left_ -= cost, spent_ += cost;
      if (!round()) {  // what it has found belongs to the last line all the same
        if (f_ < history_.last().objective) history_.add(visits_, f_, history_.bound(), {.above = slack()});
        return;
      }
      if (history_.stopped()) return;
      if (history_.converged()) {
        given_sets_.swap(sets_);
        return;
      }
      if (const double gap = f_ - own_; gap < pays * begun_gap_) left_ = given_, begun_gap_ = gap;
    }
  }

  // All that the next round depends on, but for w, visits and the history, which are somebody else's.
  void visit(Snapshot& s) {
    bool begun = !sets_.empty();
    s.items(begun, round_, own_, share_, first_gap_, f_, given_, left_, spent_, begun_gap_);
    if (s.reads() && begun) sets_.resize(size_t(task_.m()));
    if (begun) visit_sets(s, task_, sets_, sum_);
  }

 private:
  static constexpr double least_budget = 3e7;  // 30 milliseconds
  static constexpr double least_rounds = 2, usual_rounds = 4;
  static constexpr uint64_t drawn = 20;  // labellings of a sequence in a round
  static constexpr double wider = 4;     // than those of a softened maximum with the same gap
  static constexpr int idle = 2;         // rounds that a labelling stays without any weight
  static constexpr double pays = 0.5;    // of a gap that is left
  static constexpr std::array<double, 4> places_on_the_way{0.01, 0.1, 0.3, 1.0};

  double price() { return interior_.price() + 2 * double(places_on_the_way.size()) * pass_ + drawing_; }

  // False: the watch says stop.
  bool round() {
    if (!look(w_)) return false;
    const double gap = f_ - history_.bound();
    if (!draw(gap)) return false;
    if (!interior_.run(w_, std::max(0.02 * gap, 0.02 * history_.tol()), team_, watch_)) return false;
    const double bound = dual();
    interior_.write(far_);
    const std::vector<double> from(w_.begin(), w_.end());
    for (const double part : places_on_the_way) {
      at_ = from;
      for (size_t j = 0; j < at_.size(); ++j) at_[j] += part * (far_[j] - from[j]);
      if (!look(at_)) return false;
    }
    for (WorkingSet& set : sets_) set.age(idle);
    own_ = std::max(own_, bound - slack());
    history_.note(visits_, f_, bound - slack());
    return watch_.look();
  }

  // Labellings that are near to the best at w are kept. False: the watch says stop.
  bool draw(double gap) {
    const double tokens = double(task_.chains.tokens()) / double(task_.m());
    const double tau = wider * gap / (0.3 * tokens * std::log(1 + double(task_.layout.labels)));
    const Stream draws = Stream(seed_).split(3).split(uint64_t(round_++));
    const Edges edges(task_.layout, task_.allowed, w_.data());
    labels_.resize(size_t(task_.chains.tokens()));
    for (int64_t i = 0; i < task_.m(); ++i) {
      const int64_t n = task_.chains.length(i), begin = task_.chains.begin(i);
      if (n == 0) continue;
      score_tokens(task_.emissions(), i, edges, w_.data(), 1, task_.costs.data(), task_.truth_of(i), scratch_);
      Likely likely(edges, n, scratch_, tau);
      for (uint64_t j = 0; j < drawn; ++j) {
        likely.draw(draws.split(j), uint64_t(begin), labels_.data() + begin);
        keep_labelling(task_, i, labels_.data() + begin, sets_[size_t(i)], sum_);
      }
      if (!watch_.go_on(int64_t(drawing_ / double(task_.m())))) return false;
    }
    return true;
  }

  // The labellings that are best at `at` are kept, and `at` where it is better than w.
  bool look(std::span<const double> at) {
    double f = 0;
    if (!hinge_of(task_, at, team_, watch_, labels_, f)) return false;
    visits_ += task_.m();
    for (int64_t i = 0; i < task_.m(); ++i)
      keep_labelling(task_, i, labels_.data() + task_.chains.begin(i), sets_[size_t(i)], sum_);
    if (f < f_ && at.data() != w_.data()) {
      f_ = f;
      std::copy(at.begin(), at.end(), w_.begin());
    }
    return true;
  }

  // What f(w) may be off by.
  double slack() const { return rounding_.objective(w_, task_.lam / 2 * norm2(w_)) + 0x1p-52 * double(task_.m()) * f_; }

  // What the dual variables prove, rounding counted.
  double dual() {
    far_.assign(w_.size(), 0.0);
    const auto m = double(task_.m());
    double cost = 0, terms = 0;
    for (int64_t i = 0; i < task_.m(); ++i)
      for (const Kept& kept : sets_[size_t(i)].kept()) {
        if (!(kept.alpha > 0)) continue;
        kept.axpy(kept.alpha * task_.weight(i) / (task_.lam * m), far_.data());
        cost += task_.weight(i) * kept.alpha * kept.cost / m;
        terms += 1;
      }
    const double penalty = task_.lam / 2 * norm2(far_);
    return cost - penalty - rounding_.objective(far_, penalty) - 0x1p-52 * terms * (cost + penalty);
  }

  const Tagging& task_;
  std::vector<WorkingSet>& given_sets_;
  std::vector<WorkingSet> sets_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  int64_t& visits_;
  Rounding rounding_;
  Interior interior_;
  double pass_, drawing_;  // operations
  std::vector<double> far_, at_;
  Scratch scratch_;
  uint64_t seed_ = 0;
  int64_t round_ = 0;  // of all turns
  std::vector<Label> labels_;
  SparseSum sum_;
  double f_ = 0;                             // of w
  double given_ = 0, left_ = 0, spent_ = 0;  // operations
  double own_ = 0;                           // the best bound of its own
  double share_ = 1;                         // of the work so far that a turn may take
  double first_gap_ = 0;                     // of its own when the turn began
  double begun_gap_ = 0;                     // when the budget was last renewed
};

}  // namespace pegasos::structured
