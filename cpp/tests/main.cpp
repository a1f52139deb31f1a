// Runs every test of the core and counts.
#include <algorithm>
#include <cstdio>

#include "check.hpp"

int main() {
  int failed = 0;
  for (const Case& test : cases()) {
    try {
      test.run();
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s: %s\n", test.name, error.what());
      std::fflush(stdout);
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", int(cases().size()) - failed, failed);
  return failed != 0;
}
