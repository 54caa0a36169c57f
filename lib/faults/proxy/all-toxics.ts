import type { ToxicKind } from "./toxic";
import { bandwidth } from "./toxics/bandwidth";
import { latency } from "./toxics/latency";
import { limitData } from "./toxics/limit-data";
import { resetPeer } from "./toxics/reset-peer";
import { slicer } from "./toxics/slicer";
import { slowClose } from "./toxics/slow-close";
import { timeout } from "./toxics/timeout";

/** Every kind of toxic by its name in Toxiproxy. */
export const toxicKinds: ReadonlyMap<string, ToxicKind<unknown>> = new Map(
  [latency, bandwidth, slowClose, timeout, resetPeer, slicer, limitData as ToxicKind<unknown>].map((kind) => [
    kind.type,
    kind as ToxicKind<unknown>,
  ]),
);
