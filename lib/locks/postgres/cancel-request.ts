import { connect } from "node:net";
import type { PoolClient } from "pg";
import type { Clock } from "../clock";
import { withDeadline } from "../with-deadline";

/** Fields of a `pg` connection that its types do not declare. */
interface Cancellable {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

const CANCEL_REQUEST_CODE = 80_877_102;
const MESSAGE_BYTES = 16;

/**
 * Asks the server to cancel the statement that a connection is running. It opens a separate connection, because the
 * pool may have none free. Resolves when the server has forwarded the request, or after the limit. A failed request
 * changes nothing: the caller destroys the connection anyway.
 *
 * Never return a connection to the pool after this call: the cancellation may hit its next statement.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function requestCancel(client: PoolClient, clock: Clock, limitMs: number): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as Cancellable;
  const message = Buffer.alloc(MESSAGE_BYTES);
  for (const [index, value] of [MESSAGE_BYTES, CANCEL_REQUEST_CODE, processID, secretKey].entries()) {
    message.writeInt32BE(value, index * 4);
  }
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // The server closes the connection after forwarding the request. A failed connect also closes it.
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
  });
  socket.resume();
  socket.write(message);
  await withDeadline(clock, closed, { limitMs });
  socket.destroy();
}
