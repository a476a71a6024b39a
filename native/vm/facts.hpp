// What can be told from the code alone: which registers matter at each position, and which sections may have to wait.
#pragma once

#include <span>
#include <vector>

#include "vm/code.hpp"

namespace mazurka {

class CodeFacts {
public:
    explicit CodeFacts(const Code& code);

    // The registers of a frame that something reads again, if it goes on with the instruction at this position. If that
    // is a call that has begun, what counts is the time after it.
    std::span<const u32> live(u32 position) const { return list(live_begins_, live_, position); }
    std::span<const u32> live_during_call(u32 position) const { return list(during_begins_, during_, position); }
    // Whether a thread that stands before this instruction may not be able to go on.
    bool may_wait(u32 position) const { return may_wait_[position]; }

private:
    static std::span<const u32> list(const std::vector<u32>& begins, const std::vector<u32>& all, u32 position) {
        return std::span(all).subspan(begins[position], begins[position + 1] - begins[position]);
    }
    void find_live_registers(const Code& code);
    void find_waiting_sections(const Code& code);

    std::vector<u32> live_begins_, live_;
    std::vector<u32> during_begins_, during_;
    std::vector<bool> may_wait_;
};

}  // namespace mazurka
