// Commits one crime on purpose, to prove that the sanitizers of this build would notice.
#include <climits>
#include <string>
#include <thread>
#include <vector>

int main(int count, char** words) {
  const std::string crime = count > 1 ? words[1] : "";
  std::vector<int> values(4, count);
  const volatile int* past = values.data();
  if (crime == "address") return past[4] * 0;
  volatile int large = INT_MAX;
  if (crime == "undefined") large = large + count;
  if (crime == "race") {
    int shared = 0;
    std::thread other([&] { ++shared; });
    ++shared;
    other.join();
  }
  return large == 0;
}
