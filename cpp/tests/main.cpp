// Runs every test of the core, but for those whose names are arguments, and counts.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "check.hpp"

int main(int count, char** names) {
  int failed = 0, run = 0;
  for (const Case& test : cases()) {
    if (std::find(names + 1, names + count, std::string_view(test.name)) != names + count) continue;
    ++run;
    try {
      test.run();
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s: %s\n", test.name, error.what());
      std::fflush(stdout);
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", run - failed, failed);
  return failed != 0;
}
