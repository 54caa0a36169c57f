import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { findExecutable, runCommand } from "../commands";

/**
 * A server whose wall clock a fault can move while it runs. A library that is loaded before the server's own adds an offset to
 * the wall clock, read from a file. Monotonic clocks stay as they are.
 */

const COMPILE_LIMIT_MS = 20_000;
const FILE_NAME = "clock-jump";
/** Two 64-bit numbers: the offset, and the reading of CLOCK_MONOTONIC at which it ends. Nanoseconds. */
const FILE_BYTES = 16;

/** Raw system calls: looking up the C library's functions allocates memory, which jemalloc does not bear this early. */
const SOURCE = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct jump { volatile int64_t offset_ns, until_ns; };
static const struct jump *jump;

__attribute__((constructor)) static void map_jump(void) {
  const char *file = getenv("CLOCK_JUMP_FILE");
  int fd = file ? open(file, O_RDONLY) : -1;
  if (fd < 0) return;
  void *page = mmap(0, sizeof *jump, PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) jump = page;
  close(fd);
}

static int64_t read_ns(clockid_t id, struct timespec *at) {
  if (syscall(SYS_clock_gettime, id, at)) return -1;
  return at->tv_sec * 1000000000LL + at->tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int64_t ns = read_ns(id, at);
  if (ns < 0) return -1;
  if (!jump || !jump->until_ns || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return 0;
  struct timespec now;
  if (read_ns(CLOCK_MONOTONIC, &now) >= jump->until_ns) return 0;
  ns += jump->offset_ns;
  at->tv_sec = ns / 1000000000LL;
  at->tv_nsec = ns % 1000000000LL;
  return 0;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`;

/** Why this machine cannot start a server with a movable clock; null if it can. */
export function whyNoMovableClock(): string | null {
  if (process.platform !== "linux") return "a server's clock can be moved on Linux only";
  if (compiler() !== null) return null;
  return 'there is no C compiler for the library that moves the clock; run "apt-get install gcc libc6-dev", then restart the lab';
}

function compiler(): string | null {
  return findExecutable("cc") ?? findExecutable("gcc") ?? findExecutable("clang");
}

/**
 * Prepares a server's folder. @returns the variables to start the server with; none if its clock cannot be moved
 * @param dir the folder that the server itself reports as its own
 */
export async function movableClock(dir: string): Promise<Record<string, string>> {
  const cc = compiler();
  if (whyNoMovableClock() !== null || cc === null) return {};
  mkdirSync(dir, { recursive: true });
  const [source, library] = [path.join(dir, "movable-clock.c"), path.join(dir, "movable-clock.so")];
  writeFileSync(source, SOURCE);
  const args = ["-shared", "-fPIC", "-O2", "-o", library, source];
  const { code } = await runCommand(cc, args, { timeoutMs: COMPILE_LIMIT_MS }).catch(() => ({ code: null }));
  if (code !== 0) return {};
  writeFileSync(path.join(dir, FILE_NAME), Buffer.alloc(FILE_BYTES));
  return { LD_PRELOAD: library, CLOCK_JUMP_FILE: path.join(dir, FILE_NAME) };
}

/**
 * Moves the wall clock of a server that was started with `movableClock`, from now on. It ends by itself.
 * @param forMs 0: the clock is right again @returns false if the server's clock cannot be moved
 */
export async function moveClock(dir: string, jump: { readonly offsetMs: number; readonly forMs: number }) {
  const file = path.join(dir, FILE_NAME);
  if (!existsSync(file)) return false;
  const bytes = Buffer.alloc(FILE_BYTES);
  bytes.writeBigInt64LE(BigInt(Math.round(jump.offsetMs * 1e6)), 0);
  // The monotonic clock of Node.js is CLOCK_MONOTONIC.
  bytes.writeBigInt64LE(process.hrtime.bigint() + BigInt(Math.round(jump.forMs * 1e6)), FILE_BYTES / 2);
  await using handle = await open(file, "r+");
  await handle.write(bytes, 0, FILE_BYTES, 0);
  return true;
}
