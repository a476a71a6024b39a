# Checks of targets with Mazurka, as tests of CTest.
#
#   find_package(Mazurka REQUIRED)
#   mazurka_add_check(TARGET [NAME name] [TESTS] [OPTIONS option...] [FILES file...] [ARGUMENTS argument...]
#                     [TIMEOUT seconds])
#
# adds a test, mazurka.TARGET unless NAME says otherwise, that executes the target under every interleaving of its
# threads. It passes if the target is verified; the target need not be built, unless sources are generated.
#
#   TESTS      the target is a test program: check each of its test cases by itself
#   OPTIONS    options of `mazurka check`, and flags of the compiler that come after those of the target
#   FILES      files that are added to the target: a main, if it is a library
#   ARGUMENTS  what the program gets as its arguments
#   TIMEOUT    end the search after this time: what is not covered then is not verified
#
# This file is found where the folder of the program `mazurka` is in the PATH, as in a virtual environment, or with
# -DMazurka_DIR=`mazurka --cmake-dir`.

cmake_minimum_required(VERSION 3.20)

find_program(Mazurka_EXECUTABLE mazurka
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin"
    DOC "The model checker")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Mazurka REQUIRED_VARS Mazurka_EXECUTABLE)

# Everything that a target links has to say how it is compiled, also where it was added before.
function(_mazurka_export directory)
    get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(type MATCHES "EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY")
            set_property(TARGET ${target} PROPERTY EXPORT_COMPILE_COMMANDS ON)
        endif()
    endforeach()
    get_property(subdirectories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
    foreach(subdirectory IN LISTS subdirectories)
        _mazurka_export("${subdirectory}")
    endforeach()
endfunction()

function(mazurka_add_check target)
    cmake_parse_arguments(PARSE_ARGV 1 CHECK "TESTS" "NAME;TIMEOUT" "OPTIONS;FILES;ARGUMENTS")
    if(CHECK_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "mazurka_add_check(${target}): not known: ${CHECK_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "mazurka_add_check(${target}): there is no such target")
    endif()
    if(NOT CMAKE_GENERATOR MATCHES "^Ninja$|Makefiles")
        message(FATAL_ERROR "mazurka_add_check needs the generator Ninja or one for make, not ${CMAKE_GENERATOR}")
    endif()
    get_property(announced GLOBAL PROPERTY _MAZURKA_EXPORTS)
    if(NOT announced)
        set_property(GLOBAL PROPERTY _MAZURKA_EXPORTS ON)
        cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _mazurka_export "${CMAKE_SOURCE_DIR}")
    endif()
    if(NOT CHECK_NAME)
        set(CHECK_NAME "mazurka.${target}")
    endif()
    set(command "${Mazurka_EXECUTABLE}" check --build "${CMAKE_BINARY_DIR}" --target "${target}")
    if(CHECK_TESTS)
        list(APPEND command --tests)
    endif()
    if(CHECK_TIMEOUT)
        list(APPEND command --timeout "${CHECK_TIMEOUT}")
    endif()
    list(APPEND command ${CHECK_OPTIONS})
    foreach(file IN LISTS CHECK_FILES)
        get_filename_component(file "${file}" ABSOLUTE)
        list(APPEND command "${file}")
    endforeach()
    if(CHECK_ARGUMENTS)
        list(APPEND command -- ${CHECK_ARGUMENTS})
    endif()
    # Where paths in reports are short.
    add_test(NAME "${CHECK_NAME}" COMMAND ${command} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" COMMAND_EXPAND_LISTS)
    set_property(TEST "${CHECK_NAME}" PROPERTY LABELS mazurka)
endfunction()
