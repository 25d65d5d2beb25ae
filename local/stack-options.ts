import type { StackKeys } from './keys.ts';
import type { Environment } from './stack-environment.ts';
import type { SimulatorWebhooks } from './stack-webhooks.ts';

export interface StackOptions {
  /** Of the api: this one if it is free, another if not; 0 is any free one. */
  port: number;
  /** Unused by an ephemeral stack. */
  dataDirectory: string;
  /** Keeps nothing after `stop`. */
  ephemeral: boolean;
  /** Of the caller; handed on to the api and the worker. */
  environment: Environment;
  /** One line for each thing that takes a while or goes wrong, also after the start. */
  onProgress: (line: string) => void;
  /** Calls the start off. */
  signal?: AbortSignal | undefined;
}

/** The simulators that run inside this process. */
export interface RunningSimulators {
  openaiUrl: string;
  anthropicUrl: string;
  geminiUrl: string;
  controlUrl: string;
  close(): Promise<void>;
}

/** What a stack is made of besides its servers. */
export interface StackParts {
  migrate(databaseUrl: string): Promise<void>;
  /** Makes a tenant, a budget and keys; called once for a database, not once for a start. */
  bootstrap(databaseUrl: string, dataDirectory: string): Promise<StackKeys>;
  startSimulators(options: {
    openaiPort: number;
    anthropicPort: number;
    geminiPort: number;
    controlPort: number;
    host: string;
    settings: SimulatorWebhooks;
    /** A folder; a temporary one when absent. */
    statePath?: string;
  }): Promise<RunningSimulators>;
  /** Name → type as Temporal's command line spells it. */
  searchAttributes: Record<string, string>;
  /**
   * Whatever the Temporal server needs before the api and the worker: search attributes of one that is not ours,
   * schedules. Idempotent; given the environment in which Temporal's client configuration finds the server.
   */
  prepareTemporal?(environment: Environment): Promise<void>;
  /** The main files, unless they are this project's. */
  apiMain?: string;
  workerMain?: string;
}

/** The line that `up --json` prints. */
export interface StackReady {
  ready: true;
  api_url: string;
  admin_key: string;
  operator_key: string;
  tenant_key: string;
  temporal_address: string;
  /** Null when the server is not ours and BATCHGATE_TEMPORAL_UI_URL does not name it. */
  temporal_ui_url: string | null;
  temporal_namespace: string;
  database_url: string;
  /** Null where the real provider is used. */
  simulators: {
    openai_url: string | null;
    anthropic_url: string | null;
    gemini_url: string | null;
    control_url: string | null;
  };
}

export interface Stack {
  ready: StackReady;
  /** The processes that run now; undefined while one is being started again, or for a Temporal that is not ours. */
  pids(): Record<'postgres' | 'temporal' | 'api' | 'worker', number | undefined>;
  /** Stops everything, what depends on others first. */
  stop(): Promise<void>;
}
