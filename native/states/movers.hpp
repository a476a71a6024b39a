// Which steps are right, left, both or non movers: inferred from who touches what with which locks, over the whole
// search.
//
// A *place* is four bytes of a global, or four bytes at the same offset of all blocks that were made at the same point
// of the code. As long as one thread, or only the thread that made the block, or always one lock is seen at a place,
// accesses to it are taken for both movers. When that turns out to be wrong, the place is *shared* from then on, and
// whoever relied on it has to begin again. docs/stateful.md says why that is sound.
#pragma once

#include <array>
#include <vector>

#include "vm/machine.hpp"

namespace mazurka {

struct Mover {
    bool left;
    bool right;
};

class Movers {
public:
    // `contended`: also find out which accesses could be in a data race.
    explicit Movers(bool contended) : finds_contended_(contended) {}

    // Of the step that a thread has just taken, or could not take; `held` are the locks that it held before.
    Mover judge(const Machine& machine, Slot thread, const Effect& effect, std::span<const Address> held);

    // Whether something was taken for a mover and should not have been; forget it and all but the shared places.
    bool wrong() const { return wrong_; }
    void start_again();

    // Whether somebody at this position has made an access that is not atomic to a shared place that is also written:
    // it may be in a data race.
    bool contended(u32 position) const { return position < contended_.size() && contended_[position]; }
    bool any_contended() const { return !contended_.empty(); }

private:
    static constexpr u64 unused = ~u64{0};
    enum class Kind : u8 { unseen, lock, data, shared };
    struct Place {
        u64 key = unused;
        Kind kind = Kind::unseen;
        bool tried = false;         // lock: somebody does not wait for it, so that taking and releasing it do not move
        bool written = false;       // by somebody who was not alone, ...
        bool plain = false;         // ... and not always accessed atomically
        bool by_maker = false;      // data: only the thread that made the block was seen here
        u8 locks = 0;               // data: how many locks all accesses held
        Slot thread = 0;            // data: the only one seen; 0: several
        u32 offset = 0;             // lock: from where the lock begins
        std::array<u64, 4> held{};  // data: the locks
    };
    struct Lock {  // as one access sees it
        Address address;
        bool movable;  // in a block that can be called otherwise elsewhere
    };

    Place& place(u64 key);
    static u64 key(const Machine& machine, Address address);
    void become_shared(Place& place);
    void see_data(Place& place, Slot thread, u64 object);
    void see_order(Place& place, const Access& access, u32 position);

    std::vector<Place> places_ = std::vector<Place>(256);  // a hash table; a power of two
    std::size_t used_ = 0;
    bool finds_contended_;
    bool wrong_ = false;
    std::vector<bool> contended_;  // by position
    std::vector<Lock> held_;       // of the present step
};

}  // namespace mazurka
