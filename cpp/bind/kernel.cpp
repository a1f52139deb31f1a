// Kernels: blocks of kernel values and what is done with them. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "labelled.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/kernel/pair_sums.hpp"
#include "pegasos/kernel/pegasos_block.hpp"
#include "pegasos/kernel/sparse_products.hpp"
#include "pegasos/kernel/symmetry.hpp"

using namespace nb::literals;
using namespace pegasos;

void bind_kernel_solve(nb::class_<PyLabelled>& rows);

namespace {

template <class T>
nb::dict sweep_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                     OutVec<double> score, const SweepOptions& options, PyWatch& outside) {
  const Given<T> given(rows, K, offset, p, a, score);
  Swept done;
  return watched(
      rows, options.threads, outside,
      [&](const auto& loss, Team& team, Watch& watch) {
        done = sweep(given.block, loss, given.state, options, team, watch);
      },
      [&](nb::dict& result) { result["visits"] = done.visits; });
}

nb::tuple respond_now(const PyLabelled& rows, Vec<double> p, OutVec<double> a, OutVec<double> score,
                      Vec<double> curvature) {
  const BlockState state = state_of(rows, p, a, score);
  rows.fit(curvature.size());
  std::vector<double> answer(rows.size()), softness(rows.size());
  rows.visit([&](const auto& loss) { respond(loss, state, span_of(curvature), answer, softness); });
  return nb::make_tuple(to_numpy(std::move(answer)), to_numpy(std::move(softness)));
}

// What the picks add to v, and to B of the average.
template <class T>
nb::tuple pegasos_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> share, OutVec<double> sum,
                        KernelSteps& options) {
  const auto block = block_of(K, offset, rows);
  rows.fit(share.size());
  rows.fit(sum.size());
  if (options.k < 1) throw std::invalid_argument("a step needs rows");
  std::vector<double> v(rows.size()), B(rows.size());
  rows.visit([&](const auto& loss) {
    pegasos_steps(block, loss, options, {span_of(rows.y), span_of(share), span_of(sum), v, B});
  });
  return nb::make_tuple(to_numpy(std::move(v)), to_numpy(std::move(B)));
}

double bias_now(const PyLabelled& rows, Vec<double> scores, Vec<double> s, double guess) {
  rows.fit(scores.size());
  rows.fit(s.size());
  double b = 0;
  const std::vector<Scored> all = scored(span_of(scores), span_of(rows.y), span_of(s));
  rows.visit([&](const auto& loss) { b = best_bias(loss, all, guess); });
  return b;
}

auto pair_sums_now(const PyRows& A, const PyRows& B, const std::string& kind) {
  if (A.n_features() != B.n_features()) throw std::invalid_argument("rows of different lengths");
  std::vector<double> out(size_t(A.size()) * size_t(B.size()));
  {
    WithoutGil nogil;
    const AnyRows left = A.with(0.0);
    B.visit(0.0, [&](const auto& right) { pair_sums(kind, left, right, out); });
  }
  return to_numpy(std::move(out), {size_t(A.size()), size_t(B.size())});
}

// Row numbers that are there.
using Numbers = std::span<const int64_t>;
Numbers numbers_of(Vec<int64_t> index, const PyRows& rows) {
  const Numbers all(index.data(), index.size());
  for (const int64_t i : all)
    if (i < 0 || i >= rows.size()) throw std::invalid_argument("no such row");
  return all;
}

// Of sparse rows of the same type, whose numbers are given. left_facts, right_facts: one for every row, as Exponents
// needs them, or none.
template <class T>
void sparse_products_now(const PyRows& A, Vec<int64_t> left, const PyRows& B, Vec<int64_t> right,
                         nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, double factor,
                         Vec<T> left_facts, Vec<T> right_facts) {
  if (A.n_features() != B.n_features()) throw std::invalid_argument("rows of different lengths");
  const Numbers lines = numbers_of(left, A), columns = numbers_of(right, B);
  if (out.shape(0) != lines.size() || out.shape(1) != columns.size()) throw std::invalid_argument("no room");
  Exponents<T> then{T(factor)};
  if (left_facts.size() + right_facts.size() > 0) {
    if (left_facts.size() != lines.size() || right_facts.size() != columns.size())
      throw std::invalid_argument("a fact for every row");
    then.left = left_facts.data(), then.right = right_facts.data();
  }
  bool done = false;
  A.visit(0.0, [&]<class Left>(const Left& all) {
    B.visit(0.0, [&]<class Right>(const Right& others) {
      if constexpr (std::is_same_v<Left, Right> && requires { all.indptr; }) {
        if constexpr (std::is_same_v<typename Left::value_type, T>) {
          WithoutGil nogil;
          sparse_products(picked(all, lines), picked(others, columns), then, std::span<T>(out.data(), out.size()));
          done = true;
        }
      }
    });
  });
  if (!done) throw std::invalid_argument("not two sets of sparse rows of the same type");
}

template <class T>
nb::object asymmetry(nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu> K) {
  if (K.shape(0) != K.shape(1)) throw std::invalid_argument("a kernel matrix is square");
  std::optional<std::pair<int64_t, int64_t>> found;
  {
    nb::gil_scoped_release nogil;
    found = first_asymmetry(K.data(), int64_t(K.shape(0)));
  }
  return found ? nb::object(nb::make_tuple(found->first, found->second)) : nb::none();
}

template <class T>
bool looks_sound(nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu> K) {
  if (K.shape(0) != K.shape(1)) throw std::invalid_argument("a kernel matrix is square");
  nb::gil_scoped_release nogil;
  return looks_like_products(K.data(), int64_t(K.shape(0)));
}

auto picks(const std::string& sampling, uint64_t seed, int64_t m, uint64_t first, size_t count,
           std::optional<Vec<uint32_t>> listed, std::optional<Vec<double>> s, int64_t k) {
  if (m < 1 || (s && s->size() < size_t(m))) throw std::invalid_argument("picks need rows, and a weight for each");
  if (k < 1 || k > m) throw std::invalid_argument("a batch has 1 to m rows");
  Population population{m};
  if (listed) population.listed = span_of(*listed);
  if (s) population.s = span_of(*s);
  Sampler sampler(sampling_of(sampling), seed, population, k);
  std::vector<Sampler::Pick> found(count);
  sampler.fill(first, found);
  std::vector<int64_t> rows;
  for (const auto& pick : found) rows.push_back(pick.row);
  return to_numpy(std::move(rows));
}

template <class T>
void bind_blocks_of(nb::class_<PyLabelled>& rows) {
  rows.def("sweep", &sweep_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "watch"_a);
  rows.def("pegasos", &pegasos_block<T>, "K"_a.noconvert(), "offset"_a, "share"_a.noconvert(), "sum"_a.noconvert(),
           "options"_a);
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<SweepOptions>(m, "SweepOptions")
      .def(nb::init<>())
      .def_rw("sweeps", &SweepOptions::sweeps)
      .def_rw("target", &SweepOptions::target)
      .def_rw("in_order", &SweepOptions::in_order)
      .def_rw("seed", &SweepOptions::seed)
      .def_rw("threads", &SweepOptions::threads);
  nb::class_<KernelSteps>(m, "KernelSteps")
      .def(
          "__init__",
          [](KernelSteps* self, double lam, int64_t k, const std::string& step, double number, double late,
             double radius, bool moves_bias) {
            new (self) KernelSteps{lam, 0, k, steps_of(step, number, late), radius, moves_bias, 0.0};
          },
          nb::kw_only(), "lam"_a, "k"_a, "step"_a, "number"_a, "late"_a, "radius"_a, "moves_bias"_a)
      .def_rw("t", &KernelSteps::t)
      .def_rw("b", &KernelSteps::b)
      .def_rw("units", &KernelSteps::units)
      .def_rw("square", &KernelSteps::square)
      .def_rw("doubt", &KernelSteps::doubt)
      .def_rw("C", &KernelSteps::C)
      .def_ro("picks", &KernelSteps::picks);

  nb::class_<PyLabelled> rows(m, "Labelled");
  rows.def(
      "__init__",
      [](PyLabelled* self, const std::string& loss, double parameter, Vec<double> y) {
        with_loss(loss, {parameter}, [](const auto&) {});
        new (self) PyLabelled{loss, parameter, y};
      },
      "loss"_a, "parameter"_a, "y"_a.noconvert());
  bind_blocks_of<float>(rows);
  bind_blocks_of<double>(rows);
  bind_kernel_solve(rows);
  rows.def("respond", &respond_now, "p"_a.noconvert(), "a"_a.noconvert(), "score"_a.noconvert(),
           "curvature"_a.noconvert())
      .def("best_bias", &bias_now, "scores"_a.noconvert(), "s"_a.noconvert(), "guess"_a)
      .def(
          "values",
          [](const PyLabelled& r, Vec<double> score) {
            r.fit(score.size());
            return r.each([&](const auto& l, size_t i) { return l.value(score.data()[i], r.y.data()[i]); });
          },
          "score"_a.noconvert())
      .def(
          "conjugates",
          [](const PyLabelled& r, Vec<double> a) {
            r.fit(a.size());
            return r.each([&](const auto& l, size_t i) { return l.conjugate(a.data()[i], r.y.data()[i]); });
          },
          "a"_a.noconvert())
      .def(
          "feasible",
          [](const PyLabelled& r, Vec<double> a) {
            r.fit(a.size());
            return r.each([&](const auto& l, size_t i) { return l.feasible(a.data()[i], r.y.data()[i]); });
          },
          "a"_a.noconvert())
      .def(
          "answers",
          [](const PyLabelled& r, Vec<double> score, double near) {
            r.fit(score.size());
            return r.each([&](const auto& l, size_t i) { return answer(l, score.data()[i], r.y.data()[i], near); });
          },
          "score"_a.noconvert(), "near"_a)
      .def(
          "gaps",
          [](const PyLabelled& r, Vec<double> a, Vec<double> score) {
            r.fit(a.size());
            r.fit(score.size());
            return r.each(
                [&](const auto& l, size_t i) { return row_gap(l, a.data()[i], score.data()[i], r.y.data()[i]); });
          },
          "a"_a.noconvert(), "score"_a.noconvert());
  m.def("pair_sums", &pair_sums_now, "A"_a, "B"_a, "kind"_a);
  m.def("sparse_products", &sparse_products_now<float>, "A"_a, "left"_a.noconvert(), "B"_a, "right"_a.noconvert(),
        "out"_a.noconvert(), "factor"_a, "left_facts"_a.noconvert(), "right_facts"_a.noconvert());
  m.def("sparse_products", &sparse_products_now<double>, "A"_a, "left"_a.noconvert(), "B"_a, "right"_a.noconvert(),
        "out"_a.noconvert(), "factor"_a, "left_facts"_a.noconvert(), "right_facts"_a.noconvert());
  m.def("asymmetry", &asymmetry<float>, "K"_a.noconvert());
  m.def("asymmetry", &asymmetry<double>, "K"_a.noconvert());
  m.def("looks_like_products", &looks_sound<float>, "K"_a.noconvert());
  m.def("looks_like_products", &looks_sound<double>, "K"_a.noconvert());
  m.def("picks", &picks, "sampling"_a, "seed"_a, "m"_a, "first"_a, "count"_a, "listed"_a.noconvert() = nb::none(),
        "s"_a.noconvert() = nb::none(), "k"_a = 1);
}
