#include "always.h"
