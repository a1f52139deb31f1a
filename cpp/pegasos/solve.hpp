// The solvers as plain functions of one loss each. What is behind them is compiled once a loss, in a file of its own:
// solve.cpp.in and CMakeLists.txt.
#pragma once

#include <functional>

#include "any_rows.hpp"
#include "dual_options.hpp"
#include "loss/all.hpp"
#include "pegasos_options.hpp"
#include "problem.hpp"
#include "team.hpp"

namespace pegasos {

using Report = std::function<bool(const Checkpoint&)>;  // hears of every line of history; false: stop

template <AnyLoss L>
PegasosFit solve_pegasos(const Problem<AnyRows>& p, const L& loss, const PegasosOptions& options, PegasosState& state,
                         Team& team, Watch& watch, const Report& report);

template <AnyLoss L>
DualFit solve_dual(const Problem<AnyRows>& p, const L& loss, const DualOptions& options, DualState& state, Team& team,
                   Watch& watch, const Report& report);

}  // namespace pegasos
