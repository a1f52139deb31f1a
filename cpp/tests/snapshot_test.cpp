// Snapshots: what is read is what was written, and anything else is refused.
#include "pegasos/run/snapshot.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

using namespace pegasos;

namespace {

struct Thing {
  double x = 0;
  int64_t n = 0;
  bool flag = false;
  std::vector<double> grown = {};
  std::vector<float> fixed = std::vector<float>(3);

  void visit(Snapshot& s) {
    s.items(x, n, flag);
    s.numbers(grown);
    s.numbers(std::span<float>(fixed));
  }
};

std::string written(Thing& thing) {
  Snapshot s;
  thing.visit(s);
  return s.written();
}

bool refused(const std::string& bytes, Thing thing = {}) {
  const Snapshots store{.start = bytes};
  try {
    store.restore([&](Snapshot& s) { thing.visit(s); });
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(a_snapshot_is_read_as_it_was_written) {
  Thing thing{.x = 0.1, .n = -7, .flag = true, .grown = {1, 2, 3, 4}, .fixed = {5, 6, 7}}, again;
  const std::string bytes = written(thing);
  const Snapshots store{.start = bytes};
  CHECK(store.restore([&](Snapshot& s) { again.visit(s); }));
  CHECK(again.x == 0.1 && again.n == -7 && again.flag && again.grown == thing.grown && again.fixed == thing.fixed);
  CHECK(!Snapshots{}.restore([&](Snapshot& s) { again.visit(s); }));
}

TEST(a_snapshot_of_something_else_is_refused) {
  Thing thing{.grown = {1, 2, 3, 4}};
  const std::string bytes = written(thing);
  CHECK(!refused(bytes));
  for (size_t n = 1; n < bytes.size(); ++n) CHECK(refused(bytes.substr(0, n)));
  CHECK(refused(bytes + "x"));
  CHECK(refused(bytes, Thing{.fixed = std::vector<float>(2)}));
}

TEST(a_snapshot_is_taken_when_it_is_due) {
  Thing thing;
  int kept = 0;
  bool due = false;
  const Snapshots store{.due = [&] { return due; },
                        .keep = [&](const std::string& bytes) { return ++kept, !bytes.empty(); }};
  const auto visit = [&](Snapshot& s) { thing.visit(s); };
  CHECK(store.keep_if_due(visit) && kept == 0);
  due = true;
  CHECK(store.keep_if_due(visit) && kept == 1);
  CHECK(Snapshots{}.keep_if_due(visit));
  const Snapshots full{.due = [] { return true; }, .keep = [](const std::string&) { return false; }};
  CHECK(!full.keep_if_due(visit));
}
