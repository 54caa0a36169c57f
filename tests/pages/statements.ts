import { type Element, find, findAll, has, rowsOf, tagged, textOf } from "./element-tree";

/** What a page says about a run: every place that states the same fact must state the same value. */

export interface Statement {
  readonly fact: string;
  readonly value: string;
  /** The part of the page that says so. */
  readonly where: string;
}

type Pattern = readonly [pattern: RegExp, ...facts: string[]];

/** Every match of a pattern in a text; the groups of the pattern are the facts. */
function said(where: string, text: string, patterns: readonly Pattern[]): Statement[] {
  return patterns.flatMap(([pattern, ...facts]) =>
    [...text.matchAll(pattern)].flatMap((match) =>
      facts.map((fact, at) => ({ fact, value: plain(match[at + 1] ?? ""), where })),
    ),
  );
}

function plain(value: string): string {
  return value.replaceAll(",", "").replaceAll("−", "-").toLowerCase();
}

const N = "(-?[\\d,]+)";
const all = (text: string) => new RegExp(text, "g");

/** Sentences that can stand anywhere. */
const SENTENCES: readonly Pattern[] = [
  [all(`${N} (?:units? )?ordered(?! unit)`), "ordered"],
  [all(`All ${N} units were sold once`), "ordered"],
  [all(`${N} of ${N} units were sold once`), "ordered", "stock"],
  [all(`${N} units? ordered from a stock of ${N}`), "ordered", "stock"],
  [all(`${N} [-−] ${N} = ${N} units?`), "stock", "left", "ordered"],
  [all(`${N} in stock`), "stock"],
  [all(`${N} cannot be delivered`), "oversold"],
  [all(`\\+?${N} beyond the stock`), "oversold"],
  [all(`${N} purchases? recorded`), "requests"],
  [all(`The load generator sent ${N} purchases? and the nodes counted the same number`), "requests"],
  [all(`[Uu]p to ${N} purchases (?:were )?in flight`), "peak in flight"],
  [all(`[Uu]p to ${N} of ${N} purchases`), "peak in flight", "requests"],
  [all(`[Aa]t most ${N} purchases? of ${N} in flight`), "peak in flight", "requests"],
];

export function statementsOf(page: Element): Statement[] {
  return [
    ...said("a sentence", textOf(page), SENTENCES),
    ...headStatements(page),
    ...tileStatements(page),
    ...nodeStatements(page),
    ...checkStatements(page),
    ...findingStatements(page),
    ...factStatements(page),
    ...valueStatements(page),
    ...chartStatements(page),
  ];
}

const number = (value: string) => Number(plain(value));
const isAbout = (label: string) => has("aria-label", label);

function headStatements(page: Element): Statement[] {
  const head = find(page, isAbout("Verdict"));
  const where = "the head";
  const oversold = textOf(
    find(page, (element) => element.attributes["data-testid"] === "oversold" || element.attributes.id === "oversold"),
  );
  const word = textOf(head && find(head, tagged("strong"))).replace(".", "");
  return [
    ...(/\d/.test(oversold) ? [{ fact: "oversold", value: plain(oversold), where }] : []),
    { fact: "verdict", value: word.toLowerCase(), where },
    ...said("the title", textOf(find(page, tagged("title"))), [[/: (\w+) ·/g, "verdict"]]),
  ];
}

/** The main figures: terms and values. */
function tileStatements(page: Element): Statement[] {
  const where = "the main figures";
  return termsOf(page).flatMap(([name, value]): Statement[] => {
    if (name === "Sold")
      return said(where, value, [
        [all(`^${N}`), "sold"],
        [all(`of ${N}`), "requests"],
      ]);
    if (name === "Lost updates") return said(where, value, [[all(`^${N}`), "lostUpdates"]]);
    if (name === "Peak in flight")
      return said(where, value, [
        [all(`^${N}`), "peak in flight"],
        [/((?:not )?certified)/g, "contention"],
      ]);
    if (name === "Deliverable /s") return [{ fact: "deliverable", value: plain(value), where }];
    if (name === "p50, buyers") return [{ fact: "buyers' p50", value: msOf(value), where }];
    if (name === "p99, buyers") return [{ fact: "buyers' p99", value: msOf(value), where }];
    if (name === "Requests") return said(where, value, [[all(`^${N}`), "requests"]]);
    if (name === "Fairness of waits (Jain)") return [{ fact: "fairness", value, where }];
    if (name === "Longest wait") return [{ fact: "longest wait", value, where }];
    return [];
  });
}

function termsOf(page: Element): [string, string][] {
  return findAll(page, ({ children }) => children.some((child) => typeof child !== "string" && child.tag === "dt")).map(
    (pair) => [textOf(find(pair, tagged("dt"))), textOf(find(pair, tagged("dd")))],
  );
}

function tableBelow(page: Element, heading: string): Element | null {
  const section = findAll(page, tagged("section")).find((one) => {
    const title = one.children.find(
      (child) => typeof child !== "string" && (child.tag === "h2" || child.tag === "header"),
    );
    return title !== undefined && typeof title !== "string" && textOf(title).startsWith(heading);
  });
  return section ?? null;
}

function nodeStatements(page: Element): Statement[] {
  const section = tableBelow(page, "Node by node");
  if (section === null) return [];
  const [, ...rows] = rowsOf(find(section, tagged("table")));
  const sum = (column: number) => String(rows.reduce((total, row) => total + number(row[column] ?? "0"), 0));
  const where = "the node table";
  return [
    { fact: "requests", value: sum(1), where },
    { fact: "sold", value: sum(2), where },
    ...said("the answers", textOf(section), [[all(`${N} sold(?! out)`), "sold"]]),
  ];
}

const CHECKS: Readonly<Record<string, string>> = {
  Oversold: "oversold",
  "Lost updates": "lostUpdates",
  Undersold: "undersold",
  "Counter drift": "counterDrift",
  "Negative stock": "negativeStock",
  "Duplicate claims": "duplicateClaims",
  "Overlapping holds": "overlappingHolds",
  "Stale writes": "staleWrites",
  "Fencing order": "fencingOrder",
  "Ticket order": "ticketOrder",
  "Lost orders": "acknowledgedRows",
  "Lost by a failover": "failoverLosses",
  "Duplicate orders": "unknownRows",
  "Rejected but sold": "refusedRows",
  "Stray orders": "strayRows",
};

function checkRowsOf(page: Element): [label: string, text: string][] {
  const section = find(page, isAbout("The checks")) ?? tableBelow(page, "The checks");
  if (section === null) return [];
  return findAll(section, tagged("tr")).flatMap((row): [string, string][] => {
    const [head, ...cells] = row.children.flatMap((cell) => (typeof cell === "string" ? [] : [textOf(cell)]));
    return head === undefined || head === "check" ? [] : [[head, cells.join(" ")]];
  });
}

/** The kinds of violations of which the table of checks counts at least one. */
export function violatedChecksOf(page: Element): string[] {
  return checkRowsOf(page).flatMap(([label, text]) => {
    const [, kind] = Object.entries(CHECKS).find(([name]) => label.startsWith(name)) ?? [];
    return kind !== undefined && /^[1-9]/.test(text) ? [kind] : [];
  });
}

function checkStatements(page: Element): Statement[] {
  const where = "the checks";
  const rows = checkRowsOf(page);
  return rows.flatMap(([label, text]): Statement[] => {
    const [, fact] = Object.entries(CHECKS).find(([name]) => label.startsWith(name)) ?? [];
    if (fact !== undefined)
      return said(where, text, [
        [all(`^${N}`), fact],
        [/first at ([\d.]+) s/g, `first of ${fact}`],
      ]);
    if (label.startsWith("Conservation"))
      return said(where, text, [[/([\d,]+) − (-?[\d,]+) [=≠] ([\d,]+)/g, "stock", "left", "ordered"]]);
    if (label.startsWith("Fairness"))
      return said(where, `${label} ${text}`, [
        [/Jain ([\d.]+)/g, "fairness"],
        [/longest wait ([\d.]+ m?s)/g, "longest wait"],
      ]);
    return [];
  });
}

/** Groups of the list of findings, with their counts. */
function findingGroupsOf(page: Element): { heading: string; count: number; times: string[] }[] {
  const list = find(page, isAbout("Findings"));
  if (list === null) return [];
  return findAll(list, (element) => element.tag === "details").map((group) => {
    const heading = textOf(find(group, tagged("h3")));
    const [, name = heading, count = "0"] = /^(.*?) ([\d,]+)/.exec(heading) ?? [];
    const times = findAll(group, has("class", "time")).map(textOf);
    return { heading: name, count: number(count), times };
  });
}

function findingStatements(page: Element): Statement[] {
  return findingGroupsOf(page).flatMap(({ heading, count, times }): Statement[] => {
    const fact = CHECKS[heading];
    const where = "the list of findings";
    const [first] = times
      .map((time) => Number.parseFloat(time))
      .filter((time) => !Number.isNaN(time))
      .sort((a, b) => a - b);
    if (fact === undefined) return [];
    const seen = first === undefined ? [] : [{ fact: `first of ${fact}`, value: first.toFixed(3), where }];
    return [{ fact, value: String(count), where }, ...seen];
  });
}

function factStatements(page: Element): Statement[] {
  return said("the contention certificate", textOf(find(page, isAbout("Contention certificate"))), [
    [/^Contention: ((?:not )?certified)/g, "contention"],
    [all(`Peak in flight ${N}`), "peak in flight"],
  ]);
}

/** The tables of values behind the charts, which an exported page shows. */
function valueStatements(page: Element): Statement[] {
  const [last] = valuesOf(page, "Stock left and orders taken").slice(-1);
  if (last === undefined) return [];
  const inFlight = valuesOf(page, "In flight and waiting").map((row) => number(row[1] ?? "0"));
  return [
    {
      fact: "ordered",
      value: String(number(last[1] ?? "0") + unrecordedIn(page)),
      where: "the values of the chart of orders",
    },
    {
      fact: "peak in flight",
      value: String(Math.max(...inFlight)),
      where: "the values of the chart of purchases in flight",
    },
  ];
}

/** The text alternative of the chart of orders and stock. */
function chartStatements(page: Element): Statement[] {
  const where = "the chart of orders";
  const label = findAll(page, has("role", "img")).map(({ attributes }) => attributes["aria-label"] ?? "");
  const found = said(where, label.join(" "), [
    [all(`orders rose to ${N}`), "ordered"],
    [all(`stock went from ${N} to`), "stock"],
  ]);
  return found.map((one) =>
    one.fact === "ordered" ? { ...one, value: String(number(one.value) + unrecordedIn(page)) } : one,
  );
}

/** Units that the charts lack, as the page says. */
function unrecordedIn(page: Element): number {
  const [, units = "0"] = /([\d,]+) ordered units? ha(?:s|ve) no recorded purchase/.exec(textOf(page)) ?? [];
  return number(units);
}

function valuesOf(page: Element, title: string): string[][] {
  const figure = findAll(page, tagged("figure")).find((one) => textOf(find(one, tagged("h2"))).startsWith(title));
  const table = figure && find(figure, tagged("table"));
  return rowsOf(table ?? null).slice(1);
}

/** What the list of runs says about each run, by its id. */
export function listStatements(page: Element): Map<string, Statement[]> {
  const rows = find(page, tagged("tbody"))?.children ?? [];
  return new Map(
    rows.flatMap((row): [string, Statement[]][] => {
      if (typeof row === "string") return [];
      const cell = (name: string) =>
        textOf(find(row, (element) => (element.attributes.class ?? "").split(" ").includes(name)));
      const where = "the list of runs";
      const verdict = { fact: "verdict", value: cell("verdict").toLowerCase(), where };
      return [
        [
          cell("id").split(" ")[0] ?? "",
          [
            verdict,
            ...said(where, cell("oversold"), [[all(`^${N}`), "oversold"]]),
            ...said(where, cell("why"), SENTENCES),
          ],
        ],
      ];
    }),
  );
}

/** What Compare says about each run, by the id in the rows' `data-testid`. */
export function compareStatements(page: Element, prefix: string): Map<string, Statement[]> {
  const rows = findAll(page, (element) => (element.attributes["data-testid"] ?? "").startsWith(prefix));
  const unranked = find(page, has("data-testid", "unranked"));
  return new Map(
    rows.map((row) => {
      const where = `Compare, ${prefix}`;
      const cells = new Map(
        findAll(row, ({ attributes }) => attributes["data-label"] !== undefined).map((cell) => [
          cell.attributes["data-label"]?.split(" /")[0]?.replace(/ ms$/, "") ?? "",
          textOf(cell),
        ]),
      );
      const cell = (name: string) => /^(-?[\d,.]+|–)/.exec(cells.get(name) ?? "")?.[1] ?? "";
      const id = (row.attributes["data-testid"] ?? "").slice(prefix.length);
      const isUnranked = unranked !== null && findAll(unranked, (element) => element === row).length > 0;
      const shown = ["oversold", "lost updates"].flatMap((name) =>
        cells.has(name) ? [{ fact: name === "oversold" ? name : "lostUpdates", value: plain(cell(name)), where }] : [],
      );
      return [
        id,
        [
          ...shown,
          { fact: "verdict", value: (cells.get("verdict") ?? textOf(find(row, isVerdict))).toLowerCase(), where },
          { fact: "ranked", value: String(!isUnranked), where },
          { fact: "deliverable", value: plain(cell("deliverable")), where },
          { fact: "buyers' p50", value: msOf(`${cell("buyers' p50")} ms`), where },
          { fact: "buyers' p99", value: msOf(`${cell("buyers' p99")} ms`), where },
          ...said(where, textOf(row), SENTENCES),
        ],
      ];
    }),
  );
}

const isVerdict = ({ attributes }: Element) => (attributes.class ?? "").split(" ").includes("verdict");

/** A latency to two significant digits: pages round it to different units. */
function msOf(text: string): string {
  const [, number = "", unit = "ms"] = /^([\d.,]+) ?(ms|s)$/.exec(text) ?? [];
  const ms = Number(plain(number)) * (unit === "s" ? 1_000 : 1);
  return number === "" ? "–" : String(Number(ms.toPrecision(2)));
}

/** Facts that two places state differently. */
export function contradictionsIn(statements: readonly Statement[]): string[] {
  const byFact = new Map<string, Statement[]>();
  for (const statement of statements) byFact.set(statement.fact, [...(byFact.get(statement.fact) ?? []), statement]);
  return [...byFact].flatMap(([fact, said]) => {
    const values = new Map(said.map(({ value, where }) => [value, where]));
    if (values.size <= 1) return [];
    return [`${fact}: ${[...values].map(([value, where]) => `${where} says ${value}`).join(", ")}`];
  });
}
