// Memory that is backed by files: the system writes it to a disk where it needs the room for something else.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <string>
#include <system_error>
#include <utility>

namespace pegasos {

// Every large block is a file without a name in the folder, which goes away with it, or with the process. Its room on
// the disk is taken at once: a disk that turns out to be full later would end the process.
class Scratch final : public std::pmr::memory_resource {
 public:
  explicit Scratch(std::string folder) : folder_(std::move(folder)) {}

 private:
  static constexpr size_t large = 1 << 20;  // bytes

  // The error, or 0. Room that is taken now cannot be missing later, when nobody could be told.
  static int take_room(int file, off_t bytes) {
#ifdef __APPLE__  // has no posix_fallocate
    fstore_t all{F_ALLOCATEALL, F_PEOFPOSMODE, 0, bytes, 0};
    return ::fcntl(file, F_PREALLOCATE, &all) == -1 || ::ftruncate(file, bytes) != 0 ? errno : 0;
#else
    return ::posix_fallocate(file, 0, bytes);
#endif
  }

  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes < large) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    const int file = open_nameless();
    const int full = take_room(file, off_t(bytes));
    void* const place = full ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int failure = full ? full : errno;
    ::close(file);
    if (place == MAP_FAILED) fail(failure);
    return place;
  }

  void do_deallocate(void* place, size_t bytes, size_t alignment) override {
    if (bytes < large) return std::pmr::new_delete_resource()->deallocate(place, bytes, alignment);
    ::munmap(place, bytes);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  int open_nameless() const {
    std::string name = folder_ + "/.pegasos-XXXXXX";
    const int file = ::mkstemp(name.data());
    if (file < 0) fail(errno);
    ::unlink(name.c_str());
    return file;
  }

  [[noreturn]] void fail(int number) const {
    throw std::system_error(number, std::generic_category(), "no temporary file in " + folder_);
  }

  std::string folder_;
};

}  // namespace pegasos
