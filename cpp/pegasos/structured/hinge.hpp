// Minimises f, the structured hinge of all sequences: by block-coordinate Frank-Wolfe, and where that crawls by
// softening the maximum. In: the problem, working sets to go on from, a w that may be better than theirs. Out: w, and a
// history whose last line belongs to it.
#pragma once

#include "pegasos/structured/frank_wolfe.hpp"
#include "pegasos/structured/softened.hpp"

namespace pegasos::structured {

struct HingeOptions {
  double max_epochs = std::numeric_limits<double>::infinity();
  uint64_t seed = 0;
};

// More epochs of Frank-Wolfe to come than this, and softening has its turn, of so many passes. On tables it is done
// after 20 to 60 where Frank-Wolfe would take thousands; on text, where few labels are in doubt, Frank-Wolfe is done
// earlier (CoNLL-2000: after 12 and 30 epochs at 1e-2 and 1e-3). If it has not got there in its turn, Frank-Wolfe has
// the next, whatever its pace promises: that is often too pessimistic. Turns grow, so that a fit takes little more than
// twice the epochs of the better of the two.
inline constexpr double patience = 100;
inline constexpr double first_turn = 60;
inline constexpr double cheaper = 4;  // an epoch of Frank-Wolfe than a pass of Newton's method with its products

inline void minimise_hinge(const Tagging& task, const HingeOptions& options, std::vector<WorkingSet>& sets,
                           std::span<double> w, Team& team, Watch& watch, History& history, int64_t& visits) {
  const auto m = double(task.m());
  FrankWolfe ascent(task, sets, w, team, watch, history, visits);
  ascent.run(options.seed, options.max_epochs, patience, 0);
  if (!ascent.crawls() || history.stopped()) return;
  Softened softened(task, w, team, watch, history, visits);
  const auto over = [&] {
    return history.converged() || history.stopped() || !watch.look() || double(visits) >= options.max_epochs * m;
  };
  double turn = first_turn;
  for (uint64_t round = 1;; ++round, turn *= 2) {
    softened.run(options.seed, std::min(options.max_epochs, double(visits) / m + turn));
    if (over()) return;
    const std::vector<double> best(w.begin(), w.end());
    const double objective = history.last().objective;
    constexpr double forever = std::numeric_limits<double>::infinity();
    ascent.run(options.seed + round, options.max_epochs, softened.goes_on() ? patience : forever,
               int64_t(cheaper * turn * m));
    if (history.converged()) return;
    if (history.last().objective <= objective && !watch.interrupted()) {
      softened.better(history.last().objective);
    } else {
      std::copy(best.begin(), best.end(), w.begin());
      history.add(visits, objective, history.bound(), {});
    }
    if (!ascent.crawls() || over()) return;
  }
}

}  // namespace pegasos::structured
