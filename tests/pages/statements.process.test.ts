import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Element, parseHtml, textOf } from "./element-tree";
import { loadPages } from "./page-bundle";
import { contradictionsIn, listStatements, statementsOf, violatedChecksOf } from "./statements";

type Pages = typeof import("./pages");
type Document = Awaited<ReturnType<Pages["CORPUS"][number]["make"]>>;

/** Words that no page may say about a run that is unsafe or failed. */
const ALL_CLEAR = /no violation|all clear|every check .*passed/i;
const FEWEST_RUNS = 60;
/** Each is stated in two places or more of a safe run's page, and of the exported file. */
const FACTS = ["stock", "left", "ordered", "oversold", "sold", "requests", "lostUpdates", "peak in flight", "fairness"];

let pages: Pages;
let remove = () => {};

before(async () => {
  ({ pages, remove } = await loadPages<Pages>("tests/pages/pages.ts"));
});
after(() => remove());

async function htmlOf(document: Document): Promise<Record<string, string>> {
  return { "run page": await pages.runPage(document), "exported file": await pages.exportedPage(document) };
}

async function runNamed(name: string): Promise<Document> {
  const run = pages.CORPUS.find((one) => one.name === name);
  assert.ok(run, `the corpus has no run ${name}`);
  return run.make();
}

describe("the pages of a run", () => {
  it("contradict themselves for no run of the corpus", async () => {
    assert.ok(pages.CORPUS.length >= FEWEST_RUNS, `expected ${FEWEST_RUNS} runs or more, found ${pages.CORPUS.length}`);
    const found: string[] = [];
    const documents = await Promise.all(pages.CORPUS.map(({ make }) => make()));
    const listed = listStatements(parseHtml(await pages.runsList(documents)));
    assert.equal(listed.size, documents.length, "expected each run in the list");
    for (const document of documents) {
      const name = document.id;
      for (const [where, html] of Object.entries(await htmlOf(document))) {
        const page = parseHtml(html);
        const problems = [
          ...contradictionsIn([...statementsOf(page), ...(listed.get(name) ?? [])]),
          ...wordProblems(page, document),
        ];
        found.push(...problems.map((problem) => `${name}, ${where}: ${problem}`));
      }
    }
    assert.deepEqual(found, []);
  });

  it("state each figure in several places", async () => {
    for (const [where, html] of Object.entries(await htmlOf(await runNamed("safe")))) {
      const statements = statementsOf(parseHtml(html));
      for (const fact of FACTS) {
        const places = new Set(statements.filter((one) => one.fact === fact).map((one) => one.where));
        assert.ok(places.size >= 2, `${where}: expected ${fact} in two places, found ${[...places].join(", ")}`);
      }
    }
  });

  it("show the time of a violation beside that violation", async () => {
    const statements = statementsOf(parseHtml(await pages.runPage(await runNamed("lost-update"))));
    const firsts = statements
      .filter(({ fact }) => fact.startsWith("first of"))
      .map(({ fact, value }) => `${fact} ${value}`);
    assert.deepEqual([...new Set(firsts)].sort(), ["first of lostUpdates 0.510", "first of overlappingHolds 0.501"]);
  });

  it("are read so that a changed figure is noticed", async () => {
    const html = await pages.runPage(await runNamed("safe"));
    const changes: [string, RegExp, string][] = [
      ["oversold: ", /(data-testid="oversold"[^>]*>)0/, "$13"],
      ["sold: ", /40 sold, /, "41 sold, "],
      ["ordered: ", /<b>40<\/b>(<!-- -->)? ordered/, "<b>39</b> ordered"],
    ];
    for (const [fact, before, after] of changes) {
      const changed = html.replace(before, after);
      assert.ok(changed !== html, `the page has no ${before}`);
      const problems = contradictionsIn(statementsOf(parseHtml(changed)));
      assert.ok(
        problems.some((problem) => problem.startsWith(fact)),
        `expected ${fact}, found ${problems.join("\n")}`,
      );
    }
  });
});

/** Words that contradict the verdict, and counts that contradict each other. */
function wordProblems(page: Element, { status, verdict }: Document): string[] {
  const text = textOf(page);
  const tone = status === "failed" ? "failed" : verdict;
  const violated = violatedChecksOf(page);
  const problems: string[] = [];
  const clear = ALL_CLEAR.exec(text)?.[0];
  if (clear !== undefined && (tone === "failed" || tone === "unsafe")) problems.push(`${tone}, but it says "${clear}"`);
  if (tone !== "unsafe" && tone !== "failed" && violated.length > 0)
    problems.push(`${tone}, but violated: ${violated}`);
  if (tone === "unsafe" && violated.length === 0) problems.push("unsafe, but no check found a violation");
  const isCounted = /\d+ of \d+ found violations/.test(text);
  if (isCounted && violated.length === 0) problems.push("it says that checks found violations, but counts none");
  return problems;
}
