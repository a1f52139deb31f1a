// Parts of the core that tests look at one by one.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "certified.hpp"
#include "pegasos/linalg/scaled_vector.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/best_bias.hpp"
#include "pegasos/run/passes.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

struct Vector {
  std::vector<double> storage;
  ScaledVector w;
  explicit Vector(size_t d) : storage(d + 1), w(storage) {}
};

DenseRow<double> row_of(const Vector& w, const Vec<double>& x) {
  if (x.size() + 1 != w.storage.size()) throw std::invalid_argument("the row does not fit the vector");
  return {x.data(), int64_t(x.size()), 0};
}

// {value, slope, conjugate, feasible} of a loss.
std::vector<double> loss_at(const std::string& name, double s, double y, double a, double parameter) {
  std::vector<double> out;
  with_loss(name, {parameter},
            [&](const auto& l) { out = {l.value(s, y), l.slope(s, y), l.conjugate(a, y), l.feasible(a, y)}; });
  return out;
}

// What dual solvers ask of a loss at (a, s): {where ascend leads, softness there, violation, settled}, and for
// piecewise linear losses the ends and levels of the ways up and down.
std::vector<double> dual_step_at(const std::string& name, double a, double s, double y, double curvature, double slack,
                                 double parameter) {
  std::vector<double> out;
  with_loss(name, {parameter}, [&]<class L>(const L& l) {
    const double top = l.ascend(a, s, y, curvature);
    out = {top, l.softness(top, y, curvature), l.violation(a, s, y), double(l.settled(a, s, y, slack))};
    if constexpr (PiecewiseLinear<L>)
      for (const Way& way : {l.rise(a, y), l.fall(a, y)}) out.push_back(way.end), out.push_back(way.level);
  });
  return out;
}

// {value, conjugate, violation, settled}, slope, feasible a and the a that ascend finds, of a joint loss.
nb::tuple joint_loss_at(const std::string& name, Vec<double> s, int64_t y, Vec<double> a, Mat<double> costs,
                        double curvature, double slack) {
  const auto K = size_t(costs.shape(0));
  if (s.size() != K || a.size() != K || costs.shape(1) != K || y < 0 || size_t(y) >= K)
    throw std::invalid_argument("one score and one dual variable for each class");
  std::vector<double> numbers, slope(K), feasible(a.data(), a.data() + K), top(K);
  with_joint_loss(name, {0, int64_t(K), span_of(costs)}, [&](const auto& l) {
    l.slope(s.data(), y, slope.data());
    l.feasible(feasible.data(), y);
    l.ascend(feasible.data(), s.data(), y, curvature, top.data());
    numbers = {l.value(s.data(), y), l.conjugate(feasible.data(), y), l.violation(feasible.data(), s.data(), y),
               double(l.settled(feasible.data(), s.data(), y, slack))};
  });
  return nb::make_tuple(numbers, to_numpy(std::move(slope)), to_numpy(std::move(feasible)), to_numpy(std::move(top)));
}

// The b that minimises sum_i s_i loss(score_i + b, y_i), and how many kinks were looked at to find it.
nb::tuple best_bias_of(const std::string& name, Vec<double> scores, Vec<double> y, Vec<double> s) {
  if (y.size() != scores.size() || s.size() != scores.size()) throw std::invalid_argument("one label, one weight each");
  std::vector<Scored> rows;
  for (size_t i = 0; i < scores.size(); ++i) rows.push_back({scores.data()[i], y.data()[i], s.data()[i]});
  double b = 0;
  int64_t looks = 0;
  with_loss(name, {}, [&](const auto& loss) { b = best_bias(loss, rows, 0.0, &looks); });
  return nb::make_tuple(b, looks);
}

// As Problem.prove, with twice the digits.
nb::tuple certify_precisely_now(const PyProblem& problem, Vec<double> w, Vec<double> dual) {
  return as_tuple(certified(problem, w, dual, true, 1));
}

// What every loss declares of itself, by name.
template <class... L>
void declare(nb::dict& all, List<L...>) {
  const auto one = [&]<class One>(std::type_identity<One>) {
    nb::dict traits;
    traits["joint"] = JointLoss<One>;
    traits["bounded_slope"] = One::bounded_slope;
    traits["smooth"] = One::smooth;
    traits["takes_costs"] = requires(One l) { l.costs; };
    all[One::name] = traits;
  };
  (one(std::type_identity<L>{}), ...);
}

nb::dict declared_losses() {
  nb::dict all;
  declare(all, Losses{});
  declare(all, JointLosses{});
  return all;
}

}  // namespace

void bind_testing(nb::module_& m) {
  m.def(
      "parts_of", [](int64_t n, double each, double copied) { return Pass::over(n, each, copied).parts; }, "n"_a,
      "each"_a, "copied"_a = 0.0);
  m.def("certify_precisely", &certify_precisely_now, "problem"_a, "w"_a.noconvert(), "dual"_a.noconvert());
  m.def("declared_losses", &declared_losses);
  m.def("best_bias", &best_bias_of, "loss"_a, "scores"_a.noconvert(), "y"_a.noconvert(), "s"_a.noconvert());
  m.def("joint_loss_at", &joint_loss_at, "name"_a, "s"_a.noconvert(), "y"_a, "a"_a.noconvert(), "costs"_a.noconvert(),
        "curvature"_a = 1.0, "slack"_a = 0.0);
  m.def("dual_step_at", &dual_step_at, "name"_a, "a"_a, "s"_a, "y"_a, "curvature"_a, "slack"_a, "parameter"_a = 0.0);
  m.def("loss_at", &loss_at, "name"_a, "s"_a, "y"_a, "a"_a, "parameter"_a = 0.0);
  nb::class_<Vector>(m, "ScaledVector")
      .def(nb::init<size_t>(), "d"_a)
      .def("scale", [](Vector& v, double factor) { v.w.scale(factor); })
      .def(
          "add", [](Vector& v, Vec<double> x, double a) { v.w.add(row_of(v, x), a); }, "x"_a.noconvert(), "a"_a)
      .def(
          "add_keeping_norm",
          [](Vector& v, Vec<double> x, double a) {
            const auto row = row_of(v, x);
            v.w.add(row, a, v.w.dot(row));
          },
          "x"_a.noconvert(), "a"_a)
      .def("project", [](Vector& v, double radius) { v.w.project(radius); })
      .def(
          "dot", [](Vector& v, Vec<double> x) { return v.w.dot(row_of(v, x)); }, "x"_a.noconvert())
      .def("norm2", [](Vector& v) { return v.w.norm2(); })
      .def_prop_ro("c", [](Vector& v) { return v.w.c(); })
      .def("to_array", [](Vector& v) {
        std::vector<double> w(v.storage.begin(), v.storage.end() - 1);
        for (double& x : w) x *= v.w.c();
        return to_numpy(std::move(w));
      });
}
