import { runCommand } from "../../servers/commands";
import { ROOT } from "./paths";

const GIT_TIMEOUT_MS = 10_000;

/** The checked-out commit, with `-dirty` if files differ from it; "unknown" outside a git repository. */
export async function currentCommit(): Promise<string> {
  const options = { timeoutMs: GIT_TIMEOUT_MS, cwd: ROOT };
  const none = { code: null, stdout: "", stderr: "" };
  const head = await runCommand("git", ["rev-parse", "--short=12", "HEAD"], options).catch(() => none);
  if (head.code !== 0) return "unknown";
  const changes = await runCommand("git", ["status", "--porcelain", "--untracked-files=no"], options).catch(() => none);
  return `${head.stdout.trim()}${changes.stdout.trim() === "" ? "" : "-dirty"}`;
}
