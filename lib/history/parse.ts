import { plural } from "../services/number-text";
import { contradictionIn } from "./contradictions";
import { type DoubtKind, type Finding, MAX_FINDINGS_PER_KIND } from "./finding";
import { type History, makeHistory } from "./history";
import { LineSplitter, type NumberedLine } from "./line-splitter";
import { type Fault, hasTimeTooFar, type Operation, OperationReader, timesOutOfOrder, toFault } from "./operation";
import { historyLineSchema } from "./schema";
import type { HistoryEndLine, HistoryFaultLine, HistoryLine, HistoryOpLine, HistoryRunLine } from "./types";

/** The readable part of a history, and all problems with the file. */
export interface ParsedHistory {
  readonly run: HistoryRunLine | null;
  readonly end: HistoryEndLine | null;
  readonly history: History;
  readonly doubts: readonly Finding[];
  readonly lines: number;
}

/**
 * A chunk of the file, cut at any byte. Between two lines also a line as an object, which is trusted to match the
 * schema.
 */
export type HistoryPiece = string | Uint8Array | HistoryLine;
export type HistorySource = AsyncIterable<HistoryPiece> | Iterable<HistoryPiece>;

/**
 * Reads a history line by line. Never throws: problems with the input become doubts. Only complete, valid lines are
 * kept, so that every violation found in them is proven.
 */
export async function parseHistory(source: HistorySource): Promise<ParsedHistory> {
  const splitter = new LineSplitter();
  const reader = new HistoryReader();
  try {
    for await (const piece of source) {
      if (typeof piece === "string" || piece instanceof Uint8Array) reader.readAll(splitter.push(piece));
      else reader.readObject(piece);
    }
    reader.readAll(splitter.finish());
  } catch (error) {
    reader.addReadError(error);
  }
  return reader.finish();
}

/** A problem with a line; `what` completes a sentence that starts with "Line 7". */
interface Problem {
  readonly kind: DoubtKind;
  readonly what: string;
}

function unreadable(what: string): Problem {
  return { kind: "unreadableLine", what };
}

function misplaced(what: string): Problem {
  return { kind: "misplacedLine", what };
}

/** Some editors write a byte order mark at the start of a file. */
function stripByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** `unknownField` is the first field that the format does not have; null if there is none. */
interface ParsedLine {
  readonly line: HistoryLine;
  readonly unknownField: string | null;
}

function parseLine(text: string): ParsedLine | Problem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable("is not JSON");
  }
  const parsed = historyLineSchema.safeParse(value);
  if (parsed.success) {
    const line = parsed.data as HistoryLine;
    return { line, unknownField: unknownFieldOf(value as HistoryLine, line) };
  }
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
  return unreadable(`is not a valid history line: ${where}${issue?.message ?? "unknown shape"}`);
}

function unknownFieldOf(value: HistoryLine, known: HistoryLine): string | null {
  const own = Object.keys(value).find((field) => !Object.hasOwn(known, field));
  if (own !== undefined || value.type !== "end" || known.type !== "end") return own ?? null;
  for (const [index, order] of value.orders.entries()) {
    const inOrder = Object.keys(order).find((field) => !Object.hasOwn(known.orders[index] ?? {}, field));
    if (inOrder !== undefined) return `orders.${index}.${inOrder}`;
  }
  return null;
}

/** `fields` counts the fields that the recorder wrote, so that a lost field is noticed. */
function missingFieldsOf(line: HistoryOpLine): Problem | null {
  const found = Object.keys(line).length;
  if (line.fields === undefined || line.fields === found) return null;
  return { kind: "missingFields", what: `has ${found} of the ${line.fields} fields of ${line.opId}` };
}

function contradictionProblem(op: Operation): Problem | null {
  const what = contradictionIn(op);
  return what === null ? null : { kind: "contradictoryFields", what };
}

function problemWithTimes(op: Operation): Problem | null {
  const wrong = timesOutOfOrder(op);
  if (wrong) {
    return { kind: "timesOutOfOrder", what: `puts ${wrong[1]} of ${op.opId} before its ${wrong[0]}` };
  }
  if (!hasTimeTooFar(op)) return null;
  return {
    kind: "timesOutOfOrder",
    what: `puts ${op.opId} more than 104 days away from the first operation of its host`,
  };
}

class HistoryReader {
  private readonly doubts: Finding[] = [];
  private readonly doubtCounts = new Map<DoubtKind, number>();
  private readonly operations = new OperationReader();
  private readonly ops = new Map<string, Operation>();
  /** Ids that two lines have, or whose line contradicts itself. */
  private readonly unusable = new Set<string>();
  private readonly faults: Fault[] = [];
  private run: HistoryRunLine | null = null;
  private end: HistoryEndLine | null = null;
  private isMixed = false;
  private lines = 0;
  private opLines = 0;

  readAll(lines: readonly NumberedLine[]): void {
    for (const line of lines) this.read(line);
  }

  readObject(line: HistoryLine): void {
    this.lines += 1;
    const problem = this.keep({ line, unknownField: null });
    if (problem) this.addDoubt(problem.kind, problem.what, this.lines);
  }

  addReadError(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.addDoubt("unreadableFile", `Reading stopped after ${plural(this.lines, "line")}: ${reason}.`);
  }

  finish(): ParsedHistory {
    const { run, end, isMixed, lines } = this;
    for (const opId of this.unusable) this.ops.delete(opId);
    const wasRead = this.lines > 0 || this.doubts.length === 0;
    if (!run && wasRead)
      this.addDoubt("missingRun", "The history has no line of type run, so the initial stock is unknown.");
    if (!end && wasRead)
      this.addDoubt(
        "missingEnd",
        "The history has no line of type end, so the final stock and the orders are unknown.",
      );
    if (end && end.dropped > 0) {
      this.addDoubt("droppedOperations", `The recorder dropped ${plural(end.dropped, "operation")}.`);
    }
    const missing = (end?.operations ?? 0) - this.opLines;
    if (missing > 0) {
      this.addDoubt(
        "missingOperations",
        `${plural(missing, "line")} of ${plural(end?.operations ?? 0, "operation")} ${missing === 1 ? "is" : "are"} missing.`,
      );
    }
    this.addOmittedCounts();
    const isComplete = this.doubts.length === 0;
    const known = isMixed
      ? { run: null, end: null, ops: [], faults: [] }
      : { run, end, ops: [...this.ops.values()], faults: this.faults };
    return { run, end, history: makeHistory({ ...known, isComplete }), doubts: this.doubts, lines };
  }

  private read({ number, text }: NumberedLine): void {
    this.lines = number;
    const problem =
      text === null ? unreadable("is too long to read") : this.parse(number === 1 ? stripByteOrderMark(text) : text);
    if (problem) this.addDoubt(problem.kind, problem.what, number);
  }

  private parse(text: string): Problem | null {
    if (text.trim() === "") return null;
    const parsed = parseLine(text);
    if ("kind" in parsed) return parsed;
    return this.keep(parsed);
  }

  private keep({ line, unknownField }: ParsedLine): Problem | null {
    const unknown: Problem | null =
      unknownField === null ? null : { kind: "unknownField", what: `has the unknown field ${unknownField}` };
    if (line.type === "run") return this.keepRun(line) ?? unknown;
    if (line.type === "end") return this.keepEnd(line) ?? unknown;
    if (this.end) return misplaced(`has type ${line.type} but comes after the end line`);
    return line.type === "op" ? this.keepOp(line, unknown) : (this.keepFault(line) ?? unknown);
  }

  private keepRun(line: HistoryRunLine): Problem | null {
    if (this.run) return this.secondLine("run");
    this.run = line;
    const isFirst = this.ops.size === 0 && !this.end;
    return isFirst ? null : misplaced("has type run but is not the first line");
  }

  private keepEnd(line: HistoryEndLine): Problem | null {
    if (this.end) return this.secondLine("end");
    const ids = new Set(line.orders.map((order) => order.orderId));
    // A table cannot return a row twice, so this list did not come from the database.
    if (ids.size < line.orders.length) return unreadable("lists an order twice");
    this.end = line;
    return null;
  }

  /** With two runs in one file, no operation can be assigned to its run. */
  private secondLine(type: string): Problem {
    this.isMixed = true;
    return misplaced(`is a second line of type ${type}: the file contains more than one history`);
  }

  /** Not used if a field is unknown: it may be a misspelled one, which is then missing. */
  private keepOp(line: HistoryOpLine, unknownField: Problem | null): Problem | null {
    this.opLines += 1;
    const op = this.operations.read(line);
    if (this.ops.has(op.opId) || this.unusable.has(op.opId)) {
      this.unusable.add(op.opId);
      return { kind: "duplicateOpId", what: `repeats the opId ${op.opId}` };
    }
    const problem = unknownField ?? missingFieldsOf(line) ?? problemWithTimes(op) ?? contradictionProblem(op);
    if (problem) this.unusable.add(op.opId);
    else this.ops.set(op.opId, op);
    return problem;
  }

  private keepFault(line: HistoryFaultLine): Problem | null {
    const fault = toFault(line);
    if (fault.toNs < fault.fromNs) {
      return { kind: "timesOutOfOrder", what: `puts the end of fault ${fault.faultId} before its start` };
    }
    this.faults.push(fault);
    return null;
  }

  private addDoubt(kind: DoubtKind, sentence: string, line?: number): void {
    const count = (this.doubtCounts.get(kind) ?? 0) + 1;
    this.doubtCounts.set(kind, count);
    if (count > MAX_FINDINGS_PER_KIND) return;
    const base = { kind, opIds: [], atNs: null };
    this.doubts.push(
      line === undefined ? { ...base, sentence } : { ...base, line, sentence: `Line ${line} ${sentence}.` },
    );
  }

  private addOmittedCounts(): void {
    for (const [kind, count] of this.doubtCounts) {
      const more = count - MAX_FINDINGS_PER_KIND;
      if (more <= 0) continue;
      const sentence = `${plural(more, "more finding")} of this kind ${more === 1 ? "is" : "are"} not listed.`;
      this.doubts.push({ kind, opIds: [], atNs: null, sentence });
    }
  }
}
