// How Pegasos is to step, sample and stop; the state it goes on from; what it hands back beside that.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/data/sampler.hpp"
#include "pegasos/pegasos/steps.hpp"
#include "pegasos/run/snapshot.hpp"

namespace pegasos {

struct PegasosOptions {
  int64_t k = 1;
  Sampling sampling = Sampling::blocks;
  uint64_t seed = 0;
  int64_t steps = 0;        // the last step to take in this call, counted from the first step ever
  double tol = 0;           // absolute
  bool to_the_end = false;  // take all steps whatever the gap, certify once
  bool one_pass = false;    // partial_fit: each row once, the last batch may be short, no certificate
  bool certify = true;      // false: no certificate, and rows are checked when they are drawn
  Steps eta = {};
  bool from_start = false;  // w_1 is not zero
  double radius = 0;        // project onto this ball after every step; 0: do not
  double bias_start = 1;    // the part of its own step 1 that a constant feature takes, later more; 1: always all
  double bias_late = 0;     // where its steps begin, if they are its own: at least eta.late
  bool batch_bias = false;  // eq. 24: each batch with the b that suits it best
  bool fixed_bias = false;  // b stays as it is: one point of the search of eq. 25
  bool on_loss = false;     // t advances, and w moves, only in steps with a loss
  double tail = 0;          // average the last part of the steps: 1 for all, 0 for the last iterate alone
  std::vector<int64_t> tries = {};  // evaluate the objective at these steps and return the best; ascending
  int64_t sample = 0;               // rows for that evaluation; 0: all
  double known = std::numeric_limits<double>::infinity();  // a value that f is known to reach, such as f(0)

  // Whether early iterates fade from the average of all: in a stream nobody passes the rows again.
  bool fades() const { return one_pass && tail == 1; }

  // Of the step after t of them. Pick numbers run on over calls. In one pass over rows that will not come back every
  // call has an epoch of its own. Independent draws and subsets know no epochs: however steps are cut into calls, their
  // draws are the same.
  uint64_t first_pick(int64_t t, int64_t m) const {
    const bool own_epoch = one_pass && sampling != Sampling::subsets && sampling != Sampling::iid;
    return uint64_t(t) * uint64_t(own_epoch ? m : k);
  }

  // How many times the slope of row i counts: i.i.d. draws follow the weights; the other orders see each row once an
  // epoch.
  double share(const auto& problem, int64_t i) const {
    if (sampling == Sampling::iid || problem.s.empty()) return 1;
    return problem.s[size_t(i)] * double(problem.m()) / problem.total;
  }

  // The part of step t that a constant feature takes, which moves the scores of all rows at once: all of it in the end.
  // Its own steps are those of rows of length 1 at least, 1/(lam (t + bias_late)), however short the rows are.
  double bias_part(int64_t t) const {
    if (bias_start == 1) return 1;
    const double n = double(t) + bias_late;
    return (double(t) + bias_start * bias_late) / n * ((double(t) + eta.late) / n);
  }
};

struct PegasosState {
  std::span<double> v;       // w = c * v
  std::span<double> counts;  // what each row added to v: w = c * sum_i counts_i x_i, if started from zero; empty:
                             // nobody wants to know
  std::span<double> out;     // the weights to return, the bias last
  std::span<double> B = {};  // of the average; empty: none
  double c = 1;
  int64_t t = 0;     // steps taken
  int64_t hits = 0;  // those with a loss
  double b = 0;      // free bias; a joint loss has its own in the last block of out
  double C = 0;      // of the average, with the weight of the iterates in it
  double averaged = 0;
  Snapshots snapshots = {};
};

}  // namespace pegasos
