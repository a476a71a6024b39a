// In place of libc++'s header of this name: waiting for another value of an atomic object until some time has passed.
// To wait longer is to look later: since every order is explored anyway, one look is enough.
#ifndef _LIBCPP___ATOMIC_ATOMIC_SYNC_TIMED_H
#define _LIBCPP___ATOMIC_ATOMIC_SYNC_TIMED_H

#include <__atomic/atomic_waitable_traits.h>
#include <__atomic/memory_order.h>
#include <__chrono/duration.h>
#include <__config>
#include <__type_traits/decay.h>

#pragma GCC system_header

_LIBCPP_BEGIN_NAMESPACE_STD

#if _LIBCPP_STD_VER >= 20

template <class _AtomicWaitable, class _Poll, class _Rep, class _Period>
_LIBCPP_HIDE_FROM_ABI bool __atomic_wait_unless_with_timeout(const _AtomicWaitable &__object, memory_order __order,
                                                             _Poll &&__poll, const chrono::duration<_Rep, _Period> &) {
    auto __value = __atomic_waitable_traits<__decay_t<_AtomicWaitable>>::__atomic_load(__object, __order);
    return __poll(__value);
}

#endif

_LIBCPP_END_NAMESPACE_STD

#endif
