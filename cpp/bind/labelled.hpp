// A loss with labels, and blocks of kernel values, as they cross the border.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/kernel/block.hpp"
#include "watch.hpp"

// A loss with the labels of some rows: what every function below is about.
struct PyLabelled {
  std::string loss;
  double parameter;
  Vec<double> y;

  size_t size() const { return y.size(); }
  void fit(size_t n) const {
    if (n != size()) throw std::invalid_argument("arrays of different lengths");
  }
  template <class F>
  void visit(F&& f) const {
    WithoutGil nogil;
    pegasos::with_loss(loss, {parameter}, std::forward<F>(f));
  }
  // fill(loss, i) for every row, in an array.
  template <class F>
  auto each(const F& fill) const {
    std::vector<double> out(size());
    visit([&](const auto& l) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = fill(l, i);
    });
    return to_numpy(std::move(out));
  }
};

// The corner of a larger matrix as it lies: c_contig would copy it.
template <class T>
using Corner = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
pegasos::KernelBlock<T> block_of(const Corner<T>& K, double offset, const PyLabelled& rows) {
  const auto n = int64_t(K.shape(0));
  if (K.shape(0) != K.shape(1)) throw std::invalid_argument("a block is square");
  if (n > 1 && (K.stride(1) != 1 || K.stride(0) < n)) throw std::invalid_argument("a block has whole lines");
  rows.fit(K.shape(0));
  return {K.data(), n, offset, n > 1 ? K.stride(0) : n};
}

inline pegasos::BlockState state_of(const PyLabelled& rows, const Vec<double>& p, const OutVec<double>& a,
                                    const OutVec<double>& score) {
  rows.fit(p.size());
  rows.fit(a.size());
  rows.fit(score.size());
  return {span_of(rows.y), span_of(p), span_of(a), span_of(score)};
}

// Lines of a block that Python computes when they are needed: compute(numbers) fills them in, and marks them.
struct PyLines {
  Vec<uint8_t> known;
  Vec<double> diagonal;
  nb::object compute;

  // To be asked without the GIL. What is raised is kept by `outside`, and ends the work of `watch`.
  pegasos::LinesOnDemand on_demand(const PyLabelled& rows, PyWatch& outside, pegasos::Watch& watch) const {
    rows.fit(known.size());
    rows.fit(diagonal.size());
    const auto ask = [this, &outside, &watch](std::span<const int64_t> some) {
      WithGil gil;
      const nb::object numbers = nb::cast(to_numpy(std::vector<int64_t>(some.begin(), some.end())));
      const nb::object done =
          outside.ask([&] { return PyObject_CallFunctionObjArgs(compute.ptr(), numbers.ptr(), nullptr); });
      if (!done.is_valid()) watch.interrupt();
      return done.is_valid();
    };
    return {span_of(known), span_of(diagonal), ask};
  }
};

// A block with its dual variables, as most functions take them.
template <class T>
struct Given {
  pegasos::KernelBlock<T> block;
  pegasos::BlockState state;

  Given(const PyLabelled& rows, const Corner<T>& K, double offset, const Vec<double>& p, const OutVec<double>& a,
        const OutVec<double>& score)
      : block(block_of(K, offset, rows)), state(state_of(rows, p, a, score)) {}
};

// work(loss, team, watch), which may be stopped from outside; what was raised is in the dictionary that `tell`
// fills with what was done.
template <class Work, class Tell>
nb::dict watched(const PyLabelled& rows, int threads, PyWatch& outside, const Work& work, const Tell& tell) {
  pegasos::Watch watch = outside.make();
  rows.visit([&](const auto& loss) {
    pegasos::Team team(threads);
    work(loss, team, watch);
  });
  nb::dict result;
  tell(result);
  result["error"] = outside.error;
  return result;
}
