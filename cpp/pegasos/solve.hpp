// The solvers as plain functions of one loss each. What is behind them is compiled once a loss, in a file of its own:
// solve.cpp.in and CMakeLists.txt.
#pragma once

#include <functional>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/dual/options.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/pegasos/options.hpp"
#include "pegasos/run/team.hpp"

namespace pegasos {

using Report = std::function<bool(const Checkpoint&)>;  // hears of every line of history; false: stop

template <AnyLoss L>
PegasosFit solve_pegasos(const Problem<AnyRows>& p, const L& loss, const PegasosOptions& options, PegasosState& state,
                         Team& team, Watch& watch, const Report& report);

template <AnyLoss L>
DualFit solve_dual(const Problem<AnyRows>& p, const L& loss, const DualOptions& options, DualState& state, Team& team,
                   Watch& watch, const Report& report);

}  // namespace pegasos
