import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isVisitorId, VISITOR_PREFIX } from "../node/visitor-id";
import { env } from "../services/current-env";
import { prisma } from "../services/postgres";
import { processSingleton } from "../services/singleton";

/** A visitor is anonymous, and yet nobody else: an id the shop has made up, in a cookie that only the shop can sign. */

/** Holds `<buyer id>.<signature>`. */
export const BUYER_COOKIE = "shop_buyer";
export const BUYER_COOKIE_SECONDS = 180 * 24 * 3_600;

const SECRET_NAME = "buyer-id";

export function newVisitorId(): string {
  return `${VISITOR_PREFIX}${randomBytes(16).toString("base64url")}`;
}

export async function signVisitorId(buyerId: string): Promise<string> {
  return `${buyerId}.${signatureOf(buyerId, await secret())}`;
}

/** The visitor a cookie stands for; null when it is absent, or not signed by this shop. */
export async function visitorOf(cookieValue: string | null): Promise<string | null> {
  const [buyerId = "", signature = "", ...rest] = (cookieValue ?? "").split(".");
  if (!isVisitorId(buyerId) || rest.length > 0) return null;
  const expected = Buffer.from(signatureOf(buyerId, await secret()));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected) ? buyerId : null;
}

function signatureOf(buyerId: string, key: string): string {
  return createHmac("sha256", key).update(`flash-sale-lab buyer\n${buyerId}`).digest("base64url");
}

/** From the environment, or made by the first process that needs it and kept where all of them find it. */
function secret(): Promise<string> {
  const given = env().BUYER_SECRET;
  if (given !== undefined) return Promise.resolve(given);
  const memory = processSingleton("buyer-secret", (): { asked: Promise<string> | null } => ({ asked: null }));
  memory.asked ??= readOrMake().catch((error: unknown) => {
    memory.asked = null;
    throw error;
  });
  return memory.asked;
}

async function readOrMake(): Promise<string> {
  const made = { name: SECRET_NAME, value: randomBytes(32).toString("base64url") };
  await prisma().labSecret.createMany({ data: [made], skipDuplicates: true });
  return (await prisma().labSecret.findUniqueOrThrow({ where: { name: SECRET_NAME } })).value;
}
