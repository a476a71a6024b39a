// POP's sleep sets: expressions that tell which schedules come before the one that is explored, and watchers, which
// keep the execution from completing one of those.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "explore/execution.hpp"
#include "explore/results.hpp"

namespace mazurka {

inline bool within(const Access& inner, const Access& outer) {
    return outer.address <= inner.address && inner.address - outer.address <= outer.size - inner.size &&
           inner.size <= outer.size;
}

// Whether everything that conflicts with the accesses `first` also conflicts with `other`.
inline bool dominates(std::span<const Access> other, std::span<const Access> first) {
    return std::ranges::all_of(first, [&](const Access& access) {
        return std::ranges::any_of(other, [&](const Access& candidate) {
            return candidate.commuting == Commuting::no && within(access, candidate) &&
                   (candidate.writes || !access.writes);
        });
    });
}

// Whether some accesses touch all the bytes that others touch.
inline bool covers(std::span<const Access> accesses, std::span<const Access> others) {
    return std::ranges::all_of(others, [&](const Access& other) {
        return std::ranges::any_of(accesses, [&](const Access& access) {
            return access.address == other.address && access.size == other.size;
        });
    });
}

// Whether an event that touches `now` does all that it did when it touched `before`: the same bytes, and all the
// writes.
inline bool does_as_much(std::span<const Access> now, std::span<const Access> before) {
    return covers(before, now) && covers(now, before) && std::ranges::all_of(before, [&](const Access& old) {
               return !old.writes || std::ranges::any_of(now, [&](const Access& access) {
                   return access.writes && access.address == old.address && access.size == old.size;
               });
           });
}

// An event that outlives its place in the execution.
struct Memory {
    Slot thread;
    u32 index;
    std::vector<u32> choices;
    Accesses accesses;
};
using MemoryPtr = std::shared_ptr<const Memory>;

// A part of an execution: its events, and the heads of the schedules that were left out.
struct Item {
    MemoryPtr event;
    bool head;
    bool needs_first;  // it was disabled without the event that the race is with
};
// Characterises the schedules that precede another one in the order of exploration, all of which reverse a race
// with `first`: those that are contained in `items` or conflict with them, or, with `inner`, those that continue
// one that `inner` characterises.
struct Expression {
    MemoryPtr first;
    std::shared_ptr<const std::vector<Item>> items;
    std::size_t length;
    std::shared_ptr<const Expression> inner;
};
using ExpressionPtr = std::shared_ptr<const Expression>;

// An expression that watches the execution, in order to block it before it completes one of its schedules.
struct Watcher {
    ExpressionPtr expression;
    std::vector<std::vector<Position>> conflicts;  // per item: events met that conflict with it or with such an event
    std::vector<bool> removed;                     // per item: it has been met
    std::vector<Position> rivals;                  // events met that conflict with the first event, or are it
    std::vector<Position> inner_heads;             // heads met of schedules of the inner one
    std::unique_ptr<Watcher> inner;
    bool dead = false;  // no schedule can be completed any more
};
struct Change {
    enum class Kind : u8 { conflict, removed, rival, inner_head, dead } kind;
    Watcher* watcher;
    std::size_t item;
};

// Only the first obstacle counts.
inline void give_up(std::optional<HandOver>& hand_over, Obstacle obstacle, u64 site) {
    if (!hand_over) hand_over = {obstacle, site};
}

template <Subject S>
class Watchers {
public:
    Watchers(const Execution<S>& execution, std::optional<HandOver>& hand_over)
        : execution_(execution), hand_over_(hand_over) {}

    // A point to go back to.
    struct Mark {
        std::size_t changes;
        std::size_t watchers;
    };
    Mark mark() const { return {changes_.size(), watchers_.size()}; }
    void rewind(Mark mark) {
        undo(mark.changes);
        watchers_.resize(mark.watchers);
    }

    // Tell them of the last event. True: it would complete one of the schedules that are to be avoided, and they have
    // not seen it.
    bool forbid(Position event) {
        const std::size_t changes = changes_.size();
        for (const auto& watcher : watchers_) {
            if (!update(*watcher, event)) continue;
            undo(changes);
            return true;
        }
        return false;
    }
    void watch(std::span<const ExpressionPtr> expressions, Position from);

private:
    static constexpr std::size_t no_item = ~std::size_t{0};
    std::unique_ptr<Watcher> make_watcher(const ExpressionPtr& expression, Position from);
    bool update(Watcher& watcher, Position event);
    std::size_t match(Watcher& watcher, Position event);
    bool conflicts(const Memory& event, Position position) const;
    bool is(const Memory& event, Position position) const;
    bool is_head(const Watcher& watcher, Position event, std::size_t items) const;
    void undo(std::size_t length);

    const Execution<S>& execution_;
    std::optional<HandOver>& hand_over_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
    std::vector<Change> changes_;
};

// After a schedule: keep it apart from those that come before it. It began at `from`, and its head is the last event.
template <Subject S>
void Watchers<S>::watch(std::span<const ExpressionPtr> expressions, Position from) {
    for (const ExpressionPtr& expression : expressions)
        if (!dominates(execution_.accesses(execution_.size() - 1), expression->first->accesses))
            watchers_.push_back(make_watcher(expression, from));
}

template <Subject S>
std::unique_ptr<Watcher> Watchers<S>::make_watcher(const ExpressionPtr& expression, Position from) {
    auto watcher = std::make_unique<Watcher>();
    watcher->expression = expression;
    watcher->conflicts.resize(expression->length);
    watcher->removed.resize(expression->length);
    for (Position i = from; i < execution_.size(); ++i)
        if (conflicts(*expression->first, i) || is(*expression->first, i)) watcher->rivals.push_back(i);
    if (expression->inner) watcher->inner = make_watcher(expression->inner, from);
    return watcher;
}

// Whether an event that happens at `position` excludes or is ordered with one that is remembered.
template <Subject S>
bool Watchers<S>::conflicts(const Memory& event, Position position) const {
    if (event.thread == execution_[position].thread)
        return event.index == execution_[position].index &&
               !std::ranges::equal(event.choices, execution_.choices(position));
    return dependent(event.accesses, execution_.accesses(position), execution_.commute());
}

template <Subject S>
bool Watchers<S>::is(const Memory& event, Position position) const {
    return event.thread == execution_[position].thread && event.index == execution_[position].index &&
           std::ranges::equal(event.choices, execution_.choices(position));
}

template <Subject S>
void Watchers<S>::undo(std::size_t length) {
    while (changes_.size() > length) {
        const Change last = changes_.back();
        changes_.pop_back();
        switch (last.kind) {
            case Change::Kind::conflict: last.watcher->conflicts[last.item].pop_back(); break;
            case Change::Kind::removed: last.watcher->removed[last.item] = false; break;
            case Change::Kind::rival: last.watcher->rivals.pop_back(); break;
            case Change::Kind::inner_head: last.watcher->inner_heads.pop_back(); break;
            case Change::Kind::dead: last.watcher->dead = false; break;
        }
    }
}

// Find the first item that the event is, or is in conflict with, and note that.
template <Subject S>
std::size_t Watchers<S>::match(Watcher& watcher, Position event) {
    const std::vector<Item>& items = *watcher.expression->items;
    for (std::size_t i = 0; i < watcher.expression->length; ++i) {
        if (items[i].head || watcher.removed[i]) continue;
        const bool against =
            conflicts(*items[i].event, event) || std::ranges::any_of(watcher.conflicts[i], [&](Position met) {
                return execution_[met].thread == execution_[event].thread ||
                       dependent(execution_.accesses(met), execution_.accesses(event), execution_.commute());
            });
        if (against) {
            watcher.conflicts[i].push_back(event);
            changes_.push_back({Change::Kind::conflict, &watcher, i});
            return i;
        }
        if (is(*items[i].event, event)) {
            watcher.removed[i] = true;
            changes_.push_back({Change::Kind::removed, &watcher, i});
            return i;
        }
    }
    return no_item;
}

// Whether the event, which conflicts with the first one, is the head of a schedule that could have come from a race
// with it, fresh after the heads among the first `count` items.
template <Subject S>
bool Watchers<S>::is_head(const Watcher& watcher, Position event, std::size_t count) const {
    const std::vector<Item>& items = *watcher.expression->items;
    const auto clock = execution_.clock(event);
    for (std::size_t i = 0; i < count; ++i)
        if (items[i].head && clock[items[i].event->thread] < items[i].event->index) return false;
    return std::ranges::none_of(watcher.rivals,
                                [&](Position rival) { return execution_.happens_before(rival, event); });
}

// Tell a watcher of an event. True: it would complete one of the schedules that are to be avoided.
template <Subject S>
bool Watchers<S>::update(Watcher& watcher, Position event) {
    if (watcher.dead) return false;
    const Memory& first = *watcher.expression->first;
    const bool itself = is(first, event);
    if (itself && !(does_as_much(execution_.accesses(event), first.accesses) &&
                    does_as_much(first.accesses, execution_.accesses(event))))
        give_up(hand_over_, Obstacle::varies, execution_[event].site);
    const bool rival = conflicts(first, event);
    bool blocks = false;
    const std::size_t matched = match(watcher, event);
    if (matched != no_item) {
        blocks = rival && is_head(watcher, event, matched);
        // That its order with the item can be reversed is not known of an event that can be disabled; nor, if it is the
        // item and needed the first event where that was found, in which other way it has come here.
        const Item& item = (*watcher.expression->items)[matched];
        const bool known = watcher.removed[matched] ? !item.needs_first : execution_[event].guard_accesses == 0;
        if (blocks && !known) give_up(hand_over_, Obstacle::undecided, execution_[event].site);
    } else if (watcher.inner) {
        const bool inner = update(*watcher.inner, event);
        const bool continues = inner || std::ranges::any_of(watcher.inner_heads, [&](Position head) {
                                   return execution_.happens_before(head, event);
                               });
        if (rival && continues && is_head(watcher, event, watcher.expression->length)) blocks = true;
        if (inner) {
            watcher.inner_heads.push_back(event);
            changes_.push_back({Change::Kind::inner_head, &watcher, 0});
        }
    }
    if (rival || itself) {
        watcher.rivals.push_back(event);
        changes_.push_back({Change::Kind::rival, &watcher, 0});
    }
    const auto hides = [&] {
        return std::ranges::all_of(first.accesses, [&](const Access& access) {
            return std::ranges::any_of(execution_.accesses(event), [&](const Access& other) {
                return other.writes && other.commuting == Commuting::no && within(access, other);
            });
        });
    };
    if (itself || (rival && hides())) {
        watcher.dead = true;
        changes_.push_back({Change::Kind::dead, &watcher, 0});
    }
    return blocks;
}

}  // namespace mazurka
