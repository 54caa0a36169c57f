import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { K6_VERSION } from "./find";
import { isGoNewEnough } from "./install";
import { archiveName, sumOf } from "./release";

describe("installing k6", () => {
  it("builds with Go 1.25 and newer", () => {
    assert.deepEqual(["go1.24.9", "go1.25", "go1.26.8", "go2.0.1", "devel"].map(isGoNewEnough), [
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it("names the release's archive for a supported machine and rejects others", () => {
    assert.equal(archiveName("linux", "x64"), `k6-v${K6_VERSION}-linux-amd64.tar.gz`);
    assert.equal(archiveName("darwin", "arm64"), `k6-v${K6_VERSION}-macos-arm64.zip`);
    assert.throws(() => archiveName("aix", "ppc64"), /no k6 release for aix on ppc64/);
  });

  it("reads the checksum of exactly that archive", () => {
    const [a, b] = ["a".repeat(64), "b".repeat(64)];
    const sums = `${a}  k6-v1-linux-amd64.tar.gz.sig\n${b} *k6-v1-linux-amd64.tar.gz\n`;
    assert.equal(sumOf(sums, "k6-v1-linux-amd64.tar.gz"), b);
    assert.throws(() => sumOf(sums, "k6-v1-linux-arm64.tar.gz"), /do not list/);
    assert.throws(() => sumOf("<html>not found</html>", "k6-v1-linux-amd64.tar.gz"), /do not list/);
  });
});
