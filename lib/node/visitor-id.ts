export const VISITOR_PREFIX = "visitor-";

/** True for ids that the shop issued. A request that uses one must carry the cookie that proves it. */
export function isVisitorId(buyerId: string): boolean {
  return buyerId.startsWith(VISITOR_PREFIX);
}
