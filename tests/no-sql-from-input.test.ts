import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../bin/supervisor/paths";

/** Values go to PostgreSQL as parameters. Only fragments, table names and numbers of the code enter a statement's text. */

const FOLDERS = ["lib", "app"];
const SQL = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|LOCK TABLE|SET LOCAL|RETURNING|WHERE)\b/;
/** Variable names that hold requests or values from requests. */
const CARRIES_INPUT =
  /\b(request|body|input|wish|params|query|headers|buyerId|userId|runId|opId|idempotencyKey|purchaseToken|resource|cookie|token|key|target\.id)\b/;
/** A 64-bit hash of the resource as a number, for PostgreSQL statements that accept no parameters. */
const HARMLESS = new Set(["keyLiteral(resource)"]);

function sources(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
      .map((file) => path.join(folder, file)),
  );
}

/** The expressions that a file interpolates into SQL, as `file: expression`. */
function interpolations(file: string, text: string): string[] {
  const statements = [...text.matchAll(/`[^`]*`/g)].map(([statement]) => statement).filter((one) => SQL.test(one));
  const expressions = statements.flatMap((one) => [...one.matchAll(/\$\{([^}]*)\}/g)].map(([, inner]) => inner ?? ""));
  return expressions.map((expression) => `${file}: ${expression}`);
}

const offends = (entry: string) => {
  const expression = entry.slice(entry.indexOf(": ") + 2);
  return CARRIES_INPUT.test(expression) && !HARMLESS.has(expression);
};

describe("SQL statements", () => {
  it("contain no value from a request", () => {
    const all = sources().flatMap((file) => interpolations(file, readFileSync(path.join(ROOT, file), "utf8")));
    assert.ok(all.length > 20, `expected more than 20 interpolations, found ${all.length}`);
    assert.deepEqual(all.filter(offends), []);
  });

  it("never go to Prisma as raw text", () => {
    const unsafe = sources().filter((file) =>
      /\$(query|execute)RawUnsafe|Prisma\.raw\b/.test(readFileSync(path.join(ROOT, file), "utf8")),
    );
    assert.deepEqual(unsafe, []);
  });

  it("are reported if they contain a value from a request", () => {
    const planted = "pool.query(`SELECT * FROM orders WHERE user_id = '${" + "wish.buyerId}'`)";
    assert.deepEqual(interpolations("x.ts", planted).filter(offends), ["x.ts: wish.buyerId"]);
  });
});
