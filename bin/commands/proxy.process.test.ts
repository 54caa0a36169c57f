import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../supervisor/paths";

describe("lab proxy", () => {
  it("prints the address of its API, and ends with exit code 0 when it is interrupted", async (t) => {
    const args = [path.join(ROOT, "bin", "bootstrap.mjs"), "proxy", "--port", "0"];
    const env = { ...process.env, LAB_INSTALL: "never" };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line.toString()) ?? [];
    assert.ok(url, `expected the address, found: ${line}`);
    const response = await fetch(`${url}/proxies`);
    assert.deepEqual([response.status, await response.json()], [200, {}]);
    child.kill("SIGINT");
    assert.deepEqual(await exited, [0, null]);
  });
});
