import { createHash } from "node:crypto";

/**
 * The advisory-lock key of a resource: the first 64 bits of SHA-256 of its UTF-8, as a signed bigint. Two resources
 * with the same key would only wait for each other. With a million resources, the odds of one such pair are about 1 in
 * 37 million.
 *
 * Not `hashtextextended`: PostgreSQL may change its values between major versions, but programs in other languages and
 * versions must compute the same key.
 */
export function advisoryKeyOf(resource: string): bigint {
  return createHash("sha256").update(resource, "utf8").digest().readBigInt64BE(0);
}
