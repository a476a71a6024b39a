// expect: ok
// traces: 1
// Handlers run where the signal is raised, and not while it is blocked.
#include <assert.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t count;

static void add(int number) { count += number == SIGUSR1 ? 1 : 10; }

static void look(int number, siginfo_t *info, void *unused) { count += info->si_signo == number ? 100 : 1000; }

int main(void) {
    struct sigaction action = {0}, old;
    sigset_t set, before;
    assert(signal(SIGUSR1, add) == SIG_DFL);
    raise(SIGUSR1);
    assert(count == 1);
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO;
    assert(sigaction(SIGUSR2, &action, &old) == 0 && old.sa_handler == SIG_DFL);
    kill(getpid(), SIGUSR2);
    assert(count == 101);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    raise(SIGUSR1);
    assert(count == 101 && sigismember(&set, SIGUSR1) && !sigismember(&before, SIGUSR1));
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert(count == 102);
    signal(SIGINT, SIG_IGN);
    raise(SIGINT);
    return 0;
}
