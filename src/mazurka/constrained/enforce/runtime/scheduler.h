/* What the operations of the library (`operations.c`) ask of the scheduler. */
#ifndef MAZURKA_SCHEDULER_H
#define MAZURKA_SCHEDULER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void *mazurka_before(uint32_t point, void *address);
void mazurka_after(void);
bool mazurka_has(unsigned flag); /* of the event that the thread is having */
void mazurka_begin_section(void);
bool mazurka_end_section(void);
void mazurka_wait_outside(void); /* around what can make the thread wait for another one */
void mazurka_waited_outside(void);
void mazurka_end_thread(uint32_t point);
int mazurka_create_thread(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *), void *argument);
_Noreturn void mazurka_stop(const char *why);
void mazurka_check_arguments(int argc, char **argv, char **environment); /* those that the program was proved for */
int mazurka_main(int argc, char **argv, char **environment);

#endif
