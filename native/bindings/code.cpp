#include <cstring>
#include <stdexcept>

#include "bindings/bindings.hpp"

namespace mazurka {

namespace {

std::vector<u8> to_vector(const nb::bytes& bytes) {
    const u8* data = static_cast<const u8*>(bytes.data());
    return {data, data + bytes.size()};
}

}  // namespace

void bind_code(nb::module_& module) {
    nb::class_<Code>(module, "Code")
        .def(
            "__init__",
            [](Code* self, const nb::bytes& instructions, const std::vector<std::pair<u64, u64>>& constants,
               std::vector<i32> operands, const std::vector<std::tuple<u32, u32, u32, bool>>& functions,
               const std::vector<std::pair<nb::bytes, bool>>& globals,
               const std::vector<std::pair<nb::bytes, bool>>& thread_locals, u32 entry) {
                Code code;
                code.instructions.resize(instructions.size() / sizeof(Instruction));
                std::memcpy(code.instructions.data(), instructions.data(),
                            code.instructions.size() * sizeof(Instruction));
                for (const auto& [value, undefined] : constants) code.constants.push_back({value, undefined});
                code.operands = std::move(operands);
                for (const auto& [start, registers, parameters, library] : functions)
                    code.functions.push_back({start, registers, parameters, library});
                for (const auto& [bytes, constant] : globals) code.globals.push_back({to_vector(bytes), constant});
                for (const auto& [bytes, is_private] : thread_locals)
                    code.thread_locals.push_back({to_vector(bytes), is_private});
                code.entry = entry;
                for (const Instruction& one : code.instructions)
                    if (static_cast<std::size_t>(one.op) >= words<Op>.size())
                        throw std::invalid_argument("no such instruction");
                new (self) Code(std::move(code));
            },
            "instructions"_a, "constants"_a, "operands"_a, "functions"_a, "globals"_a, "thread_locals"_a, "entry"_a);
}

}  // namespace mazurka
