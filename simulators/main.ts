import { parseArgs } from 'node:util';
import { startSimulators } from './start.ts';

const { values } = parseArgs({
  options: {
    'openai-port': { type: 'string', default: '4011' },
    'anthropic-port': { type: 'string', default: '4012' },
    'gemini-port': { type: 'string', default: '4013' },
    'control-port': { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    /** A folder; without it everything is forgotten at the end. */
    state: { type: 'string' },
    /** JSON, by provider: `{"openai":{"inProgressMs":0}}`. */
    settings: { type: 'string', default: '{}' },
  },
});

const simulators = await startSimulators({
  openaiPort: Number(values['openai-port']),
  anthropicPort: Number(values['anthropic-port']),
  geminiPort: Number(values['gemini-port']),
  controlPort: Number(values['control-port']),
  host: values.host,
  statePath: values.state,
  settings: JSON.parse(values.settings),
  log: (message) => process.stderr.write(`${message}\n`),
});
const ready = {
  ready: true,
  openai_url: simulators.openaiUrl,
  anthropic_url: simulators.anthropicUrl,
  gemini_url: simulators.geminiUrl,
  control_url: simulators.controlUrl,
};
process.stdout.write(`${JSON.stringify(ready)}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void simulators.close();
  });
}
