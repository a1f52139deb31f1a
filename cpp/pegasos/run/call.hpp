// A function that is handed to another, which calls it and keeps nothing: two pointers. std::function would take a
// copy, on the heap where it holds much, and code for copying and destroying it: for all the passes of all the losses
// that, and passes that were compiled anew for each, made a fifth of the module.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

namespace pegasos {

template <class Signature>
class Call;

template <class Result, class... Given>
class Call<Result(Given...)> {
 public:
  Call() = default;  // none

  // f lives as long as the call that it is an argument of.
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Call>)
  Call(const F& f)
      : of_(std::addressof(f)),
        does_([](const void* of, Given... given) -> Result { return (*static_cast<const F*>(of))(given...); }) {}

  Result operator()(Given... given) const { return does_(of_, given...); }
  explicit operator bool() const { return does_ != nullptr; }

 private:
  const void* of_ = nullptr;
  Result (*does_)(const void*, Given...) = nullptr;
};

}  // namespace pegasos
