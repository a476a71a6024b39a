#include "vm/loops.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vm/successors.hpp"

namespace mazurka {

namespace {

constexpr u32 none = ~u32{0};

}  // namespace

CodeLoops::Function& CodeLoops::function_of(u32 position) {
    u32 entry = 0, end = static_cast<u32>(code_.instructions.size());
    for (const FunctionCode& function : code_.functions) {
        if (function.entry <= position) entry = std::max(entry, function.entry);
        if (function.entry > position) end = std::min(end, function.entry);
    }
    const auto [found, added] = functions_.try_emplace(entry);
    found->second.entry = entry;
    if (added) analyse(found->second, end - entry);
    return found->second;
}

void CodeLoops::analyse(Function& function, u32 size) const {
    const u32 entry = function.entry;
    std::vector<std::vector<u32>> successors(size), predecessors(size);
    // In the order in which depth-first search leaves them.
    std::vector<u32> order, number(size, none);
    std::vector<std::pair<u32, std::size_t>> path;
    std::vector<bool> seen(size, false);
    const auto arrive = [&](u32 at) {
        seen[at] = true;
        each_successor(code_, entry + at, [&](u32 next) { successors[at].push_back(next - entry); });
        for (const u32 next : successors[at]) predecessors[next].push_back(at);
        path.emplace_back(at, 0);
    };
    arrive(0);
    while (!path.empty()) {
        const u32 at = path.back().first;
        if (path.back().second < successors[at].size()) {
            if (const u32 next = successors[at][path.back().second++]; !seen[next]) arrive(next);
            continue;
        }
        number[at] = static_cast<u32>(order.size());
        order.push_back(at);
        path.pop_back();
    }
    // Dominators: the nearest position that every way here comes by.
    std::vector<u32> above(size, none);
    above[0] = 0;
    const auto common = [&](u32 x, u32 y) {
        while (x != y) {
            while (number[x] < number[y]) x = above[x];
            while (number[y] < number[x]) y = above[y];
        }
        return x;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = order.size() - 1; i-- > 0;) {
            const u32 at = order[i];
            u32 nearest = none;
            for (const u32 before : predecessors[at])
                if (above[before] != none) nearest = nearest == none ? before : common(before, nearest);
            changed |= std::exchange(above[at], nearest) != nearest;
        }
    }
    const auto backwards = [&](std::vector<bool>& reached, std::vector<u32> open) {
        while (!open.empty()) {
            const u32 at = open.back();
            open.pop_back();
            if (reached[at]) continue;
            reached[at] = true;
            open.insert(open.end(), predecessors[at].begin(), predecessors[at].end());
        }
    };
    std::vector<u32> ends;
    for (const u32 at : order) {
        const Op op = code_.instructions[entry + at].op;
        if (op == Op::return_ || op == Op::end_thread) ends.push_back(at);
    }
    // From where somebody goes on: to such an end, or round a loop.
    std::vector<std::pair<u32, u32>> back;  // from a position to one that comes before it on every way
    for (const u32 at : order)
        for (const u32 next : successors[at]) {
            u32 up = at;
            while (up != next && up != 0) up = above[up];
            if (up == next) back.emplace_back(at, next);
            if (number[next] >= number[at]) ends.push_back(next);  // (any edge back closes a cycle)
        }
    std::vector<bool> leads_on(size, false);
    backwards(leads_on, ends);
    for (const auto& [latch, header] : back) {
        Loop loop{header, std::vector<bool>(size, false), {}};
        loop.body[header] = true;
        backwards(loop.body, {latch});
        for (const u32 at : order)
            for (const u32 next : successors[at])
                if (loop.body[at] && !loop.body[next] && leads_on[next]) loop.ways_out.push_back(next);
        function.loops.push_back(std::move(loop));
    }
}

// Whether all of these positions, from the entry of the function, lie in these loops, and together they can be left.
bool CodeLoops::share_loop(std::span<const Loop* const> loops, std::span<const u32> positions) {
    const auto in_body = [&](u32 position) {
        return std::ranges::any_of(loops, [&](const Loop* loop) { return loop->body[position]; });
    };
    return std::ranges::all_of(positions, in_body) && std::ranges::any_of(loops, [&](const Loop* loop) {
               return std::ranges::any_of(loop->ways_out, [&](u32 next) { return !in_body(next); });
           });
}

bool CodeLoops::share_loop(std::span<const u32> positions) {
    const Function& function = function_of(positions.front());
    std::vector<u32> inside;
    for (const u32 position : positions) inside.push_back(position - function.entry);
    std::map<u32, std::vector<const Loop*>> by_header;
    for (const Loop& loop : function.loops) by_header[loop.header].push_back(&loop);
    return std::ranges::any_of(by_header, [&](const auto& each) {
        const std::vector<const Loop*>& loops = each.second;
        if (share_loop(loops, inside)) return true;
        // With some of them only, there may be more ways out. (Of very many, only each by itself is looked at.)
        const u64 sets = loops.size() <= 8 ? u64{1} << loops.size() : 0;
        for (u64 set = 1; set < sets; ++set) {
            std::vector<const Loop*> some;
            for (u64 rest = set; rest != 0; rest &= rest - 1)
                some.push_back(loops[static_cast<std::size_t>(std::countr_zero(rest))]);
            if (share_loop(some, inside)) return true;
        }
        return std::ranges::any_of(loops, [&](const Loop* loop) { return share_loop(std::span(&loop, 1), inside); });
    });
}

bool CodeLoops::goes_round(u32 from, u32 to) {
    const Function& function = function_of(to);
    return std::ranges::any_of(function.loops, [&](const Loop& loop) {
        return !loop.can_be_left() && loop.header == to - function.entry && from >= function.entry &&
               from - function.entry < loop.body.size() && loop.body[from - function.entry];
    });
}

}  // namespace mazurka
