import { choosePort } from './ports.ts';

/** The ports of everything a stack starts. */
export interface StackPorts {
  api: number;
  workerHealth: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
  openaiSimulator: number;
  anthropicSimulator: number;
  geminiSimulator: number;
  simulatorControl: number;
}

/** Where a stack is looked for when nothing else is there; the api's own is asked for by the caller. */
const PREFERRED = {
  workerHealth: 0,
  postgres: 15_432,
  temporal: 7233,
  temporalUi: 8233,
  openaiSimulator: 9101,
  anthropicSimulator: 9102,
  geminiSimulator: 9103,
  simulatorControl: 9100,
};

/**
 * The usual ports, or free ones for those that are taken. When any port will do for the api (0), all of them are free
 * ones, so that stacks which nobody looks at stay out of each other's way.
 */
export async function chooseStackPorts(apiPort: number): Promise<StackPorts> {
  const preferred = (port: number) => choosePort(apiPort === 0 ? 0 : port);
  return {
    api: await choosePort(apiPort),
    workerHealth: await preferred(PREFERRED.workerHealth),
    postgres: await preferred(PREFERRED.postgres),
    temporal: await preferred(PREFERRED.temporal),
    temporalUi: await preferred(PREFERRED.temporalUi),
    openaiSimulator: await preferred(PREFERRED.openaiSimulator),
    anthropicSimulator: await preferred(PREFERRED.anthropicSimulator),
    geminiSimulator: await preferred(PREFERRED.geminiSimulator),
    simulatorControl: await preferred(PREFERRED.simulatorControl),
  };
}
