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

// More epochs of Frank-Wolfe to come than this, and softening has its turn, of so many passes. On tables it is done
// after 20 to 60 where Frank-Wolfe would take thousands; on text, where few labels are in doubt, Frank-Wolfe is done
// earlier (CoNLL-2000: after 12 and 30 epochs at 1e-2 and 1e-3). If it has not got there in its turn, Frank-Wolfe has
// the next, whatever its pace promises: that is often too pessimistic. A turn costs as much as the fit has so far, so
// that a fit takes little more than twice the work of the better of the two; on tables, where all of that takes
// milliseconds, it may cost more.
inline constexpr double patience = 100;
inline constexpr double first_turn = 60;
inline constexpr double cheap_turn = 3e8, shortest_turn = 4;  // operations, passes
// Passes of Viterbi that cost as much, measured on tables of 40 to 100 sequences: an epoch of Frank-Wolfe with its
// steps on what is kept, a pass of Newton's method with its products.
inline constexpr double of_an_epoch = 5, of_a_newton_pass = 20;
inline constexpr double cheaper = 4;  // an epoch of Frank-Wolfe than a pass of Newton's method with its products

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
        charge(of_an_epoch);
        if (ascent_ends()) return;
        begin_softening();
      }
      if (who_ == Who::softened) {
        softened_->run(o_.seed, limit_, kept);
        charge(of_a_newton_pass);
        if (over()) return;
        if (corrective_.begin(spent_)) who_ = Who::corrective;
      }
      if (who_ == Who::corrective) {
        corrective_.run(o_.max_epochs, kept);
        spent_ += corrective_.take_spent();
        charged_ = visits_;
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
    ++round_, turn_ *= 2;
    return !ascent_.crawls() || over();
  }

  // Counts what the visits since the last call have cost, if each was so many times Viterbi.
  void charge(double times) {
    spent_ += times * work_ * double(visits_ - charged_) / double(task_.m());
    charged_ = visits_;
  }

  void begin_softening() {
    if (!softened_) softened_.emplace(task_, w_, team_, watch_, history_, visits_);
    const double affordable = std::max(spent_, cheap_turn) / (of_a_newton_pass * work_);
    passes_ = std::clamp(affordable, shortest_turn, std::max(turn_, shortest_turn));
    limit_ = std::min(o_.max_epochs, double(visits_) / double(task_.m()) + passes_);
    who_ = Who::softened;
  }

  void begin_ascent() {
    best_.assign(w_.begin(), w_.end());
    objective_ = history_.last().objective;
    constexpr double forever = std::numeric_limits<double>::infinity();
    ascent_.begin(o_.seed + round_, softened_->goes_on() ? patience : forever,
                  int64_t(cheaper * passes_ * double(task_.m())));
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
    s.items(visits_, who_, round_, turn_, passes_, limit_, objective_, spent_, charged_, has_softened);
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
  double work_;          // of a pass of Viterbi, in operations
  double spent_ = 0;     // in operations
  int64_t charged_ = 0;  // visits that are counted in it
  Who who_ = Who::ascent;
  uint64_t round_ = 1;
  double turn_ = first_turn, passes_ = 0, limit_ = 0;
  std::vector<double> best_;  // w before this turn of Frank-Wolfe, of this objective
  double objective_ = 0;
};

}  // namespace pegasos::structured
