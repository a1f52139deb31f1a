// The dual variables of the structured hinge as plain numbers, for a later fit to go on with: so many labellings of
// each sequence, with their weights, the labels one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "pegasos/structured/tagging.hpp"
#include "pegasos/structured/working_set.hpp"

namespace pegasos::structured {

struct DualSets {
  std::vector<int32_t> count;
  std::vector<double> alpha;
  std::vector<Label> labels;

  // Those that have weight; the truth has what they leave.
  void read(const std::vector<WorkingSet>& sets) {
    count.clear(), alpha.clear(), labels.clear();
    for (const WorkingSet& set : sets) {
      int32_t n = 0;
      for (const Kept& kept : set.kept()) {
        if (!(kept.alpha > 0)) continue;
        ++n;
        alpha.push_back(kept.alpha);
        labels.insert(labels.end(), kept.labels.begin(), kept.labels.end());
      }
      count.push_back(n);
    }
  }

  // Feasible whatever the numbers: those of a sequence are at least zero, and at most one in all. Nothing known: the
  // truth alone.
  std::vector<WorkingSet> sets(const Tagging& task) const {
    std::vector<WorkingSet> sets(size_t(task.m()));
    if (count.empty()) return sets;
    if (count.size() != sets.size()) throw std::invalid_argument("dual variables of other sequences");
    SparseSum sum;
    size_t at = 0, label = 0;
    for (int64_t i = 0; i < task.m(); ++i) {
      const auto n = size_t(task.chains.length(i));
      double left = 1;
      for (int32_t j = 0; j < count[size_t(i)]; ++j, ++at, label += n) {
        if (at >= alpha.size() || label + n > labels.size()) throw std::invalid_argument("dual variables are missing");
        const Label* const y = labels.data() + label;
        if (std::any_of(y, y + n, [&](Label k) { return k >= task.layout.labels; }))
          throw std::invalid_argument("a label that does not exist");
        const double a = std::min(alpha[at], left);
        if (!(a > 0)) continue;
        left -= a;
        WorkingSet& set = sets[size_t(i)];
        set.set_alpha(set.add(task.chains, i, task.layout, task.truth_of(i), y, cost_of(task, i, y), sum), a);
      }
    }
    return sets;
  }
};

}  // namespace pegasos::structured
