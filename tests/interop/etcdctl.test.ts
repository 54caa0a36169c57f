import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findInstaller, installDebianPackages } from "../../bin/provision/system-packages";
import { createLock } from "../../lib/locks/create-lock";
import type { LockStrategy } from "../../lib/locks/types";
import { findExecutable } from "../../servers/commands";
import { probeEtcd } from "../support/etcd-probe";
import { type LockClients, lockServers, openLockClients } from "../support/lock-clients";
import { waitUntil } from "../support/wait-until";

/** etcd's command-line client and `etcd-lock` hold the same lock in turn. */

const TURNS = 25;
const CALLERS = 2;

describe("etcd-lock and etcdctl lock", () => {
  let etcdctl: string;
  let folder: string;
  let clients: LockClients;
  let lock: LockStrategy;

  before(async () => {
    etcdctl = await provideEtcdctl();
    folder = await mkdtemp(join(tmpdir(), "etcdctl-test-"));
    clients = openLockClients();
    lock = createLock("etcd-lock", clients);
  });
  after(async () => {
    await lock[Symbol.asyncDispose]();
    await clients[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const fresh = () => ({ resource: `interop:${randomUUID()}`, waitTimeoutMs: 30_000, ttlMs: 5_000 });

  /** `etcdctl lock` runs a shell command while it holds the lock. */
  function hold(resource: string, line: string): ChildProcess {
    const { etcd: etcdUrl } = lockServers();
    const endpoint = new URL(etcdUrl).host;
    const args = [`--endpoints=${endpoint}`, "lock", "--ttl=5", `locks/${resource}`, "--", "sh", "-c", line];
    return spawn(etcdctl, args, { env: { ...process.env, ETCDCTL_API: "3" }, stdio: ["ignore", "pipe", "inherit"] });
  }

  async function exitCode(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    return child.exitCode;
  }

  it("exclude each other under contention, in every turn", async () => {
    const { resource, ...limits } = fresh();
    const directory = join(folder, resource);
    let theirs = 0;
    let ours = 0;
    // Only one process can create the directory, so a second holder fails.
    async function sendTheirs(): Promise<void> {
      for (let turn = 0; turn < TURNS; turn++) {
        assert.equal(await exitCode(hold(resource, `mkdir '${directory}' && sleep 0.005 && rmdir '${directory}'`)), 0);
        theirs += 1;
      }
    }
    async function sendOurs(): Promise<void> {
      while (theirs < TURNS * CALLERS) {
        const outcome = await lock.runGuarded({ resource, ...limits }, async () => {
          await mkdir(directory);
          await clients.clock.sleep(2);
          await rmdir(directory);
        });
        assert.equal(outcome.status, "completed");
        ours += 1;
      }
    }
    const callers = Array.from({ length: CALLERS }, () => [sendTheirs(), sendOurs()]);
    await Promise.all(callers.flat());
    assert.equal(theirs, TURNS * CALLERS);
    assert.ok(
      ours >= TURNS,
      `expected at least ${TURNS} grants for etcd-lock, found ${ours} beside ${theirs} for etcdctl`,
    );
  });

  it("share one queue in arrival order, with rising tokens", async () => {
    const { resource, ...limits } = fresh();
    const probe = probeEtcd(lockServers().etcd);
    const untilQueued = (count: number) =>
      waitUntil(async () => (await probe.queue(resource)).length === count, { what: `${count} in the queue` });
    const first = await lock.runGuarded({ resource, ...limits }, async () => {
      const theirs = hold(resource, 'echo "$ETCD_LOCK_KEY"');
      let output = "";
      theirs.stdout?.on("data", (chunk: Buffer) => {
        output += chunk;
      });
      const done = once(theirs, "close");
      await untilQueued(2);
      const [, second] = await probe.queue(resource);
      const ours = lock.runGuarded({ resource, ...limits }, async ({ fencingToken }) => {
        const [holder, ...others] = await probe.queue(resource);
        assert.equal(holder?.createRevision, fencingToken);
        assert.deepEqual(others, []);
        return fencingToken ?? 0n;
      });
      await untilQueued(3);
      return { done, ours, second, output: () => output.trim() };
    });
    assert.ok(first.status === "completed");
    const { done, ours, second, output } = first.value;
    const third = await ours;
    await done;
    assert.equal(output(), second?.key);
    assert.ok(third.status === "completed" && third.value > (second?.createRevision ?? 0n));
  });

  it("grants the lock to a waiting etcdctl after one of our callers before it aborts", async () => {
    const { resource, ...limits } = fresh();
    const probe = probeEtcd(lockServers().etcd);
    const caller = new AbortController();
    const outcome = await lock.runGuarded({ resource, ...limits }, async () => {
      const waiter = lock.runGuarded({ resource, ...limits, signal: caller.signal }, async () => "entered");
      const aborted = assert.rejects(waiter, /wait was aborted/);
      await waitUntil(async () => (await probe.queue(resource)).length === 2, { what: "our waiter to queue" });
      const theirs = hold(resource, "true");
      await waitUntil(async () => (await probe.queue(resource)).length === 3, { what: "etcdctl to queue" });
      caller.abort();
      await aborted;
      return { theirs };
    });
    assert.ok(outcome.status === "completed");
    assert.equal(await exitCode(outcome.value.theirs), 0);
    assert.deepEqual(await probe.queue(resource), []);
  });
});

/** Finds etcdctl on the PATH, or installs Debian's etcd-client if this user may. */
async function provideEtcdctl(): Promise<string> {
  const found = findExecutable("etcdctl");
  if (found) return found;
  const installer = await findInstaller();
  await installDebianPackages(installer, ["etcd-client"]);
  const installed = findExecutable("etcdctl");
  if (!installed) throw new Error("these tests need etcdctl on the PATH; install it with: apt-get install etcd-client");
  return installed;
}
