// The list of losses. To add one:
//   1. copy hinge.hpp, give it its name, value, slope, conjugate, feasible, ascend, softness, violation and settled;
//   2. include it here and append it to Losses;
//   3. give it a row in src/pegasos/losses.py and a line in CHANGELOG.md.
// Solvers, certificates and contract tests pick it up from here.
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>

#include "hinge.hpp"

namespace pegasos {

// s: score, y: label, a: dual variable, minus a slope, so that w = sum_i s_i a_i x_i / (lam sum s).
template <class L>
concept Loss = requires(const L loss, double s, double y, double a) {
  { L::name } -> std::convertible_to<const char*>;
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
using Losses = List<Hinge>;

namespace detail {
template <class F, Loss... L>
void visit_loss(const std::string& name, F&& f, List<L...>) {
  bool found = false;
  ((L::name == name ? (f(L{}), found = true) : false), ...);
  if (found) return;
  std::string known;
  ((known += std::string(" ") + L::name), ...);
  throw std::invalid_argument("unknown loss '" + name + "'; known:" + known);
}
}  // namespace detail

// Calls f(loss) with the loss of that name.
template <class F>
void with_loss(const std::string& name, F&& f) {
  detail::visit_loss(name, std::forward<F>(f), Losses{});
}

}  // namespace pegasos
