import { askText, parseHostPort } from "../../servers/text-protocol";

/**
 * The number of watching sessions per node at or below a path, read from the ZooKeeper server with its four-letter
 * command `wchp`.
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
