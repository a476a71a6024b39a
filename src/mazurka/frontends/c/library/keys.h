/* What the end of a thread has to do for thread-specific data. */
#ifndef MAZURKA_KEYS_H
#define MAZURKA_KEYS_H

/* Call the destructors of this thread's values, again while they leave new ones, up to the limit of the standard. */
void __mazurka_destroy_thread_data(void);

#endif
