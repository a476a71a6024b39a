// The explorers against each other, on random code.
#include "tests/testing.hpp"
#include "vm/exploring.hpp"

namespace mazurka {
void test_subjects();
}

using namespace mazurka;

namespace {

// All algorithms see the same verdicts, and both reductions the same number of classes.
void explore(const Code& code) {
    const Machine start(code, {.instruction_limit = 1000});
    ExplorationOptions options;
    options.max_executions = 3000;
    options.keep_going = true;
    options.races = Races::warn;
    options.algorithm = Algorithm::exhaustive;
    Exploration<Machine> all(start.again(), options);
    all.run();
    options.algorithm = Algorithm::optimal;
    Exploration<Machine> optimal(start.again(), options);
    optimal.run();
    options.algorithm = Algorithm::pop;
    Exploration<Machine> pop(start.again(), options);
    pop.run();
    CHECK(optimal.results().counts.redundant == 0 && pop.results().counts.redundant == 0);
    if (all.finished()) {
        CHECK(optimal.finished() && pop.finished());
        CHECK(optimal.results().counts.complete + optimal.results().counts.blocked <=
              all.results().counts.complete + all.results().counts.blocked);
        CHECK(all.results().bug.has_value() == optimal.results().bug.has_value());
    }
    // Several workers find what one does, whoever gets which part.
    for (const Division division : {Division{3, 0}, Division{3, 7}, Division{1, 5}}) {
        options.division = division;
        Exploration<Machine> several(start.again(), options);
        several.run();
        if (!pop.finished()) continue;
        CHECK(several.finished() && several.algorithm() == pop.algorithm());
        const Counts& one = pop.results().counts;
        const Counts& all = several.results().counts;
        CHECK(all.complete == one.complete && all.blocked == one.blocked && all.redundant == 0);
        CHECK(several.results().bugs.size() == pop.results().bugs.size());
        CHECK(several.results().races.size() == pop.results().races.size());
    }
    if (optimal.finished() && pop.finished()) {
        CHECK(optimal.results().counts.complete == pop.results().counts.complete &&
              optimal.results().counts.blocked == pop.results().counts.blocked);
        CHECK(optimal.results().bug.has_value() == pop.results().bug.has_value());
    }
}

}  // namespace

int main() {
    test_subjects();
    constexpr u32 programs = 200;
    for (u32 seed = 0; seed < programs; ++seed) {
        Random random(10 * seed);
        explore(Assembler(random).assemble());
    }
    std::printf("explore: %u programs passed\n", programs);
}
