// The systems as Python sees them. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "dca.hpp"
#include "kernel_stochastic.hpp"
#include "lasvm.hpp"
#include "svm_light.hpp"
#include "svm_perf.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace paper;

namespace {

template <class T>
using Vec = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vec<T>& array) {
  return {array.data(), array.size()};
}

// Holds the arrays, so that the views stay valid.
struct PyRows {
  Vec<float> value;
  Vec<int32_t> column;
  Vec<int64_t> start;
  Vec<double> y;
  Rows rows;
  PyRows(Vec<float> v, Vec<int32_t> c, Vec<int64_t> s, Vec<double> labels, int64_t features)
      : value(v), column(c), start(s), y(labels), rows(span_of(v), span_of(c), span_of(s), span_of(labels), features) {}
};

nb::object array_of(const std::vector<double>& values) {
  auto kept = std::make_unique<std::vector<double>>(values);
  double* data = kept->data();
  const size_t size = kept->size();
  nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(data, {size}, owner));
}

// What all systems answer.
template <class System>
nb::class_<System> bind(nb::module_& m, const char* name) {
  auto bound = nb::class_<System>(m, name);
  bound.def(
      "advance",
      [](System& system, double seconds, int64_t steps) {
        nb::gil_scoped_release nogil;
        advance(system, seconds, steps);
      },
      "seconds"_a, "steps"_a = INT64_MAX, "Work on for so long, or so many steps; stops earlier when it has ended.");
  bound.def_prop_ro("seconds", [](System& system) { return system.spent().seconds; });
  bound.def_prop_ro("steps", [](System& system) { return system.spent().steps; });
  bound.def_prop_ro("ended", [](System& system) { return system.spent().ended; });
  bound.def("weights", [](const System& system) { return array_of(system.weights()); });
  return bound;
}

template <class System>
nb::class_<System> bind_kernel(nb::module_& m, const char* name) {
  auto bound = bind<System>(m, name);
  bound.def_prop_ro("evaluations", &System::evaluations);
  return bound;
}

void check(double lam, double gamma) {
  if (!(lam > 0) || !(gamma >= 0)) throw std::invalid_argument("lam must be above 0, gamma 0 (linear) or above");
}

}  // namespace

NB_MODULE(_systems, m) {
  m.doc() = "The systems that the Pegasos papers compare with, and their own for kernels. See paper/README.md.";
  nb::class_<PyRows>(m, "Rows").def(nb::init<Vec<float>, Vec<int32_t>, Vec<int64_t>, Vec<double>, int64_t>(),
                                    "value"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(),
                                    "y"_a.noconvert(), "features"_a);

  bind<LinearDca>(m, "LinearDca")
      .def(
          "__init__",
          [](LinearDca* self, const PyRows& rows, double lam, uint64_t seed) {
            check(lam, 0);
            new (self) LinearDca(rows.rows, lam, seed);
          },
          "rows"_a, "lam"_a, "seed"_a = 0, nb::keep_alive<1, 2>())
      .def("dual", [](const LinearDca& system) { return array_of(system.dual()); });
  bind<SvmPerf>(m, "SvmPerf")
      .def(
          "__init__",
          [](SvmPerf* self, const PyRows& rows, double lam, double epsilon) {
            check(lam, 0);
            new (self) SvmPerf(rows.rows, lam, epsilon);
          },
          "rows"_a, "lam"_a, "epsilon"_a = 1e-3, nb::keep_alive<1, 2>())
      .def_prop_ro("violation", &SvmPerf::violation);
  bind_kernel<KernelPegasos>(m, "KernelPegasos")
      .def(
          "__init__",
          [](KernelPegasos* self, const PyRows& rows, double gamma, double lam, uint64_t seed) {
            check(lam, gamma);
            new (self) KernelPegasos(rows.rows, gamma, lam, seed);
          },
          "rows"_a, "gamma"_a, "lam"_a, "seed"_a = 0, nb::keep_alive<1, 2>());
  bind_kernel<KernelDca>(m, "KernelDca")
      .def(
          "__init__",
          [](KernelDca* self, const PyRows& rows, double gamma, double lam, uint64_t seed) {
            check(lam, gamma);
            new (self) KernelDca(rows.rows, gamma, lam, seed);
          },
          "rows"_a, "gamma"_a, "lam"_a, "seed"_a = 0, nb::keep_alive<1, 2>());
  bind_kernel<SvmLight>(m, "SvmLight")
      .def(
          "__init__",
          [](SvmLight* self, const PyRows& rows, double gamma, double lam, double epsilon, int64_t q,
             double cache_megabytes, bool shrinking) {
            check(lam, gamma);
            new (self) SvmLight(rows.rows, gamma, lam, {epsilon, q, cache_megabytes, shrinking});
          },
          "rows"_a, "gamma"_a, "lam"_a, "epsilon"_a = 1e-3, "q"_a = 10, "cache_megabytes"_a = 1000.0,
          "shrinking"_a = true, nb::keep_alive<1, 2>())
      .def_prop_ro("active", &SvmLight::active);
  bind_kernel<Lasvm>(m, "Lasvm")
      .def(
          "__init__",
          [](Lasvm* self, const PyRows& rows, double gamma, double lam, double tau, uint64_t seed,
             int64_t most_cached) {
            check(lam, gamma);
            new (self) Lasvm(rows.rows, gamma, lam, {tau, seed, most_cached});
          },
          "rows"_a, "gamma"_a, "lam"_a, "tau"_a = 1e-3, "seed"_a = 0, "most_cached"_a = 24'000, nb::keep_alive<1, 2>())
      .def_prop_ro("expansion", &Lasvm::expansion)
      .def_prop_ro("epochs", &Lasvm::epochs);
}
