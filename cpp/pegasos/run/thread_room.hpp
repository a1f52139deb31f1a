// Threads where the address space is limited (ulimit -v). A thread that starts in the last bytes of it is worse than
// none: the C library ends the process when a thread first touches thread-local data for which there is no memory.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <exception>

namespace pegasos {

constexpr std::size_t usual_work = std::size_t(8) << 20;  // for what a thread allocates at its start, and then some

// Whether there is room for the stack of another thread and for its work. Nothing is kept: it asks, and gives back.
inline bool room_for_thread(std::size_t work = usual_work) {
  std::size_t stack = 0;
  pthread_attr_t usual;
  if (pthread_attr_init(&usual) != 0) return false;
  pthread_attr_getstacksize(&usual, &stack);
  pthread_attr_destroy(&usual);
  // Not by malloc, whose threshold for large blocks would follow the largest that was freed.
  void* room = mmap(nullptr, stack + work, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, stack + work) == 0;
}

// The data that the C++ library has in every thread for exceptions: made now, and not when memory has run out.
// (`uncaught_exceptions` would not do: it is declared pure, and a call whose answer nobody wants is left out.)
inline void prepare_for_exceptions() { static_cast<void>(std::current_exception()); }

}  // namespace pegasos
