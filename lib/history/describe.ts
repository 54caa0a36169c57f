import type { Operation } from "./operation";

/** Who did something: the node, and the buyer where the node alone would not tell the two apart. */
export function actorNames(a: Operation, b: Operation): readonly [string, string] {
  if (a.node !== b.node) return [a.node, b.node];
  return [actorName(a), actorName(b)];
}

/** A purchase by its node and buyer. */
export function actorName(op: Operation): string {
  return `${op.node} (${op.buyerId})`;
}

/** What two purchases read and wrote: "node-2 read 17, node-1 read 17, both wrote 16". Null where values are missing. */
export function describeReadsAndWrites(first: Operation, second: Operation): string | null {
  const [a, b] = actorNames(first, second);
  const [doneA, doneB] = [wrote(first), wrote(second)];
  if (doneA === null || doneB === null) return null;
  if (doneA === doneB) return `${a} read ${first.readValue}, ${b} read ${second.readValue}, both ${doneA}`;
  return `${a} read ${first.readValue} and ${doneA}, ${b} read ${second.readValue} and ${doneB}`;
}

function wrote({ readValue, writtenValue, writeAccepted }: Operation): string | null {
  if (readValue === undefined) return null;
  if (writtenValue === undefined) return "wrote nothing";
  return writeAccepted === false ? `was not let write ${writtenValue}` : `wrote ${writtenValue}`;
}

/** How two holders came to be inside together, with what they read and wrote where that is known. */
export function describeOverlap(first: Operation, second: Operation): string {
  const [a, b] = actorNames(first, second);
  const values = describeReadsAndWrites(first, second);
  return `${b} entered while ${a} was still inside${values ? `: ${values}` : ""}.`;
}
