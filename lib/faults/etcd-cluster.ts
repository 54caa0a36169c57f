import { openEtcdGateway } from "../locks/etcd/etcd-client";
import { ETCD_MEMBERS, type EtcdMember } from "./topologies/etcd-names";
import type { TopologyLease } from "./topologies/topology-lease";
import { untilKnown } from "./until-known";

/** Two failed elections are possible within it. */
const ELECTION_LIMIT_MS = 20_000;

/** Who leads the cluster, as one of its members reports it. */
export interface EtcdLeader {
  readonly member: EtcdMember;
  /** Member id, as etcd's tools write it. */
  readonly id: string;
  /** The raft term. It rises with each election. */
  readonly term: number;
}

interface StatusAnswer {
  readonly header: { readonly member_id: string };
  readonly leader?: string;
  readonly raftTerm?: string;
}

/**
 * The leader that these members agree on, in a term after `afterTerm`.
 * @throws FaultMissed if they agree on none in time
 */
export function untilEtcdLed(
  topology: TopologyLease,
  { members = ETCD_MEMBERS, afterTerm = 0 }: { readonly members?: readonly EtcdMember[]; readonly afterTerm?: number },
): Promise<EtcdLeader> {
  const look = async () => {
    const leader = leaderOf(await Promise.all(members.map((member) => statusOf(topology, member))));
    return leader !== undefined && leader.term > afterTerm ? leader : undefined;
  };
  return untilKnown(look, { failure: `${members.join(" and ")} elected no leader`, limitMs: ELECTION_LIMIT_MS });
}

export interface MemberStatus extends StatusAnswer {
  readonly member: EtcdMember;
}

/** @returns undefined if the members name different leaders, none, or one that is not among them */
export function leaderOf(statuses: readonly (MemberStatus | undefined)[]): EtcdLeader | undefined {
  const leader = statuses.find((status) => status !== undefined && status.leader === status.header.member_id);
  const isAgreed = statuses.every(
    (status) => status?.leader === leader?.leader && status?.raftTerm === leader?.raftTerm,
  );
  if (!leader || !isAgreed) return undefined;
  const { member, header, raftTerm } = leader;
  return { member, id: BigInt(header.member_id).toString(16), term: Number(raftTerm) };
}

/** @returns undefined if the member does not answer */
async function statusOf(topology: TopologyLease, member: EtcdMember): Promise<MemberStatus | undefined> {
  const gateway = openEtcdGateway(topology.address(member));
  try {
    return { member, ...(await gateway.post<StatusAnswer>("/v3/maintenance/status", {})) };
  } catch {
    return undefined;
  } finally {
    gateway.close();
  }
}
