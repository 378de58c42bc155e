# BTF of SuiteSparse, matchings and block triangular forms of sparse patterns: target SuiteSparse::btf. Linked statically
# where its archive is there: a program that starts loads nothing for it.
include(${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake)
find_c_library(BTF SuiteSparse::btf btf.h libbtf.a btf)
