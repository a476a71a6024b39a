// The loops of the code that can be left, to tell who waits from who goes on for ever because that is how it was
// written.
//
// A loop is what compilers call a natural loop: a header that comes before everything in it, and what leads back to it
// by one edge. (If several edges lead back, these are several loops, since an endless one in which a thread waits for
// something to do may look like that; and any of them together are a loop, as where a round can `continue`.) It can be
// left if there is a way out of it that leads anywhere: to where its function returns, its thread ends, or another loop
// goes round. That something in it can fail, or end the process, is no way out: an assertion does not make a loop one
// that is meant to end.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "vm/code.hpp"

namespace mazurka {

class CodeLoops {
public:
    explicit CodeLoops(const Code& code) : code_(code) {}

    // Whether all of these positions, of one function, lie in one loop that can be left.
    bool share_loop(std::span<const u32> positions);
    // Whether a way from one position to another, in the same call, goes round a loop that cannot be left.
    bool goes_round(u32 from, u32 to);

private:
    struct Loop {
        u32 header;
        std::vector<bool> body;     // by position, from the entry of the function
        std::vector<u32> ways_out;  // where they lead to
        bool can_be_left() const { return !ways_out.empty(); }
    };
    struct Function {
        u32 entry = 0;
        std::vector<Loop> loops;
    };

    Function& function_of(u32 position);
    static bool share_loop(std::span<const Loop* const> loops, std::span<const u32> positions);
    void analyse(Function& function, u32 size) const;

    const Code& code_;
    std::map<u32, Function> functions_;  // those that were asked for, by entry
};

}  // namespace mazurka
