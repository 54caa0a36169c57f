/** Tells our operations from those of an earlier process with the same pid: in a container every process has pid 1. */
export const PROCESS_INSTANCE_ID = `${process.pid}.${Math.round(performance.timeOrigin).toString(36)}`;

const INSTANCE_AND_NUMBER = /^(\d+\.[0-9a-z]+)-\d+$/;

/** Operation ID that is unique across nodes and across restarts of a node. */
export function operationId(node: string, number: number): string {
  return `${node}-${PROCESS_INSTANCE_ID}-${number}`;
}

/** Whether an earlier process of this node started the operation. */
export function isOfEarlierProcess(node: string, opId: string): boolean {
  const [, instance] = opId.startsWith(`${node}-`) ? (INSTANCE_AND_NUMBER.exec(opId.slice(node.length + 1)) ?? []) : [];
  return instance !== undefined && instance !== PROCESS_INSTANCE_ID;
}
