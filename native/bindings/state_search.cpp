#include "bindings/bindings.hpp"
#include "states/states.hpp"

namespace mazurka {

void bind_state_search(nb::module_& module) {
    nb::class_<StateSearch>(module, "StateSearch")
        .def(
            "__init__",
            [](StateSearch* self, const Code& code, Reduction reduction, bool exact, bool uninitialised, bool leaks,
               bool keep_going, bool until_cycle, bool until_growth, u64 max_memory, u64 max_states,
               u64 instruction_limit, u64 pause_after, bool any_status, bool livelocks, Races races,
               std::optional<nb::typed<nb::callable, Ask>> passes_over, bool nearby) {
                std::function<bool(const Machine&, const DataRace&)> judge;
                if (passes_over)
                    judge = [ask = *passes_over](const Machine& machine, const DataRace& race) {
                        nb::gil_scoped_acquire held;
                        return nb::cast<bool>(ask(thread_names(machine), to_tuple(race)));
                    };
                new (self) StateSearch(code, {.reduction = reduction,
                                              .exact = exact,
                                              .keep_going = keep_going,
                                              .livelocks = livelocks,
                                              .races = races,
                                              .passes_over = std::move(judge),
                                              .nearby = nearby,
                                              .until_cycle = until_cycle,
                                              .until_growth = until_growth,
                                              .max_memory = max_memory,
                                              .max_states = max_states,
                                              .machine = {.uninitialised = uninitialised,
                                                          .instruction_limit = instruction_limit,
                                                          .pause_after = pause_after,
                                                          .leaks = leaks,
                                                          .any_status = any_status}});
            },
            nb::keep_alive<1, 2>(), "code"_a, nb::kw_only(), "reduction"_a = Reduction::cpc, "exact"_a = false,
            "uninitialised"_a = true, "leaks"_a = false, "keep_going"_a = false, "until_cycle"_a = false,
            "until_growth"_a = false, "max_memory"_a = 0, "max_states"_a = 0, "instruction_limit"_a = max_instructions,
            "pause_after"_a = 10'000, "any_status"_a = false, "livelocks"_a = false, "races"_a = Races::ignore,
            "passes_over"_a = nb::none(), "nearby"_a = true)
        .def("run", &StateSearch::run, nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &StateSearch::stop)
        .def("finished", &StateSearch::finished)
        .def("stops_everywhere", &StateSearch::stops_everywhere)
        .def("limit", &StateSearch::limit)
        .def("progress",
             [](const StateSearch& self) {
                 const StateProgress& now = self.progress();
                 return std::tuple(now.states.load(), now.transitions.load(), now.depth.load(), now.deepest.load(),
                                   now.memory.load(), now.restarts.load(), now.shortening.load());
             })
        .def("cycle", &StateSearch::cycle)
        .def("table_bytes", &StateSearch::table_bytes)
        .def("thread_names", [](const StateSearch& self) { return thread_names(self.machine()); })
        .def("bug", [](const StateSearch& self) { return to_tuple(self.bug()); })
        .def("bug_count", [](const StateSearch& self) { return self.found().size(); })
        .def(
            "bug_at", [](const StateSearch& self, std::size_t number) { return to_tuple(self.found().at(number)); },
            "number"_a)
        .def("race_count", [](const StateSearch& self) { return self.races().size(); })
        .def(
            "race", [](const StateSearch& self, std::size_t number) { return to_tuple(self.races().at(number)); },
            "number"_a)
        .def("may_miss_races", &StateSearch::may_miss_races)
        .def("may_miss_livelocks", &StateSearch::may_miss_livelocks)
        .def("covered_depth", &StateSearch::covered_depth)
        .def("left", [](const StateSearch& self) { return to_steps(self.left()); })
        .def("limit_met", [](const StateSearch& self) { return to_tuple(self.limit_met()); })
        .def("bugs", [](const StateSearch& self) {
            nb::list bugs;
            for (const BugKey& bug : self.bugs()) {
                nb::list places;
                if (bug.kind == Ending::failure) {
                    places.append(std::string(to_word(bug.fault)));
                    places.append(thread_name(self.machine(), bug.places.front().first));
                    for (const auto& [thread, position] : bug.places) places.append(position);
                } else {
                    for (const auto& [thread, position] : bug.places)
                        places.append(nb::make_tuple(thread_name(self.machine(), thread), position));
                }
                bugs.append(nb::make_tuple(bug.kind, nb::tuple(places)));
            }
            return bugs;
        });
}

}  // namespace mazurka
