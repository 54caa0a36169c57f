import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { runMatrix } from "../../bin/matrix/run-matrix";
import type { FaultId } from "../../lib/faults/ids";
import type { RunDocument } from "../../lib/runs/document";
import { type CellResult, expectedOf } from "../../lib/runs/fault-matrix";
import { postgresPool } from "../../lib/services/postgres";
import { setEnv } from "./lab-env";
import { type OwnMemcached, startOwnMemcached } from "./own-memcached";
import { type OwnRedis, startOwnRedis } from "./own-redis";
import { type StoreLab, startStoreLab } from "./store-lab";

/** A cell of the fault matrix, and what its run must show besides the expected result. */
export interface TestedCell {
  readonly strategy: string;
  readonly fault: FaultId | null;
  readonly verify?: (run: CellRun) => void | Promise<void>;
}

export interface CellRun {
  readonly result: CellResult;
  readonly document: RunDocument;
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
    await postgresPool().end();
    rmSync(spoolDir, { recursive: true });
  });

  for (const { strategy, fault, verify } of cells) {
    const { expected } = expectedOf(strategy, fault);
    it(`finds ${strategy} ${expected} ${fault === null ? "without a fault" : `under ${fault}`}`, async () => {
      const made: CellRun[] = [];
      const problems = await runMatrix({
        lab: { baseUrl: lab?.dashboard.url ?? "" },
        runs: [{ strategy, fault, repeat: 1 }],
        doneBefore: 0,
        out: { write: () => true },
        onResult: (result, document) => void made.push({ result, document }),
      });
      assert.deepEqual(problems, []);
      const [run = assert.fail("expected a result")] = made;
      assert.equal(run.result.measured, expected, JSON.stringify(run.result));
      await verify?.(run);
    });
  }
}
