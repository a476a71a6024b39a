#include "vm/exploring.hpp"

namespace mazurka {

template class Exploration<Machine>;

}  // namespace mazurka
