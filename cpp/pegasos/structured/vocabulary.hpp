// Names of features to numbers, in the order of their first appearance; or hashed to one of so many.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pegasos/data/random.hpp"

namespace pegasos::structured {

// Eight bytes at a time. The same on every machine: hashed models move between them.
inline uint64_t hash_of(std::string_view name) {
  uint64_t hash = name.size();
  for (size_t at = 0; at < name.size(); at += 8) {
    uint64_t word = 0;
    if (name.size() - at >= 8) {
      std::memcpy(&word, name.data() + at, 8);
    } else {
      std::memcpy(&word, name.data() + at, name.size() - at);
    }
    hash = mix64(hash ^ word) + 0x9e3779b97f4a7c15u;
  }
  return hash;
}

class Vocabulary {
 public:
  int64_t size() const { return int64_t(ends_.size()); }

  std::string_view name(int64_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[size_t(i) - 1];
    return std::string_view(text_).substr(begin, ends_[size_t(i)] - begin);
  }

  // -1: unknown.
  int32_t find(std::string_view name) const {
    return slots_.empty() ? -1 : slots_[slot_of(name, hash_of(name))].number;
  }

  int32_t add(std::string_view name) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    const uint64_t hash = hash_of(name);
    Slot& slot = slots_[slot_of(name, hash)];
    if (slot.number >= 0) return slot.number;
    if (size() == INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 features; use hashing");
    slot = {uint32_t(hash >> 32), int32_t(size())};
    text_ += name;
    ends_.push_back(text_.size());
    return slot.number;
  }

 private:
  struct Slot {
    uint32_t hash;  // its upper half: most comparisons of names end here
    int32_t number;
  };

  size_t slot_of(std::string_view wanted, uint64_t hash) const {
    size_t at = size_t(hash) & (slots_.size() - 1);
    while (slots_[at].number >= 0 && (slots_[at].hash != uint32_t(hash >> 32) || name(slots_[at].number) != wanted))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 1024 : 2 * slots_.size(), {0, -1});
    for (int64_t i = 0; i < size(); ++i) {
      const uint64_t hash = hash_of(name(i));
      slots_[slot_of(name(i), hash)] = {uint32_t(hash >> 32), int32_t(i)};
    }
  }

  std::string text_;
  std::vector<size_t> ends_;
  std::vector<Slot> slots_;  // open addressing, at most half full
};

}  // namespace pegasos::structured
