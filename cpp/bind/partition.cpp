// Rounds on partitions of the rows, for solvers whose rows are in many places. No arithmetic here.
#include "pegasos/dual/partition.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <optional>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/dual/partition_ascent.hpp"
#include "pegasos/dual/partition_newton.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

// In the order of PartitionSums; Python adds them up.
nb::dict numbers_of(const PartitionSums& sums) {
  const RoundingSums& r = sums.rounding;
  nb::dict found;
  found["losses"] = to_numpy(std::vector<double>(sums.losses));
  found["along"] = to_numpy(std::vector<double>(sums.along.begin(), sums.along.end()));
  const size_t ways = sums.along.size();
  found["balance"] = to_numpy(std::vector<double>(sums.balance), {ways, sums.balance.size() / ways});
  found["counts"] = to_numpy(std::vector<double>{sums.conjugates, sums.weight, sums.rows, sums.first_gap, sums.last_gap,
                                                 sums.visits, sums.epochs, sums.active, sums.nonzeros});
  found["errors"] = to_numpy(std::vector<double>{r.errors, r.square, r.pull, r.mass, r.conjugates, r.unbalanced});
  found["largest"] = to_numpy(std::vector<double>{r.longest, r.largest, -r.lightest, sums.violation});
  return found;
}

// Where a round starts.
struct Start {
  Vec<double> w, best, before, after;
  int step;  // the dual variables are those `step` fourths of the way from `before` to `after`
  Mat<double> candidates;
  Vec<double> sums, answered;  // where a free bias needs it, these make a joint loss feasible, and `sides` the others
  std::array<double, 2> sides;
};

void check(const PyProblem& problem, const Start& start) {
  check_dim(problem, start.w.size());
  check_dim(problem, start.best.size());
  if (start.candidates.shape(1) != 2) throw std::invalid_argument("a candidate is a part and a shift");
  const auto width = size_t(problem.width()), n = size_t(problem.rows.size()) * width;
  if (start.before.size() != n || start.after.size() != n)
    throw std::invalid_argument("dual values do not fit the rows");
  if (start.sums.size() != start.answered.size() || (start.sums.size() != 0 && start.sums.size() != width))
    throw std::invalid_argument("sums and answers are one a class");
  if (start.step < 0 || start.step > int(PartitionSums::steps)) throw std::invalid_argument("no such step");
}

// Proves what the dual variables are worth, then lets `move(proven, improved, change, found)` improve them.
template <class Move>
nb::dict round_with(const PyProblem& problem, const Start& start, const Move& move) {
  check(problem, start);
  std::vector<double> now(start.before.size()), improved, own(start.w.size()), change(start.w.size());
  std::vector<Candidate> tried;
  for (size_t k = 0; k < start.candidates.shape(0); ++k)
    tried.push_back({start.candidates(k, 0), start.candidates(k, 1)});
  PartitionSums found;
  {
    WithoutGil nogil;
    problem.visit([&](const auto& p, const auto& loss) {
      Partition proven(p, loss, start.sides);
      proven.start_at(size_t(start.step), span_of(start.before), span_of(start.after), now);
      std::optional<ClassBalance> classes;
      if (start.sums.size() != 0) classes.emplace(span_of(start.sums), span_of(start.answered));
      improved = now;
      proven.prove(span_of(start.w), span_of(start.best), now, tried, classes, own, found);
      move(proven, std::span(improved), std::span(change), found);
      proven.look_along(now, improved, found);
    });
  }
  nb::dict result = numbers_of(found);
  result["before"] = to_numpy(std::move(now));
  result["after"] = to_numpy(std::move(improved));
  result["u"] = to_numpy(std::move(own));
  result["change"] = to_numpy(std::move(change));
  return result;
}

nb::dict partition_ascent(const PyProblem& problem, const PartitionOptions& options, Vec<double> w, Vec<double> best,
                          Vec<double> u, Vec<double> before, Vec<double> after, int step, Vec<double> offsets,
                          Mat<double> candidates, Vec<double> sums, Vec<double> answered, Vec<double> along) {
  check_dim(problem, u.size());
  const auto width = size_t(problem.width());
  if (offsets.size() != 0 && offsets.size() != width) throw std::invalid_argument("one offset for each score");
  if (along.size() != 0 && along.size() != size_t(problem.rows.size()))
    throw std::invalid_argument("one product for each row");
  if (!(options.sigma > 0)) throw std::invalid_argument("sigma must be positive");
  if (!(options.momentum >= 0)) throw std::invalid_argument("momentum must not be negative");
  return round_with(problem, {w, best, before, after, step, candidates, sums, answered, options.sides},
                    [&](const auto& proven, auto improved, auto change, PartitionSums& found) {
                      PartitionAscent ascent(proven, options, span_of(offsets), span_of(along));
                      ascent.ascend(span_of(before), improved, span_of(u), change, found);
                    });
}

nb::dict partition_newton(const PyProblem& problem, Vec<double> w, Vec<double> best, Vec<double> base,
                          Vec<double> before, Vec<double> after, int step, Mat<double> candidates, Vec<double> sums,
                          Vec<double> answered, std::array<double, 2> sides, Vec<double> way, double curvature) {
  check_dim(problem, base.size());
  if (!(curvature >= 0)) throw std::invalid_argument("curvature must not be negative");
  NewtonSums more;
  nb::dict result =
      round_with(problem, {w, best, before, after, step, candidates, sums, answered, sides},
                 [&](const auto& proven, auto improved, auto change, PartitionSums&) {
                   PartitionNewton(proven, curvature).respond(span_of(base), span_of(way), improved, change, more);
                 });
  result["values"] = to_numpy(std::move(more.values));
  result["matrix"] = to_numpy(std::move(more.matrix), {w.size(), w.size()});
  return result;
}

// What rounding may do to the certificate of all partitions together, above and below.
nb::tuple rounding_of_partitions(std::array<double, 6> errors, std::array<double, 3> largest, double rows,
                                 double weights, double total, double lam, double square, double dual_square,
                                 double losses, double b, bool bounded_slope, bool costly, bool free_bias, double width,
                                 double largest_cost) {
  RoundingSums sums;
  sums.errors = errors[0], sums.square = errors[1], sums.pull = errors[2], sums.mass = errors[3];
  sums.conjugates = errors[4], sums.unbalanced = errors[5];
  sums.longest = largest[0], sums.largest = largest[1], sums.lightest = -largest[2];
  const Rounding found = rounding_of(sums, {.rows = rows,
                                            .weights = weights,
                                            .total = total,
                                            .lam = lam,
                                            .square = square,
                                            .dual_square = dual_square,
                                            .losses = losses,
                                            .b = b,
                                            .balance = 0,
                                            .bounded_slope = bounded_slope,
                                            .costly = costly,
                                            .free_bias = free_bias,
                                            .precise = false,
                                            .width = width,
                                            .largest_cost = largest_cost});
  return nb::make_tuple(found.above, found.below);
}

}  // namespace

void bind_partition(nb::module_& m) {
  nb::class_<PartitionOptions>(m, "PartitionOptions")
      .def(nb::init<>())
      .def_rw("sigma", &PartitionOptions::sigma)
      .def_rw("common", &PartitionOptions::common)
      .def_rw("momentum", &PartitionOptions::momentum)
      .def_rw("seed", &PartitionOptions::seed)
      .def_rw("growing", &PartitionOptions::growing)
      .def_rw("most_epochs", &PartitionOptions::most_epochs)
      .def_rw("most_visits", &PartitionOptions::most_visits)
      .def_rw("good_enough", &PartitionOptions::good_enough)
      .def_rw("bias_feature", &PartitionOptions::bias_feature)
      .def_rw("sides", &PartitionOptions::sides);
  m.def("partition_ascent", &partition_ascent, "problem"_a, "options"_a, nb::kw_only(), "w"_a.noconvert(),
        "best"_a.noconvert(), "u"_a.noconvert(), "before"_a.noconvert(), "after"_a.noconvert(), "step"_a,
        "offsets"_a.noconvert(), "candidates"_a.noconvert(), "sums"_a.noconvert(), "answered"_a.noconvert(),
        "along"_a.noconvert());
  m.def("partition_newton", &partition_newton, "problem"_a, nb::kw_only(), "w"_a.noconvert(), "best"_a.noconvert(),
        "base"_a.noconvert(), "before"_a.noconvert(), "after"_a.noconvert(), "step"_a, "candidates"_a.noconvert(),
        "sums"_a.noconvert(), "answered"_a.noconvert(), "sides"_a, "way"_a.noconvert(), "curvature"_a);
  m.def("rounding_of_partitions", &rounding_of_partitions, nb::kw_only(), "errors"_a, "largest"_a, "rows"_a,
        "weights"_a, "total"_a, "lam"_a, "square"_a, "dual_square"_a, "losses"_a, "b"_a, "bounded_slope"_a, "costly"_a,
        "free_bias"_a, "width"_a, "largest_cost"_a);
}
