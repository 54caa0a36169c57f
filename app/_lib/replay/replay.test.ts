import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storyOf } from "@/lib/history/story";
import { pausedSale } from "@/lib/history/testing/paused-sale";
import type { RunStory } from "@/lib/runs/evidence";
import { replayOf } from "./replay";
import { ReplayPlayer } from "./replay-player";
import { FakeReplayPage } from "./testing/fake-replay-page";

function pausedStory(): RunStory {
  const story = storyOf(pausedSale({ fenced: true }), []);
  assert.ok(story);
  return { ...story, fromUs: 10_000, spans: [] };
}
const replay = replayOf(pausedStory()) ?? assert.fail("expected a replay");

describe("the replay of a story", () => {
  it("places the steps in order, with more space for a longer gap", () => {
    const { places, atMs, times, texts, durationMs } = replay.data;
    assert.deepEqual([places[0], places.at(-1)], [0, 1]);
    assert.deepEqual(
      [...places].sort((a, b) => a - b),
      places,
    );
    const gap = (index: number) => (places[index] ?? 0) - (places[index - 1] ?? 0);
    assert.ok(gap(3) > gap(1) && gap(1) > 0, `expected 5 s to be longer than 2 ms: ${places}`);
    assert.ok(gap(3) < 4 * gap(1), "expected a logarithmic axis");
    assert.deepEqual([atMs[0], atMs[3], times[3]], [10, 5_010, "5.010000 s"]);
    assert.equal(texts[3], "5.010000 s: node-1 lease expires");
    assert.ok(durationMs > 5_000 && durationMs < 20_000, `found ${durationMs} ms`);
  });

  it("has lanes whose bars lie within the axis", () => {
    assert.deepEqual(
      replay.lanes.map(({ name }) => name),
      ["node-1", "node-2", "lock", "stock"],
    );
    const ends = replay.lanes.flatMap(({ bars }) => bars.map(({ left, width }) => left + width));
    assert.ok(
      ends.every((end) => end <= 100.02),
      ends.join(", "),
    );
    const [paused] = replay.lanes[0]?.bars.filter(({ state }) => state === "stopped") ?? [];
    assert.equal(paused?.left, Math.round((replay.data.places[2] ?? 0) * 10_000) / 100);
  });

  it("is missing without steps", () => {
    const story = pausedStory();
    assert.equal(replayOf({ ...story, interleaving: { ...story.interleaving, steps: [] } }), null);
  });
});

describe("the replay player", () => {
  function opened(hash = "", isReduced = false) {
    const page = new FakeReplayPage(replay.data, { hash, isReduced });
    const player = page.run(ReplayPlayer);
    return { page, player };
  }

  it("opens at the end, and moves by keys and buttons", () => {
    const { page } = opened();
    assert.deepEqual(page.lines(), Array(12).fill(undefined), "expected no line to stand out");
    page.key("ArrowLeft");
    assert.equal(page.step(), 10);
    page.key("Home");
    assert.deepEqual([page.step(), page.texts("time"), page.at()], [0, ["0.010000 s"], 0]);
    page.key("ArrowRight");
    page.click("on");
    page.key("ArrowRight");
    assert.deepEqual(page.texts("state"), ["paused", "waits", "free", "100"]);
    assert.deepEqual(page.lines().slice(2, 5), ["past", "now", "next"]);
    page.key("ArrowLeft");
    page.click("back");
    assert.equal(page.step(), 1);
    page.key("End");
    assert.equal(page.step(), 11);
    page.key("ArrowRight");
    assert.equal(page.step(), 11, "expected to stay at the last step");
  });

  it("leaves other keys to the page", () => {
    const { page } = opened();
    assert.equal(page.key("a"), false);
    assert.equal(page.key("ArrowLeft", { altKey: true }), false, "expected the browser's own key");
    assert.equal(page.key("ArrowLeft"), true);
  });

  it("writes its time to the address, and opens at the time in the address", () => {
    const { page } = opened();
    page.key("Home");
    for (let step = 0; step < 3; step += 1) page.click("on");
    assert.equal(page.hash, "#t=5010");
    assert.equal(opened(page.hash).page.step(), 3);
    assert.equal(opened("#t=0").page.step(), 0);
    assert.equal(opened("#t=99999999").page.step(), 11);
    assert.deepEqual(opened("#evidence").page.lines(), Array(12).fill(undefined));
    page.key("Home");
    page.navigate("#t=5010");
    assert.equal(page.step(), 3);
  });

  it("returns to the place between two steps where it was paused", () => {
    const { page } = opened();
    page.key("Home");
    page.click("play");
    page.frames(60, 50);
    page.click("play");
    const place = page.at();
    assert.ok(place > 0 && place < 1, `found ${place}`);
    assert.ok(
      Math.abs(opened(page.hash).page.at() - place) < 1e-6,
      `${opened(page.hash).page.at()} instead of ${place}`,
    );
  });

  it("plays from the start to the end, then stops its timer", () => {
    const { page } = opened();
    page.click("play");
    assert.deepEqual([page.step(), page.texts("play")], [0, ["Pause"]]);
    const framesNeeded = Math.ceil(replay.data.durationMs / 50) + 1;
    page.frames(framesNeeded, 50);
    assert.deepEqual([page.step(), page.texts("play"), page.pendingFrames()], [11, ["Play"], 0]);
  });

  it("takes ten times as long at a tenth of the speed", () => {
    const { page } = opened();
    page.check("slow");
    page.click("play");
    page.frames(20, 50);
    assert.ok(Math.abs(page.at() - 100 / replay.data.durationMs) < 1e-3, `found ${page.at()}`);
  });

  it("jumps from step to step if the reader prefers less motion", () => {
    const { page } = opened("", true);
    page.click("play");
    const places = new Set<number>();
    for (let frame = 0; frame < 40; frame += 1) {
      page.frames(1, 50);
      places.add(page.at());
    }
    assert.ok(
      [...places].every((place) => replay.data.places.includes(place)),
      [...places].join(", "),
    );
  });

  it("ends its timer and its listeners", () => {
    const { page, player } = opened();
    page.click("play");
    player.stop();
    assert.equal(page.pendingFrames(), 0);
    assert.equal(page.key("Home"), false);
  });

  it("uses nothing outside itself, because the exported file contains it as text", () => {
    const page = new FakeReplayPage(replay.data, { hash: "", isReduced: false });
    page.runText(`const __name = (named) => named; (${ReplayPlayer})`);
    page.key("Home");
    assert.equal(page.step(), 0);
  });
});
