// The machine on random walks through random code, and the dependence of accesses.
#include "tests/testing.hpp"

#include <array>
#include <span>

using namespace mazurka;

namespace {

// Rewinding restores the state exactly, from any depth, and looking at what is next changes nothing.
void walk(const Code& code, Random& random) {
    Machine machine(
        code, {.uninitialised = below(random, 2) == 0, .record = below(random, 2) == 0, .instruction_limit = 1000});
    struct Point {
        Machine::Mark mark;
        std::vector<u8> state;
    };
    std::vector<Point> points;
    for (u32 i = 0; i < 40; ++i) {
        points.push_back({machine.mark(), machine.state()});
        const std::vector<Slot> threads = enabled_threads(machine);
        CHECK(machine.state() == points.back().state);
        if (threads.empty() || below(random, 5) == 0) {
            const u32 back = below(random, static_cast<u32>(points.size()));
            machine.rewind(points[back].mark);
            CHECK(machine.state() == points[back].state);
            points.resize(back);
            continue;
        }
        Effect effect;
        CHECK(machine.take(threads[below(random, static_cast<u32>(threads.size()))], {}, effect));
    }
}

// Who of the two comes first makes no difference to whether that matters.
void check_dependence(Random& random) {
    std::array<Access, 2> accesses;
    for (Access& access : accesses) {
        const Address place = below(random, 4) == 0 ? 0 : 16 * below(random, 2) + below(random, 8);
        const u64 size = below(random, 16) == 0 ? everything : 1 + below(random, 8);
        const auto commuting = static_cast<Commuting>(below(random, 3));
        access = {place, size, 0, below(random, 2) == 0, below(random, 2) == 0, commuting, Ordering::plain};
    }
    const auto& [x, y] = accesses;
    for (const bool commute : {false, true}) {
        CHECK(conflict(x, y, commute) == conflict(y, x, commute));
        CHECK(!conflict(x, y, commute) || (overlap(x, y) && conflict(x, y, false)));
        CHECK(dependent(std::span(&x, 1), accesses, commute) == dependent(accesses, std::span(&x, 1), commute));
    }
}

}  // namespace

int main() {
    constexpr u32 programs = 2000;
    for (u32 seed = 0; seed < programs; ++seed) {
        Random random(seed);
        const Code code = Assembler(random, seed % 4 == 3).assemble();
        for (int i = 0; i < 5; ++i) walk(code, random);
        for (int i = 0; i < 100; ++i) check_dependence(random);
    }
    std::printf("machine: %u programs passed\n", programs);
}
