// In place of libc++'s header of this name: how to wait until an atomic object has another value. On a real machine this
// polls for a while, then asks the system to wait; here, the model of the library waits (library/atomic_wait.c).
#ifndef _LIBCPP___ATOMIC_ATOMIC_SYNC_H
#define _LIBCPP___ATOMIC_ATOMIC_SYNC_H

#include <__atomic/atomic_waitable_traits.h>
#include <__atomic/contention_t.h>
#include <__atomic/memory_order.h>
#include <__config>
#include <__memory/addressof.h>
#include <__type_traits/decay.h>
#include <cstddef>
#include <cstring>

#pragma GCC system_header

extern "C" void __mazurka_atomic_wait(const volatile void *object, const void *value, std::size_t size);
extern "C" void __mazurka_atomic_notify(const volatile void *object, bool all);

_LIBCPP_BEGIN_NAMESPACE_STD

#if _LIBCPP_STD_VER >= 20

// `poll` says whether a value will do.
template <class _AtomicWaitable, class _Poll>
_LIBCPP_HIDE_FROM_ABI void __atomic_wait_unless(const _AtomicWaitable &__object, memory_order __order, _Poll &&__poll) {
    using __traits = __atomic_waitable_traits<__decay_t<_AtomicWaitable>>;
    for (;;) {
        auto __value = __traits::__atomic_load(__object, __order);
        if (__poll(__value))
            return;
        ::__mazurka_atomic_wait(__traits::__atomic_contention_address(__object), std::addressof(__value),
                                sizeof(__value));
    }
}

template <class _AtomicWaitable>
_LIBCPP_HIDE_FROM_ABI void __atomic_notify_one(const _AtomicWaitable &__object) {
    ::__mazurka_atomic_notify(
        __atomic_waitable_traits<__decay_t<_AtomicWaitable>>::__atomic_contention_address(__object), false);
}

template <class _AtomicWaitable>
_LIBCPP_HIDE_FROM_ABI void __atomic_notify_all(const _AtomicWaitable &__object) {
    ::__mazurka_atomic_notify(
        __atomic_waitable_traits<__decay_t<_AtomicWaitable>>::__atomic_contention_address(__object), true);
}

template <class _Tp>
_LIBCPP_HIDE_FROM_ABI bool __cxx_nonatomic_compare_equal(const _Tp &__left, const _Tp &__right) {
    return std::memcmp(std::addressof(__left), std::addressof(__right), sizeof(_Tp)) == 0;
}

template <class _AtomicWaitable, class _Tp>
_LIBCPP_HIDE_FROM_ABI void __atomic_wait(_AtomicWaitable &__object, _Tp __old, memory_order __order) {
    std::__atomic_wait_unless(__object, __order, [&](const _Tp &__value) {
        return !std::__cxx_nonatomic_compare_equal(__value, __old);
    });
}

#endif

_LIBCPP_END_NAMESPACE_STD

#endif
