#include "graphs/search.hpp"
#include "vm/exploring.hpp"

#include <memory>
#include <set>

#include "bindings/bindings.hpp"

namespace mazurka {

using MachineExploration = Exploration<Machine>;

namespace {

// What can be asked of a search for executions, by whichever explorer.
template <class E>
void bind_search(nb::class_<E>& search) {
    search.def("run", &E::run, nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &E::stop)
        .def("algorithm", [](const E& self) { return self.algorithm(); })
        .def("finished", &E::finished)
        .def("hand_over",
             [](const E& self) -> std::optional<std::tuple<Obstacle, std::vector<u32>>> {
                 const auto& why = self.hand_over();
                 if (!why) return {};
                 std::vector<u32> frames{static_cast<u32>(why->site)};
                 if (why->site >> 32 != 0) frames.push_back(static_cast<u32>(why->site >> 32));
                 return std::tuple(why->obstacle, frames);
             })
        .def("beyond", [](const E& self) { return self.results().counts.beyond; })
        .def("progress",
             [](const E& self) {
                 const Snapshot now = self.progress();
                 return std::tuple(now.complete, now.blocked, now.redundant, now.steps, now.depth, now.fraction);
             })
        .def("told_apart",
             [](const E& self) -> std::optional<std::pair<u64, u64>> {
                 if (!self.symmetric()) return {};
                 const Counts& counts = self.results().counts;
                 return std::pair(counts.complete_apart, counts.blocked_apart);
             })
        .def("assumed", [](const E& self) { return self.results().counts.assumed; })
        .def("bounded", [](const E& self) { return self.results().counts.bounded; })
        .def("instructions_executed", &E::instructions_executed)
        .def("jobs", &E::jobs)
        .def("thread_names", [](const E& self) { return thread_names(self.subject()); })
        .def("bug", [](const E& self) { return to_tuple(self.results().bug); })
        .def("bug_count", [](const E& self) { return self.results().bugs.size(); })
        .def(
            "bug_at",
            [](const E& self, std::size_t number) {
                const Sighting& sighting = self.results().bugs.at(number);
                return std::tuple_cat(to_tuple(sighting.bug), std::tuple(sighting.executions));
            },
            "number"_a)
        .def("limit_met", [](const E& self) { return to_tuple(self.results().limit); })
        .def("left", [](const E& self) { return to_steps(self.results().left); })
        .def("executions",
             [](const E& self) {
                 std::vector<Steps> executions;
                 for (const auto& schedule : self.results().executions) executions.push_back(to_steps(schedule));
                 return executions;
             })
        .def("race_count", [](const E& self) { return self.results().races.size(); })
        .def(
            "race", [](const E& self, std::size_t number) { return to_tuple(self.results().races.at(number)); },
            "number"_a);
}

// Whether a data race is of no interest, as Python says.
template <class E>
std::function<bool(const DataRace&)> judge_of(E* self, const std::optional<nb::typed<nb::callable, Ask>>& passes_over) {
    if (!passes_over) return {};
    // Shared, since a search that starts again copies it without holding the GIL.
    const auto ask = std::make_shared<const nb::typed<nb::callable, Ask>>(*passes_over);
    return [self, ask](const DataRace& race) {
        nb::gil_scoped_acquire held;
        return nb::cast<bool>((*ask)(thread_names(self->subject()), to_tuple(race)));
    };
}

}  // namespace

void bind_exploration(nb::module_& module) {
    module.def(
        "judge",
        [](const std::vector<std::tuple<Slot, Guard, Slot, bool>>& told, bool returned, bool limited,
           bool allow_livelock) {
            std::vector<Stay> stays;
            std::set<Slot> spinning;
            for (const auto& [thread, guard, holder, spins] : told) {
                stays.push_back({thread, guard, holder});
                if (spins) spinning.insert(thread);
            }
            const Judgement found =
                judge(stays, returned, limited, allow_livelock, [&](Slot thread) { return spinning.contains(thread); });
            return std::tuple(found.blocked, found.bounded, found.assumed, found.ending);
        },
        "stays"_a, nb::kw_only(), "returned"_a = false, "limited"_a = false, "allow_livelock"_a = false);
    nb::class_<MachineExploration> exploration(module, "Exploration");
    exploration.def(
        "__init__",
        [](MachineExploration* self, const Code& code, Algorithm algorithm, bool uninitialised, bool leaks,
           bool commute, bool symmetry, bool keep_going, bool allow_livelock, bool keep_executions, Races races,
           std::optional<nb::typed<nb::callable, Ask>> passes_over, u64 max_executions, u64 max_steps,
           bool until_endless, u64 instruction_limit, u64 seed, bool any_status, u32 jobs, u64 split) {
            new (self) MachineExploration(Machine(code, {.uninitialised = uninitialised,
                                                         .instruction_limit = instruction_limit,
                                                         .follow_pointers = symmetry,
                                                         .leaks = leaks,
                                                         .any_status = any_status}),
                                          {.algorithm = algorithm,
                                           .commute = commute,
                                           .symmetry = symmetry,
                                           .keep_going = keep_going,
                                           .allow_livelock = allow_livelock,
                                           .races = races,
                                           .passes_over = judge_of(self, passes_over),
                                           .keep_executions = keep_executions,
                                           .max_executions = max_executions,
                                           .max_steps = max_steps,
                                           .until_endless = until_endless,
                                           .seed = seed,
                                           .division = {jobs, split}});
        },
        nb::keep_alive<1, 2>(), "code"_a, nb::kw_only(), "algorithm"_a, "uninitialised"_a = true, "leaks"_a = false,
        "commute"_a = true, "symmetry"_a = false, "keep_going"_a = false, "allow_livelock"_a = false,
        "keep_executions"_a = false, "races"_a = Races::ignore, "passes_over"_a = nb::none(), "max_executions"_a = 0,
        "max_steps"_a = 100'000, "until_endless"_a = false, "instruction_limit"_a = max_instructions, "seed"_a = 0,
        "any_status"_a = false, "jobs"_a = 1, "split"_a = 0);

    bind_search(exploration);

    nb::class_<GraphSearch> graphs(module, "GraphExploration");
    graphs.def(
        "__init__",
        [](GraphSearch* self, const Code& code, MemoryModel memory, Equivalence equivalence, bool uninitialised,
           bool leaks, bool symmetry, bool keep_going, bool allow_livelock, bool keep_executions, Races races,
           std::optional<nb::typed<nb::callable, Ask>> passes_over, u64 max_executions, u64 max_steps,
           bool until_endless, u64 instruction_limit, bool any_status, u32 jobs, u64 split) {
            GraphOptions options;
            options.algorithm = Algorithm::graphs;
            options.memory = memory;
            options.equivalence = equivalence;
            options.symmetry = symmetry;
            options.keep_going = keep_going;
            options.allow_livelock = allow_livelock;
            options.races = races;
            options.passes_over = judge_of(self, passes_over);
            options.keep_executions = keep_executions;
            options.max_executions = max_executions;
            options.max_steps = max_steps;
            options.until_endless = until_endless;
            options.division = {jobs, split};
            new (self) GraphSearch(Machine(code, {.uninitialised = uninitialised,
                                                  .instruction_limit = instruction_limit,
                                                  .follow_pointers = symmetry,
                                                  .leaks = leaks,
                                                  .any_status = any_status}),
                                   options);
        },
        nb::keep_alive<1, 2>(), "code"_a, nb::kw_only(), "memory"_a = MemoryModel::c11,
        "equivalence"_a = Equivalence::traces, "uninitialised"_a = true, "leaks"_a = false, "symmetry"_a = false,
        "keep_going"_a = false, "allow_livelock"_a = false, "keep_executions"_a = false, "races"_a = Races::ignore,
        "passes_over"_a = nb::none(), "max_executions"_a = 0, "max_steps"_a = 100'000, "until_endless"_a = false,
        "instruction_limit"_a = max_instructions, "any_status"_a = false, "jobs"_a = 1, "split"_a = 0);
    bind_search(graphs);
}

}  // namespace mazurka
