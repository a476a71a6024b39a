// What an execution did, for its trace. Nobody reads a hundred thousand steps, so only the first and the last things
// are kept, whatever its length, and of those in between what later ones may still depend on: the last write to each
// place, and what started threads. Of the blocks of memory it is known besides where they came from and what led to
// them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/memory.hpp"

namespace mazurka {

constexpr bool is_access(OperationKind kind) { return kind <= OperationKind::compare_exchange; }

// One thing that a thread did.
struct Operation {
    OperationKind kind;
    Slot thread;
    std::vector<u32> frames;
    Address address = 0;
    u64 size = 0;
    std::optional<u64> read;
    std::optional<u64> written;
    bool visible = false;
    u32 step = 0;      // in which it was done, from 1; 0: before the first
    u32 left_out = 0;  // how many steps before it are not recorded, or not in full
};

class Recording {
public:
    void begin_step() { ++step_; }
    void add(Operation operation);
    // An access found or left the address of a block on the heap in this word.
    void add_pointer(Address word, Address block);
    // The instruction at `pc` accessed a block on the heap at this address.
    void add_use(u32 pc, Address block, Address address);

    // What was added since the last call.
    std::vector<Operation> take();
    const std::vector<u8>& output() const { return output_; }
    const std::vector<Address>& allocated() const { return allocated_; }  // blocks, in order
    const std::vector<std::pair<Address, Address>>& pointers() const { return pointers_; }
    const std::vector<std::pair<u32, Address>>& uses() const { return uses_; }
    // How a block was made and freed, as far as it was.
    const Operation* made(Address block) const { return find(made_, block); }
    const Operation* freed(Address block) const { return find(freed_, block); }

private:
    using Lives = std::unordered_map<Address, Operation>;
    static const Operation* find(const Lives& lives, Address block) {
        const auto found = lives.find(block);
        return found == lives.end() ? nullptr : &found->second;
    }

    static constexpr std::size_t most_kept = 10'000;    // at each end, and in between
    static constexpr std::size_t most_known = 100'000;  // blocks, pointers to them, and uses of them
    static constexpr std::size_t most_output = 1'000'000;
    u32 step_ = 0;
    void keep_latest(std::span<Operation> dropped);

    bool full_ = false;  // the first ones are there
    std::vector<Operation> first_, last_;
    std::map<std::pair<OperationKind, Address>, std::pair<u64, Operation>> between_;  // with when that was
    u64 dropped_ = 0;
    std::vector<u8> output_;
    std::vector<Address> allocated_;
    Lives made_, freed_;
    std::vector<std::pair<Address, Address>> pointers_;
    std::set<std::pair<Address, Address>> known_pointers_;
    std::vector<std::pair<u32, Address>> uses_;
    std::set<std::pair<u32, Address>> known_uses_;  // with the block
};

}  // namespace mazurka
