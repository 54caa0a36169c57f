import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { runMatrix } from "../../bin/matrix/run-matrix";
import type { FaultId } from "../../lib/faults/ids";
import { type CellResult, expectedOf } from "../../lib/runs/fault-matrix";
import { setEnv } from "./lab-env";
import { type OwnMemcached, startOwnMemcached } from "./own-memcached";
import { type OwnRedis, startOwnRedis } from "./own-redis";
import { type StoreLab, startStoreLab } from "./store-lab";

/** A cell of the fault matrix, and what its run must show besides the expected result. */
export interface TestedCell {
  readonly strategy: string;
  readonly fault: FaultId | null;
  readonly shows?: (result: CellResult) => boolean;
}

const NODES = ["node-1", "node-2", "node-3"];

/** Runs cells of the fault matrix, one test each, as `npm run lab -- faults` does, in a lab whose servers may be emptied. */
export function testCells(cells: readonly TestedCell[]): void {
  const spoolDir = mkdtempSync(join(tmpdir(), "fault-matrix-"));
  const servers: (OwnRedis | OwnMemcached)[] = [];
  let lab: StoreLab | undefined;

  before(async () => {
    const redis = await Promise.all(Array.from({ length: 6 }, () => startOwnRedis({ isSupervised: true })));
    const memcached = await startOwnMemcached();
    servers.push(...redis, memcached);
    const [single, ...redlock] = redis.map(({ url }) => url);
    setEnv({
      REDIS_URL: single ?? "",
      REDLOCK_URLS: redlock.join(","),
      MEMCACHED_URL: memcached.url,
      FAULTS_MAY_EMPTY: "redis,redlock,memcached",
    });
    lab = await startStoreLab(NODES, { SPOOL_DIR: spoolDir }, { isSupervised: true });
  });
  after(async () => {
    await lab?.[Symbol.asyncDispose]();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    rmSync(spoolDir, { recursive: true });
  });

  for (const { strategy, fault, shows } of cells) {
    const { expected } = expectedOf(strategy, fault);
    it(`finds ${strategy} ${expected} ${fault === null ? "without a fault" : `under ${fault}`}`, async () => {
      const results: CellResult[] = [];
      const problems = await runMatrix({
        lab: { baseUrl: lab?.dashboard.url ?? "" },
        runs: [{ strategy, fault, repeat: 1 }],
        doneBefore: 0,
        out: { write: () => true },
        onResult: (result) => void results.push(result),
      });
      assert.deepEqual(problems, []);
      const [result] = results;
      assert.ok(result, "expected a result");
      const text = JSON.stringify(result);
      assert.equal(result.measured, expected, text);
      assert.ok(shows?.(result) ?? true, text);
    });
  }
}
