import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { storyOf } from "../../../lib/history/story";
import { pausedSale } from "../../../lib/history/testing/paused-sale";
import { runDocument } from "../../../lib/runs/testing/run-fixture";
import { seriesOfSamples } from "../samples-series";
import { runHtml } from "./run-html";

const document = runDocument({});
function exported(faultId: string): string {
  const story = storyOf(pausedSale({ fenced: true }), []) ?? assert.fail("expected a story");
  return runHtml({
    ...{ evidence: null, document, series: seriesOfSamples(document, []), curves: [] },
    ...{ findings: [], findingCount: 0, first: null, holders: null },
    story: { ...story, faultId, fromUs: 10_000, spans: [] },
  });
}

describe("the story in an exported run", () => {
  const text = exported("pause-holder");

  it("has the sentence, the steps with times of the run, and a lane for each purchase, the lock and the stock", () => {
    assert.match(text, /node-1 was paused for 12\.5 s while it held the lock\./);
    assert.match(
      text,
      /<th scope="row">12\.521000 s<\/th><td>node-1 ann<\/td><td>write stock = 99: REFUSED \(token 1 &lt; 6\)/,
    );
    assert.equal(text.match(/<div class="lane">/g)?.length, 4);
  });

  it("has one script, which the content security policy allows by its hash", () => {
    const scripts = [...text.matchAll(/<script>(.*?)<\/script>/gs)];
    assert.equal(scripts.length, 1);
    const hash = createHash("sha256")
      .update(scripts[0]?.[1] ?? "")
      .digest("base64");
    assert.ok(text.includes(`content="default-src 'none'; script-src 'sha256-${hash}'; style-src`), text.slice(0, 600));
    assert.doesNotMatch(text, /<link|<img|<iframe|\ssrc=|\shref=|url\((?!#)|@import|https?:/i);
  });

  it("cannot be left by a text that ends the script", () => {
    const hostile = exported("</script><img src=x>");
    assert.doesNotMatch(hostile, /<img/);
    assert.equal(hostile.match(/<\/script>/g)?.length, 1);
  });
});
