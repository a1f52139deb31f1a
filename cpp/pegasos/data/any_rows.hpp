// Rows of whichever kind, told apart at run time. Inner loops ask for the exact kind once (`with_rows`) and are
// compiled for each; all else is compiled once a loss and looks it up at every row, which costs a nanosecond or two of
// about eighty.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "pegasos/data/rows.hpp"

namespace pegasos {

class AnyRow {
 public:
  template <class Row>
  AnyRow(const Row& row) : row_(row) {}

  template <class F>
  [[gnu::always_inline]] decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), row_);
  }

  int64_t size() const {
    return visit([](const auto& r) { return r.size(); });
  }
  int64_t dim() const {
    return visit([](const auto& r) { return r.dim(); });
  }
  double bias() const {
    return visit([](const auto& r) { return r.bias; });
  }
  double dot(const double* w) const {
    return visit([&](const auto& r) { return r.dot(w); });
  }
  void axpy(double a, double* w) const {
    visit([&](const auto& r) { r.axpy(a, w); });
  }
  void axpy_over(double a, const double* over, double* w) const {
    visit([&](const auto& r) { r.axpy_over(a, over, w); });
  }
  double norm2() const {
    return visit([](const auto& r) { return r.norm2(); });
  }
  void add_squares(double a, double* w) const {
    visit([&](const auto& r) { r.add_squares(a, w); });
  }
  double weighted_square(const double* w) const {
    return visit([&](const auto& r) { return r.weighted_square(w); });
  }
  void rank_one(double weight, double* A) const {
    visit([&](const auto& r) { r.rank_one(weight, A); });
  }
  template <class Take>
  void each(const Take& take) const {
    visit([&](const auto& r) { r.each(take); });
  }

 private:
  std::variant<DenseRow<float>, DenseRow<double>, SparseRow<float, int32_t>, SparseRow<double, int32_t>,
               SparseRow<float, int64_t>, SparseRow<double, int64_t>>
      row_;
};

struct AnyRows {
  std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float, int32_t>, CsrRows<double, int32_t>,
               CsrRows<float, int64_t>, CsrRows<double, int64_t>>
      any;
  double bias = 0;  // what `any` says of it does not count

  // f(rows) with their exact type.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(
        [&](auto rows) -> decltype(auto) {
          rows.bias = bias;
          return f(std::as_const(rows));
        },
        any);
  }

  int64_t size() const {
    return std::visit([](const auto& r) { return r.size(); }, any);
  }
  int64_t dim() const {
    return std::visit([](const auto& r) { return r.dim(); }, any);
  }
  int64_t nonzeros() const {
    return std::visit([](const auto& r) { return r.nonzeros(); }, any);
  }
  bool is_dense() const {
    return std::visit([](const auto& r) { return r.is_dense(); }, any);
  }
  void prefetch_place(int64_t i) const {
    std::visit([&](const auto& r) { r.prefetch_place(i); }, any);
  }
  void prefetch(int64_t i) const {
    std::visit([&](const auto& r) { r.prefetch(i); }, any);
  }
  AnyRow operator[](int64_t i) const {
    return std::visit(
        [&](const auto& r) {
          auto row = r[i];
          row.bias = bias;
          return AnyRow(row);
        },
        any);
  }
};

// f(rows) with their exact type, which is known already.
template <class Rows, class F>
decltype(auto) with_rows(const Rows& rows, F&& f) {
  return f(rows);
}

template <class F>
decltype(auto) with_rows(const AnyRows& rows, F&& f) {
  return rows.visit(std::forward<F>(f));
}

}  // namespace pegasos
