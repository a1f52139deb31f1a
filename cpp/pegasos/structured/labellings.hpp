// What is done to the working sets of all sequences of a problem.
#pragma once

#include <algorithm>
#include <vector>

#include "pegasos/structured/tagging.hpp"
#include "pegasos/structured/working_set.hpp"

namespace pegasos::structured {

// A labelling of sequence i, the truth excepted, is kept.
inline void keep_labelling(const Tagging& task, int64_t i, const Label* labels, WorkingSet& set, SparseSum& sum) {
  const Label* truth = task.truth_of(i);
  if (!std::equal(labels, labels + task.chains.length(i), truth))
    set.add(task.chains, i, task.layout, truth, labels, cost_of(task, i, labels), sum);
}

inline void visit_sets(Snapshot& s, const Tagging& task, std::vector<WorkingSet>& sets, SparseSum& sum) {
  for (int64_t i = 0; i < task.m(); ++i)
    sets[size_t(i)].visit(
        s, task.chains, i, task.layout, task.truth_of(i), [&](const Label* labels) { return cost_of(task, i, labels); },
        sum);
}

}  // namespace pegasos::structured
