import type { Link } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";
import type { Cluster, Profile } from "./scenario";

export interface FaultPlanInput {
  readonly world: World;
  readonly profile: Profile;
  readonly ttlMs: number;
  readonly processes: readonly SimProcess[];
  readonly cluster: Cluster;
  linksOf(process: SimProcess): readonly Link[];
}

/** Harsh faults start within this time from the start of the world. */
const FAULTS_UNTIL_MS = 600;

/**
 * Draws the faults of a world and schedules them. Benign faults come one at a time. Each is much shorter than the remainder of
 * a lease that is renewed on time, and two renewals fit between two faults.
 * @returns when the last fault is over, in milliseconds from the start
 */
export function planFaults(stage: FaultPlanInput): number {
  return stage.profile === "benign" ? planBenign(stage) : planHarsh(stage);
}

function planBenign(stage: FaultPlanInput): number {
  const { world, ttlMs } = stage;
  const { random } = world;
  let atMs = random.between(0, 60);
  for (let left = random.whole(0, 3); left > 0; left -= 1) {
    world.schedule({ afterMs: atMs, run: drawBenign(stage) });
    atMs += ttlMs * 1.5;
  }
  return atMs;
}

function drawBenign(stage: FaultPlanInput): () => void {
  const { world, ttlMs } = stage;
  const { random } = world;
  const process = anyOf(world, stage.processes);
  const roll = random.fraction();
  const shortMs = random.between(0, ttlMs * 0.1);
  if (roll < 0.3 && process) return () => process.pause(shortMs);
  if (roll < 0.5 && process) return () => process.crash();
  const link = process && anyOf(world, stage.linksOf(process));
  if (!link) return () => {};
  return roll < 0.8 ? () => link.block(shortMs) : () => link.reset();
}

function planHarsh(stage: FaultPlanInput): number {
  const { world, ttlMs } = stage;
  const { random } = world;
  let healedMs = 0;
  for (let left = random.whole(1, 4); left > 0; left -= 1) {
    const atMs = random.between(0, Math.min(FAULTS_UNTIL_MS, ttlMs * 2));
    const forMs = random.between(0, ttlMs * (random.chance(0.3) ? 4 : 1.8));
    const fault = stage.profile === "amnesia" && random.chance(0.6) ? drawAmnesia(stage) : drawHarsh(stage, forMs);
    world.schedule({ afterMs: atMs, run: fault });
    healedMs = Math.max(healedMs, atMs + forMs);
  }
  return healedMs + 10;
}

function drawHarsh(stage: FaultPlanInput, forMs: number): () => void {
  const { world } = stage;
  const { random } = world;
  const process = anyOf(world, stage.processes);
  if (!process) return () => {};
  const roll = random.fraction();
  if (roll < 0.6) return () => process.pause(forMs);
  if (roll < 0.7) return () => process.crash();
  const links = stage.linksOf(process);
  const link = anyOf(world, links);
  if (roll < 0.8) return () => link?.reset();
  if (roll < 0.9) return () => link?.block(forMs);
  return () => {
    for (const each of links) each.block(forMs);
  };
}

function drawAmnesia(stage: FaultPlanInput): () => void {
  const { world, ttlMs, cluster } = stage;
  const { random } = world;
  const server = anyOf(world, cluster.servers);
  const downMs = random.between(1, 30);
  if (random.chance(0.3)) {
    const jumpMs = random.between(ttlMs * 0.3, ttlMs * 3);
    return () => server?.jumpClock(jumpMs);
  }
  return () => {
    server?.restart(downMs, false);
    for (const process of stage.processes)
      for (const link of stage.linksOf(process)) if (link.server === server) link.reset("server restarted");
  };
}

function anyOf<T>(world: World, choices: readonly T[]): T | undefined {
  return choices[Math.floor(world.random.fraction() * choices.length)];
}
