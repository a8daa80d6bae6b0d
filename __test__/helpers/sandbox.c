// Runs a program, which sees no more of the network than Debian's unit lets Redis see: systemd's
// RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX makes socket() fail for all others, netlink among
// them.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW_IF(value, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, left, 0)

int main(int count, char **arguments) {
    struct sock_filter steps[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
        // The lower half of the first argument, on machines that begin with it.
        LOAD(args[0]),
        ALLOW_IF(AF_INET, 3),
        ALLOW_IF(AF_INET6, 2),
        ALLOW_IF(AF_UNIX, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof steps / sizeof *steps, steps };

    if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("sandbox");
        return 1;
    }
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 1;
}
