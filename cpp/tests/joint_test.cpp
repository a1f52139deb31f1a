// The joint losses through every solver, on arrays of exactly the size they need.
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/pegasos.hpp"
#include "pegasos/sdca.hpp"

using namespace pegasos;

namespace {

constexpr int64_t classes = 3;
const std::vector<double> costs{0, 1, 2, 1, 0, 1, 0.5, 3, 0};

template <class T>
Data<T> three_classes(int64_t m, bool weighted) {
  Data<T> data(m, 6, 0.6);
  for (int64_t i = 0; i < m; i += 3) data.codes[size_t(i)] = 2;
  if (weighted) data.weigh();
  return data;
}

template <class Rows, class L>
void check_dual(const Problem<Rows>& p, const L& loss, bool second_order, int threads) {
  std::vector<double> a(size_t(p.rows.size() * classes)), w(size_t(p.rows.dim() * classes));
  DualState state{a, w};
  Team team(threads);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const DualOptions options{Sampling::blocks, 3, true, true, second_order, 1e-3, 60};
  const auto fit = DualSolver(p, loss, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(!fit.history.empty());
  const double gap = fit.history.back().objective - fit.history.back().dual;
  CHECK(gap >= 0 && gap < 0.2);
  if (second_order) CHECK(fit.converged);
}

template <class Rows, class L>
void check_pegasos(const Problem<Rows>& p, const L& loss, double radius) {
  const auto dim = size_t(p.rows.dim() * classes);
  std::vector<double> v(dim), counts(size_t(p.rows.size() * classes)), out(dim);
  PegasosState state{v, counts, out};
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const PegasosOptions options{.k = 4, .seed = 3, .steps = 300, .to_the_end = true, .radius = radius};
  const auto fit = PegasosSolver(p, loss, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(fit.history.back().objective >= fit.history.back().dual);
}

template <class L>
void check_all(const L& loss) {
  for (const bool weighted : {false, true}) {
    const auto dense = three_classes<double>(90, weighted);
    const auto sparse = three_classes<float>(90, weighted);
    for (const bool second_order : {false, true}) {
      check_dual(dense.on_dense(0.01), loss, second_order, 1);
      check_dual(sparse.on_csr(0.01), loss, second_order, 2);
    }
    check_pegasos(dense.on_dense(0.01), loss, 0);
    check_pegasos(sparse.on_csr(0.01), loss, 10);
  }
  check_dual(three_classes<float>(40'000, false).on_csr(0.01), loss, false, 2);  // two replicas
}

}  // namespace

TEST(multiclass_hinge_through_every_solver) { check_all(MulticlassHinge{classes, costs}); }
TEST(multinomial_through_every_solver) { check_all(Multinomial{classes}); }
