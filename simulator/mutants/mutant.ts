import type { SaleOptions } from "../sale/sale";
import type { Profile, SimStrategy } from "../sale/scenario";

/** The production lock code with one deliberate mistake. The simulator must detect the mistake. */
export interface Mutant {
  readonly name: string;
  readonly strategy: SimStrategy;
  /** For a mutant that also replaces correct code: the same replacement without the mistake. It must violate nothing. */
  readonly control?: SimStrategy;
  readonly profile: Profile;
  /** The property that the simulator must report as violated. */
  readonly breaks: string;
  /** A mistake outside the lock. */
  readonly mistake?: Pick<SaleOptions, "fence" | "cancelsWrites">;
}
