"""The text of LLVM, and what it says about the source."""
