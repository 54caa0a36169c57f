import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../bin/supervisor/paths";

/** The text of the project: no dead links, decision pages in one form, and the words that CONTRIBUTING.md rules out. */

const { stdout } = spawnSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
const THIS_FILE = "tests/documents.test.ts";
const tracked = stdout.split("\0").filter((file) => file !== "" && existsSync(path.join(ROOT, file)));
const texts = tracked.filter(
  (file) => !/\.(png|ico|ndjson|edn)$|^package-lock\.json$/.test(file) && file !== THIS_FILE,
);
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

/** Each may appear in a quotation or as a program's word, but not as a habit. */
const AVOIDED = [
  "nobody",
  "somebody",
  "whoever",
  "whatever",
  "whichever",
  "lest",
  "anew",
  "in vain",
  "as long as may be",
  "what became of",
  "of its own",
  "at all",
];
const MOST_USES = 9;
const DECISIONS = "docs/decisions/";
const MOST_DECISIONS = 30;
const MOST_WORDS_A_PAGE = 360;

describe("the project's text", () => {
  it("was found", () => {
    assert.ok(texts.length > 500, `expected the tracked files of the repository, found ${texts.length}`);
  });

  for (const word of AVOIDED) {
    it(`uses "${word}" at most ${MOST_USES} times`, () => {
      const pattern = new RegExp(`\\b${word.replaceAll(" ", "\\s+")}\\b`, "gi");
      const uses = texts.flatMap((file) => (read(file).match(pattern) ?? []).map(() => file));
      assert.ok(uses.length <= MOST_USES, `${uses.length} uses of "${word}": ${[...new Set(uses)].join(", ")}`);
    });
  }
});

describe("links", () => {
  for (const file of tracked.filter((name) => name.endsWith(".md"))) {
    it(`of ${file} lead to files`, () => {
      const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link.split("#", 1)[0] ?? "");
      const local = links.filter((link) => link !== "" && !/^[a-z]+:|^\//.test(link));
      const dead = local.filter((link) => !existsSync(path.join(ROOT, path.dirname(file), link)));
      assert.deepEqual(dead, []);
    });
  }

  it("to decision pages lead to pages", () => {
    const dead = texts.flatMap((file) =>
      [...read(file).matchAll(/decisions\/(\d{3}[a-z0-9-]*)(?:\.md)?/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !tracked.some((page) => page.startsWith(`${DECISIONS}${name}`)))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(dead, []);
  });
});

describe("decision pages", () => {
  const pages = tracked.filter((file) => file.startsWith(DECISIONS));

  it(`are at most ${MOST_DECISIONS}, each with a number of its own`, () => {
    assert.ok(pages.length <= MOST_DECISIONS, `${pages.length} pages`);
    const numbers = pages.map((page) => path.basename(page).slice(0, 3));
    assert.equal(new Set(numbers).size, numbers.length);
  });

  for (const page of pages) {
    it(`state status, date, context, decision, alternatives and consequences (${path.basename(page)})`, () => {
      const text = read(page);
      assert.match(text, /^# \d{3}\. .+\n\nStatus: (accepted|superseded), \d{4}-\d{2}-\d{2}/);
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
      assert.deepEqual(sections, ["Context", "Decision", "Alternatives", "Consequences"]);
      const words = text.split(/\s+/).length;
      assert.ok(words <= MOST_WORDS_A_PAGE, `${words} words; a page has at most ${MOST_WORDS_A_PAGE}`);
    });
  }
});
