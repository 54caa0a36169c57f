import type { Profile, SimStrategy } from "../sale/scenario";
import type { FenceCheck } from "../servers/sim-database";

/** A lock with one mistake in it, made of the real code as far as it goes. The simulator has to find the mistake. */
export interface Mutant {
  readonly name: string;
  readonly strategy: SimStrategy;
  /** What the mutant is made of beside its mistake, where that is not all real code: keeps what the mutant breaks. */
  readonly twin?: SimStrategy;
  readonly profile: Profile;
  /** The property it must be seen to break. */
  readonly breaks: string;
  readonly fence?: FenceCheck;
}
