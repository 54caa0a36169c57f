import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultsById } from "@/lib/faults/all-faults";
import { expectedOf } from "@/lib/runs/fault-matrix";
import { runRequestSchema } from "@/lib/runs/run-request";
import { stockStrategies } from "@/lib/stock/stock-strategies";
import { type Chapter, type ChapterStep, OUTCOMES } from "./chapter";
import { requestOf } from "./chapter-preset";
import { CHAPTERS } from "./chapters/all-chapters";
import { partsOf, termNamed } from "./marked-text";
import { TERMS } from "./terms";

/** Two minutes at a calm 200 words a minute, with the answers. */
const MOST_WORDS = 400;

/** What lessons say about other runs than the chapter's. */
const OTHER_CLAIMS = [
  ["Deleting another holder's lock", "redis-lock", "slow-work", "safe"],
  ["A pause longer than the lease, and fencing", "zk-fenced", "pause-holder", "safe"],
  ["A pause longer than the lease, and fencing", "etcd-lock", "pause-holder", "safe"],
  ["A master that dies before its replica has the lock", "redis-fenced", "redis-failover", "unsafe"],
] as const;

const stepsOf = CHAPTERS.flatMap((chapter) => chapter.steps.map((step, index) => ({ chapter, step, index })));

/** The texts of a step that define terms, and those that only use them, in reading order. */
const paragraphs = (step: ChapterStep) => [...step.text, ...step.lesson];
const plainTexts = ({ cells, question, answers }: ChapterStep) => [
  ...cells.map(({ setup }) => setup),
  question,
  ...OUTCOMES.flatMap((outcome) => [answers[outcome].claim, answers[outcome].reply]),
];
const inReadingOrder = ({ lead, steps }: Chapter) => [
  lead,
  ...steps.flatMap((step) => [...step.text, ...plainTexts(step), ...step.lesson]),
];

describe("the chapters", () => {
  it("are seven, with different titles", () => {
    assert.equal(CHAPTERS.length, 7);
    assert.equal(new Set(CHAPTERS.map(({ title }) => title)).size, 7);
  });

  for (const { chapter, step, index } of stepsOf) {
    for (const { strategy, fault } of step.cells) {
      it(`show what the matrix expects of ${strategy} under ${fault ?? "no fault"} (${chapter.title}, ${index + 1})`, () => {
        assert.ok(stockStrategies.has(strategy), `expected a strategy ${strategy}`);
        assert.ok(fault === null || faultsById[fault], `expected a fault ${fault}`);
        assert.equal(step.shows, expectedOf(strategy, fault).expected);
        const parsed = runRequestSchema.parse(requestOf({ strategy, fault, setup: "" }));
        assert.deepEqual([parsed.launch, parsed.engine], [true, "builtin"]);
      });
    }
  }

  for (const [title, strategy, fault, expected] of OTHER_CLAIMS) {
    it(`are right about ${strategy} under ${fault} (${title})`, () => {
      const chapter = CHAPTERS.find((candidate) => candidate.title === title);
      assert.match(chapter?.steps.flatMap(({ lesson }) => lesson).join() ?? "", new RegExp(strategy));
      assert.equal(expectedOf(strategy, fault).expected, expected);
    });
  }

  it("offer three different predictions with different replies at each step", () => {
    for (const { chapter, step } of stepsOf) {
      const texts = OUTCOMES.flatMap((outcome) => [step.answers[outcome].claim, step.answers[outcome].reply]);
      assert.equal(new Set(texts).size, 2 * OUTCOMES.length, chapter.title);
    }
  });

  it("link every step except the last to the next one", () => {
    for (const { chapter, step, index } of stepsOf) {
      assert.equal(step.next !== undefined, index < chapter.steps.length - 1, chapter.title);
    }
  });

  it("take two minutes to read for each run", () => {
    for (const { chapter, step } of stepsOf) {
      const words = [...paragraphs(step), ...plainTexts(step)].join(" ").split(/\s+/).length;
      assert.ok(words <= MOST_WORDS, `${chapter.title}: expected at most ${MOST_WORDS} words, found ${words}`);
    }
  });

  it("together show a safe, an unsafe and a blocked run", () => {
    assert.deepEqual(new Set(stepsOf.map(({ step }) => step.shows)), new Set(OUTCOMES));
  });
});

describe("the terms of a chapter", () => {
  for (const chapter of CHAPTERS) {
    it(`are defined where they are first used (${chapter.title})`, () => {
      const texts = inReadingOrder(chapter);
      for (const [name, { pattern }] of Object.entries(TERMS)) {
        const first = texts.find((text) => pattern.test(text.replaceAll("*", "")));
        if (first === undefined) continue;
        const uses = partsOf(first).filter((part) => part.kind === "term" || pattern.test(part.text));
        const use = uses.find((part) => pattern.test(part.text));
        assert.ok(use?.kind === "term", `expected the first "${name}" to be marked, found: ${first}`);
      }
    });

    it(`are marked only where a definition stands beside them (${chapter.title})`, () => {
      for (const text of [chapter.lead, ...chapter.steps.flatMap(plainTexts)]) {
        assert.deepEqual(
          partsOf(text).filter(({ kind }) => kind === "term"),
          [],
        );
      }
      for (const { kind, text } of chapter.steps.flatMap(paragraphs).flatMap(partsOf)) {
        if (kind === "term") assert.ok(termNamed(text), `expected a definition of ${text}`);
      }
    });
  }

  it("are all used", () => {
    const marked = CHAPTERS.flatMap(({ steps }) => steps.flatMap(paragraphs))
      .flatMap(partsOf)
      .filter(({ kind }) => kind === "term")
      .map(({ text }) => termNamed(text));
    assert.deepEqual(
      Object.keys(TERMS).filter((name) => !marked.includes(name)),
      [],
    );
  });
});
