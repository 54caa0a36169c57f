import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type FaultMatrix, faultMatrixSchema } from "./fault-matrix";

export const MATRIX_FILE = "fault-matrix.json";

/** @returns null if there is no file */
export function readMatrix(file: string): FaultMatrix | "unreadable" | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    return faultMatrixSchema.parse(JSON.parse(text));
  } catch {
    return "unreadable";
  }
}

export interface StoredMatrix {
  readonly matrix: FaultMatrix;
  /** `lab`: this lab measured it; `project`: it came with the source files. */
  readonly from: "lab" | "project";
}

/** The newest matrix of this lab, else the one in docs; null if there is none. */
export function storedMatrix(root = process.cwd(), stateFile = process.env.LAB_STATE_FILE): StoredMatrix | null {
  const ofLab = stateFile ? readMatrix(join(dirname(stateFile), MATRIX_FILE)) : null;
  if (ofLab !== null && ofLab !== "unreadable" && ofLab.results.length > 0) return { matrix: ofLab, from: "lab" };
  const ofProject = readMatrix(join(root, "docs", MATRIX_FILE));
  return ofProject === null || ofProject === "unreadable" ? null : { matrix: ofProject, from: "project" };
}
