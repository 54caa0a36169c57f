import path from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { type Build, buildIfStale } from "../build/build";
import { ensureK6 } from "../k6/install";
import { print } from "../shared/terminal";
import { AlreadyUpError, Lab, SERVER_ENV_NAMES } from "../supervisor/lab";
import { instancePaths } from "../supervisor/paths";
import { StepPrinter } from "../supervisor/print";
import { ensureBrowser } from "../testing/browser";
import { ensureOtherClients } from "../testing/other-clients";
import { readPropertySeed } from "../testing/property-seed";
import { STAGE_NAMES, STAGES, type Stage, type StageContext, type StageName } from "../testing/stages";
import { abortOnStopSignals } from "../testing/stop-signals";
import { printSummary } from "../testing/summary";
import { addTallies, EMPTY_TALLY, failure, lastLine, type Tally } from "../testing/tally";

const INSTANCE = "test";
/** Not the ports of `npm start`, so that both can run at the same time. */
const PORT_BASE = 24_000;

interface TestFlags {
  readonly stage?: readonly StageName[];
  readonly filter?: string;
  readonly file?: string;
}

/** `npm test`: starts test servers, runs every stage, stops the servers, and counts the results. */
export function addTestCommand(program: Command): void {
  program
    .command("test")
    .description("start test servers and run every test; the last line is `N passed, N failed`")
    .option("--stage <name>", `run only this stage; can be repeated: ${STAGE_NAMES.join(", ")}`, collectStage)
    .option(
      "--filter <pattern>",
      "run only tests whose name matches; the set-up of every file still runs, so add --file",
    )
    .option("--file <part>", "run only test files with this in their path")
    .action(async (flags: TestFlags) => {
      process.exitCode = await runTests(flags);
    });
}

function collectStage(name: string, chosen: readonly StageName[] = []): readonly StageName[] {
  const known = STAGE_NAMES.find((stage) => stage === name);
  if (!known) throw new InvalidArgumentError(`Valid stages: ${STAGE_NAMES.join(", ")}.`);
  return [...chosen, known];
}

/**
 * @returns the exit code
 * @throws Error if PROPERTY_SEED is not a seed
 */
export async function runTests(flags: TestFlags): Promise<number> {
  const propertySeed = readPropertySeed();
  process.env.PROPERTY_SEED = String(propertySeed);
  const signal = abortOnStopSignals();
  const chosen = STAGES.filter(({ name }) => !flags.stage || flags.stage.includes(name));
  const { filter = null, file = null } = flags;
  const needsApp = chosen.some((stage) => stage.needs === "app" && !stage.isEmpty(file));
  const session = new TestSession({ filter, file, signal, needsApp });
  const tallies: Tally[] = [];
  try {
    for (const stage of chosen) {
      if (signal.aborted) break;
      tallies.push(await session.runStage(stage));
    }
  } finally {
    tallies.push(await session.end());
  }
  if (signal.aborted) tallies.push(failure("interrupted before the last test"));
  const tally = addTallies(tallies);
  if ((flags.filter ?? flags.file) !== undefined && tally.passed + tally.failed === 0)
    tallies.push(failure("no test matches --file and --filter"));
  return printSummary(addTallies(tallies), propertySeed);
}

interface SessionOptions extends Pick<StageContext, "filter" | "file" | "signal"> {
  /** Whether a stage will need the dashboard and the store nodes. */
  readonly needsApp: boolean;
}

/** The lab that the tests use: servers and shop start when the first stage needs them. */
class TestSession {
  private readonly paths = instancePaths(INSTANCE);
  private readonly options: SessionOptions;
  private lab: Lab | null = null;
  private hasServers = false;
  private hasApp = false;
  private extraEnv: Record<string, string> = {};
  private build: Promise<Build | Error> | null = null;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  /** Every error counts as a failed test. */
  async runStage(stage: Stage): Promise<Tally> {
    if (stage.isEmpty(this.options.file)) {
      print(`\n── ${stage.name}: no test file matches, skipped`);
      return EMPTY_TALLY;
    }
    const startedMs = performance.now();
    print(`\n── ${stage.name}`);
    const tally = await this.prepareAndRun(stage).catch((error: unknown) =>
      failure(`${stage.name}: ${error instanceof Error ? error.message : String(error)}`),
    );
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    print(`── ${stage.name}: ${lastLine(tally)} (${seconds} s)`);
    return tally;
  }

  async end(): Promise<Tally> {
    try {
      await this.lab?.stop();
      return EMPTY_TALLY;
    } catch (error) {
      return failure(`the test servers did not stop: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async prepareAndRun(stage: Stage): Promise<Tally> {
    const { filter, file, signal } = this.options;
    if (stage.needs !== "nothing") {
      await this.bringUpServers();
      if (this.options.needsApp) this.buildInBackground();
    }
    // Before the shop starts, because its nodes read K6_BINARY at their start.
    if (stage.needs === "app" || stage.name === "k6") await this.bringK6();
    if (stage.needs === "app") await this.bringUpApp();
    if (stage.name === "interop") await ensureOtherClients();
    if (stage.name === "e2e") this.extraEnv.CHROMIUM_PATH = (await ensureBrowser()).binary;
    const context: StageContext = {
      env: this.env(stage),
      filter,
      file,
      isCi: process.env.CI === "true",
      resultsDir: path.join(this.paths.dir, "results"),
      signal,
    };
    return stage.run(context);
  }

  /** The environment without servers that the user configured: tests only use their own. */
  private env(stage: Stage): Record<string, string | undefined> {
    const env: Record<string, string | undefined> = { ...process.env, ...this.extraEnv };
    for (const name of SERVER_ENV_NAMES) delete env[name];
    delete env.NODE_TEST_CONTEXT;
    if (!this.lab || stage.needs === "nothing") return env;
    const { dashboardUrl, nodes } = this.lab.state;
    Object.assign(env, this.lab.state.env, { LAB_CONTROL_FILE: this.paths.controlFile });
    if (stage.needs === "app" && dashboardUrl) {
      env.LAB_URL = dashboardUrl;
      env.NEXT_DIST_DIR = this.lab.distDir ?? undefined;
      env.LAB_NODES = nodes.map(({ name, url }) => `${name}=${url}`).join(",");
    }
    return env;
  }

  private async bringUpServers(): Promise<void> {
    if (this.hasServers) return;
    if (this.lab) throw new Error("The test servers did not start; an earlier stage reports why.");
    for (const name of SERVER_ENV_NAMES) delete process.env[name];
    const printer = new StepPrinter(process.stdout);
    this.lab = await Lab.claim({
      paths: this.paths,
      portBase: PORT_BASE,
      onStep: (state) => printer.show(state.steps),
      onNote: (sentence) => printer.note(sentence),
    }).catch((error: unknown) => {
      if (error instanceof AlreadyUpError)
        throw new Error(`Another npm test is running (process ${error.state.supervisor.pid}). Wait for it to finish.`);
      throw error;
    });
    this.options.signal.addEventListener("abort", () => void this.lab?.stop(), { once: true });
    await this.lab.startServers();
    const missing = Object.entries(this.lab.state.missing);
    if (missing.length > 0)
      throw new Error(missing.map(([service, why]) => `${service} is unavailable: ${why}`).join("; "));
    this.hasServers = true;
  }

  private async bringK6(): Promise<void> {
    if (this.extraEnv.K6_BINARY) return;
    const k6 = await ensureK6((sentence) => print(sentence));
    this.extraEnv.K6_BINARY = k6.binary;
  }

  /** Builds while the first stage with servers runs, because that stage mostly waits. */
  private buildInBackground(): void {
    this.build ??= buildIfStale(this.paths, this.options.signal).catch((error: Error) => error);
  }

  private async bringUpApp(): Promise<void> {
    if (this.hasApp) return;
    const built = await this.build;
    if (built instanceof Error) throw built;
    if (!this.lab) throw new Error("bringUpServers() must run before bringUpApp().");
    await this.lab.startApp();
    this.lab.markReady();
    this.hasApp = true;
  }
}
