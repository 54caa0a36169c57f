import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CellResult, type FaultMatrix, isSameRun, type MatrixRun } from "../../lib/runs/fault-matrix";
import { readMatrix } from "../../lib/runs/fault-matrix-file";
import { currentCommit } from "../supervisor/version";

/** The results of the fault matrix in a file, which is complete after each run: an interrupted matrix continues from it. */

/** The code that decides what a fault does to a strategy. */
const MEASURED_FOLDERS = ["lib", "servers"];

export async function codeVersion(root: string): Promise<FaultMatrix["version"]> {
  const hash = createHash("sha256");
  for (const folder of MEASURED_FOLDERS) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort();
    for (const name of names.filter((each) => /\.ts$/.test(each) && !/\.test\.ts$/.test(each))) {
      hash.update(`${name}\0`).update(readFileSync(join(root, folder, name)));
    }
  }
  return { commit: await currentCommit(), sources: hash.digest("hex").slice(0, 16) };
}

export interface OpenedMatrix {
  readonly matrix: FaultMatrix;
  /** Why the results in the file are not used; null if they are, or if there are none. */
  readonly discarded: string | null;
}

/**
 * The results in the file, if they measured this code.
 * @param remeasured strategies whose results are not used, while those of the others are, although they measured other code.
 *   Absent: all results must have measured this code
 */
export function openMatrix(
  file: string,
  version: FaultMatrix["version"],
  remeasured?: readonly string[],
): OpenedMatrix {
  const empty: FaultMatrix = { version, startedAtEpochMs: Date.now(), machine: null, results: [] };
  const known = readMatrix(file);
  if (known === null) return { matrix: empty, discarded: null };
  if (known === "unreadable") return { matrix: empty, discarded: `${file} is not a fault matrix` };
  const { commit, sources } = known.version;
  if (commit === version.commit && sources === version.sources) return { matrix: known, discarded: null };
  if (remeasured) {
    const kept = known.results.filter(({ strategy }) => !remeasured.includes(strategy));
    const results = kept.map((result) => ({ ...result, commit: result.commit ?? commit }));
    return { matrix: { ...known, version, results }, discarded: null };
  }
  const change =
    commit === version.commit ? "the source files changed" : `commit ${commit} instead of ${version.commit}`;
  return { matrix: empty, discarded: `its ${known.results.length} results measured other code (${change})` };
}

/** Replaces the file as a whole. One result per line keeps the differences of a committed file readable. */
export function writeMatrix(file: string, { results, ...head }: FaultMatrix): void {
  mkdirSync(dirname(file), { recursive: true });
  const lines = results.map((result) => `    ${JSON.stringify(result)}`).join(",\n");
  const text = JSON.stringify({ ...head, results: "RESULTS" }, null, 2).replace('"RESULTS"', () => `[\n${lines}\n  ]`);
  writeFileSync(`${file}.new`, `${text}\n`);
  renameSync(`${file}.new`, file);
}

/** The matrix with the result, which replaces an earlier one of the same run. */
export function withResult(matrix: FaultMatrix, result: CellResult): FaultMatrix {
  const others = matrix.results.filter((each) => !isSameRun(each, result as unknown as MatrixRun));
  return { ...matrix, results: [...others, result] };
}
