import { askText, parseHostPort } from "../../servers/text-protocol";
import type { TopologyLease } from "./topologies/topology-lease";
import { ZK_MEMBERS, type ZkMember } from "./topologies/zk-names";
import { untilKnown } from "./until-known";

const ANSWER_LIMIT_MS = 1_000;
/** Two failed elections are possible within it. */
const ELECTION_LIMIT_MS = 20_000;
const DEFAULT_PORT = 2_181;

/** What a member of the ensemble reports (`srvr`). */
export interface ZkMemberState {
  readonly member: ZkMember;
  /** Null: it serves no clients. */
  readonly mode: "leader" | "follower" | null;
  /** Rises with each election. It is the upper half of the last transaction's id. */
  readonly epoch: number;
}

export type ZkLeader = ZkMemberState & { readonly mode: "leader" };

/** The state of each member, in the order of `members`. */
export function ensembleStates(
  topology: TopologyLease,
  members: readonly ZkMember[] = ZK_MEMBERS,
): Promise<ZkMemberState[]> {
  return Promise.all(members.map(async (member) => parseSrvr(member, await ask(topology, member, "srvr"))));
}

/** @param answer to `srvr`; empty if the member does not answer */
export function parseSrvr(member: ZkMember, answer: string): ZkMemberState {
  const mode = /^Mode: (leader|follower)$/m.exec(answer)?.[1] as "leader" | "follower" | undefined;
  const zxid = BigInt(/^Zxid: (0x[0-9a-f]+)$/m.exec(answer)?.[1] ?? 0);
  return { member, mode: mode ?? null, epoch: Number(zxid >> 32n) };
}

/** @throws FaultMissed if none of the members leads in time */
export function untilLed(topology: TopologyLease, members: readonly ZkMember[]): Promise<ZkLeader> {
  const failure = `${members.join(" and ")} elected no leader`;
  const look = async () => (await ensembleStates(topology, members)).find(isLeader);
  return untilKnown(look, { failure, limitMs: ELECTION_LIMIT_MS });
}

/** Whether a leader counts the session as alive (`dump`). @throws FaultMissed if it does not answer in time */
export function hasSession(topology: TopologyLease, leader: ZkMember, sessionId: string): Promise<boolean> {
  const failure = `${leader} did not list its sessions`;
  const look = async () => dumpHasSession(await ask(topology, leader, "dump"), sessionId);
  return untilKnown(look, { failure, limitMs: ELECTION_LIMIT_MS });
}

/** @returns undefined if the answer lists no sessions */
export function dumpHasSession(dump: string, sessionId: string): boolean | undefined {
  const sessions = /^SessionTracker dump:([\s\S]*)^ephemeral nodes dump:/m.exec(dump)?.[1];
  return sessions?.split(/\s+/).includes(`0x${sessionId}`);
}

/** Whether the client of a session is connected to this member (`cons`). */
export async function servesSession(topology: TopologyLease, member: ZkMember, sessionId: string): Promise<boolean> {
  return (await ask(topology, member, "cons")).includes(`sid=0x${sessionId},`);
}

/** `zk-1 follower, zk-2 leader, zk-3 not serving` */
export function statesText(states: readonly ZkMemberState[]): string {
  return states.map(({ member, mode }) => `${member} ${mode ?? "not serving"}`).join(", ");
}

function isLeader(state: ZkMemberState): state is ZkLeader {
  return state.mode === "leader";
}

/** @returns empty if the member does not answer */
function ask(topology: TopologyLease, member: ZkMember, word: "srvr" | "dump" | "cons"): Promise<string> {
  const server = parseHostPort(topology.address(member), DEFAULT_PORT);
  return askText({ ...server, send: word, timeoutMs: ANSWER_LIMIT_MS }).catch(() => "");
}
