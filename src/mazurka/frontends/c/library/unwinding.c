#include "unwinding.h"

__thread void *__mazurka_in_flight;
__thread const struct mazurka_handler *__mazurka_handlers;
