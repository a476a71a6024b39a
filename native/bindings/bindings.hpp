// What the bindings of all classes share; see src/mazurka/_native.pyi for what everything means.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/words.hpp"
#include "explore/results.hpp"
#include "vm/machine.hpp"

namespace mazurka {

namespace nb = nanobind;
using namespace nb::literals;

void bind_code(nb::module_& module);
void bind_values(nb::module_& module);
void bind_machine(nb::module_& module);
void bind_exploration(nb::module_& module);
void bind_state_search(nb::module_& module);

// What a step reads: address, size, value, undefined bits, and the position of the step that wrote it.
using Reads = std::vector<std::tuple<Address, u32, u64, u64, i64>>;
using Steps = std::vector<std::tuple<Slot, std::vector<u32>, Reads>>;

Steps to_steps(const std::vector<Step>& schedule);
std::optional<Steps> to_steps(const std::optional<Left>& left);
std::optional<std::tuple<Ending, Slot, Steps, std::optional<BugKind>>> to_tuple(const std::optional<Bug>& bug);
std::tuple<Ending, Slot, Steps, std::optional<BugKind>> to_tuple(const Bug& bug);
std::optional<std::tuple<Fault, Slot, Steps>> to_tuple(const std::optional<Limit>& limit);

// The positions of the two steps, and all steps up to the second of them; and whether it is of no interest.
using ToldRace = std::tuple<Position, Position, Steps>;
using Ask = bool(std::vector<std::string>, ToldRace);
inline ToldRace to_tuple(const DataRace& race) {
    return {race.first, static_cast<Position>(race.schedule.size() - 1), to_steps(race.schedule)};
}

std::string thread_name(const Machine& machine, Slot thread);
std::vector<std::string> thread_names(const Machine& machine);
std::vector<ThreadName> parse_thread_names(const std::vector<std::string>& names);

}  // namespace mazurka
