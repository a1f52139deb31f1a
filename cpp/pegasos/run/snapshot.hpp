// A solver in the middle of its work, as bytes. Who goes on from them goes on as if nothing had happened: the model has
// the bytes of a fit that was never interrupted.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pegasos {

// Every class that has something to remember visits its numbers in a fixed order: they are written, or read again.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::string_view given) : given_(given), reads_(true) {}

  template <class... T>
  void items(T&... each) {
    (item(each), ...);
  }
  template <class T>
  void numbers(std::span<T> each) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t n = each.size();
    item(n);
    if (n != each.size()) fail();
    bytes(each.data(), each.size_bytes());
  }
  template <class T>
  void numbers(std::vector<T>& each) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t n = each.size();
    item(n);
    if (reads_ && n > (given_.size() - place_) / sizeof(T)) fail();
    each.resize(size_t(n));
    bytes(each.data(), each.size() * sizeof(T));
  }

  const std::string& written() const { return written_; }
  bool reads() const { return reads_; }
  // What was read is refused where it is impossible.
  void expect(bool possible) const {
    if (reads_ && !possible) fail();
  }
  void end() const { expect(place_ == given_.size()); }

 private:
  template <class T>
  void item(T& x) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&x, sizeof x);
  }
  void bytes(void* where, size_t n) {
    if (!reads_) {
      written_.append(static_cast<const char*>(where), n);
      return;
    }
    if (n > given_.size() - place_) fail();
    if (n > 0) std::memcpy(where, given_.data() + place_, n);
    place_ += n;
  }
  [[noreturn]] static void fail() { throw std::invalid_argument("the checkpoint belongs to another problem"); }

  std::string written_;
  std::string_view given_;
  size_t place_ = 0;
  bool reads_ = false;
};

// Who keeps snapshots, and the one that a fit goes on from.
struct Snapshots {
  std::string_view start = {};  // empty: from the beginning
  std::function<bool()> due = {};
  std::function<bool(const std::string&)> keep = {};  // false: it could not be kept

  // visit(snapshot): of all that the solver knows. False: it could not be kept, and the fit ends.
  template <class Visit>
  bool keep_if_due(const Visit& visit) const {
    if (!due || !due()) return true;
    Snapshot taken;
    visit(taken);
    return keep(taken.written());
  }
  // Whether there was one to go on from.
  template <class Visit>
  bool restore(const Visit& visit) const {
    if (start.empty()) return false;
    Snapshot given(start);
    visit(given);
    given.end();
    return true;
  }
};

}  // namespace pegasos
