// The virtual machine as a subject: its explorers are compiled once, elsewhere.
#pragma once

#include "explore/exploration.hpp"
#include "vm/machine.hpp"

namespace mazurka {

static_assert(Pokable<Machine> && Looping<Machine>);
extern template class Exploration<Machine>;

}  // namespace mazurka
