// The arrays of a data file, any bytes of them, as native code sees them in the memory map: what the door lets in can
// be trained from, and what it refuses has not been looked at beyond its end. Support vectors and weights of a model
// file come through the same door.
//
// The first byte chooses the types, the second the number of features, the third that of rows; the rest is the arrays.
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pegasos/data/validate.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/pegasos/solver.hpp"

namespace {

using namespace pegasos;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

struct Bytes {
  const uint8_t* at;
  size_t left;

  // An array of exactly that size: a number further is out of bounds.
  template <class T>
  std::vector<T> take(size_t n) {
    std::vector<T> found(std::min(n, left / sizeof(T)));
    const size_t size = found.size() * sizeof(T);
    if (size > 0) std::memcpy(found.data(), at, size);
    at += size, left -= size;
    return found;
  }
};

// Nothing, or what was refused.
struct Outcome {
  Checked checked;
  std::string said;
};

template <class Validate>
Outcome checked(const Validate& validate, int threads) {
  Outcome found;
  Team team(threads);
  try {
    found.checked = validate(team);
  } catch (const BadData& error) {
    found.said = error.what();
  }
  return found;
}

template <class Rows>
void train(Rows rows, const Checked& checked) {
  rows.bias = 1;
  std::vector<int32_t> codes(size_t(rows.size()));
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = int32_t(i % 2);
  Problem<Rows> p{rows, {{}, codes, 1}, 1.0};
  p.total = double(rows.size());
  const size_t d = size_t(rows.dim());
  std::vector<double> v(d), counts(codes.size()), out(d);
  PegasosState state{v, counts, out};
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const PegasosOptions options{.k = 1, .sampling = Sampling::runs, .seed = 1, .steps = 20, .to_the_end = true};
  const auto found = PegasosSolver(p, Hinge{}, options, state, team, watch).run([](const Checkpoint&) { return true; });
  require(state.t == options.steps, "all steps were taken");
  const auto& last = found.history.back();
  const bool tame = checked.norm2_bound < 1e100;  // else sums may overflow, and the estimator says so
  require(!tame || last.objective >= last.dual, "a bound is no larger than the objective");
}

// What one look at each row says, when it is drawn.
template <class Rows>
bool is_good(const Rows& rows) {
  try {
    for (int64_t i = 0; i < rows.size(); ++i) check_drawn(rows, i);
  } catch (const BadData&) {
    return false;
  }
  return true;
}

template <class Rows, class Validate>
void look_at(const Rows& rows, const Validate& validate) {
  const Outcome one = checked(validate, 1), two = checked(validate, 2);
  require(one.said == two.said, "the same is wrong for any number of threads");
  if (!one.said.empty()) return;
  require(one.checked.norm2_bound == two.checked.norm2_bound, "the same bound for any number of threads");
  const bool simple = !one.checked.repeats;
  require(is_good(rows) == simple, "rows that are good together are good one by one");
  for (int64_t i = 0; i < rows.size(); ++i)
    require(rows[i].norm2() <= one.checked.norm2_bound * (1 + 1e-12), "no row is longer than the bound");
  if (simple && rows.size() > 0 && rows.dim() < 1000) train(rows, one.checked);
}

template <class T>
void dense(Bytes bytes, int64_t d, size_t m) {
  const auto data = bytes.take<T>(m * size_t(d));
  const DenseRows<T> rows{data.data(), d ? int64_t(data.size()) / d : int64_t(m), d};
  look_at(rows, [&](Team& team) { return validate(rows, team); });
}

template <class T, class I, class P>
void sparse(Bytes bytes, int64_t d, size_t m) {
  const auto begins = bytes.take<P>(m + 1);
  if (begins.empty()) return;
  const auto n = bytes.left / (sizeof(T) + sizeof(I));
  const auto indices = bytes.take<I>(n);
  const auto data = bytes.take<T>(n + 1);  // one of them may be longer
  const auto stored = int64_t(std::min(data.size(), indices.size()));
  Indptr indptr{};
  if constexpr (sizeof(P) == 4)
    indptr.narrow = begins.data();
  else
    indptr.wide = begins.data();
  CsrRows<T, I> rows{data.data(), indices.data(), indptr, int64_t(begins.size()) - 1, d};
  rows.stored = stored;
  is_good(rows);  // also where nobody has looked at the whole
  look_at(rows, [&](Team& team) { return validate(rows, stored, team); });
}

template <class T>
void any(Bytes bytes, uint8_t kind, int64_t d, size_t m) {
  if (kind & 1) return dense<T>(bytes, d, m);
  if (kind & 4) return kind & 8 ? sparse<T, int64_t, int64_t>(bytes, d, m) : sparse<T, int64_t, int32_t>(bytes, d, m);
  return kind & 8 ? sparse<T, int32_t, int64_t>(bytes, d, m) : sparse<T, int32_t, int32_t>(bytes, d, m);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const int64_t d = data[1] == 255 ? std::numeric_limits<int32_t>::max() : data[1];
  const Bytes bytes{data + 3, size - 3};
  if (data[0] & 2)
    any<double>(bytes, data[0], d, data[2]);
  else
    any<float>(bytes, data[0], d, data[2]);
  return 0;
}
