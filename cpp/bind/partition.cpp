// Rounds on partitions of the rows, for solvers whose rows are in many places. No arithmetic here.
#include "pegasos/dual/partition.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <optional>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
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
  found["errors"] = to_numpy(std::vector<double>{r.errors, r.square, r.pull, r.mass, r.conjugates});
  found["largest"] = to_numpy(std::vector<double>{r.longest, r.largest, -r.lightest, sums.violation});
  return found;
}

// The dual variables are those `step` fourths of the way from `before` to `after`. Where a free bias needs it, `sums`
// and `answered` make a joint loss feasible, and options.sides the others.
nb::dict partition_round(const PyProblem& problem, const PartitionOptions& options, Vec<double> w, Vec<double> best,
                         Vec<double> u, Vec<double> before, Vec<double> after, int step, Vec<double> offsets,
                         Mat<double> candidates, Vec<double> sums, Vec<double> answered, Vec<double> along) {
  check_dim(problem, w.size());
  check_dim(problem, best.size());
  check_dim(problem, u.size());
  if (candidates.shape(1) != 2) throw std::invalid_argument("a candidate is a part and a shift");
  const auto n = size_t(problem.rows.size() * problem.width()), width = size_t(problem.width());
  if (before.size() != n || after.size() != n) throw std::invalid_argument("dual values do not fit the rows");
  if (offsets.size() != 0 && offsets.size() != width) throw std::invalid_argument("one offset for each score");
  if (sums.size() != answered.size() || (sums.size() != 0 && sums.size() != width))
    throw std::invalid_argument("sums and answers are one a class");
  if (along.size() != 0 && along.size() != n / width) throw std::invalid_argument("one product for each row");
  if (step < 0 || step > int(PartitionSums::steps)) throw std::invalid_argument("no such step");
  if (!(options.sigma > 0)) throw std::invalid_argument("sigma must be positive");
  std::vector<double> now(n), improved(n), own(u.size()), change(u.size());
  std::vector<Candidate> tried;
  for (size_t k = 0; k < candidates.shape(0); ++k) tried.push_back({candidates(k, 0), candidates(k, 1)});
  PartitionSums found;
  {
    WithoutGil nogil;
    problem.visit([&](const auto& p, const auto& loss) {
      Partition partition(p, loss, options, span_of(offsets), span_of(along));
      for (size_t i = 0; i < n; i += width) {
        partition.at_step(size_t(step), before.data() + i, after.data() + i, now.data() + i);
        blocks_of(loss).feasible(now.data() + i, label<std::remove_cvref_t<decltype(loss)>>(p, int64_t(i / width)));
      }
      std::optional<ClassBalance> classes;
      if (sums.size() != 0) classes.emplace(span_of(sums), span_of(answered));
      improved = now;
      partition.prove(span_of(w), span_of(best), now, tried, classes, own, found);
      partition.ascend(improved, span_of(u), change, found);
      partition.look_along(now, improved, found);
    });
  }
  nb::dict result = numbers_of(found);
  result["before"] = to_numpy(std::move(now));
  result["after"] = to_numpy(std::move(improved));
  result["u"] = to_numpy(std::move(own));
  result["change"] = to_numpy(std::move(change));
  return result;
}

// What rounding may do to the certificate of all partitions together, above and below.
nb::tuple rounding_of_partitions(std::array<double, 5> errors, std::array<double, 3> largest, double rows,
                                 double weights, double total, double lam, double square, double dual_square,
                                 double losses, double b, bool bounded_slope, bool costly, bool free_bias, double width,
                                 double largest_cost) {
  RoundingSums sums;
  sums.errors = errors[0], sums.square = errors[1], sums.pull = errors[2], sums.mass = errors[3];
  sums.conjugates = errors[4];
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
      .def_rw("seed", &PartitionOptions::seed)
      .def_rw("growing", &PartitionOptions::growing)
      .def_rw("most_epochs", &PartitionOptions::most_epochs)
      .def_rw("most_visits", &PartitionOptions::most_visits)
      .def_rw("good_enough", &PartitionOptions::good_enough)
      .def_rw("bias_feature", &PartitionOptions::bias_feature)
      .def_rw("sides", &PartitionOptions::sides);
  m.def("partition_round", &partition_round, "problem"_a, "options"_a, nb::kw_only(), "w"_a.noconvert(),
        "best"_a.noconvert(), "u"_a.noconvert(), "before"_a.noconvert(), "after"_a.noconvert(), "step"_a,
        "offsets"_a.noconvert(), "candidates"_a.noconvert(), "sums"_a.noconvert(), "answered"_a.noconvert(),
        "along"_a.noconvert());
  m.def("rounding_of_partitions", &rounding_of_partitions, nb::kw_only(), "errors"_a, "largest"_a, "rows"_a,
        "weights"_a, "total"_a, "lam"_a, "square"_a, "dual_square"_a, "losses"_a, "b"_a, "bounded_slope"_a, "costly"_a,
        "free_bias"_a, "width"_a, "largest_cost"_a);
}
