import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnthropicApp } from './anthropic/app.ts';
import type { AnthropicSettingsChange } from './anthropic/settings.ts';
import { createAnthropicSimulator } from './anthropic/simulator.ts';
import { type ClockState, createClock } from './clock.ts';
import { createControlApp } from './control.ts';
import { createFaults } from './faults.ts';
import { createGeminiApp } from './gemini/app.ts';
import type { GeminiSettingsChange } from './gemini/settings.ts';
import { createGeminiSimulator } from './gemini/simulator.ts';
import { createJournal } from './journal.ts';
import { listen } from './listen.ts';
import { createOpenAiApp } from './openai/app.ts';
import type { OpenAiSettingsChange } from './openai/settings.ts';
import { createOpenAiSimulator } from './openai/simulator.ts';
import { writeJson } from './record-store.ts';

/** Settings by provider; README.md lists them. */
interface SimulatorSettings {
  openai?: OpenAiSettingsChange;
  anthropic?: AnthropicSettingsChange;
  gemini?: GeminiSettingsChange;
}

export interface SimulatorOptions {
  /** Any free port when 0 or absent. */
  openaiPort?: number;
  anthropicPort?: number;
  geminiPort?: number;
  controlPort?: number;
  /** 127.0.0.1 when absent. */
  host?: string;
  settings?: SimulatorSettings;
  /** A folder in which files, batches and the clock survive a restart; a temporary one when absent. */
  statePath?: string | undefined;
  log?: (message: string) => void;
}

export interface Simulators {
  /** Base URL for the official SDK, `/v1` included. */
  openaiUrl: string;
  /** The same, which for this SDK is an origin. */
  anthropicUrl: string;
  /** The origin, which is this SDK's base URL. */
  geminiUrl: string;
  /** Origin of the control port, for `createControl`. */
  controlUrl: string;
  /** Ends everything; may be called again. */
  close(): Promise<void>;
}

/** Starts every simulator and their control port; resolves when all of them listen. */
export async function startSimulators(options: SimulatorOptions = {}): Promise<Simulators> {
  const { host = '127.0.0.1', statePath, log = () => undefined } = options;
  const folder = statePath ?? mkdtempSync(join(tmpdir(), 'batchgate-simulators-'));
  mkdirSync(folder, { recursive: true });
  const clockPath = join(folder, 'clock.json');
  const clock = createClock(readClock(clockPath), (state) => writeJson(clockPath, state));
  const faults = createFaults();
  const journal = createJournal(clock);
  const shared = { clock, faults, journal, log };
  const openai = await createOpenAiSimulator({
    ...shared,
    folder: join(folder, 'openai'),
    settings: options.settings?.openai ?? {},
  });
  const anthropic = await createAnthropicSimulator({
    ...shared,
    folder: join(folder, 'anthropic'),
    settings: options.settings?.anthropic ?? {},
  });
  const gemini = await createGeminiSimulator({
    ...shared,
    folder: join(folder, 'gemini'),
    settings: options.settings?.gemini ?? {},
  });
  const providers = [openai, anthropic, gemini];

  const servers = await Promise.all([
    listen(createOpenAiApp(openai, shared).fetch, host, options.openaiPort ?? 0),
    listen(createAnthropicApp(anthropic, shared).fetch, host, options.anthropicPort ?? 0),
    listen(createGeminiApp(gemini, shared).fetch, host, options.geminiPort ?? 0),
    listen(createControlApp({ ...shared, providers }).fetch, host, options.controlPort ?? 0),
  ]);
  const [openaiServer, anthropicServer, geminiServer, controlServer] = servers;
  const names = ['OpenAI', 'Anthropic', 'Gemini', 'control'];
  log(`simulators listen: ${names.map((name, index) => `${name} ${servers[index]?.url}`).join(', ')}`);

  const stop = async () => {
    await Promise.all(servers.map((server) => server.close()));
    await Promise.all(providers.map((provider) => provider.stop()));
    clock.stop();
    if (statePath === undefined) rmSync(folder, { recursive: true, force: true });
  };
  let stopping: Promise<void> | undefined;
  return {
    openaiUrl: `${openaiServer.url}/v1`,
    anthropicUrl: anthropicServer.url,
    geminiUrl: geminiServer.url,
    controlUrl: controlServer.url,
    close() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function readClock(path: string): ClockState | undefined {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}
