// In Python, the words of the vocabularies are strings.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "core/vocabulary.hpp"

namespace nanobind::detail {

template <class Enum>
struct word_caster {
    NB_TYPE_CASTER(Enum, const_name("str"))

    bool from_python(handle source, std::uint8_t, cleanup_list*) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), &size) : nullptr;
        if (text == nullptr) {
            PyErr_Clear();
            return false;
        }
        const std::string_view word(text, static_cast<std::size_t>(size));
        const auto found = mazurka::from_word<Enum>(word);
        if (!found) {
            std::string message = "'" + std::string(word) + "' is none of";
            for (const std::string_view known : mazurka::words<Enum>) message += " '" + std::string(known) + "'";
            throw value_error(message.c_str());
        }
        value = *found;
        return true;
    }
    static handle from_cpp(Enum value, rv_policy, cleanup_list*) noexcept {
        const std::string_view word = mazurka::to_word(value);
        return PyUnicode_FromStringAndSize(word.data(), static_cast<Py_ssize_t>(word.size()));
    }
};

#define MAZURKA_CASTER(Name, Type, TABLE) \
    template <>                           \
    struct type_caster<mazurka::Name> : word_caster<mazurka::Name> {};
MAZURKA_VOCABULARIES(MAZURKA_CASTER)

}  // namespace nanobind::detail
