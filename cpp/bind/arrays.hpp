// How arrays cross the border: refused, never converted (noconvert on every argument), and validated on arrival.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <any>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "gil.hpp"
#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/validate.hpp"

namespace nb = nanobind;

template <class T>
using Vec = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutVec = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Mat = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class A>
auto span_of(const A& a) {
  return std::span(a.data(), a.size());
}

// A numpy array that owns what the vector owned.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::vector<size_t> shape = {}) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {owned->size()};
  return nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner);
}

// Validated rows: the only way to data for all other native functions. Holds on to the arrays it looks at.
class PyRows {
 public:
  template <class T>
  static PyRows dense(Mat<T> X, int threads, bool check) {
    PyRows rows;
    rows.hold_ = X;
    const pegasos::DenseRows<T> all{X.data(), int64_t(X.shape(0)), int64_t(X.shape(1))};
    if (check)
      rows.accept(all, threads, [](const auto& r, pegasos::Team& team) { return pegasos::validate(r, team); });
    else
      rows.any_.any = all;
    return rows;
  }

  // copy: false for arrays of a file, whose pointers should stay there.
  template <class T, class I, class P>
  static PyRows csr(Vec<T> data, Vec<I> indices, Vec<P> indptr, int64_t n_features, int threads, bool check,
                    bool copy) {
    if (indptr.size() == 0) throw pegasos::BadData("indptr is empty; it needs one entry more than there are rows.");
    if (n_features < 0) throw pegasos::BadData("the number of features is negative.");
    PyRows rows;
    const auto stored = int64_t(std::min(data.size(), indices.size()));
    pegasos::CsrRows<T, I> all{data.data(), indices.data(), {}, int64_t(indptr.size()) - 1, n_features};
    const auto valid = [&](const auto& r, pegasos::Team& team) { return pegasos::validate(r, stored, team); };
    if (!check || !copy) {
      rows.hold_ = std::tuple(data, indices, indptr);
      all.indptr = pointers_to(indptr.data());
      all.stored = stored;
      if (check) rows.accept(all, threads, valid);
      rows.any_.any = all;
      return rows;
    }
    // Where rows begin is copied: another thread may write to the array. Values and indices are not; see SparseRow.
    const auto begins = std::make_shared<const std::vector<P>>(indptr.data(), indptr.data() + indptr.size());
    rows.hold_ = std::tuple(data, indices, begins);
    all.indptr = pointers_to(begins->data());
    rows.accept(all, threads, valid);
    return rows;
  }

  int64_t size() const { return any_.size(); }
  int64_t n_features() const { return any_.dim() - 1; }
  const pegasos::Checked& checked() const { return checked_; }

  // With the constant feature set.
  pegasos::AnyRows with(double bias) const {
    if (!is_checked_) throw std::invalid_argument("these rows are checked when they are drawn, and by Pegasos alone");
    return {any_.any, bias};
  }

  // For who checks every row that it draws (`check_drawn`).
  pegasos::AnyRows unchecked(double bias) const { return {any_.any, bias}; }

  // f(rows) with their exact type.
  template <class F>
  auto visit(double bias, F&& f) const {
    return with(bias).visit(std::forward<F>(f));
  }

 private:
  static pegasos::Indptr pointers_to(const int32_t* narrow) { return {narrow, nullptr}; }
  static pegasos::Indptr pointers_to(const int64_t* wide) { return {nullptr, wide}; }

  template <class Rows, class Validate>
  void accept(const Rows& rows, int threads, const Validate& validate) {
    WithoutGil nogil;
    pegasos::Team team(threads);
    checked_ = validate(rows, team);
    any_.any = rows;
    is_checked_ = true;
  }

  pegasos::AnyRows any_;
  pegasos::Checked checked_;
  bool is_checked_ = false;
  std::any hold_;
};

// The rows of positive weight, empty for all. One that does not exist would be read past the end.
inline std::span<const uint32_t> existing(const PyRows& rows, const std::optional<Vec<uint32_t>>& listed) {
  if (!listed) return {};
  for (const uint32_t i : span_of(*listed))
    if (i >= rows.size()) throw std::invalid_argument("a listed row does not exist");
  if (listed->size() == 0) throw std::invalid_argument("no rows");
  return span_of(*listed);
}
