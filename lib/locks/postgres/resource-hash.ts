import { createHash } from "node:crypto";

/**
 * A resource's key for PostgreSQL's advisory locks: the first 64 bits of SHA-256 of its UTF-8, signed, as `bigint` is
 * there. Two resources with one key would only wait for each other; at a million resources the odds of a
 * single such pair are about 1 in 37 million.
 *
 * Made here and not by `hashtextextended`, whose values PostgreSQL does not promise to keep between major versions: a
 * program that talks to the server before and after an upgrade, or in another language, must come to the same key.
 */
export function advisoryKeyOf(resource: string): bigint {
  return createHash("sha256").update(resource, "utf8").digest().readBigInt64BE(0);
}
