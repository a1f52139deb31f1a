// What a dual solver is told, what it works on, and what it hands back.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>

#include "pegasos/data/sampler.hpp"
#include "pegasos/dual/tally.hpp"
#include "pegasos/run/snapshot.hpp"

namespace pegasos {

struct DualOptions {
  Sampling sampling = Sampling::blocks;
  uint64_t seed = 0;
  bool shrinking = true;
  bool pegasos_first = false;  // Auto: the first epoch from zero is Pegasos
  bool second_order = false;   // Auto: Newton's method where it is cheaper
  double tol = 0;              // absolute
  double max_epochs = 0;
  int replicas = 0;      // of coordinate ascent; 0: as suits the problem, two or one (dual/replicas.hpp)
  bool new_lam = false;  // the dual variables come from another lam: begin with the best part of them
  // With second_order: the last digits, where they cost no more than this part of what nobody would notice.
  double polish = 1;
  // Where coordinate ascent keeps arrays as long as the rows.
  std::pmr::memory_resource* per_row = std::pmr::new_delete_resource();
};

struct DualState {
  std::span<double> a;              // dual variables, feasible
  std::span<double> w;              // out: the weights whose objective is reported; in: a free bias to go on from, last
  int64_t visits = 0;               // of rows, in this fit
  double operations = 0;            // out: all work, counted (run/meter.hpp)
  int replicas = 1;                 // out: how many there were
  CriticalPath critical_path = {};  // out
  Snapshots snapshots = {};
};

}  // namespace pegasos
