// A step costs the non-zeros of its rows: not the dimension, not the number of rows. Counted, never timed.
//
// Rows that count what is asked of them stand in for the real ones, and the memory of w and of the counts is fenced:
// a step that touched any column its rows do not have, or the count of a row it did not look at, would die here.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/pegasos/solver.hpp"

using namespace pegasos;

namespace {

struct Operations {
  int64_t dots = 0, dot_terms = 0, adds = 0, add_terms = 0, norms = 0, fetches = 0;
};

template <class Row>
struct CountingRow {
  Row row;
  Operations* seen;
  int64_t size() const { return row.size(); }
  double dot(const double* w) const {
    ++seen->dots, seen->dot_terms += row.size();
    return row.dot(w);
  }
  void axpy(double a, double* w) const {
    ++seen->adds, seen->add_terms += row.size();
    row.axpy(a, w);
  }
  double norm2() const {
    ++seen->norms;
    return row.norm2();
  }
};

using Csr = CsrRows<double, int64_t>;

struct CountingRows {
  Csr rows;
  Operations* seen;
  double bias = 1;  // that of the rows, whose steps are whole here
  int64_t size() const { return rows.size(); }
  int64_t dim() const { return rows.dim(); }
  int64_t nonzeros() const { return rows.nonzeros(); }
  bool is_dense() const { return false; }
  CountingRow<SparseRow<double, int64_t>> operator[](int64_t i) const { return {rows[i], seen}; }
  void prefetch(int64_t i) const {
    CHECK(i >= 0 && i < rows.m);
    ++seen->fetches;
  }
};

// They are good ones.
void check_drawn(const CountingRows&, int64_t) {}

// Zeroed doubles of which nothing can be touched before it is opened, page by page.
class Fenced {
 public:
  explicit Fenced(size_t n) : n_(n), bytes_((n * sizeof(double) / page() + 1) * page()) {
    void* p = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("mmap failed");
    data_ = static_cast<double*>(p);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(data_, bytes_); }

  void open(int64_t i) {
    auto* bytes = reinterpret_cast<char*>(data_);
    const size_t start = size_t(i) * sizeof(double) / page() * page();
    CHECK(mprotect(bytes + start, page(), PROT_READ | PROT_WRITE) == 0);
  }
  std::span<double> span() const { return {data_, n_}; }
  static size_t page() { return size_t(sysconf(_SC_PAGESIZE)); }

 private:
  size_t n_, bytes_;
  double* data_;
};

struct Shape {
  int64_t m, d, non_zeros;  // d: features; each row has so many non-zeros in the first columns
  Sampling sampling = Sampling::iid;
  int64_t k = 1;
};

constexpr int64_t steps = 400;

Operations operations_of(const Shape& shape) {
  std::vector<double> data(static_cast<size_t>(shape.m * shape.non_zeros));
  std::vector<int64_t> indices(data.size()), indptr{0};
  std::vector<int32_t> codes(static_cast<size_t>(shape.m));
  const Stream draws(1);
  for (int64_t i = 0; i < shape.m; ++i) {
    codes[size_t(i)] = int32_t(draws.below(uint64_t(i), 2));
    for (int64_t j = 0; j < shape.non_zeros; ++j) {
      const auto at = size_t(i * shape.non_zeros + j);
      data[at] = draws.uniform(at) - 0.5, indices[at] = j;
    }
    indptr.push_back((i + 1) * shape.non_zeros);
  }
  Operations seen;
  const Csr rows{data.data(), indices.data(), {nullptr, indptr.data()}, shape.m, shape.d, 1};
  Problem<CountingRows> p{{rows, &seen}, {{}, codes, 1}, 0.01};
  p.total = double(shape.m);

  Fenced v(size_t(shape.d + 1)), counts(static_cast<size_t>(shape.m));
  for (int64_t j = 0; j < shape.non_zeros; ++j) v.open(j);
  v.open(shape.d);  // the bias
  std::vector<Sampler::Pick> picks(size_t(steps * shape.k));
  Sampler(shape.sampling, 3, {shape.m}).fill(0, picks);
  for (const auto& pick : picks) counts.open(pick.row);

  PegasosState state{v.span(), counts.span(), {}};  // no output: steps alone
  const PegasosOptions options{.k = shape.k,
                               .sampling = shape.sampling,
                               .seed = 3,
                               .steps = steps,
                               .one_pass = true};  // one_pass: steps, no certificate
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  Team team(1);
  PegasosSolver(p, Hinge{}, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(state.t == steps);
  return seen;
}

template <class Touch>
bool dies(const Touch& touch) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL), std::signal(SIGBUS, SIG_DFL);
    touch();
    _exit(0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status);
}

}  // namespace

TEST(the_fence_bites) {
  Fenced w(100'000);
  w.open(0);
  CHECK(!dies([&] { w.span()[0] = 1; }));
  CHECK(dies([&] { w.span()[50'000] = 1; }));
  CHECK(dies([&] { [[maybe_unused]] const volatile double x = w.span()[99'999]; }));
  // What the step must never do: the scaling of w done on every coordinate.
  CHECK(dies([&] { ScaledVector(w.span()).scale(0); }));
}

TEST(a_step_costs_the_non_zeros_of_its_rows) {
  for (const int64_t k : {1, 3})
    for (const int64_t non_zeros : {0, 1, 7, 14, 140}) {
      const auto seen = operations_of({3000, 300, non_zeros, Sampling::iid, k});
      CHECK(seen.dots == steps * k && seen.dot_terms == steps * k * non_zeros);
      CHECK(seen.adds > 0 && seen.adds <= steps * k && seen.add_terms == seen.adds * non_zeros);
      CHECK(seen.fetches == steps * k && seen.norms == 0);
    }
}

TEST(a_step_does_not_cost_the_dimension) {
  const auto few = operations_of({2000, 20, 7}), many = operations_of({2000, 3'000'000, 7});
  CHECK(few.dot_terms == many.dot_terms && few.add_terms == many.add_terms && few.fetches == many.fetches);
}

// i.i.d. picks are free of m altogether; the other orders shuffle once an epoch, less than one operation per row of it.
TEST(steps_do_not_cost_the_number_of_rows) {
  for (const Sampling sampling : {Sampling::iid, Sampling::permutation, Sampling::blocks})
    for (const int64_t m : {2'000, 20'000, 200'000}) {
      const auto seen = operations_of({m, 50, 5, sampling, 2});
      CHECK(seen.dots == steps * 2 && seen.dot_terms == steps * 2 * 5);
      CHECK(seen.adds <= steps * 2 && seen.add_terms == seen.adds * 5 && seen.fetches == steps * 2);
    }
}
