// expect: refused inline assembly
// options: -idirafter /usr/include/x86_64-linux-gnu
// Its atomic operations are written in assembly.
#define _LGPL_SOURCE
#include <urcu/wfcqueue.h>
int main(void) {
    struct cds_wfcq_head head;
    struct cds_wfcq_tail tail;
    struct cds_wfcq_node node;
    cds_wfcq_init(&head, &tail);
    cds_wfcq_node_init(&node);
    cds_wfcq_enqueue(&head, &tail, &node);
}
