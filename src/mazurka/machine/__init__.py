"""From a `Program` to the code of the virtual machine."""
