import path from "node:path";
import { printable } from "../../load-tests/lib/printable.js";
import { type Build, buildIfStale } from "../build/build";
import { ensureK6 } from "../k6/install";
import type { Output } from "../shared/terminal";
import { AlreadyUpError, Lab, SERVER_ENV_NAMES } from "../supervisor/lab";
import { instancePaths } from "../supervisor/paths";
import { StepPrinter } from "../supervisor/print";
import { ensureBrowser } from "./browser";
import { ensureOtherClients } from "./other-clients";
import type { Turn } from "./print-turns";
import type { Stage, StageContext } from "./stages";
import { EMPTY_TALLY, failure, lastLine, type Tally } from "./tally";

const INSTANCE = "test";
/** Not the ports of `npm start`, so that both can run at the same time. */
const PORT_BASE = 24_000;

interface SessionOptions extends Pick<StageContext, "filter" | "file" | "signal"> {
  /** Whether a stage will need the dashboard and the store nodes. */
  readonly needsApp: boolean;
  readonly beginTurn: () => Turn;
}

/** The lab that the tests use: servers and shop start when the first stage needs them. Stages may run at the same time. */
export class TestSession {
  readonly #paths = instancePaths(INSTANCE);
  readonly #options: SessionOptions;
  #lab: Lab | null = null;
  /** Steps go to the output of the stage that waits for them. */
  #steps: StepPrinter | null = null;
  #servers: Promise<Lab> | null = null;
  #app: Promise<void> | null = null;
  #build: Promise<Build | Error> | null = null;
  #k6: Promise<string> | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Every error counts as a failed test. */
  async runStage(stage: Stage): Promise<Tally> {
    const turn = this.#options.beginTurn();
    const { output } = turn;
    try {
      if (stage.isEmpty(this.#options.file)) {
        say(output, `\n── ${stage.name}: no test file matches, skipped`);
        return EMPTY_TALLY;
      }
      const startedMs = performance.now();
      say(output, `\n── ${stage.name}`);
      const tally = await this.#prepareAndRun(stage, output).catch((error: unknown) =>
        failure(`${stage.name}: ${messageOf(error)}`),
      );
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      say(output, `── ${stage.name}: ${lastLine(tally)} (${seconds} s)`);
      return tally;
    } finally {
      turn.end();
    }
  }

  async end(): Promise<Tally> {
    try {
      await this.#lab?.stop();
      return EMPTY_TALLY;
    } catch (error) {
      return failure(`the test servers did not stop: ${messageOf(error)}`);
    }
  }

  async #prepareAndRun(stage: Stage, output: Output): Promise<Tally> {
    const { filter, file, signal, needsApp } = this.#options;
    const env = environmentWithoutServers();
    if (stage.needs !== "nothing") {
      const { state } = await this.#bringUpServers(output);
      if (needsApp) this.#buildInBackground();
      Object.assign(env, state.env, { LAB_CONTROL_FILE: this.#paths.controlFile });
    }
    // Before the shop starts, because its nodes read K6_BINARY at their start.
    if (stage.needs === "app") {
      env.K6_BINARY = await this.#bringK6(output);
      Object.assign(env, await this.#bringUpApp(output));
    }
    if (stage.name === "interop") await ensureOtherClients();
    if (stage.name === "e2e") env.CHROMIUM_PATH = (await ensureBrowser()).binary;
    return stage.run({
      env,
      filter,
      file,
      isCi: process.env.CI === "true",
      resultsDir: path.join(this.#paths.dir, "results"),
      signal,
      output,
    });
  }

  #bringUpServers(output: Output): Promise<Lab> {
    this.#servers ??= this.#startServers(output);
    return this.#servers;
  }

  async #startServers(output: Output): Promise<Lab> {
    for (const name of SERVER_ENV_NAMES) delete process.env[name];
    this.#steps = new StepPrinter(output);
    const lab = await Lab.claim({
      paths: this.#paths,
      portBase: PORT_BASE,
      onStep: (state) => this.#steps?.show(state.steps),
      onNote: (sentence) => this.#steps?.note(sentence),
    }).catch((error: unknown) => {
      if (error instanceof AlreadyUpError)
        throw new Error(`Another npm test is running (process ${error.state.supervisor.pid}). Wait for it to finish.`);
      throw error;
    });
    this.#lab = lab;
    this.#options.signal.addEventListener("abort", () => void lab.stop(), { once: true });
    await lab.startServers();
    const missing = Object.entries(lab.state.missing);
    if (missing.length > 0)
      throw new Error(missing.map(([service, why]) => `${service} is unavailable: ${why}`).join("; "));
    return lab;
  }

  #bringK6(output: Output): Promise<string> {
    this.#k6 ??= ensureK6((sentence) => say(output, sentence)).then(({ binary }) => binary);
    return this.#k6;
  }

  /** Builds while stages with servers run, because those mostly wait. */
  #buildInBackground(): void {
    this.#build ??= buildIfStale(this.#paths, this.#options.signal).catch((error: Error) => error);
  }

  /** @returns the variables that tell tests where the shop is */
  async #bringUpApp(output: Output): Promise<Record<string, string>> {
    const lab = await this.#bringUpServers(output);
    this.#app ??= this.#startApp(lab, output);
    await this.#app;
    const { dashboardUrl, nodes } = lab.state;
    return {
      LAB_URL: dashboardUrl ?? "",
      NEXT_DIST_DIR: lab.distDir ?? "",
      LAB_NODES: nodes.map(({ name, url }) => `${name}=${url}`).join(","),
    };
  }

  async #startApp(lab: Lab, output: Output): Promise<void> {
    const built = await this.#build;
    if (built instanceof Error) throw built;
    this.#steps?.moveTo(output);
    await lab.startApp();
    lab.markReady();
  }
}

/** Tests use no server that the user configured. */
function environmentWithoutServers(): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = { ...process.env };
  for (const name of SERVER_ENV_NAMES) delete env[name];
  delete env.NODE_TEST_CONTEXT;
  return env;
}

function say(output: Output, sentence: string): void {
  output.write(`${printable(sentence)}\n`);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
