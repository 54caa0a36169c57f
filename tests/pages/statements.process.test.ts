import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Element, find, findAll, has, parseHtml, tagged, textOf } from "./element-tree";
import { loadPages } from "./page-bundle";
import { compareStatements, contradictionsIn, listStatements, statementsOf, violatedChecksOf } from "./statements";

type Pages = typeof import("./pages");
type Document = Awaited<ReturnType<Pages["CORPUS"][number]["make"]>>;

/** Words that no page may say about a run that is unsafe or failed. */
const ALL_CLEAR = /no violation|all clear|every check .*passed/i;
const FEWEST_RUNS = 60;
/** Each is stated in two places or more of a safe run's page, and of the exported file. */
const FACTS = ["stock", "left", "ordered", "oversold", "sold", "requests", "lostUpdates", "peak in flight", "fairness"];
/** The Lab has no certificate, and its charts are drawn in the browser. */
const LAB_FACTS = ["oversold", "sold", "requests", "lostUpdates"];

let pages: Pages;
let remove = () => {};

before(async () => {
  ({ pages, remove } = await loadPages<Pages>("tests/pages/pages.ts"));
});
after(() => remove());

async function htmlOf(document: Document): Promise<Record<string, string>> {
  return {
    "run page": await pages.runPage(document),
    "exported file": await pages.exportedPage(document),
    "Lab page": await pages.labPage(document),
  };
}

/** Compare ranks no run that broke a promise, or is not shown to keep it. */
const isRanked = ({ verdict }: Document) => verdict === "safe";

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
    const compared = compareStatements(parseHtml(await pages.compareTable(documents)), "compare-");
    const finished = documents.filter(({ status }) => status === "finished");
    const grouped = compareStatements(parseHtml(await pages.comparison(finished, 1)), "group-");
    assert.equal(listed.size, documents.length, "expected each run in the list");
    assert.equal(compared.size, documents.length, "expected each run on Compare");
    assert.equal(grouped.size, finished.length, "expected each finished run side by side");
    for (const document of documents) {
      const name = document.id;
      for (const [where, html] of Object.entries(await htmlOf(document))) {
        const page = parseHtml(html);
        const problems = [
          ...contradictionsIn([
            ...statementsOf(page),
            ...(listed.get(name) ?? []),
            ...(compared.get(name) ?? []),
            ...(grouped.get(name) ?? []),
            { fact: "ranked", value: String(isRanked(document)), where: "its verdict" },
          ]),
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
      for (const fact of where === "Lab page" ? LAB_FACTS : FACTS) {
        const places = new Set(statements.filter((one) => one.fact === fact).map((one) => one.where));
        assert.ok(places.size >= 2, `${where}: expected ${fact} in two places, found ${[...places].join(", ")}`);
      }
    }
  });

  it("rank and compare the speed of safe runs only", async () => {
    const names = ["safe", "errors", "lost-update", "no-report"];
    const page = parseHtml(await pages.comparison(await Promise.all(names.map(runNamed)), 3));
    const rows = names.map((name) => textOf(find(page, has("data-testid", `group-${name}`))));
    const [safe = "", errors = "", unsafe = "", inconclusive = ""] = rows;
    assert.match(safe, /baseline of the comparison/);
    assert.match(errors, /faster|slower|no clear difference/);
    for (const row of [unsafe, inconclusive]) assert.doesNotMatch(row, /faster|slower|no clear difference|baseline/);
    assert.match(unsafe, /1 stock update was lost/);
    const options = findAll(page, tagged("option")).map(textOf);
    assert.ok(
      options.includes("errors") && !options.some((option) => option.startsWith("lost-update")),
      options.join(),
    );
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
