// The solvers and the certificate as plain functions of one loss each. What is behind them is compiled once a loss, two
// or three losses to a file: solve.cpp.in and CMakeLists.txt.
#pragma once

#include <optional>
#include <span>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/dual/options.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/pegasos/options.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/run/team.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

template <AnyLoss L>
Fit solve_pegasos(const Problem<AnyRows>& p, const L& loss, const PegasosOptions& options, PegasosState& state,
                  Team& team, Watch& watch, const Report& report);

template <AnyLoss L>
Fit solve_dual(const Problem<AnyRows>& p, const L& loss, const DualOptions& options, DualState& state, Team& team,
               Watch& watch, const Report& report);

// f(w), and D(a) of the feasible dual variables next to `dual`; with twice the digits where asked. Nothing when
// interrupted.
template <AnyLoss L>
std::optional<Certificate> prove(const Problem<AnyRows>& p, const L& loss, std::span<const double> w,
                                 std::span<const double> dual, bool precisely, Team& team, Watch& watch);

// f(w) alone, with the best b where that is free.
template <AnyLoss L>
std::optional<double> value_of(const Problem<AnyRows>& p, const L& loss, std::span<const double> w, Team& team,
                               Watch& watch);

// The mean loss of the best constant score, for losses of one score; 0 for others.
template <AnyLoss L>
double constant_value(const Problem<AnyRows>& p, const L& loss);

}  // namespace pegasos
