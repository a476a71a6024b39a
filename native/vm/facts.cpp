#include "vm/facts.hpp"

#include <algorithm>
#include <utility>

#include "vm/successors.hpp"

namespace mazurka {

namespace {

// The operands that an instruction reads; constants are among them.
template <class Visit>
void each_use(const Code& code, const Instruction& in, Visit visit) {
    switch (in.op) {
        case Op::thread_local_address:
        case Op::self:
        case Op::landing:
        case Op::atomic_begin:
        case Op::atomic_end:
        case Op::fence:
        case Op::relax:
        case Op::jump:
        case Op::unreachable: return;
        case Op::call:
        case Op::call_pointer:
        case Op::spawn:
            if (in.op != Op::call) visit(in.a);
            for (i32 i = 0; i < in.d; ++i) visit(code.operands[static_cast<std::size_t>(in.c + i)]);
            return;
        case Op::return_:
        case Op::end_thread:
            if (in.b != 0) visit(in.a);
            return;
        case Op::select:
        case Op::fma:
        case Op::long_jump:
        case Op::await:
            visit(in.a);
            visit(in.b);
            visit(in.c);
            return;
        case Op::compare_exchange:
            visit(in.a);
            visit(in.b);
            visit(code.operands[static_cast<std::size_t>(in.d)]);
            return;
        case Op::offset:
        case Op::checked_offset:
        case Op::store:
        case Op::update:
        case Op::fail:
            visit(in.a);
            visit(in.b);
            return;
        default:
            visit(in.a);
            if (in.op >= Op::add && in.op <= Op::funo) visit(in.b);
    }
}

template <class Visit>
void each_definition(const Code& code, const Instruction& in, Visit visit) {
    if (in.dst >= 0) visit(static_cast<u32>(in.dst));
    if (in.op == Op::compare_exchange && code.operands[static_cast<std::size_t>(in.d) + 1] >= 0)
        visit(static_cast<u32>(code.operands[static_cast<std::size_t>(in.d) + 1]));
}

}  // namespace

CodeFacts::CodeFacts(const Code& code) {
    find_live_registers(code);
    find_waiting_sections(code);
}

void CodeFacts::find_live_registers(const Code& code) {
    const u32 size = static_cast<u32>(code.instructions.size());
    std::vector<u32> starts;
    for (const FunctionCode& function : code.functions) starts.push_back(function.entry);
    starts.push_back(size);
    std::ranges::sort(starts);
    std::vector<u32> registers(size, 0);  // of the function that a position belongs to
    for (const FunctionCode& function : code.functions) {
        const u32 end = *std::ranges::upper_bound(starts, function.entry);
        std::fill(registers.begin() + function.entry, registers.begin() + end, function.registers);
    }
    // Backwards until nothing changes, function by function; rows of bits.
    std::vector<std::vector<u32>> live(size), during(size);
    for (std::size_t part = 0; part + 1 < starts.size(); ++part) {
        const u32 begin = starts[part], end = starts[part + 1];
        if (begin == end) continue;
        const std::size_t width = (registers[begin] + 63) / 64;
        std::vector<u64> before((end - begin + 1) * width, 0), row(width);
        // What is called may jump to these.
        std::vector<u32> landings;
        for (u32 pc = begin; pc < end; ++pc)
            if (code.instructions[pc].op == Op::landing) landings.push_back(pc);
        const auto after = [&](u32 pc) {
            std::ranges::fill(row, u64{0});
            each_successor(code, pc, [&](u32 next) {
                for (std::size_t i = 0; i < width; ++i) row[i] |= before[(next - begin) * width + i];
            });
            each_definition(code, code.instructions[pc], [&](u32 reg) { row[reg / 64] &= ~(u64{1} << reg % 64); });
            if (code.instructions[pc].op == Op::call || code.instructions[pc].op == Op::call_pointer)
                for (const u32 next : landings)
                    for (std::size_t i = 0; i < width; ++i) row[i] |= before[(next - begin) * width + i];
        };
        for (bool changed = true; changed;) {
            changed = false;
            for (u32 pc = end; pc-- > begin;) {
                after(pc);
                each_use(code, code.instructions[pc], [&](i32 operand) {
                    if (operand >= 0) row[static_cast<std::size_t>(operand) / 64] |= u64{1} << operand % 64;
                });
                const auto known = before.begin() + static_cast<std::ptrdiff_t>((pc - begin) * width);
                if (std::equal(row.begin(), row.end(), known)) continue;
                std::ranges::copy(row, known);
                changed = true;
            }
        }
        for (u32 pc = begin; pc < end; ++pc) {
            after(pc);
            for (u32 reg = 0; reg < registers[begin]; ++reg) {
                if (before[(pc - begin) * width + reg / 64] >> reg % 64 & 1) live[pc].push_back(reg);
                if (row[reg / 64] >> reg % 64 & 1) during[pc].push_back(reg);
            }
        }
    }
    for (u32 pc = 0; pc < size; ++pc) {
        live_begins_.push_back(static_cast<u32>(live_.size()));
        during_begins_.push_back(static_cast<u32>(during_.size()));
        live_.insert(live_.end(), live[pc].begin(), live[pc].end());
        during_.insert(during_.end(), during[pc].begin(), during[pc].end());
    }
    live_begins_.push_back(static_cast<u32>(live_.size()));
    during_begins_.push_back(static_cast<u32>(during_.size()));
}

// A section waits at its guards, and where there is nothing to choose from. One that does not end in the function in
// which it begins, or that calls nobody knows whom, may wait for all we know.
void CodeFacts::find_waiting_sections(const Code& code) {
    const u32 size = static_cast<u32>(code.instructions.size());
    const auto guards = [&](const Instruction& in) {
        if (in.op == Op::choose) return in.a >= 0 || code.constants[static_cast<std::size_t>(~in.a)].value == 0;
        return in.op == Op::await || in.op == Op::assume || in.op == Op::call_pointer;
    };
    // Functions that have guards, or call such functions.
    std::vector<bool> guarded(code.functions.size(), false);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t f = 0; f < code.functions.size(); ++f) {
            if (guarded[f]) continue;
            std::vector<u32> open{code.functions[f].entry};
            std::vector<bool> seen(size, false);
            while (!open.empty() && !guarded[f]) {
                const u32 pc = open.back();
                open.pop_back();
                if (seen[pc]) continue;
                seen[pc] = true;
                const Instruction& in = code.instructions[pc];
                guarded[f] = guards(in) || (in.op == Op::call && guarded[in.imm]);
                each_successor(code, pc, [&](u32 next) { open.push_back(next); });
            }
            changed |= guarded[f];
        }
    }
    may_wait_.assign(size, false);
    std::vector<std::pair<u32, u32>> open;        // positions and the depth of sections there
    std::vector<std::pair<u32, u32>> seen(size);  // in which round, and at which depth
    u32 round = 0;
    for (u32 start = 0; start < size; ++start) {
        if (code.instructions[start].op == Op::choose) may_wait_[start] = guards(code.instructions[start]);
        if (code.instructions[start].op != Op::atomic_begin) continue;
        ++round;
        bool waits = false;
        open.assign(1, {start, 0});
        while (!open.empty() && !waits) {
            auto [pc, depth] = open.back();
            open.pop_back();
            if (seen[pc].first == round) {
                waits = seen[pc].second != depth;
                continue;
            }
            seen[pc] = {round, depth};
            const Instruction& in = code.instructions[pc];
            if (in.op == Op::atomic_begin) ++depth;
            if (in.op == Op::atomic_end && --depth == 0) continue;
            waits = guards(in) || in.op == Op::return_ || (in.op == Op::call && guarded[in.imm]);
            each_successor(code, pc, [&](u32 next) { open.emplace_back(next, depth); });
        }
        may_wait_[start] = waits;
    }
}

}  // namespace mazurka
