#ifndef COUNTER_H
#define COUNTER_H

extern const int counter_limit;
void counter_increment(void);
int counter_get(void);

#endif
