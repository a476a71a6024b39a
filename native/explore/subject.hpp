// What can be explored: threads that take steps one at a time, each of which tells what it does.
//
// Between steps, every thread stands before one (or has ended, stopped or failed). What a thread does next, and what it
// is called, depends on what it and those that it has met did, never on how independent steps of others interleave.
#pragma once

#include <concepts>
#include <optional>
#include <span>

#include "core/failure.hpp"
#include "core/step.hpp"

namespace mazurka {

template <class S>
concept Subject = requires(S subject, const S& still, Slot thread, std::span<const u32> choices, Effect& effect,
                           typename S::Mark mark) {
    // The threads that were ever created, as a bit mask, and how each of them is.
    { still.threads() } -> std::same_as<u64>;
    { still.status(thread) } -> std::same_as<Status>;
    // One past the last number of a thread that was met, now or before a `rewind`; `share_names` makes another subject
    // use the same numbers for the same threads, and so do subjects made by `again`, also of those met later.
    { still.named_threads() } -> std::same_as<Slot>;
    subject.share_names(still);
    // Where in the code a thread is; of one that has stopped, at what.
    { still.site(thread) } -> std::same_as<u64>;
    { still.stopped_at(thread) } -> std::same_as<Guard>;
    // All is over, in the ordinary way or by a failure; or a thread has met a limit, and stays there.
    { still.exited() } -> std::same_as<bool>;
    { still.failed() } -> std::same_as<bool>;
    { still.limited() } -> std::same_as<bool>;
    { still.failure() } -> std::same_as<const Failure&>;
    // What a step would do; take it, which is false, and leaves the subject anyhow, if it is not enabled.
    subject.announce(thread, choices, effect);
    { subject.take(thread, choices, effect) } -> std::same_as<bool>;
    // A point to return to.
    { subject.mark() } -> std::same_as<typename S::Mark>;
    subject.rewind(mark);
    // Another one, at the start.
    { still.again() } -> std::same_as<S>;
};

// Optional: what if this word held that? The value of at most 8 bytes, and another one in its place, until `rewind`.
template <class S>
concept Pokable = Subject<S> && requires(S subject, const S& still, Address address, u32 size, u64 value) {
    { still.defined_value(address, size) } -> std::same_as<std::optional<u64>>;
    subject.poke(address, size, value);
};

// Optional: the failures of all threads, not only the first one.
template <Subject S>
const Failure& failure_of(const S& subject, Slot thread) {
    if constexpr (requires { subject.failure(thread); }) return subject.failure(thread);
    return subject.failure();
}

// Optional: an order of threads that does not depend on their numbers.
template <Subject S>
auto order_of(const S& subject) {
    return [&subject](Slot one, Slot other) {
        if constexpr (requires { subject.precedes(one, other); }) return subject.precedes(one, other);
        return one < other;
    };
}

// Optional: whether any thread may pass a fence.
template <Subject S>
bool has_fences(const S& subject) {
    if constexpr (requires { subject.has_fences(); }) return subject.has_fences();
    return false;
}

// Optional: threads that are alike, which `Execution` explores in one order only.
template <class S>
concept Grouping = Subject<S> && requires(const S& still, Slot thread) {
    // The thread that was created before this one, in one go, to do the same (0: there is none); the threads that are
    // alike, as a bit mask.
    { still.alike(thread) } -> std::same_as<Slot>;
    { still.grouped() } -> std::same_as<u64>;
    // Whether it can tell threads apart by what their blocks are called.
    { still.addresses_matter() } -> std::same_as<bool>;
};

// Optional: loops that wait were cut down to a guard, but they are still known to be loops.
template <class S>
concept Looping = Subject<S> && requires(S subject, const S& still, Slot thread) {
    // Whether a thread that stays at a loop's guard would go round for ever if nobody else did anything.
    { subject.spins(thread) } -> std::same_as<bool>;
    // Whether a thread stands before one access and its guards, which it would make in every round.
    { still.at_guarded_access(thread) } -> std::same_as<bool>;
};

}  // namespace mazurka
