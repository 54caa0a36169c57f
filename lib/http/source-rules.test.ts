import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** Rules about the source text that the type checker cannot express. */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ERROR_TABLE = "lib/http/error-table.ts";
const DECLARED_ANSWER = /^\s+[45]\d\d: \{ description: /;
/** 400 and 500 are common bounds too, so they count only beside the word "status". */
const STATUS_LITERAL = /\b(?:4(?!00)|5(?!00))\d\d\b|\bstatus\w*\b.*\b[45]00\b/i;

interface Line {
  readonly file: string;
  readonly number: number;
  readonly code: string;
}

/** The lines of the production code in a folder, without comments and the contents of strings. */
function linesOf(folder: string): Line[] {
  const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.tsx?$/.test(file) && !file.includes(".test.") && !file.includes("testing"))
    .flatMap((name) => {
      const file = path.posix.join(folder, name);
      return codeOf(readFileSync(path.join(ROOT, file), "utf8"))
        .split("\n")
        .map((code, index) => ({ file, number: index + 1, code }));
    });
}

function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ""))
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
    .replace(/(^|\s)\/\/.*$/gm, "");
}

const placesOf = (lines: readonly Line[]) => lines.map(({ file, number, code }) => `${file}:${number}: ${code.trim()}`);

describe("the production code", () => {
  it("has 4xx and 5xx literals in the error table and in declared answers only", () => {
    const lines = ["lib/http", "lib/shop", "lib/runs", "lib/node", "app/api"].flatMap(linesOf);
    assert.ok(lines.some(({ file, code }) => file === ERROR_TABLE && STATUS_LITERAL.test(code)));
    const offenders = lines.filter(
      ({ file, code }) => file !== ERROR_TABLE && STATUS_LITERAL.test(code) && !DECLARED_ANSWER.test(code),
    );
    assert.deepEqual(placesOf(offenders), []);
  });

  it("resolves the plan of a purchase in one place", () => {
    /** These resolve a plan for other work: a payment that takes the stock, and units that go back. */
    const others = ["lib/shop/pay-order.ts", "lib/shop/return-units.ts"];
    const calls = ["lib/http", "lib/shop", "app/api"].flatMap(linesOf).filter(({ code }) => /\.plan\(/.test(code));
    const onThePurchasesWay = calls.map(({ file }) => file).filter((file) => !others.includes(file));
    assert.deepEqual(onThePurchasesWay, ["lib/http/purchase-handler.ts"]);
  });
});
