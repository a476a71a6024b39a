#include "vm/code.hpp"

#include <array>

namespace mazurka {

std::span<const std::string_view> opcode_names() {
    static constexpr auto names = std::to_array<std::string_view>({
#define X(name) #name,
        MAZURKA_OPCODES(X)
#undef X
    });
    return names;
}

}  // namespace mazurka
