import type { World } from "../world/world";

/**
 * Largest clock-rate error of a simulated server. The clocks of processes err by at most as much; both together stay
 * below the drift allowance that the locks subtract from every lease.
 */
const MAX_RATE_ERROR = 0.0035;

/** Draws how many milliseconds a server's clock counts per true millisecond. */
export function drawClockRate(world: World): number {
  return 1 + world.random.between(-MAX_RATE_ERROR, MAX_RATE_ERROR);
}
