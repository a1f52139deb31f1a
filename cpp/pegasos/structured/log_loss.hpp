// Minimises f, the log loss of all sequences: first steps, then Newton's method. In: the problem, a w. Out: w, and a
// history whose last line belongs to it.
#pragma once

#include <limits>
#include <optional>

#include "pegasos/structured/first_steps.hpp"
#include "pegasos/structured/newton.hpp"

namespace pegasos::structured {

struct LogLossOptions {
  double max_epochs = std::numeric_limits<double>::infinity();
  uint64_t seed = 0;
  bool from_start = false;  // w is a point to go on from: no first steps
  double at_zero = 0;       // f(0)
  Snapshots snapshots = {};
};

class LogLoss {
 public:
  LogLoss(const Tagging& task, const LogLossOptions& options, std::span<double> w, Team& team, Watch& watch,
          History& history, int64_t& visits)
      : task_(task), o_(options), w_(w), team_(team), watch_(watch), history_(history), visits_(visits) {}

  void run() {
    if (!o_.snapshots.restore([this](Snapshot& s) { visit(s); })) o_.from_start ? go_on() : begin();
    const auto kept = [this] {
      if (o_.snapshots.keep_if_due([this](Snapshot& s) { visit(s); })) return true;
      watch_.interrupt();
      return false;
    };
    if (first_) {
      first_->run(w_, team_, watch_, visits_, kept);
      go_on();
    }
    if (watch_.look()) newton_->run(o_.at_zero, o_.max_epochs, visits_, kept);
    if (watch_.interrupted() || !history_.empty()) return;
    watch_.forgive_time();  // what there is shall have its proof, and no more
    newton_->run(o_.at_zero, 0, visits_, kept);
  }

 private:
  void begin() { first_.emplace(task_, o_.seed); }
  void go_on() {
    first_.reset();  // nobody needs the memory of both
    likelihood_.emplace(task_);
    newton_.emplace(*likelihood_, w_, o_.seed, team_, watch_, history_);
  }

  void visit(Snapshot& s) {
    bool is_first = first_.has_value();
    s.items(is_first, visits_);
    s.numbers(w_);
    history_.visit(s);
    if (s.reads()) is_first ? begin() : go_on();
    is_first ? first_->visit(s) : newton_->visit(s);
  }

  const Tagging& task_;
  const LogLossOptions& o_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  int64_t& visits_;
  std::optional<FirstSteps> first_;
  std::optional<Likelihood> likelihood_;
  std::optional<Newton> newton_;
};

}  // namespace pegasos::structured
