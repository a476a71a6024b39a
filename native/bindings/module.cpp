// The Python face of the native core. Conversion only; see src/mazurka/_native.pyi for what everything means.
#include "bindings/bindings.hpp"

#include <algorithm>
#include <stdexcept>

namespace mazurka {

Steps to_steps(const std::vector<Step>& schedule) {
    Steps steps;
    for (const Step& step : schedule) {
        Reads reads;
        for (const Reading& read : step.reads)
            reads.emplace_back(read.address, read.size, read.value, read.undefined, read.source);
        steps.emplace_back(step.thread, step.choices, std::move(reads));
    }
    return steps;
}

std::optional<Steps> to_steps(const std::optional<Left>& left) {
    return left ? std::optional(to_steps(left->schedule)) : std::nullopt;
}

std::tuple<Ending, Slot, Steps, std::optional<BugKind>> to_tuple(const Bug& bug) {
    const auto failure = bug.kind == Ending::failure ? std::optional(kind_of(bug.fault)) : std::nullopt;
    return {bug.kind, bug.thread, to_steps(bug.schedule), failure};
}

std::optional<std::tuple<Ending, Slot, Steps, std::optional<BugKind>>> to_tuple(const std::optional<Bug>& bug) {
    if (!bug) return {};
    return to_tuple(*bug);
}

std::optional<std::tuple<Fault, Slot, Steps>> to_tuple(const std::optional<Limit>& limit) {
    if (!limit) return {};
    return std::tuple(limit->fault, limit->thread, to_steps(limit->schedule));
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
        const auto parent =
            std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i].substr(0, dot));
        if (dot == std::string::npos || parent == names.begin() + static_cast<std::ptrdiff_t>(i))
            throw std::invalid_argument("'" + names[i] + "' is not the name of a thread that an earlier one creates");
        const std::string number = names[i].substr(dot + 1);
        if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
            throw std::invalid_argument("'" + names[i] + "' is not the name of a thread");
        parsed.push_back({static_cast<Slot>(parent - names.begin() + 1), static_cast<u32>(std::stoul(number))});
    }
    return parsed;
}

namespace {

nb::dict vocabularies() {
    nb::dict all;
    const auto add = [&](const char* name, const auto& words) {
        nb::list list;
        for (const std::string_view word : words) list.append(word);
        all[name] = nb::tuple(list);
    };
#define V(Name, Type, TABLE) add(#Name, words<Name>);
    MAZURKA_VOCABULARIES(V)
#undef V
    return all;
}

nb::dict layout() {
    nb::dict all;
#define X(name, value) all[#name] = name;
    MAZURKA_LAYOUT(X)
#undef X
    return all;
}

}  // namespace

}  // namespace mazurka

NB_MODULE(_native, module) {
    using namespace mazurka;
    module.attr("VOCABULARIES") = vocabularies();
    module.attr("LAYOUT") = layout();
    module.def("address_of", &address_of, "owner"_a, "number"_a);
    module.def("object_of", &object_of, "address"_a);
    bind_code(module);
    bind_values(module);
    bind_machine(module);
    bind_exploration(module);
    bind_state_search(module);
}
