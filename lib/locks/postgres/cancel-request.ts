import { connect } from "node:net";
import type { PoolClient } from "pg";
import type { Clock } from "../clock";
import { withDeadline } from "../with-deadline";

/** What `pg` keeps of the connection it made; not in its types. */
interface Cancellable {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

const CANCEL_REQUEST_CODE = 80_877_102;
const MESSAGE_BYTES = 16;

/**
 * Asks the server to cancel the statement a connection is busy with, by a connection of its own: no free one of the pool
 * is needed, and there may be none. Resolves when the server has passed it on, or when the limit is over;
 * a request that cannot be made changes nothing, and the caller destroys the connection anyway.
 *
 * Never give a connection back to a pool after this: the cancellation may still be on its way to its next statement.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function requestCancel(client: PoolClient, clock: Clock, limitMs: number): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as Cancellable;
  const message = Buffer.alloc(MESSAGE_BYTES);
  for (const [index, value] of [MESSAGE_BYTES, CANCEL_REQUEST_CODE, processID, secretKey].entries()) {
    message.writeInt32BE(value, index * 4);
  }
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // The server closes the connection when it has passed the request on; a failure to connect closes it too.
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
  });
  socket.resume();
  socket.write(message);
  await withDeadline(clock, closed, { limitMs });
  socket.destroy();
}
