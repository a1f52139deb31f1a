// The list of losses. To add one:
//   1. copy hinge.hpp (classes) or epsilon_insensitive.hpp (numbers, and a parameter); the concept below names its
//   parts;
//   2. include it here and append it to Losses;
//   3. give it a row in src/pegasos/losses.py and a line in CHANGELOG.md.
// Solvers, certificates and contract tests pick it up from here.
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "epsilon_insensitive.hpp"
#include "hinge.hpp"
#include "log.hpp"
#include "squared_epsilon_insensitive.hpp"
#include "squared_hinge.hpp"

namespace pegasos {

// s: score, y: label, a: dual variable, minus a slope, so that w = sum_i s_i a_i x_i / (lam sum s).
//   bounded_slope  |slope| <= 1; otherwise Pegasos starts its steps later
//   smooth         the slope is continuous: Newton's method needs no proximal term
//   costly         value and conjugate take exponentials or logarithms
// Piecewise linear losses also have slope_at_minus_infinity and kinks (bias.hpp).
template <class L>
concept Loss = requires(const L loss, double s, double y, double a) {
  { L::name } -> std::convertible_to<const char*>;
  requires std::same_as<decltype(L::bounded_slope&& L::smooth&& L::costly), bool>;
  { loss.value(s, y) } -> std::same_as<double>;
  { loss.slope(s, y) } -> std::same_as<double>;
  { loss.conjugate(a, y) } -> std::same_as<double>;
  { loss.feasible(a, y) } -> std::same_as<double>;
  { loss.ascend(a, s, y, s) } -> std::same_as<double>;
  { loss.softness(a, y, s) } -> std::same_as<double>;
  { loss.violation(a, s, y) } -> std::same_as<double>;
  { loss.settled(a, s, y, s) } -> std::same_as<bool>;
};

template <Loss... L>
struct List {};
using Losses = List<Hinge, SquaredHinge, Log, EpsilonInsensitive, SquaredEpsilonInsensitive>;

namespace detail {
template <Loss L>
L make_loss(double parameter) {
  if constexpr (std::is_empty_v<L>)
    return L{};
  else
    return L{parameter};
}

template <class F, Loss... L>
void visit_loss(const std::string& name, double parameter, F&& f, List<L...>) {
  bool found = false;
  ((L::name == name ? (f(make_loss<L>(parameter)), found = true) : false), ...);
  if (found) return;
  std::string known;
  ((known += std::string(" ") + L::name), ...);
  throw std::invalid_argument("unknown loss '" + name + "'; known:" + known);
}
}  // namespace detail

// Calls f(loss) with the loss of that name; losses with a parameter take it.
template <class F>
void with_loss(const std::string& name, double parameter, F&& f) {
  detail::visit_loss(name, parameter, std::forward<F>(f), Losses{});
}

}  // namespace pegasos
