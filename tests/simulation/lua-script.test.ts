import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runLuaScript } from "../../simulator/servers/lua-script";
import { ReplyError } from "../../simulator/servers/reply-error";

const NOTHING = { keys: [], values: [] };
const noCommand = () => assert.fail("a command was called");
const run = (source: string) => runLuaScript(source, NOTHING, noCommand);

describe("a Lua script in the simulated Redis", () => {
  it("reads KEYS and ARGV and sends commands as text", () => {
    const sent: unknown[] = [];
    const parameters = { keys: ["lock"], values: ["holder", "300"] };
    const source = `return redis.call("PEXPIRE", KEYS[1], ARGV[2] + 1)`;
    const reply = runLuaScript(source, parameters, (name, values) => {
      sent.push([name, ...values]);
      return 1;
    });
    assert.deepEqual([sent, reply], [[["PEXPIRE", "lock", "301"]], 1]);
  });

  it("gets false for a nil reply, and a table for a status", () => {
    const replyTo = (reply: unknown, source: string) => runLuaScript(source, NOTHING, () => reply);
    assert.equal(replyTo(null, `return redis.call("GET", "k") == false and 7`), 7);
    assert.equal(replyTo("x", `return redis.call("GET", "k") .. "y"`), "xy");
    assert.equal(replyTo("OK", `return redis.call("SET", "k", "v").ok .. "!"`), "OK!");
    assert.equal(replyTo("OK", `return redis.call("SET", "k", "v")`), "OK");
    assert.equal(replyTo(null, `return redis.call("SET", "k", "v", "NX")`), null);
  });

  it("converts its result as Redis does", () => {
    assert.equal(run("return nil"), null);
    assert.equal(run("return false"), null);
    assert.equal(run("return true"), 1);
    assert.equal(run("return 7.9"), 7);
    assert.equal(run("return"), null);
  });

  it("ends with the error of a command, and leaves the next script alone", () => {
    const failure = new ReplyError("WRONGTYPE wrong");
    const failing = () => {
      throw failure;
    };
    assert.throws(() => runLuaScript(`redis.call("GET", "k") return 1`, NOTHING, failing), failure);
    assert.equal(run("return 1"), 1);
  });

  it("is rejected if its text is not Lua, or fails", () => {
    assert.throws(() => run("if then"), /Error compiling script/);
    assert.throws(() => run("return missing.field"), ReplyError);
    assert.throws(() => run("return missing.field"), ReplyError, "expected the same error from the cached script");
  });
});
