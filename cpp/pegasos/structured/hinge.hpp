// Minimises f, the structured hinge of all sequences: by block-coordinate Frank-Wolfe, and where that crawls by
// softening the maximum, then by all labellings together where the weights are few. In: the problem, working sets to go
// on from, a w that may be better than theirs. Out: w, and a history whose last line belongs to it.
#pragma once

#include <optional>

#include "pegasos/structured/corrective.hpp"
#include "pegasos/structured/frank_wolfe.hpp"
#include "pegasos/structured/softened.hpp"

namespace pegasos::structured {

struct HingeOptions {
  double max_epochs = std::numeric_limits<double>::infinity();
  uint64_t seed = 0;
  double at_zero = std::numeric_limits<double>::infinity();  // f(0)
  Snapshots snapshots = {};
};

// More epochs of Frank-Wolfe to come than this, and softening has its turn. On tables it is done after 20 to 100 passes
// where Frank-Wolfe would take thousands; on text, where few labels are in doubt, Frank-Wolfe is done earlier
// (CoNLL-2000: after 12 and 30 epochs at 1e-2 and 1e-3).
//
// Everybody counts the operations of what it does, on these very data, and a turn may take as many as the fit has so
// far: a fit takes little more than twice the work of the best of them. What has halved the gap in its turn goes on.
// Frank-Wolfe, whose pace is often better than it promises, has a part of that, which halves each time that it has
// gained nothing. Where neither has gained, all labellings together may take three times as much, up to two seconds.
inline constexpr double patience = 100;
inline constexpr double paying = 0.5, gaining = 0.8;  // of the gap that is left
inline constexpr double first_share = 0.25, least_share = 1.0 / 16;
inline constexpr double seconds = 2e9, up_to_times = 3;
// What the first turn of softening may take whatever came before: so many of its passes, each so many times Viterbi,
// on tables where all of that is a few hundred milliseconds at most.
inline constexpr double first_turn = 60, of_a_pass = 8, cheap_turn = 3e8;

class Hinge {
 public:
  Hinge(const Tagging& task, const HingeOptions& options, std::vector<WorkingSet>& sets, std::span<double> w,
        Team& team, Watch& watch, History& history, int64_t& visits)
      : task_(task),
        o_(options),
        w_(w),
        team_(team),
        watch_(watch),
        history_(history),
        visits_(visits),
        ascent_(task, sets, w, team, watch, history, visits),
        corrective_(task, sets, w, team, watch, history, visits),
        work_(Pieces(task.chains, task.layout.labels).work()) {}

  void run() {
    turns();
    if (!history_.empty()) not_above_zero();
  }

 private:
  enum class Who { ascent, softened, corrective };

  // A fit that was stopped early may be worse than no weights at all.
  void not_above_zero() {
    if (!(history_.last().objective > o_.at_zero)) return;
    std::fill(w_.begin(), w_.end(), 0.0);
    history_.add(visits_, o_.at_zero, history_.bound(), {});
  }

  void turns() {
    if (!o_.snapshots.restore([this](Snapshot& s) { visit(s); })) ascent_.begin(o_.seed, patience, 0);
    const auto kept = [this] { return this->kept(); };
    for (;;) {
      if (who_ == Who::ascent) {
        ascent_.run(o_.max_epochs, kept);
        spent_ += ascent_.take_spent();
        if (ascent_ends()) return;
        begin_softening();
      }
      if (who_ == Who::softened) {
        softened_->run(o_.seed, o_.max_epochs, kept);
        spent_ += softened_->take_spent();
        if (over()) return;
        const bool paid = gap() < paying * gap_;
        if (paid && softened_->goes_on() && !corrective_.cheap(spent_)) {
          begin_softening();
          continue;
        }
        const double more = paid || share_ == 1 ? 0 : std::min(up_to_times * spent_, seconds);
        if (corrective_.begin(std::max(spent_, more))) who_ = Who::corrective;
      }
      if (who_ == Who::corrective) {
        corrective_.run(o_.seed, o_.max_epochs, kept);
        spent_ += corrective_.take_spent();
        if (over()) return;
        softened_->better(history_.last().objective);
      }
      begin_ascent();
    }
  }

  bool over() {
    return history_.converged() || history_.stopped() || !watch_.look() ||
           double(visits_) >= o_.max_epochs * double(task_.m());
  }

  // Whether that was the end of the fit. w is the better one of what Frank-Wolfe began and ended with.
  bool ascent_ends() {
    if (!softened_) return !ascent_.crawls() || history_.stopped();
    if (history_.converged()) return true;
    if (history_.last().objective <= objective_ && !watch_.interrupted()) {
      softened_->better(history_.last().objective);
    } else {
      std::copy(best_.begin(), best_.end(), w_.begin());
      history_.add(visits_, objective_, history_.bound(), {});
    }
    ++round_;
    share_ = gap() < gaining * gap_ ? 1 : std::max(share_ / 2, least_share);
    return !ascent_.crawls() || over();
  }

  void begin_softening() {
    if (!softened_) softened_.emplace(task_, w_, team_, watch_, history_, visits_);
    softened_->allow(std::max(spent_, std::min(cheap_turn, first_turn * of_a_pass * work_)));
    gap_ = gap();
    who_ = Who::softened;
  }

  double gap() const { return history_.last().objective - history_.bound(); }

  void begin_ascent() {
    best_.assign(w_.begin(), w_.end());
    objective_ = history_.last().objective;
    gap_ = gap();
    constexpr double forever = std::numeric_limits<double>::infinity();
    const bool others = softened_->goes_on() || corrective_.possible();
    ascent_.begin(o_.seed + round_, others ? patience : forever, share_ * spent_);
    who_ = Who::ascent;
  }

  bool kept() {
    if (o_.snapshots.keep_if_due([this](Snapshot& s) { visit(s); })) return true;
    watch_.interrupt();
    return false;
  }

  void visit(Snapshot& s) {
    history_.visit(s);
    bool has_softened = softened_.has_value();
    s.items(visits_, who_, round_, share_, gap_, objective_, spent_, has_softened);
    s.numbers(w_);
    s.numbers(best_);
    s.expect((best_.empty() || best_.size() == w_.size()) && (!has_softened || !history_.empty()) &&
             (has_softened || who_ == Who::ascent));
    ascent_.visit(s);
    corrective_.visit(s);
    if (s.reads() && has_softened) softened_.emplace(task_, w_, team_, watch_, history_, visits_);
    if (has_softened) softened_->visit(s);
  }

  const Tagging& task_;
  const HingeOptions& o_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  int64_t& visits_;
  FrankWolfe ascent_;
  std::optional<Softened> softened_;
  Corrective corrective_;
  double work_;       // of a pass of Viterbi, in operations
  double spent_ = 0;  // in operations
  Who who_ = Who::ascent;
  uint64_t round_ = 1;
  double share_ = first_share;  // of the work so far that Frank-Wolfe may take
  double gap_ = 0;              // when the turn began
  std::vector<double> best_;    // w before this turn of Frank-Wolfe, of this objective
  double objective_ = 0;
};

}  // namespace pegasos::structured
