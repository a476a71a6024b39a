// What a machine tells of what its threads do.
#include "bindings/bindings.hpp"

namespace mazurka {

void bind_values(nb::module_& module) {
    nb::class_<Access>(module, "Access")
        .def_ro("address", &Access::address)
        .def_ro("size", &Access::size)
        .def_ro("reads", &Access::reads)
        .def_ro("writes", &Access::writes)
        .def_prop_ro("commuting",
                     [](const Access& access) {
                         return access.commuting == Commuting::no ? std::nullopt : std::optional(access.commuting);
                     })
        .def_prop_ro("atomic", [](const Access& access) { return access.ordering != Ordering::plain; });

    nb::class_<Waiting>(module, "Waiting")
        .def_ro("pc", &Waiting::pc)
        .def_ro("guard", &Waiting::guard)
        .def_ro("object", &Waiting::object)
        .def_ro("holder", &Waiting::holder);

    nb::class_<Effect>(module, "Effect")
        .def_ro("enabled", &Effect::enabled)
        .def_ro("accesses", &Effect::accesses)
        .def_ro("ranges", &Effect::ranges)
        .def_ro("waiting", &Effect::waiting);

    nb::class_<Operation>(module, "Operation")
        .def_ro("kind", &Operation::kind)
        .def_ro("thread", &Operation::thread)
        .def_ro("frames", &Operation::frames)
        .def_ro("address", &Operation::address)
        .def_ro("size", &Operation::size)
        .def_ro("read", &Operation::read)
        .def_ro("written", &Operation::written)
        .def_ro("visible", &Operation::visible)
        .def_ro("step", &Operation::step)
        .def_ro("left_out", &Operation::left_out);

    nb::class_<Failure>(module, "Failure")
        .def_ro("fault", &Failure::fault)
        .def_prop_ro("kind", [](const Failure& failure) { return kind_of(failure.fault); })
        .def_prop_ro("limit", [](const Failure& failure) { return is_limit(failure.fault); })
        .def_ro("thread", &Failure::thread)
        .def_ro("address", &Failure::address)
        .def_ro("size", &Failure::size)
        .def_ro("frames", &Failure::frames);
}

}  // namespace mazurka
