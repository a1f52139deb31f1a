// A loss of the user's own: the core asks, Python answers.
#pragma once

#include <nanobind/nanobind.h>

#include "pegasos/pegasos/options.hpp"
#include "pegasos/proof/history.hpp"
#include "problem.hpp"

// answers: an `Answers` of src/pegasos/solvers/own.py. What it raises is kept by `outside`, and ends the fit.
pegasos::Fit solve_own(const PyProblem& problem, const nb::object& answers, const pegasos::PegasosOptions& options,
                       pegasos::PegasosState& state, int threads, pegasos::Watch& watch, PyWatch& outside);
