import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Command } from "commander";
import { findExecutable } from "../../servers/commands";
import { describeK6, K6_VERSION } from "../k6/find";
import { ensureK6 } from "../k6/install";
import { print, printError } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";

/** `npm run k6 -- run load-tests/flash-sale.js`: finds or installs k6, and runs it with these arguments. */
export function addK6Command(program: Command): void {
  program
    .command("k6")
    .description("find k6 (K6_BINARY, PATH, cache) or install it, then run it with the given arguments")
    .argument("[args...]", "arguments of k6, for example: run load-tests/flash-sale.js")
    .option("--print-path", "print the binary's path instead of running it")
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption("--lab-help", "show this text (--help is k6's)")
    .action(async (args: string[], options: { printPath?: boolean }) => {
      const invocation = await findInvocation(options.printPath === true);
      if (options.printPath) print(invocation.command);
      else if (args.length === 0)
        printError(`${invocation.what}\nRun a script with it: npm run k6 -- run load-tests/flash-sale.js`);
      else process.exitCode = await runInForeground(invocation.command, [...invocation.prefix, ...args]);
    });
}

interface Invocation {
  readonly what: string;
  readonly command: string;
  readonly prefix: readonly string[];
}

/** Falls back to a container, which the lab cannot launch for its own runs. */
async function findInvocation(mustBeBinary: boolean): Promise<Invocation> {
  try {
    const k6 = await ensureK6((sentence) => printError(sentence));
    return { what: describeK6(k6), command: k6.binary, prefix: [] };
  } catch (error) {
    const docker = findExecutable("docker") ?? findExecutable("podman");
    if (!docker || mustBeBinary) throw error;
    printError(error instanceof Error ? error.message : String(error));
    printError(`Trying ${docker} with grafana/k6:${K6_VERSION} instead.`);
    return { what: `k6 in a container by ${docker}`, command: docker, prefix: containerArgs() };
  }
}

/** Variables that describe this machine and must not enter the container. */
const NOT_FOR_CONTAINERS = /^(PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|TMPDIR|TERM|SHLVL|_|npm_.*|LAB_PACKAGES_STEP)$/;

function containerArgs(): string[] {
  const names = Object.keys(process.env).filter((name) => !NOT_FOR_CONTAINERS.test(name));
  const user = process.getuid ? ["--user", `${process.getuid()}:${process.getgid?.()}`] : [];
  return [
    ...["run", "--rm", "--interactive", "--network", "host", "--volume", `${ROOT}:/lab`, "--workdir", "/lab", ...user],
    ...names.flatMap((name) => ["--env", name]),
    `grafana/k6:${K6_VERSION}`,
  ];
}

/** The terminal signals k6 directly, which then runs its teardown and prints its summary. This process must outlive it. */
async function runInForeground(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", cwd: ROOT });
  const ignore = () => undefined;
  const forward = () => child.kill("SIGTERM");
  process.on("SIGINT", ignore).on("SIGTERM", forward);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    if (signal) printError(`k6 was terminated by ${signal}.`);
    return code ?? 1;
  } finally {
    process.off("SIGINT", ignore).off("SIGTERM", forward);
  }
}
