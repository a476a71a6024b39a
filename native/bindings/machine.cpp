#include "vm/machine.hpp"

#include <bit>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "states/livelocks.hpp"

namespace mazurka {

namespace {

struct ObjectInfo {
    ObjectKind kind = ObjectKind::invalid;
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
    const Object* object = machine.object(address);
    if (object == nullptr) return {};
    const u64 id = object_of(address);
    return {object->kind, object->index, owner_of(id), number_of(id),   id << offset_bits,
            object->size, object->alive, object->site, object->freed_at};
}

// A machine, with facts that are made when somebody asks.
struct BoundMachine : Machine {
    BoundMachine(const Code& code, MachineOptions options, const std::vector<std::string>& names)
        : Machine(code, options, parse_thread_names(names)) {}
    std::optional<CodeFacts> facts;
    std::optional<Livelocks> livelocks;
};

Slot existing(const Machine& machine, Slot thread) {
    if (thread >= max_slots || machine.status(thread) == Status::absent) throw std::invalid_argument("no such thread");
    return thread;
}

// The bytes that a step is told to read must be there.
std::vector<Reading> checked(const Machine& machine, const Reads& reads) {
    std::vector<Reading> readings;
    std::vector<u8> bytes;
    for (const auto& [address, size, value, undefined, source] : reads) {
        bytes.resize(size);
        if (size == 0 || size > 8 || !machine.read(address, bytes)) throw std::invalid_argument("not in an object");
        readings.push_back({address, size, value, undefined, source});
    }
    return readings;
}

}  // namespace

void bind_machine(nb::module_& module) {
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

    nb::class_<BoundMachine>(module, "Machine")
        .def(
            "__init__",
            [](BoundMachine* self, const Code& code, bool uninitialised, bool record, u64 instruction_limit,
               u64 pause_after, bool follow_locks, bool follow_pointers, bool leaks, bool any_status,
               const std::vector<std::string>& names) {
                new (self) BoundMachine(code,
                                        {uninitialised, record, instruction_limit, pause_after, follow_locks,
                                         follow_pointers, leaks, any_status},
                                        names);
            },
            nb::keep_alive<1, 2>(), "code"_a, nb::kw_only(), "uninitialised"_a = true, "record"_a = false,
            "instruction_limit"_a = max_instructions, "pause_after"_a = 0, "follow_locks"_a = false,
            "follow_pointers"_a = false, "leaks"_a = false, "any_status"_a = false,
            "thread_names"_a = std::vector<std::string>{})
        .def("threads",
             [](const BoundMachine& self) {
                 std::vector<Slot> threads;
                 for (u64 rest = self.threads(); rest != 0; rest &= rest - 1)
                     threads.push_back(static_cast<Slot>(std::countr_zero(rest)));
                 return threads;
             })
        .def(
            "thread_name", [](BoundMachine& self, Slot thread) { return thread_name(self, existing(self, thread)); },
            "thread"_a)
        .def("thread_names", [](const BoundMachine& self) { return thread_names(self); })
        .def(
            "status", [](BoundMachine& self, Slot thread) { return self.status(existing(self, thread)); }, "thread"_a)
        .def(
            "next",
            [](BoundMachine& self, Slot thread, const std::vector<u32>& choices, const Reads& reads) {
                Effect effect;
                const Machine::Mark before = self.mark();
                for (const Reading& read : checked(self, reads))
                    self.poke(read.address, read.size, read.value, read.undefined);
                self.announce(existing(self, thread), choices, effect);
                self.rewind(before);
                return effect;
            },
            "thread"_a, "choices"_a = std::vector<u32>{}, "reads"_a = Reads{})
        .def(
            "step",
            [](BoundMachine& self, Slot thread, const std::vector<u32>& choices, const Reads& reads) {
                Effect effect;
                const std::vector<Reading> readings = checked(self, reads);
                const Machine::Mark before = self.mark();
                for (const Reading& read : readings) self.poke(read.address, read.size, read.value, read.undefined);
                self.announce(existing(self, thread), choices, effect);
                self.rewind(before);
                if (!effect.enabled) throw std::invalid_argument("the thread is not enabled");
                self.take(thread, choices, readings, effect);
                return effect.accesses;
            },
            "thread"_a, "choices"_a = std::vector<u32>{}, "reads"_a = Reads{})
        .def(
            "put",
            [](BoundMachine& self, const Reads& reads) {
                for (const Reading& read : checked(self, reads))
                    self.poke(read.address, read.size, read.value, read.undefined);
            },
            "reads"_a)
        .def(
            "go_round",
            [](BoundMachine& self, Slot thread) {
                if (!self.at_guarded_access(existing(self, thread)))
                    throw std::invalid_argument("the thread does not wait in a loop");
                self.go_round(thread);
            },
            "thread"_a)
        .def(
            "spins", [](BoundMachine& self, Slot thread) { return self.spins(existing(self, thread)); }, "thread"_a)
        .def(
            "watches",
            [](BoundMachine& self, Slot thread) {
                Accesses accesses;
                self.spins(existing(self, thread), &accesses);
                return accesses;
            },
            "thread"_a)
        .def("livelock",
             [](BoundMachine& self) {
                 std::vector<std::tuple<Slot, bool, Accesses>> found;
                 if (!self.options().follow_pointers || !self.options().follow_locks)
                     throw std::invalid_argument("the machine does not follow locks and pointers");
                 if (!self.livelocks) self.livelocks.emplace(self.code());
                 const bool recording = self.set_recording(false);
                 if (self.livelocks->find(self))
                     for (const auto& [thread, position, spins] : self.livelocks->waiters())
                         found.emplace_back(thread, spins, self.livelocks->touched(thread));
                 self.set_recording(recording);
                 return found;
             })
        .def("exited", &BoundMachine::exited)
        .def(
            "failure_of",
            [](BoundMachine& self, Slot thread) {
                return self.status(existing(self, thread)) == Status::failed ? std::optional(self.failure(thread))
                                                                             : std::nullopt;
            },
            "thread"_a)
        .def("failure",
             [](const BoundMachine& self) {
                 return self.failed() || self.limited() ? std::optional(self.failure()) : std::nullopt;
             })
        .def("failed", &BoundMachine::failed)
        .def(
            "frames", [](BoundMachine& self, Slot thread) { return self.frames(existing(self, thread)); }, "thread"_a)
        .def(
            "follow",
            [](BoundMachine& self, const Steps& steps, bool past_failures) {
                std::size_t taken = 0;
                Effect effect;
                for (const auto& [thread, choices, reads] : steps) {
                    const bool over = self.exited() || (self.failed() && !past_failures);
                    if (over || thread >= max_slots || self.status(thread) != Status::ready ||
                        !self.take(thread, choices, checked(self, reads), effect) ||
                        choices.size() > effect.ranges.size())
                        break;
                    ++taken;
                }
                return taken;
            },
            "steps"_a, nb::kw_only(), "past_failures"_a = false)
        .def("operations", [](BoundMachine& self) { return self.recording().take(); })
        .def("forget_operations", [](BoundMachine& self) { self.recording().take(); })
        .def("output",
             [](BoundMachine& self) {
                 const std::vector<u8>& output = self.recording().output();
                 return nb::bytes(output.data(), output.size());
             })
        .def("allocated", [](BoundMachine& self) { return self.recording().allocated(); })
        .def("pointers", [](BoundMachine& self) { return self.recording().pointers(); })
        .def("uses", [](BoundMachine& self) { return self.recording().uses(); })
        .def(
            "life",
            [](BoundMachine& self, Address block) {
                const auto copied = [](const Operation* one) { return one ? std::optional(*one) : std::nullopt; };
                return std::pair(copied(self.recording().made(block)), copied(self.recording().freed(block)));
            },
            "block"_a)
        .def(
            "describe", [](const BoundMachine& self, Address address) { return describe(self, address); }, "address"_a)
        .def(
            "read",
            [](const BoundMachine& self, Address address, std::size_t size) {
                std::vector<u8> bytes(size);
                if (!self.read(address, bytes)) throw std::invalid_argument("not in an object");
                return nb::bytes(bytes.data(), bytes.size());
            },
            "address"_a, "size"_a)
        .def("mark", &BoundMachine::mark)
        .def("rewind", &BoundMachine::rewind, "mark"_a)
        .def("state",
             [](const BoundMachine& self) {
                 const std::vector<u8> state = self.state();
                 return nb::bytes(state.data(), state.size());
             })
        .def("canonical",
             [](BoundMachine& self) {
                 if (!self.options().follow_pointers)
                     throw std::invalid_argument("the machine does not follow pointers");
                 if (!self.facts) self.facts.emplace(self.code());
                 StateWords state;
                 self.canonical(*self.facts, !self.addresses_matter(), state);
                 return nb::bytes(reinterpret_cast<const char*>(state.words().data()), state.words().size_bytes());
             })
        .def("addresses_matter", &BoundMachine::addresses_matter)
        .def("instructions_executed", &BoundMachine::instructions_executed);
}

}  // namespace mazurka
