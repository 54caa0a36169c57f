import type { PgLockVariants } from "./postgres/pg-port";
import type { LockStrategy, StrategyTraits } from "./types";
import type { ZkLockDependencies } from "./zookeeper/zk-lock";

/**
 * The clients that strategies use. Each server family adds its functions in its port file (`declare module`). A function is
 * called when a strategy that needs the server is created, possibly several times: return the same client each time. Clients
 * connect lazily, and the caller closes them.
 * A function may throw (a LockError `config_invalid`) if its server is not configured.
 */
export interface LockDependencies extends ZkLockDependencies {}

/** Settings that select a variant of a lock. */
export interface LockVariants extends PgLockVariants, Pick<LockDependencies, "redisWaitReplicas"> {}

export interface LockEntry {
  /** The traits of the default variant. */
  readonly traits: StrategyTraits;
  /** For a lock with variants: the traits of the variant that the settings select. */
  traitsFor?(settings: LockVariants): StrategyTraits;
  create(dependencies: LockDependencies): LockStrategy;
}
