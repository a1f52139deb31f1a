// The one check at the door. No other code looks at memory a user described before this has passed:
// sizes, row pointers, index range, finite values, finite row norms, in one pass over the data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pegasos/data/repeats.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

struct Checked {
  double norm2_bound = 0;           // no row's squared norm, without the bias feature, is larger
  bool strictly_increasing = true;  // indices of every row; dense rows always
  bool repeats = false;             // a row has a column twice
};

// What is wrong with the data, said to the person who has to find it there.
struct BadData : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

namespace detail {

template <class I>
struct IndexFacts {
  I lowest, highest;
  int64_t descents;  // places j with idx[j] <= idx[j - 1]
};

#define PEG_INDEX_FACTS(I)                                                                \
  [[maybe_unused]] PEG_CLONES static IndexFacts<I> index_facts(const I* idx, int64_t n) { \
    I lowest = idx[0], highest = idx[0];                                                  \
    I descents = 0;                                                                       \
    for (int64_t j = 1; j < n; ++j) {                                                     \
      lowest = idx[j] < lowest ? idx[j] : lowest;                                         \
      highest = idx[j] > highest ? idx[j] : highest;                                      \
      descents += I(idx[j] <= idx[j - 1]);                                                \
    }                                                                                     \
    return {lowest, highest, descents};                                                   \
  }
PEG_INDEX_FACTS(int32_t)
PEG_INDEX_FACTS(int64_t)
#undef PEG_INDEX_FACTS

inline std::string at(int64_t row, int64_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

// Called once something is known to be wrong in the row: finds the entry.
template <class T, class Column>
[[noreturn]] void complain_about_values(const T* val, int64_t n, int64_t row, Column column) {
  for (int64_t j = 0; j < n; ++j) {
    if (std::isnan(val[j]))
      throw BadData("X contains NaN at " + at(row, column(j)) + ". Impute or drop missing values first.");
    if (std::isinf(val[j])) throw BadData("X contains infinity at " + at(row, column(j)) + ".");
  }
  throw BadData("the squared norm of row " + std::to_string(row) +
                " overflows although its entries are finite. Scale the features down, e.g. with StandardScaler.");
}

[[noreturn]] inline void complain_about_index(int64_t index, int64_t row, int64_t d) {
  throw BadData("column index " + std::to_string(index) + " in row " + std::to_string(row) + " is outside 0.." +
                std::to_string(d - 1) + ".");
}

}  // namespace detail

// The squared norm of a row, which must be finite.
template <class Rows>
double finite_norm2(const Rows& rows, int64_t i) {
  const auto row = rows[i];
  const double norm2 = row.norm2();
  if (!(norm2 <= std::numeric_limits<double>::max()))
    detail::complain_about_values(row.val, row.n, i, [&](int64_t j) { return row.column(j); });
  return norm2;
}

// The largest squared norm of rows from..to - 1, for when the cheap bound is not enough.
template <class Rows>
double largest_norm2(const Rows& rows, int64_t from, int64_t to) {
  double largest = 0;
  for (int64_t i = from; i < to; ++i) largest = std::max(largest, finite_norm2(rows, i));
  return largest;
}

// The mean and the largest squared norm of the listed rows, of all where none is. Rows of weight zero are not listed:
// however long they are, they must not set the length of a step.
template <class Rows>
double mean_norm2(const Rows& rows, std::span<const uint32_t> listed) {
  const int64_t m = listed.empty() ? rows.size() : int64_t(listed.size());
  double sum = 0;
  for (int64_t k = 0; k < m; ++k) sum += rows[listed.empty() ? k : int64_t(listed[size_t(k)])].norm2() / double(m);
  return sum;
}
template <class Rows>
double largest_norm2(const Rows& rows, std::span<const uint32_t> listed) {
  if (listed.empty()) return largest_norm2(rows, 0, rows.size());
  double largest = 0;
  for (const uint32_t i : listed) largest = std::max(largest, finite_norm2(rows, i));
  return largest;
}

// Values of rows that lie behind each other. The sum of squares of them all is finite only if each row's is; where it
// is not, the rows are looked at one by one. Summing row by row took three times as long: short loops mispredict.
template <class Rows>
double bound_norm2(const Rows& rows, int64_t from, int64_t to, int64_t first, int64_t count) {
  const double together = simd::norm2(rows.data + first, count);
  return together <= std::numeric_limits<double>::max() ? together : largest_norm2(rows, from, to);
}

template <class T>
Checked check_rows(const DenseRows<T>& rows, int64_t first, int64_t last, detail::StampPool&) {
  Checked checked;
  const int64_t piece = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, rows.d));
  for (int64_t from = first; from < last; from += piece) {
    const int64_t to = std::min(from + piece, last);
    checked.norm2_bound =
        std::max(checked.norm2_bound, bound_norm2(rows, from, to, from * rows.d, (to - from) * rows.d));
  }
  return checked;
}

// `stored` is the length of the shorter of data and indices.
inline void validate_indptr(const Indptr& indptr, int64_t m, int64_t stored) {
  if (indptr[0] != 0) throw BadData("indptr must start at 0, got " + std::to_string(indptr[0]) + " (row 0).");
  for (int64_t i = 0; i < m; ++i)
    if (indptr[i + 1] < indptr[i])
      throw BadData("indptr decreases at row " + std::to_string(i) + ": from " + std::to_string(indptr[i]) + " to " +
                    std::to_string(indptr[i + 1]) + ".");
  if (indptr[m] > stored)
    throw BadData("indptr ends at " + std::to_string(indptr[m]) + " (row " + std::to_string(m - 1) + ") but only " +
                  std::to_string(stored) + " entries are stored.");
}

// The row pointers must have been checked.
template <class T, class I>
Checked check_rows(const CsrRows<T, I>& rows, int64_t first, int64_t last, detail::StampPool& pool) {
  Checked checked;
  std::unique_ptr<detail::ColumnStamps> stamps;
  std::vector<I> room;
  // Pieces small enough to stay in the first-level cache between the two looks at them.
  constexpr int64_t piece = 4096;
  for (int64_t from = first; from < last;) {
    const int64_t begin = rows.indptr[from];
    int64_t to = from + 1;
    while (to < last && rows.indptr[to + 1] - begin <= piece) ++to;
    const int64_t end = rows.indptr[to];
    if (end > begin) {
      auto facts = detail::index_facts(rows.indices + begin, end - begin);
      if (facts.lowest < 0 || facts.highest >= rows.d)
        for (int64_t i = from; i < to; ++i)
          for (int64_t j = rows.indptr[i]; j < rows.indptr[i + 1]; ++j)
            if (rows.indices[j] < 0 || rows.indices[j] >= rows.d)
              detail::complain_about_index(rows.indices[j], i, rows.d);
      // Descents between two rows are no fault: every descent must be one of those.
      for (int64_t i = from + 1; i < to; ++i) {
        const int64_t start = rows.indptr[i];
        if (start > begin && start < end && start < rows.indptr[i + 1])
          facts.descents -= rows.indices[start] <= rows.indices[start - 1];
      }
      checked.norm2_bound = std::max(checked.norm2_bound, bound_norm2(rows, from, to, begin, end - begin));
      if (facts.descents != 0) {
        checked.strictly_increasing = false;
        if (!stamps) stamps = pool.borrow();
        for (int64_t i = from; i < to && !checked.repeats; ++i) {
          const I* const idx = rows.indices + rows.indptr[i];
          const int64_t n = rows.indptr[i + 1] - rows.indptr[i];
          checked.repeats = stamps ? stamps->repeats(idx, n) : detail::repeats_when_sorted(idx, n, room);
        }
      }
    }
    from = to;
  }
  pool.give_back(std::move(stamps));
  return checked;
}

// One row, when it is drawn, of rows that nobody has looked at as a whole.
template <class T>
void check_drawn(const DenseRows<T>& rows, int64_t i) {
  largest_norm2(rows, i, i + 1);
}

template <class T, class I>
void check_drawn(const CsrRows<T, I>& rows, int64_t i) {
  const int64_t from = rows.indptr[i], to = rows.indptr[i + 1];
  if (from < 0 || to < from || to > rows.stored)
    throw BadData("indptr says that row " + std::to_string(i) + " has the entries " + std::to_string(from) + " to " +
                  std::to_string(to) + ", but " + std::to_string(rows.stored) + " are stored.");
  const auto row = rows[i];
  if (row.n == 0) return;
  const auto facts = detail::index_facts(row.idx, row.n);
  for (int64_t j = 0; (facts.lowest < 0 || facts.highest >= rows.d) && j < row.n; ++j)
    if (row.idx[j] < 0 || row.idx[j] >= rows.d) detail::complain_about_index(row.idx[j], i, rows.d);
  if (facts.descents != 0) {
    std::vector<I> room;
    if (detail::repeats_when_sorted(row.idx, row.n, room))
      throw BadData("row " + std::to_string(i) +
                    " has a column twice. Call X.sum_duplicates() first, or leave certify=True.");
  }
  largest_norm2(rows, i, i + 1);
}

// Of several errors the first row's is told.
template <class Rows>
Checked check_all_rows(const Rows& rows, Team& team) {
  // A number is only looked at: four in the time of a multiplication.
  const Pass pass =
      Pass::over(rows.size(), double(rows.nonzeros()) / (4.0 * double(std::max<int64_t>(1, rows.size()))));
  detail::StampPool stamps(rows.d, rows.nonzeros());
  if (pass.parts == 1) return check_rows(rows, 0, rows.size(), stamps);
  std::vector<Checked> parts(static_cast<size_t>(pass.parts));
  std::vector<std::exception_ptr> errors(parts.size());
  team.each(pass.parts, [&](int64_t part) {
    try {
      parts[size_t(part)] = check_rows(rows, pass.first(part), pass.first(part + 1), stamps);
    } catch (...) {
      errors[size_t(part)] = std::current_exception();
    }
  });
  for (const auto& raised : errors)
    if (raised) std::rethrow_exception(raised);
  Checked all;
  for (const Checked& part : parts) {
    all.norm2_bound = std::max(all.norm2_bound, part.norm2_bound);
    all.strictly_increasing &= part.strictly_increasing;
    all.repeats |= part.repeats;
  }
  return all;
}

template <class T>
Checked validate(const DenseRows<T>& rows, Team& team) {
  return check_all_rows(rows, team);
}

template <class T, class I>
Checked validate(const CsrRows<T, I>& rows, int64_t stored, Team& team) {
  validate_indptr(rows.indptr, rows.m, stored);
  return check_all_rows(rows, team);
}

}  // namespace pegasos
