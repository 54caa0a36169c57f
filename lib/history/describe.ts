import type { Operation } from "./operation";

/** Names for two operations: the nodes, with the buyers added if both ran on one node. */
export function actorNames(a: Operation, b: Operation): readonly [string, string] {
  if (a.node !== b.node) return [a.node, b.node];
  return [`${a.node} (${a.buyerId})`, `${b.node} (${b.buyerId})`];
}

/** "node-2 read 17, node-1 read 17, both wrote 16". Null if a read value is missing. */
export function describeReadsAndWrites(first: Operation, second: Operation): string | null {
  const [a, b] = actorNames(first, second);
  const [writeOfA, writeOfB] = [describeWrite(first), describeWrite(second)];
  if (writeOfA === null || writeOfB === null) return null;
  if (writeOfA === writeOfB) return `${a} read ${first.readValue}, ${b} read ${second.readValue}, both ${writeOfA}`;
  return `${a} read ${first.readValue} and ${writeOfA}, ${b} read ${second.readValue} and ${writeOfB}`;
}

function describeWrite({ readValue, writtenValue, writeAccepted }: Operation): string | null {
  if (readValue === undefined) return null;
  if (writtenValue === undefined) return "wrote nothing";
  return writeAccepted === false ? `failed to write ${writtenValue}` : `wrote ${writtenValue}`;
}

export function describeOverlap(first: Operation, second: Operation): string {
  const [a, b] = actorNames(first, second);
  const values = describeReadsAndWrites(first, second);
  return `${b} acquired the lock while ${a} held it${values ? `: ${values}` : ""}.`;
}
