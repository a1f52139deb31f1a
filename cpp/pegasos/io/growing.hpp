// An array that grows at its end. Unlike a vector it leaves new room untouched, so that the system lends no memory for
// it before it is used, and grows by realloc, which moves pages of large arrays instead of copying them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace pegasos {

template <class T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Growing() = default;
  Growing(Growing&& other) noexcept { swap(other); }
  Growing& operator=(Growing&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Growing() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  // Makes room for n more; returns where they go. They count once `resize` says so.
  T* room(size_t n) {
    if (n > capacity_ - size_) {
      if (n > size_t(PTRDIFF_MAX) / sizeof(T) - size_) throw std::bad_alloc();
      reallocate(std::max(size_ + n, std::min(capacity_ + capacity_ / 2, size_t(PTRDIFF_MAX) / sizeof(T))));
    }
    return data_ + size_;
  }
  void resize(size_t n) { size_ = n; }  // at most what there is room for
  void append(T value) {
    *room(1) = value;
    ++size_;
  }

  // Gives back the room that is not used.
  void trim() {
    if (size_ < capacity_) reallocate(std::max<size_t>(size_, 1));
  }

 private:
  void swap(Growing& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  void reallocate(size_t capacity) {
    void* moved = std::realloc(data_, capacity * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace pegasos
