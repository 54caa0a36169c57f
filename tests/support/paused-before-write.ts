import { postgresPool } from "../../lib/services/postgres";
import { type Statement, StockStore } from "../../lib/stock/stock-store";
import type { StockRequest } from "../../lib/stock/types";
import type { Gate } from "./gate";

/** Pauses the holder after its last check and before the write, where no client-side check can prevent a stale write. */
export class PausedBeforeWrite extends StockStore {
  constructor(private readonly gate: Gate) {
    super(postgresPool(), "paused");
  }

  override async run(request: StockRequest, statement: Statement) {
    if (statement.name.startsWith("write")) await this.gate.pass();
    return super.run(request, statement);
  }
}
