// The Python face of the native core. Conversion only; see src/mazurka/_native.pyi for what everything means.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "explore/exploration.hpp"
#include "search/states.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace mazurka;

namespace {

std::vector<u8> to_vector(const nb::bytes& bytes) {
    const u8* data = static_cast<const u8*>(bytes.data());
    return {data, data + bytes.size()};
}

std::string thread_name(const Machine& machine, Slot thread) {
    if (thread == 1) return "main";
    const ThreadName name = machine.name(thread);
    return thread_name(machine, name.parent) + "." + std::to_string(name.child);
}

std::vector<std::string> thread_names(const Machine& machine) {
    std::vector<std::string> names;
    for (Slot slot = 1; slot < machine.named_threads(); ++slot) names.push_back(thread_name(machine, slot));
    return names;
}

// The inverse of `thread_names`: "main.1.2" is the second thread that "main.1" creates.
std::vector<ThreadName> parse_thread_names(const std::vector<std::string>& names) {
    std::vector<ThreadName> parsed;
    for (std::size_t i = 1; i < names.size(); ++i) {
        const std::size_t dot = names[i].rfind('.');
        const auto parent = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i].substr(0, dot));
        if (dot == std::string::npos || parent == names.begin() + static_cast<std::ptrdiff_t>(i))
            throw std::invalid_argument("'" + names[i] + "' is not the name of a thread that an earlier one creates");
        const std::string number = names[i].substr(dot + 1);
        if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
            throw std::invalid_argument("'" + names[i] + "' is not the name of a thread");
        parsed.push_back({static_cast<Slot>(parent - names.begin() + 1), static_cast<u32>(std::stoul(number))});
    }
    return parsed;
}

std::optional<std::string> commuting_name(const Access& access) {
    static constexpr const char* names[] = {"", "add", "and", "or", "xor", "max", "min", "umax", "umin"};
    if (access.commuting == Commuting::no) return std::nullopt;
    return names[static_cast<std::size_t>(access.commuting)];
}

const char* operation_name(const Operation& operation) {
    static constexpr const char* names[] = {"load", "store", "update", "compare-exchange", "allocate", "free", "spawn",
                                            "end",  "exit",  "choose", "output",           "section",  "fail", "stop"};
    return names[static_cast<std::size_t>(operation.kind)];
}

struct ObjectInfo {
    std::string kind = "invalid";
    u32 index = 0;
    Slot owner = 0;
    u64 number = 0;
    Address base = 0;
    u64 size = 0;
    bool alive = false;
    i32 site = -1;
    i32 freed_at = -1;
};

ObjectInfo describe(const Machine& machine, Address address) {
    static constexpr const char* kinds[] = {"null", "function", "global", "thread", "thread-local", "stack", "heap"};
    const Object* object = machine.object(address);
    if (object == nullptr) return {};
    const u64 id = object_of(address);
    return {kinds[static_cast<std::size_t>(object->kind)], object->index, owner_of(id), number_of(id), id << offset_bits,
            object->size, object->alive, object->site, object->freed_at};
}

using Steps = std::vector<std::pair<Slot, std::vector<u32>>>;

Steps to_steps(const std::vector<Step>& schedule) {
    Steps steps;
    for (const Step& step : schedule) steps.emplace_back(step.thread, step.choices);
    return steps;
}

const char* bug_kind(Bug::Kind kind) {
    static constexpr const char* kinds[] = {"failure", "deadlock", "livelock", "steps", "race"};
    return kinds[static_cast<std::size_t>(kind)];
}

std::optional<std::tuple<std::string, Slot, Steps>> to_tuple(const std::optional<Bug>& bug) {
    if (!bug) return {};
    return std::tuple(std::string(bug_kind(bug->kind)), bug->thread, to_steps(bug->schedule));
}

void check_thread(const Machine& machine, Slot thread) {
    if (thread >= max_slots || machine.status(thread) == Status::absent) throw std::invalid_argument("no such thread");
}

// A machine and the code that it runs, which must live as long.
struct OwnedMachine {
    std::shared_ptr<const Code> code;
    Machine machine;
    std::optional<CodeFacts> facts = {};  // made when somebody asks
};

struct OwnedExploration {
    std::shared_ptr<const Code> code;
    Exploration exploration;
};

struct OwnedStateSearch {
    std::shared_ptr<const Code> code;
    StateSearch search;
};

}  // namespace

NB_MODULE(_native, module) {
    std::vector<std::string> opcodes;
    for (const std::string_view name : opcode_names()) opcodes.emplace_back(name.ends_with('_') ? name.substr(0, name.size() - 1) : name);
    module.attr("OPCODES") = nb::cast(opcodes);
    module.attr("MAX_OBJECT_SIZE") = max_object_size;

    nb::class_<Code>(module, "Code")
        .def(nb::new_([](const nb::bytes& instructions, const std::vector<std::pair<u64, u64>>& constants,
                         std::vector<i32> operands, const std::vector<std::tuple<u32, u32, u32, bool>>& functions,
                         const std::vector<std::pair<nb::bytes, bool>>& globals,
                         const std::vector<std::pair<nb::bytes, bool>>& thread_locals, u32 entry, u32 thread_block_size) {
                 auto code = std::make_shared<Code>();
                 code->instructions.resize(instructions.size() / sizeof(Instruction));
                 std::memcpy(code->instructions.data(), instructions.data(), code->instructions.size() * sizeof(Instruction));
                 for (const auto& [value, undefined] : constants) code->constants.push_back({value, undefined});
                 code->operands = std::move(operands);
                 for (const auto& [start, registers, parameters, library] : functions)
                     code->functions.push_back({start, registers, parameters, library});
                 for (const auto& [bytes, constant] : globals) code->globals.push_back({to_vector(bytes), constant});
                 for (const auto& [bytes, is_private] : thread_locals) code->thread_locals.push_back({to_vector(bytes), is_private});
                 code->entry = entry;
                 code->thread_block_size = thread_block_size;
                 return code;
             }),
             "instructions"_a, "constants"_a, "operands"_a, "functions"_a, "globals"_a, "thread_locals"_a, "entry"_a,
             "thread_block_size"_a);

    nb::class_<Access>(module, "Access")
        .def_ro("address", &Access::address)
        .def_ro("size", &Access::size)
        .def_ro("reads", &Access::reads)
        .def_ro("writes", &Access::writes)
        .def_prop_ro("commuting", &commuting_name)
        .def_prop_ro("atomic", [](const Access& access) { return access.ordering != Ordering::plain; });

    nb::class_<Waiting>(module, "Waiting")
        .def_ro("pc", &Waiting::pc)
        .def_ro("object", &Waiting::object)
        .def_ro("holder", &Waiting::holder);

    nb::class_<Next>(module, "Next")
        .def_ro("enabled", &Next::enabled)
        .def_ro("accesses", &Next::accesses)
        .def_ro("ranges", &Next::ranges)
        .def_ro("waiting", &Next::waiting);

    nb::class_<Operation>(module, "Operation")
        .def_prop_ro("kind", &operation_name)
        .def_ro("thread", &Operation::thread)
        .def_ro("frames", &Operation::frames)
        .def_ro("address", &Operation::address)
        .def_ro("size", &Operation::size)
        .def_ro("read", &Operation::read)
        .def_ro("written", &Operation::written)
        .def_ro("visible", &Operation::visible);

    nb::class_<Failure>(module, "Failure")
        .def_prop_ro("kind", [](const Failure& failure) { return std::string(fault_kind(failure.fault)); })
        .def_prop_ro("fault", [](const Failure& failure) { return std::string(fault_name(failure.fault)); })
        .def_ro("thread", &Failure::thread)
        .def_ro("address", &Failure::address)
        .def_ro("size", &Failure::size)
        .def_ro("frames", &Failure::frames);

    nb::class_<ObjectInfo>(module, "ObjectInfo")
        .def_ro("kind", &ObjectInfo::kind)
        .def_ro("index", &ObjectInfo::index)
        .def_ro("owner", &ObjectInfo::owner)
        .def_ro("number", &ObjectInfo::number)
        .def_ro("base", &ObjectInfo::base)
        .def_ro("size", &ObjectInfo::size)
        .def_ro("alive", &ObjectInfo::alive)
        .def_ro("site", &ObjectInfo::site)
        .def_ro("freed_at", &ObjectInfo::freed_at);

    nb::class_<OwnedMachine>(module, "Machine")
        .def(nb::new_([](std::shared_ptr<const Code> code, bool uninitialised, bool record, u64 instruction_limit,
                         u64 pause_after, bool follow_pointers, const std::vector<std::string>& names) {
                 const MachineOptions options{uninitialised, record, instruction_limit, pause_after, false, follow_pointers};
                 auto owned = std::make_unique<OwnedMachine>(code, Machine(*code, options, parse_thread_names(names)));
                 return owned;
             }),
             "code"_a, nb::kw_only(), "uninitialised"_a = true, "record"_a = false, "instruction_limit"_a = 10'000'000,
             "pause_after"_a = 0, "follow_pointers"_a = false, "thread_names"_a = std::vector<std::string>{})
        .def("threads",
             [](const OwnedMachine& self) {
                 std::vector<Slot> threads;
                 for (u64 rest = self.machine.threads(); rest != 0; rest &= rest - 1)
                     threads.push_back(static_cast<Slot>(std::countr_zero(rest)));
                 return threads;
             })
        .def("thread_name",
             [](const OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 return thread_name(self.machine, thread);
             })
        .def("thread_names", [](const OwnedMachine& self) { return thread_names(self.machine); })
        .def("thread_function",
             [](const OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 return self.machine.thread_function(thread);
             })
        .def("status",
             [](const OwnedMachine& self, Slot thread) {
                 static constexpr const char* names[] = {"absent", "ready", "ended", "stopped", "failed"};
                 check_thread(self.machine, thread);
                 return names[static_cast<std::size_t>(self.machine.status(thread))];
             })
        .def("next",
             [](OwnedMachine& self, Slot thread, const std::vector<u32>& choices) {
                 check_thread(self.machine, thread);
                 Next next;
                 self.machine.next(thread, choices, next);
                 return next;
             },
             "thread"_a, "choices"_a = std::vector<u32>{})
        .def("step",
             [](OwnedMachine& self, Slot thread, const std::vector<u32>& choices) {
                 check_thread(self.machine, thread);
                 Next next;
                 self.machine.next(thread, choices, next);
                 if (!next.enabled) throw std::invalid_argument("the thread is not enabled");
                 self.machine.step(thread, choices);
                 return self.machine.accesses();
             },
             "thread"_a, "choices"_a = std::vector<u32>{})
        .def("go_round",
             [](OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 if (!self.machine.at_guarded_access(thread)) throw std::invalid_argument("the thread does not wait in a loop");
                 self.machine.go_round(thread);
             })
        .def("spins",
             [](OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 return self.machine.spins(thread);
             })
        .def("watches",
             [](OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 Accesses accesses;
                 self.machine.spins(thread, &accesses);
                 return accesses;
             })
        .def("exited", [](const OwnedMachine& self) { return self.machine.exited(); })
        .def("failure",
             [](const OwnedMachine& self) {
                 return self.machine.failed() ? std::optional(self.machine.failure()) : std::nullopt;
             })
        .def("frames",
             [](const OwnedMachine& self, Slot thread) {
                 check_thread(self.machine, thread);
                 return self.machine.frames(thread);
             })
        .def("operations", [](OwnedMachine& self) { return self.machine.take_operations(); })
        .def("describe", [](const OwnedMachine& self, Address address) { return describe(self.machine, address); })
        .def("read",
             [](const OwnedMachine& self, Address address, std::size_t size) {
                 std::vector<u8> bytes(size);
                 if (!self.machine.read(address, bytes)) throw std::invalid_argument("not in an object");
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("mark", [](OwnedMachine& self) { return self.machine.mark(); })
        .def("rewind", [](OwnedMachine& self, std::size_t mark) { self.machine.rewind(mark); })
        .def("state",
             [](const OwnedMachine& self) {
                 const std::vector<u8> state = self.machine.state();
                 return nb::bytes(state.data(), state.size());
             })
        .def("canonical",
             [](OwnedMachine& self) {
                 if (!self.machine.options().follow_pointers) throw std::invalid_argument("the machine does not follow pointers");
                 if (!self.facts) self.facts.emplace(*self.code);
                 StateWords state;
                 self.machine.canonical(*self.facts, !self.machine.addresses_matter(), state);
                 return nb::bytes(reinterpret_cast<const char*>(state.words().data()), state.words().size_bytes());
             })
        .def("addresses_matter", [](const OwnedMachine& self) { return self.machine.addresses_matter(); })
        .def("instructions_executed", [](const OwnedMachine& self) { return self.machine.instructions_executed(); });

    nb::class_<OwnedExploration>(module, "Exploration")
        .def(nb::new_([](std::shared_ptr<const Code> code, const std::string& algorithm, bool uninitialised, bool commute,
                         bool keep_going, bool allow_livelock, bool keep_executions, const std::string& races, u64 max_executions, u64 max_steps, u64 instruction_limit, u64 seed) {
                 SearchOptions options;
                 if (algorithm == "exhaustive") options.algorithm = Algorithm::exhaustive;
                 else if (algorithm == "optimal") options.algorithm = Algorithm::optimal;
                 else if (algorithm == "pop") options.algorithm = Algorithm::pop;
                 else if (algorithm == "random") options.algorithm = Algorithm::random;
                 else throw std::invalid_argument("no such algorithm");
                 if (races == "warn") options.races = Races::warn;
                 else if (races == "error") options.races = Races::error;
                 else if (races != "ignore") throw std::invalid_argument("races can be ignored, warned of or errors");
                 options.commute = commute;
                 options.keep_going = keep_going;
                 options.allow_livelock = allow_livelock;
                 options.keep_executions = keep_executions;
                 options.max_executions = max_executions;
                 options.max_steps = max_steps;
                 options.seed = seed;
                 options.machine = {uninitialised, false, instruction_limit};
                 return std::unique_ptr<OwnedExploration>(new OwnedExploration{code, Exploration(*code, options)});
             }),
             "code"_a, nb::kw_only(), "algorithm"_a, "uninitialised"_a = true, "commute"_a = true, "keep_going"_a = false,
             "allow_livelock"_a = false, "keep_executions"_a = false, "races"_a = "ignore", "max_executions"_a = 0, "max_steps"_a = 100'000, "instruction_limit"_a = 10'000'000, "seed"_a = 0)
        .def("run", [](OwnedExploration& self) { self.exploration.run(); }, nb::call_guard<nb::gil_scoped_release>())
        .def("stop", [](OwnedExploration& self) { self.exploration.stop(); })
        .def("algorithm",
             [](const OwnedExploration& self) {
                 static constexpr const char* names[] = {"exhaustive", "optimal", "pop", "random"};
                 return names[static_cast<std::size_t>(self.exploration.algorithm())];
             })
        .def("finished", [](const OwnedExploration& self) { return self.exploration.finished(); })
        .def("progress",
             [](const OwnedExploration& self) {
                 const Progress& now = self.exploration.progress();
                 return std::tuple(now.complete.load(), now.blocked.load(), now.redundant.load(), now.steps.load(), now.depth.load(),
                                   now.fraction.load());
             })
        .def("assumed", [](const OwnedExploration& self) { return self.exploration.progress().assumed.load(); })
        .def("bounded", [](const OwnedExploration& self) { return self.exploration.progress().bounded.load(); })
        .def("instructions_executed", [](const OwnedExploration& self) { return self.exploration.machine().instructions_executed(); })
        .def("thread_names", [](const OwnedExploration& self) { return thread_names(self.exploration.machine()); })
        .def("bug", [](const OwnedExploration& self) { return to_tuple(self.exploration.bug()); })
        .def("executions",
             [](const OwnedExploration& self) {
                 std::vector<Steps> executions;
                 for (const auto& schedule : self.exploration.executions()) executions.push_back(to_steps(schedule));
                 return executions;
             })
        .def("races", [](const OwnedExploration& self) {
            std::vector<std::tuple<Position, Position, Steps>> races;
            for (const DataRace& race : self.exploration.races())
                races.emplace_back(race.first, static_cast<Position>(race.schedule.size() - 1), to_steps(race.schedule));
            return races;
        });

    nb::class_<OwnedStateSearch>(module, "StateSearch")
        .def(nb::new_([](std::shared_ptr<const Code> code, const std::string& reduction, bool exact, bool uninitialised, bool keep_going,
                         u64 max_memory, u64 max_states, u64 instruction_limit, u64 pause_after) {
                 StateSearchOptions options;
                 if (reduction == "cpc") options.reduction = Reduction::cpc;
                 else if (reduction == "cycle-detection") options.reduction = Reduction::cycle_detection;
                 else if (reduction == "unsound") options.reduction = Reduction::unsound;
                 else if (reduction == "none") options.reduction = Reduction::none;
                 else throw std::invalid_argument("no such reduction");
                 options.exact = exact;
                 options.keep_going = keep_going;
                 options.max_memory = max_memory;
                 options.max_states = max_states;
                 options.machine = {uninitialised, false, instruction_limit, pause_after};
                 return std::unique_ptr<OwnedStateSearch>(new OwnedStateSearch{code, StateSearch(*code, options)});
             }),
             "code"_a, nb::kw_only(), "reduction"_a = "cpc", "exact"_a = false, "uninitialised"_a = true, "keep_going"_a = false,
             "max_memory"_a = 0, "max_states"_a = 0, "instruction_limit"_a = 10'000'000, "pause_after"_a = 10'000)
        .def("run", [](OwnedStateSearch& self) { self.search.run(); }, nb::call_guard<nb::gil_scoped_release>())
        .def("stop", [](OwnedStateSearch& self) { self.search.stop(); })
        .def("finished", [](const OwnedStateSearch& self) { return self.search.finished(); })
        .def("limit",
             [](const OwnedStateSearch& self) {
                 static constexpr const char* names[] = {"", "memory", "states"};
                 return names[static_cast<std::size_t>(self.search.limit())];
             })
        .def("progress",
             [](const OwnedStateSearch& self) {
                 const StateProgress& now = self.search.progress();
                 return std::tuple(now.states.load(), now.transitions.load(), now.depth.load(), now.deepest.load(), now.memory.load(),
                                   now.restarts.load(), now.shortening.load());
             })
        .def("table_bytes", [](const OwnedStateSearch& self) { return self.search.table_bytes(); })
        .def("thread_names", [](const OwnedStateSearch& self) { return thread_names(self.search.machine()); })
        .def("bug", [](const OwnedStateSearch& self) { return to_tuple(self.search.bug()); })
        .def("bugs", [](const OwnedStateSearch& self) {
            nb::list bugs;
            for (const KnownBug& bug : self.search.bugs()) {
                nb::list places;
                if (bug.kind == Bug::Kind::failure) {
                    places.append(bug.fault);
                    places.append(thread_name(self.search.machine(), bug.places.front().first));
                    for (const auto& [thread, position] : bug.places) places.append(position);
                } else {
                    for (const auto& [thread, position] : bug.places) places.append(nb::make_tuple(thread_name(self.search.machine(), thread), position));
                }
                bugs.append(nb::make_tuple(bug_kind(bug.kind), nb::tuple(places)));
            }
            return bugs;
        });
}
