import { Command, CommanderError } from "commander";
import { printError, writeError, writeOut } from "./shared/terminal";
import { adviseOnWrite } from "./shared/write-advice.mjs";

/** `npm run lab -- <command>`. Each command is a file, loaded only when it runs. */

const COMMANDS = {
  up: "start the lab (also `npm start`)",
  down: "stop the lab",
  status: "print what runs, and where",
  doctor: "print what this machine has, what is missing, and the fix for each",
  run: "run one flash sale and print its run document",
  stop: "stop a run and its load before it is complete",
  results: "measure every strategy and write docs/results.md",
  topology: "start or stop a group of servers: Redis with Sentinels, for example",
  faults: "measure what each fault does to each strategy, or list the faults",
  proxy: "serve the lab's TCP proxy with the HTTP API of Toxiproxy",
  sweep: "run a grid of sales",
  export: "write a run as a file: JSON, CSV, .hgrm, or HTML that opens offline",
  reconcile: "reconcile the stock counters outside PostgreSQL with the orders",
  "break-lock": "delete a lock that never expires and whose holder died",
  check: "check a recorded history, or export it for another checker",
  verify: "format, lint, types and unit tests (also `npm run check`)",
  test: "start test servers and run every test (also `npm test`)",
  "test-fast": "run the unit tests (also `npm run test:fast`)",
  simulate: "run the locks in simulated worlds, one per seed (also `npm run simulate`)",
  bench: "measure the cost of the recorder (also `npm run bench`)",
  k6: "find or install k6 and run it (also `npm run k6`)",
  migrate: "apply the migrations, or write a new one",
  generate: "generate the Prisma client",
  build: "build the pages and bundle the server",
  "loss-to-signal": "measure how long a holder takes to detect that it lost its lock, and write docs/loss-to-signal.md",
  docs: "write the tables of strategies and faults in README and docs from the code",
  "record-commands": "record the commands that each strategy sends to the servers, for the pages of the strategies",
  screenshots: "take screenshots of the dashboard for the README, with real runs",
  dev: "start the servers and one node in development mode, with hot reload",
} as const;

/** The exit code if a command could not run: wrong flags, for example. Exit code 1 means findings. */
const CANNOT_RUN = 2;

type CommandName = keyof typeof COMMANDS;

interface CommandModule {
  readonly [exportName: string]: ((program: Command) => void) | undefined;
}

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("lab")
    .description("Flash Sale Lab: which way of guarding a hot stock row keeps its promise?")
    .exitOverride()
    .configureOutput({ writeOut, writeErr: writeError })
    .showSuggestionAfterError()
    .enablePositionalOptions();
  process.stdout.on("error", hangUp);
  process.stderr.on("error", hangUp);
  try {
    const [name] = argv;
    if (name !== undefined && isCommandName(name)) await addCommand(program, name);
    else for (const [known, summary] of Object.entries(COMMANDS)) program.command(known).description(summary);
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    process.exitCode = report(error, program, argv);
  }
}

/** The reader of our output has closed it (`| head`). Treated like a closed terminal, so that a running lab shuts down. */
function hangUp(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.kill(process.pid, "SIGHUP");
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** Each file exports `add<Name>Command(program)`. A broken file breaks only its own command. */
async function addCommand(program: Command, name: CommandName): Promise<void> {
  const words = name.split("-").map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  const exportName = `add${words.join("")}Command`;
  const module = await loadModule(name);
  const add = module[exportName];
  if (typeof add !== "function") throw new Error(`bin/commands/${name}.ts does not export ${exportName}`);
  add(program);
}

async function loadModule(name: CommandName): Promise<CommandModule> {
  const file = new URL(`./commands/${name}.ts`, import.meta.url);
  return (await import(file.href)) as CommandModule;
}

/** Prints the error. @returns the exit code */
function report(error: unknown, program: Command, argv: readonly string[]): number {
  if (!(error instanceof CommanderError)) {
    printError(error instanceof Error ? textOf(error) : String(error));
    return CANNOT_RUN;
  }
  const valid = validNames(error.code, program, argv);
  if (valid !== "") printError(valid);
  return error.exitCode === 0 ? 0 : CANNOT_RUN;
}

function textOf(error: Error): string {
  if (process.env.LAB_DEBUG) return error.stack ?? error.message;
  return adviseOnWrite(error) ?? error.message;
}

/** The valid names, printed after commander's message about the invalid one. */
function validNames(code: string, program: Command, argv: readonly string[]): string {
  if (code === "commander.unknownCommand" || code === "commander.excessArguments") {
    const names = program.commands.map((command) => command.name());
    if (names.length > 1) return `Valid commands: ${names.join(", ")}`;
  }
  if (code !== "commander.unknownOption") return "";
  const command = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program;
  const flags = command.createHelp().visibleOptions(command);
  return `Valid options of \`${command.name()}\`: ${flags.map((option) => option.flags).join(" · ")}`;
}
