/* The file system of Flanagan and Godefroid (POPL 2005): N threads, each of which finds a block for an inode.
 *
 * Only from the 14th thread on do they meet at blocks: each further one doubles the number of executions. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 16
#endif

enum { INODES = 32, BLOCKS = 26, TRIES = 10 };

static pthread_mutex_t inode_mutexes[INODES], block_mutexes[BLOCKS];
static int inodes[INODES]; /* the block and 1, or 0 while there is none */
static bool taken[BLOCKS];

static void *find_block(void *argument) {
    int inode = (int)(intptr_t)argument % INODES;
    pthread_mutex_lock(&inode_mutexes[inode]);
    if (inodes[inode] == 0) {
        int block = 2 * inode % BLOCKS;
        for (int tries = 0; tries < TRIES; tries++) {
            pthread_mutex_lock(&block_mutexes[block]);
            if (!taken[block]) {
                taken[block] = true;
                inodes[inode] = block + 1;
                pthread_mutex_unlock(&block_mutexes[block]);
                break;
            }
            pthread_mutex_unlock(&block_mutexes[block]);
            block = (block + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&inode_mutexes[inode]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, find_block, (void *)(intptr_t)t);
    return 0;
}
