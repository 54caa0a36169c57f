import { askText, parseHostPort } from "../../servers/text-protocol";

/**
 * The watches a ZooKeeper server has on nodes at or under a path, by node: how many sessions each. The server's own
 * count, by its four-letter word `wchp`.
 */
export async function watchesUnder(hosts: string, path: string): Promise<Map<string, number>> {
  const { host, port } = parseHostPort(hosts.split(",")[0] ?? "", 2_181);
  const answer = await askText({ host, port, send: "wchp", timeoutMs: 5_000 });
  const counts = new Map<string, number>();
  let node = "";
  for (const line of answer.split("\n")) {
    if (line.startsWith("/")) node = line;
    else if (line.trim() !== "" && (node === path || node.startsWith(`${path}/`)))
      counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}
