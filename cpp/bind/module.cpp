// The native module pegasos._core: rows, labels, and what the other files bind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/data/encode.hpp"
#include "pegasos/data/nonzeros.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/run/thread_room.hpp"

using namespace nb::literals;

void bind_io(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_partition(nb::module_& m);
void bind_side_by_side(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_structured(nb::module_& m);
void bind_testing(nb::module_& m);

namespace {

template <class T>
void bind_rows_of(nb::class_<PyRows>& rows) {
  rows.def_static("dense", &PyRows::dense<T>, "X"_a.noconvert(), "threads"_a = 1, "check"_a = true);
  auto csr = [&](auto* f) {
    rows.def_static("csr", f, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_features"_a,
                    "threads"_a = 1, "check"_a = true, "copy"_a = true);
  };
  csr(&PyRows::csr<T, int32_t, int32_t>);
  csr(&PyRows::csr<T, int32_t, int64_t>);
  csr(&PyRows::csr<T, int64_t, int32_t>);
  csr(&PyRows::csr<T, int64_t, int64_t>);
}

template <class T>
double fill(Mat<T> X) {
  WithoutGil nogil;
  return pegasos::fill(X.data(), int64_t(X.shape(0)), int64_t(X.shape(1)));
}

template <class T>
nb::tuple nonzeros(Mat<T> X) {
  pegasos::Nonzeros<T> found;
  {
    WithoutGil nogil;
    found = pegasos::nonzeros(X.data(), int64_t(X.shape(0)), int64_t(X.shape(1)));
  }
  return nb::make_tuple(to_numpy(std::move(found.data)), to_numpy(std::move(found.indices)),
                        to_numpy(std::move(found.indptr)));
}

template <class T>
void bind_tables_of(nb::module_& m) {
  m.def("fill", &fill<T>, "X"_a.noconvert());
  m.def("nonzeros", &nonzeros<T>, "X"_a.noconvert());
}

nb::tuple encode(nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> items, int threads) {
  const auto count = int64_t(items.shape(0));
  std::vector<int32_t> codes(items.shape(0));
  std::vector<int64_t> first;
  {
    WithoutGil nogil;
    pegasos::Team team(threads);
    first = pegasos::encode(items.data(), count, items.shape(1), codes.data(), team);
  }
  return nb::make_tuple(to_numpy(std::move(codes)), to_numpy(std::move(first)));
}

void relabel(OutVec<int32_t> codes, Vec<int32_t> number, int threads) {
  WithoutGil nogil;
  pegasos::Team team(threads);
  pegasos::relabel(span_of(codes), span_of(number), team);
}

// A daemon thread in a fit is stopped where it is when the interpreter ends (gil.hpp): what it holds is no leak, and
// nobody could do anything about it. Without such threads leaks are still told.
void expect_stopped_threads() {
  const auto at_end = [] {
    if (nb::cast<int>(nb::module_::import_("threading").attr("active_count")()) > 1) nb::set_leak_warnings(false);
  };
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(at_end));
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native core of pegasos. Private: use the names in pegasos.";
  nb::class_<PyRows> rows(m, "Rows");
  bind_rows_of<float>(rows);
  bind_rows_of<double>(rows);
  bind_tables_of<float>(m);
  bind_tables_of<double>(m);
  rows.def_prop_ro("shape", [](const PyRows& r) { return nb::make_tuple(r.size(), r.n_features()); })
      .def_prop_ro("strictly_increasing", [](const PyRows& r) { return r.checked().strictly_increasing; })
      .def_prop_ro("repeats", [](const PyRows& r) { return r.checked().repeats; })
      .def_prop_ro("norm2_bound", [](const PyRows& r) { return r.checked().norm2_bound; })
      .def(
          "mean_norm2",
          [](const PyRows& r, std::optional<Vec<uint32_t>> listed) {
            const auto some = existing(r, listed);
            WithoutGil nogil;
            return r.visit(0.0, [&](const auto& v) { return pegasos::mean_norm2(v, some); });
          },
          "listed"_a.noconvert() = nb::none())
      .def(
          "largest_norm2",
          [](const PyRows& r, std::optional<Vec<uint32_t>> listed) {
            const auto some = existing(r, listed);
            WithoutGil nogil;
            return r.visit(0.0, [&](const auto& v) { return pegasos::largest_norm2(v, some); });
          },
          "listed"_a.noconvert() = nb::none());
  m.def("encode", &encode, "items"_a.noconvert(), "threads"_a = 1);
  m.def("room_for_thread", &pegasos::room_for_thread, "work"_a);
  m.def("relabel", &relabel, "codes"_a.noconvert(), "number"_a.noconvert(), "threads"_a = 1);
  bind_io(m);
  bind_kernel(m);
  bind_linear(m);
  bind_partition(m);
  bind_side_by_side(m);
  bind_solvers(m);
  bind_structured(m);
  expect_stopped_threads();
  auto testing = m.def_submodule("testing", "Parts of the core that tests look at one by one.");
  bind_testing(testing);
}
