// The unwinder that libc++abi's exceptions are built on. The translator turns them into ordinary control flow
// (src/mazurka/frontends/c/translate/exceptions.py); here it is decided who catches them, by the rules of libc++abi.
#include "unwinding.h"

#include <cstdarg>
#include <cstdlib>
#include <new>

#include "abort_message.h"
#include "cxa_exception.h"
#include "fallback_malloc.h"
#include "private_typeinfo.h"

extern "C" {

// Leaves the function with the exception.
[[noreturn]] void __mazurka_unwind(_Unwind_Exception *exception);
// As in mazurka.h.
[[noreturn]] void __mazurka_fail_with(const char *kind, const char *message, const char *details, const void *cause);
void *__mazurka_allocate(size_t size, bool zeroed);
void __mazurka_atomic_begin(void);

}  // extern "C"

namespace {

using namespace __cxxabiv1;

__cxa_exception *header_of(_Unwind_Exception *exception) {
    return reinterpret_cast<__cxa_exception *>(exception + 1) - 1;
}

void *object_of(_Unwind_Exception *exception) {
    __cxa_exception *header = header_of(exception);
    if (__getExceptionClass(exception) != kOurDependentExceptionClass)
        return header + 1;
    return reinterpret_cast<__cxa_dependent_exception *>(header)->primaryException;
}

// Whether a handler for a type (null: for all) is one for this exception. If so, where the object is that it gets.
bool catches(const void *type, _Unwind_Exception *exception, void *&object) {
    if (type == nullptr)
        return true;
    if (!__isOurExceptionClass(exception))
        return false;
    const auto *thrown = static_cast<const __shim_type_info *>(header_of(exception)->exceptionType);
    return static_cast<const __shim_type_info *>(type)->can_catch(thrown, object);
}

}  // namespace

// Memory for exceptions does not run out.
namespace __cxxabiv1 {

void *__aligned_malloc_with_fallback(size_t size) { return __mazurka_allocate(size, false); }

void __aligned_free_with_fallback(void *block) { std::free(block); }

}  // namespace __cxxabiv1

extern "C" {

// The number of the clause that handles the exception, 0 if none does.
int __mazurka_select(_Unwind_Exception *exception, const mazurka_clause *clauses) {
    const bool ours = __isOurExceptionClass(exception);
    for (const mazurka_clause *clause = clauses; clause->selector != 0; ++clause) {
        void *object = ours ? object_of(exception) : exception + 1;
        bool selected;
        if (clause->selector > 0) {
            selected = catches(clause->types, exception, object);
        } else {
            selected = true;
            for (auto *each = static_cast<const mazurka_clause *>(clause->types); each->selector != 0; ++each) {
                void *ignored = object;
                if (catches(each->types, exception, ignored))
                    selected = false;
            }
        }
        if (selected) {
            if (ours)
                header_of(exception)->adjustedPtr = object;
            return static_cast<int>(clause->selector);
        }
    }
    return 0;
}

_Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception *exception) {
    for (const mazurka_handler *handler = __mazurka_handlers; handler != nullptr; handler = handler->outer)
        if (__mazurka_select(exception, handler->clauses) != 0)
            __mazurka_unwind(exception);
    return _URC_END_OF_STACK;
}

void _Unwind_DeleteException(_Unwind_Exception *exception) {
    if (exception->exception_cleanup != nullptr)
        exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
}

// An exception leaves a function whose exception specification does not allow for it.
[[noreturn]] void __cxa_call_unexpected(void *exception) noexcept {
    __cxa_begin_catch(exception);
    std::unexpected();
}

void __mazurka_out_of_memory() {
    if (std::new_handler handler = std::get_new_handler())
        handler();
    else
        throw std::bad_alloc();
}

// How libc++abi gives up: the exception that it does so because of, if there is one, is the one that was caught last.
// The format has strings only. It is one step, since nothing comes after it.
void __abort_message(const char *format, ...) {
    char text[512];
    char *end = text, *const last = text + sizeof text - 1;
    __mazurka_atomic_begin();
    va_list arguments;
    va_start(arguments, format);
    for (; *format != 0; ++format) {
        if (format[0] == '%' && format[1] == 's') {
            for (const char *string = va_arg(arguments, const char *); *string != 0 && end != last; ++string)
                *end++ = *string;
            ++format;
        } else if (end != last) {
            *end++ = *format;
        }
    }
    *end = 0;
    va_end(arguments);
    __cxa_exception *header = __cxa_get_globals()->caughtExceptions;
    __mazurka_fail_with("abort", "std::terminate was called", text,
                        header != nullptr ? object_of(&header->unwindHeader) : nullptr);
}

}  // extern "C"
