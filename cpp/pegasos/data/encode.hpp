// Labels of any fixed-size type to class codes, in one pass and without sorting the rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "pegasos/data/random.hpp"

namespace pegasos {

namespace detail {

// A label that fits in a machine word.
template <class Word>
struct WordItems {
  const unsigned char* items;
  Word word(int64_t i) const {
    Word w;
    std::memcpy(&w, items + size_t(i) * sizeof(Word), sizeof(Word));
    return w;
  }
  uint64_t hash(int64_t i) const { return mix64(uint64_t(word(i)) + 1); }
  bool same(int64_t i, int64_t j) const { return word(i) == word(j); }
};

// Any other, strings for example.
struct LongItems {
  const unsigned char* items;
  size_t size;
  uint64_t hash(int64_t i) const {
    const unsigned char* item = items + size_t(i) * size;
    uint64_t h = size;
    for (size_t j = 0; j < size; j += 8) {
      uint64_t word = 0;
      std::memcpy(&word, item + j, size - j < 8 ? size - j : 8);
      h = mix64(h ^ word) + 0x9e3779b97f4a7c15u;
    }
    return h;
  }
  bool same(int64_t i, int64_t j) const {
    return std::memcmp(items + size_t(i) * size, items + size_t(j) * size, size) == 0;
  }
};

template <class Items>
std::vector<int64_t> encode(const Items& items, int64_t count, int32_t* codes) {
  std::vector<int64_t> first;
  std::vector<int32_t> table(256, -1);  // open addressing, at most half full
  auto slot_of = [&](int64_t i) {
    size_t slot = items.hash(i) & (table.size() - 1);
    while (table[slot] >= 0 && !items.same(first[size_t(table[slot])], i)) slot = (slot + 1) & (table.size() - 1);
    return slot;
  };
  for (int64_t i = 0; i < count; ++i) {
    const size_t slot = slot_of(i);
    codes[i] = table[slot];
    if (codes[i] >= 0) continue;
    if (first.size() == size_t(INT32_MAX)) throw std::invalid_argument("more than 2^31 - 1 classes");
    codes[i] = table[slot] = int32_t(first.size());
    first.push_back(i);
    if (first.size() * 2 > table.size()) {
      table.assign(table.size() * 4, -1);
      for (size_t c = 0; c < first.size(); ++c) table[slot_of(first[c])] = int32_t(c);
    }
  }
  return first;
}

}  // namespace detail

// Writes to codes[i] the number of the class of item i, classes numbered in order of first appearance; returns the
// item at which each class appeared first. Items are equal when their bytes are.
inline std::vector<int64_t> encode(const unsigned char* items, int64_t count, size_t item_size, int32_t* codes) {
  switch (item_size) {
    case 1:
      return detail::encode(detail::WordItems<uint8_t>{items}, count, codes);
    case 2:
      return detail::encode(detail::WordItems<uint16_t>{items}, count, codes);
    case 4:
      return detail::encode(detail::WordItems<uint32_t>{items}, count, codes);
    case 8:
      return detail::encode(detail::WordItems<uint64_t>{items}, count, codes);
    default:
      return detail::encode(detail::LongItems{items, item_size}, count, codes);
  }
}

}  // namespace pegasos
