import type { Link } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";
import type { Cluster, Profile } from "./scenario";

export interface Stage {
  readonly world: World;
  readonly profile: Profile;
  readonly ttlMs: number;
  readonly processes: readonly SimProcess[];
  readonly cluster: Cluster;
  linksOf(process: SimProcess): readonly Link[];
}

/** Faults begin within this long from the start. */
export const FAULTS_UNTIL_MS = 600;

/**
 * Draws what goes wrong and when. Benign faults come one at a time, each far shorter than what is left of a lease that
 * is renewed in time, and with room for two renewals before the next.
 * @returns when the last one has healed
 */
export function planFaults(stage: Stage): number {
  return stage.profile === "benign" ? planBenign(stage) : planHarsh(stage);
}

function planBenign(stage: Stage): number {
  const { world, ttlMs } = stage;
  const { random } = world;
  let atMs = random.between(0, 60);
  for (let left = random.whole(0, 3); left > 0; left -= 1) {
    world.schedule({ afterMs: atMs, run: drawBenign(stage) });
    atMs += ttlMs * 1.5;
  }
  return atMs;
}

function drawBenign(stage: Stage): () => void {
  const { world, ttlMs } = stage;
  const { random } = world;
  const process = anyOf(world, stage.processes);
  const fate = random.fraction();
  const shortMs = random.between(0, ttlMs * 0.1);
  if (fate < 0.3 && process) return () => process.pause(shortMs);
  if (fate < 0.5 && process) return () => process.crash();
  const link = process && anyOf(world, stage.linksOf(process));
  if (!link) return () => {};
  return fate < 0.8 ? () => link.block(shortMs) : () => link.reset();
}

function planHarsh(stage: Stage): number {
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

function drawHarsh(stage: Stage, forMs: number): () => void {
  const { world } = stage;
  const { random } = world;
  const process = anyOf(world, stage.processes);
  if (!process) return () => {};
  const fate = random.fraction();
  if (fate < 0.6) return () => process.pause(forMs);
  if (fate < 0.7) return () => process.crash();
  const links = stage.linksOf(process);
  const link = anyOf(world, links);
  if (fate < 0.8) return () => link?.reset();
  if (fate < 0.9) return () => link?.block(forMs);
  return () => {
    for (const each of links) each.block(forMs);
  };
}

function drawAmnesia(stage: Stage): () => void {
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
      for (const link of stage.linksOf(process)) if (link.server === server) link.reset("server gone");
  };
}

function anyOf<T>(world: World, choices: readonly T[]): T | undefined {
  return choices[Math.floor(world.random.fraction() * choices.length)];
}
