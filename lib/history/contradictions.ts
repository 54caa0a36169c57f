import type { Operation } from "./operation";

interface Rule {
  readonly isBroken: (op: Operation) => boolean;
  /** Completes a sentence that starts with "Line 7". */
  readonly what: (op: Operation) => string;
}

const REFUSALS: readonly Operation["outcome"][] = ["sold_out", "contended", "rejected"];

/** Fields that cannot all be right. The recorder never writes such a line, so a field is wrong or missing. */
const RULES: readonly Rule[] = [
  {
    isBroken: ({ orderId, outcome }) => orderId !== undefined && REFUSALS.includes(outcome),
    what: ({ opId, outcome, orderId }) => `gives ${opId} the outcome ${outcome} and the order ${orderId}`,
  },
  needs("writtenValue", "writeNs"),
  needs("committedNs", "writeNs"),
  {
    isBroken: ({ writeAccepted, writeNs }) => writeAccepted === true && writeNs === undefined,
    what: ({ opId }) => `says that the write of ${opId} was accepted, but has no writeNs`,
  },
  {
    isBroken: ({ writeAccepted, readValue, writtenValue }) =>
      writeAccepted === true && (readValue === undefined) !== (writtenValue === undefined),
    what: ({ opId, readValue }) => {
      const [present, absent] = readValue === undefined ? ["writtenValue", "readValue"] : ["readValue", "writtenValue"];
      return `says that the write of ${opId} was accepted, and has ${present} but no ${absent}`;
    },
  },
  {
    isBroken: ({ readValue, readNs, writeNs }) =>
      readValue !== undefined && readNs === undefined && writeNs === undefined,
    what: ({ opId }) => `has a readValue for ${opId}, but neither readNs nor writeNs`,
  },
  needs("holderId", "grantedNs"),
  needs("fencingToken", "grantedNs"),
  needs("releasedNs", "grantedNs"),
  needs("leaseLostNs", "grantedNs"),
  needs("leaseUntilNs", "grantedNs"),
  {
    isBroken: ({ transactional, grantedNs }) => transactional && grantedNs === undefined,
    what: ({ opId }) => `says that a transaction held the lock of ${opId}, but has no grantedNs`,
  },
];

function needs(field: keyof Operation, other: keyof Operation): Rule {
  return {
    isBroken: (op) => op[field] !== undefined && op[other] === undefined,
    what: ({ opId }) => `has ${field} for ${opId}, but no ${other}`,
  };
}

/** Says which fields of an operation contradict each other; null if none do. */
export function contradictionIn(op: Operation): string | null {
  return RULES.find(({ isBroken }) => isBroken(op))?.what(op) ?? null;
}
