/* Tries what a sandbox must refuse, one line a try: "name OPEN" or "name ERRNO". Nothing here harms the machine when it works. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long result) {
  if (result >= 0) printf("%s OPEN\n", name);
  else printf("%s %s\n", name, strerrorname_np(errno));
  fflush(stdout);
}

/* In a child, so that a success changes nothing for the tries that follow. */
static void child(const char *name, long (*attempt)(void)) {
  pid_t pid = fork();
  if (pid == 0) {
    say(name, attempt());
    _exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) printf("%s KILLED\n", name);
}

static long unshare_user(void) { return unshare(CLONE_NEWUSER | CLONE_NEWNS); }
static long mount_in_userns(void) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return -1;
  return mount("none", "/tmp", "tmpfs", 0, NULL);
}
static long clone_user(void) {
  long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  return pid;
}
static long clone3_user(void) {
  unsigned long long args[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
  long pid = syscall(SYS_clone3, args, sizeof args);
  if (pid == 0) _exit(0);
  return pid;
}
static long mount_tmpfs(void) { return mount("none", "/tmp", "tmpfs", 0, NULL); }
static long umount_tmp(void) { return umount2("/tmp", MNT_DETACH); }
static long remount_usr(void) { return mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL); }
static long chroot_tmp(void) { return chroot("/tmp"); }
static long setns_init(void) {
  int fd = open("/proc/1/ns/mnt", O_RDONLY);
  return fd < 0 ? -1 : setns(fd, 0);
}
static long ptrace_parent(void) { return ptrace(PTRACE_SEIZE, getppid(), 0, 0); }
static long read_parent(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)&errno, 1};
  return process_vm_readv(getppid(), &here, 1, &there, 1, 0);
}
static long setuid_chmod(void) {
  int fd = open("setuid-file", O_CREAT | O_WRONLY, 0600);
  if (fd < 0) return -1;
  return fchmod(fd, 04755);
}
static long setuid_create(void) { return open("setuid-made", O_CREAT | O_WRONLY, 04755); }
static long setgid_folder(void) { return mkdir("setgid-folder", 02777); }
static long setuid_chmod2(void) { return syscall(452, AT_FDCWD, "setuid-file", 04755, 0); }
static long block_device(void) { return mknod("disk", S_IFBLK | 0600, 254 << 8); }
static long char_device(void) { return mknod("mem", S_IFCHR | 0600, (1 << 8) | 1); }
static long core_pattern(void) { return open("/proc/sys/kernel/core_pattern", O_WRONLY); }
static long sysrq(void) { return open("/proc/sysrq-trigger", O_WRONLY); }
static long release_agent(void) { return open("/sys/fs/cgroup/memory/release_agent", O_WRONLY); }
static long vsock(void) { return socket(40, SOCK_STREAM, 0); }
static long packet(void) { return socket(17, SOCK_RAW, 0); }
static long alg(void) { return socket(38, SOCK_SEQPACKET, 0); }
static long generic_netlink(void) { return socket(16, SOCK_RAW, 16); }
static long raw_inet(void) { return socket(2, SOCK_RAW, 1); }
static long uring(void) {
  char params[120] = {0};
  return syscall(SYS_io_uring_setup, 4, params);
}
static long ebpf(void) { return syscall(SYS_bpf, 0, NULL, 0); }
static long perf(void) {
  char attr[128] = {0};
  return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}
static long uffd(void) { return syscall(SYS_userfaultfd, 1); }
static long keyring(void) { return syscall(SYS_keyctl, 1, NULL); }
static long handle(void) { return syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0); }
static long kexec(void) { return syscall(SYS_kexec_load, 0, 0, NULL, 0); }
static long tiocsti(void) { return ioctl(0, TIOCSTI, "x"); }
static long controlling_tty(void) { return open("/dev/tty", O_RDWR); }
static long kvm(void) { return open("/dev/kvm", O_RDWR); }
static long host_disk(void) { return open("/dev/vda", O_RDONLY); }
#ifdef __x86_64__
static long x32(void) { return syscall(0x40000000 + SYS_getpid); }
static long i386(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  return result;
}
#endif

int main(void) {
  child("unshare-user", unshare_user);
  child("mount-in-userns", mount_in_userns);
  child("clone-user", clone_user);
  child("clone3-user", clone3_user);
  child("mount", mount_tmpfs);
  child("umount", umount_tmp);
  child("remount", remount_usr);
  child("chroot", chroot_tmp);
  child("setns", setns_init);
  child("ptrace", ptrace_parent);
  child("process-vm-readv", read_parent);
  child("setuid-chmod", setuid_chmod);
  child("setuid-create", setuid_create);
  child("setgid-folder", setgid_folder);
  child("setuid-fchmodat2", setuid_chmod2);
  child("block-device", block_device);
  child("char-device", char_device);
  child("core-pattern", core_pattern);
  child("sysrq", sysrq);
  child("release-agent", release_agent);
  child("vsock", vsock);
  child("packet", packet);
  child("alg", alg);
  child("generic-netlink", generic_netlink);
  child("raw-inet", raw_inet);
  child("io-uring", uring);
  child("bpf", ebpf);
  child("perf", perf);
  child("userfaultfd", uffd);
  child("keyctl", keyring);
  child("open-by-handle", handle);
  child("kexec", kexec);
  child("tiocsti", tiocsti);
  child("controlling-tty", controlling_tty);
  child("kvm", kvm);
  child("host-disk", host_disk);
#ifdef __x86_64__
  child("x32", x32);
  child("i386", i386);
#endif
  return 0;
}
