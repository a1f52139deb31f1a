// Labels of any fixed-size type to class codes, without sorting the rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/run/passes.hpp"

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

// Classes by number, in the order in which they were found.
template <class Items>
class ClassTable {
 public:
  explicit ClassTable(const Items& items) : items_(items), table_(256, -1) {}

  // The number of the class of item i, which may be a new one.
  int32_t number_of(int64_t i) {
    const size_t slot = slot_of(i);
    if (table_[slot] >= 0) return table_[slot];
    if (first_.size() == size_t(INT32_MAX)) throw std::invalid_argument("more than 2^31 - 1 classes");
    const auto number = table_[slot] = int32_t(first_.size());
    first_.push_back(i);
    if (first_.size() * 2 > table_.size()) {
      table_.assign(table_.size() * 4, -1);
      for (size_t c = 0; c < first_.size(); ++c) table_[slot_of(first_[c])] = int32_t(c);
    }
    return number;
  }

  std::vector<int64_t>& first() { return first_; }  // the item at which each class was found

 private:
  size_t slot_of(int64_t i) const {
    size_t slot = items_.hash(i) & (table_.size() - 1);
    while (table_[slot] >= 0 && !items_.same(first_[size_t(table_[slot])], i)) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }

  const Items& items_;
  std::vector<int64_t> first_;
  std::vector<int32_t> table_;  // open addressing, at most half full
};

// Every part numbers the classes it meets; taken in the order of the parts, these are met in the order of the items.
template <class Items>
std::vector<int64_t> encode(const Items& items, int64_t count, double each, int32_t* codes, Team& team) {
  const Pass pass = Pass::over(count, each);
  std::vector<ClassTable<Items>> tables(size_t(pass.parts), ClassTable<Items>(items));
  team.each(pass.parts, [&](int64_t part) {
    auto& mine = tables[size_t(part)];
    for (int64_t i = pass.first(part); i < pass.first(part + 1); ++i) codes[i] = mine.number_of(i);
  });
  if (pass.parts == 1) return std::move(tables[0].first());
  ClassTable<Items> all(items);
  std::vector<std::vector<int32_t>> numbers(tables.size());
  for (size_t part = 0; part < tables.size(); ++part)
    for (const int64_t i : tables[part].first()) numbers[part].push_back(all.number_of(i));
  team.each(pass.parts, [&](int64_t part) {
    const auto& mine = numbers[size_t(part)];
    for (int64_t i = pass.first(part); i < pass.first(part + 1); ++i) codes[i] = mine[size_t(codes[i])];
  });
  return std::move(all.first());
}

}  // namespace detail

// Writes to codes[i] the number of the class of item i, classes numbered in order of first appearance; returns the
// item at which each class appeared first. Items are equal when their bytes are.
inline std::vector<int64_t> encode(const unsigned char* items, int64_t count, size_t item_size, int32_t* codes,
                                   Team& team) {
  constexpr double each = 4;
  switch (item_size) {
    case 1:
      return detail::encode(detail::WordItems<uint8_t>{items}, count, each, codes, team);
    case 2:
      return detail::encode(detail::WordItems<uint16_t>{items}, count, each, codes, team);
    case 4:
      return detail::encode(detail::WordItems<uint32_t>{items}, count, each, codes, team);
    case 8:
      return detail::encode(detail::WordItems<uint64_t>{items}, count, each, codes, team);
    default:
      return detail::encode(detail::LongItems{items, item_size}, count, each + double(item_size) / 4, codes, team);
  }
}

// codes[i] <- number[codes[i]], in place.
inline void relabel(std::span<int32_t> codes, std::span<const int32_t> number, Team& team) {
  const Pass pass = Pass::over(int64_t(codes.size()), 1);
  team.each(pass.parts, [&](int64_t part) {
    for (int64_t i = pass.first(part); i < pass.first(part + 1); ++i) {
      int32_t& code = codes[size_t(i)];
      if (code < 0 || size_t(code) >= number.size()) throw std::invalid_argument("a code without a new number");
      code = number[size_t(code)];
    }
  });
}

}  // namespace pegasos
