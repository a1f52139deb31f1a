// The list of losses. To add one:
//   1. copy hinge.hpp (classes) or epsilon_insensitive.hpp (numbers, and a parameter); the concept below names its
//   parts;
//   2. include it here and append it to Losses;
//   3. give it a LossSpec in src/pegasos/losses/ and a line in CHANGELOG.md.
// Solvers, certificates and contract tests pick it up from here.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "pegasos/loss/epsilon_insensitive.hpp"
#include "pegasos/loss/hinge.hpp"
#include "pegasos/loss/log.hpp"
#include "pegasos/loss/multiclass_hinge.hpp"
#include "pegasos/loss/multinomial.hpp"
#include "pegasos/loss/squared_epsilon_insensitive.hpp"
#include "pegasos/loss/squared_hinge.hpp"

namespace pegasos {

// s: score, y: label, a: dual variable, minus a slope: w = sum_i p_i a_i x_i / lam, p_i the row's share of the weight.
//   bounded_slope  |slope| <= 1; otherwise Pegasos starts its steps later
//   smooth         the slope is continuous: Newton's method needs no proximal term
//   costly         value and conjugate take exponentials or logarithms
// ascend finds the best dual variable for a row alone; softness is minus the derivative of that by the score, an entry
// of the generalised Hessian, 0 where a bound holds the row; violation is the projected gradient of a dual variable, in
// units of the margin; it is settled at a bound that it is not about to leave.
// Piecewise linear losses also have slope_at_minus_infinity and kinks (proof/best_bias.hpp), rise and fall
// (kernel/climb.hpp).
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

// The same of K scores, one a class: s, a and what is written are blocks of K numbers, y is a class code. A dual block
// sums to zero. `softness` writes the D of the Jacobian D - D D^T / sum(D), which all of them have in common.
template <class L>
concept JointLoss = requires(const L loss, const double* s, int64_t y, double* a) {
  { L::name } -> std::convertible_to<const char*>;
  requires std::same_as<decltype(L::bounded_slope&& L::smooth&& L::costly), bool>;
  { loss.width() } -> std::same_as<int64_t>;
  { loss.value(s, y) } -> std::same_as<double>;
  { loss.slope(s, y, a) } -> std::same_as<void>;
  { loss.conjugate(s, y) } -> std::same_as<double>;
  { loss.feasible(a, y) } -> std::same_as<void>;
  { loss.ascend(s, s, y, 1.0, a) } -> std::same_as<void>;
  { loss.softness(s, y, 1.0, a) } -> std::same_as<void>;
  { loss.violation(s, s, y) } -> std::same_as<double>;
  { loss.settled(s, s, y, 1.0) } -> std::same_as<bool>;
};

template <class L>
concept AnyLoss = Loss<L> || JointLoss<L>;

template <AnyLoss... L>
struct List {};
using Losses = List<Hinge, SquaredHinge, Log, EpsilonInsensitive, SquaredEpsilonInsensitive>;
using JointLosses = List<MulticlassHinge, Multinomial>;

// What losses are made from; each takes what it has.
struct LossParameters {
  double number = 0;
  int64_t classes = 0;
  std::span<const double> costs = {};
};

namespace detail {
template <AnyLoss L>
L make_loss(const LossParameters& given) {
  if constexpr (requires { L{given.classes, given.costs}; })
    return L{given.classes, given.costs};
  else if constexpr (JointLoss<L>)
    return L{given.classes};
  else if constexpr (std::is_empty_v<L>)
    return L{};
  else
    return L{given.number};
}

template <class F, AnyLoss... L>
bool visit_loss(const std::string& name, const LossParameters& given, F& f, List<L...>) {
  bool found = false;
  ((L::name == name ? (f(make_loss<L>(given)), found = true) : false), ...);
  return found;
}

template <AnyLoss... L>
std::string names(List<L...>) {
  return ((std::string(" ") + L::name) + ...);
}
}  // namespace detail

// Calls f(loss) with the loss of one score of that name.
template <class F>
void with_loss(const std::string& name, const LossParameters& given, F&& f) {
  if (!detail::visit_loss(name, given, f, Losses{}))
    throw std::invalid_argument("unknown loss '" + name + "'; known:" + detail::names(Losses{}));
}

// The same for losses of one score a class.
template <class F>
void with_joint_loss(const std::string& name, const LossParameters& given, F&& f) {
  if (!detail::visit_loss(name, given, f, JointLosses{}))
    throw std::invalid_argument("unknown joint loss '" + name + "'; known:" + detail::names(JointLosses{}));
}

}  // namespace pegasos
