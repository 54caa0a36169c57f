import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, it } from "node:test";
import { answers } from "../../../bin/provision/ports";
import { isSameProcess } from "../../../bin/shared/process-identity.mjs";
import { instancePaths } from "../../../bin/supervisor/paths";
import { waitFor } from "../../../bin/supervisor/wait-for";
import { lab, outputOf, stateOf, supervisorLog } from "./lab-command";

/** A separate lab instance without the shop. */
const INSTANCE = "failed-server-test";
const PORT_BASE = 20_000 + 100 * (process.pid % 35);
const paths = instancePaths(INSTANCE);
const UP = ["up", "--instance", INSTANCE, "--port-base", String(PORT_BASE), "--servers-only", "--detach"];
const DOWN = ["down", "--instance", INSTANCE];
const REDIS_PORT = PORT_BASE + 20;

/** Kills Redis whenever it runs. @returns what the lab says about it when it has stopped restarting it */
function killedUntilFailed() {
  const { processes, failed } = stateOf(INSTANCE);
  const redis = processes.find(({ name }) => name === "redis");
  if (redis && isSameProcess(redis)) process.kill(redis.pid, "SIGKILL");
  return failed.find(({ name }) => name === "redis");
}

after(async () => {
  await lab(DOWN);
  rmSync(paths.dir, { recursive: true, force: true });
});

it("restarts a server that was killed, reports it if it keeps exiting, and starts it at the next `up`", async () => {
  const started = await lab(UP);
  assert.equal(started.code, 0, outputOf(started));
  const { processes } = stateOf(INSTANCE);
  const before = processes.find(({ name }) => name === "redis") ?? assert.fail("expected a Redis process, found none");
  process.kill(before.pid, "SIGKILL");
  const now = await waitFor(
    async () => {
      const redis = stateOf(INSTANCE).processes.find(({ name }) => name === "redis");
      return redis && redis.restarts === 1 && (await answers(REDIS_PORT)) ? redis : null;
    },
    { what: "Redis to be back", timeoutMs: 60_000 },
  );
  assert.notEqual(now.pid, before.pid);
  assert.match(supervisorLog(INSTANCE), /redis exited \(SIGKILL\); restarting in 200 ms/);

  const failed = await waitFor(killedUntilFailed, { what: "Redis to be given up", timeoutMs: 50_000 });
  assert.match(failed.reason, /^redis exited 6 times in 60 s, last with SIGKILL\./);
  const status = await lab(["status", "--instance", INSTANCE]);
  assert.match(status.stdout, /redis +failed +redis exited 6 times/);
  assert.ok(status.stdout.includes(`npm run lab -- up --instance ${INSTANCE}`), status.stdout);
  const revived = await lab(UP);
  assert.equal(revived.code, 0, outputOf(revived));
  assert.match(revived.stdout, /Running again: redis/);
  assert.equal(await answers(REDIS_PORT), true);
});
