import { Agent, request } from "node:http";

/** Buyers who each send one purchase after the other over one connection, for a set time. */

export interface Crowd {
  readonly port: number;
  readonly targetId: number;
  readonly buyers: number;
  readonly durationMs: number;
}

/** @returns the number of answered purchases and the time they took. @throws Error at a status other than 201 or 409 */
export async function buyFor({
  port,
  targetId,
  buyers,
  durationMs,
}: Crowd): Promise<{ purchases: number; elapsedMs: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: buyers });
  const startedAtMs = performance.now();
  const until = startedAtMs + durationMs;
  let purchases = 0;
  const buyer = async (name: number) => {
    for (let count = 0; performance.now() < until; count += 1) {
      const status = await buy(agent, { port, targetId, userId: `bench-${name}-${count}` });
      if (status !== 201 && status !== 409)
        throw new Error(`Expected status 201 or 409 for a purchase, got ${status}.`);
      purchases += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: buyers }, (_, index) => buyer(index)));
    return { purchases, elapsedMs: performance.now() - startedAtMs };
  } finally {
    agent.destroy();
  }
}

interface Purchase {
  readonly port: number;
  readonly targetId: number;
  readonly userId: string;
}

function buy(agent: Agent, { port, targetId, userId }: Purchase): Promise<number> {
  const body = `{"userId":"${userId}"}`;
  return new Promise((resolve, reject) => {
    const call = request(
      {
        agent,
        port,
        host: "127.0.0.1",
        method: "POST",
        path: `/api/products/${targetId}/reduce-stock`,
        headers: { "content-type": "application/json", "content-length": body.length },
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
        response.once("error", reject);
      },
    );
    call.once("error", reject);
    call.end(body);
  });
}
