// The solvers as plain functions of one loss each. What is behind them is compiled once a loss, in a file of its own:
// solve.cpp.in and CMakeLists.txt.
#pragma once

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/dual/options.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/pegasos/options.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/run/team.hpp"

namespace pegasos {

template <AnyLoss L>
Fit solve_pegasos(const Problem<AnyRows>& p, const L& loss, const PegasosOptions& options, PegasosState& state,
                  Team& team, Watch& watch, const Report& report);

template <AnyLoss L>
Fit solve_dual(const Problem<AnyRows>& p, const L& loss, const DualOptions& options, DualState& state, Team& team,
               Watch& watch, const Report& report);

}  // namespace pegasos
