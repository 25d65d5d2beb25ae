import { Hono } from 'hono';
import { z } from 'zod';
import type { Clock } from './clock.ts';
import { HTTP_FAULTS } from './fault-actions.ts';
import { Fault, type Faults, unknownKeys } from './faults.ts';
import type { Journal } from './journal.ts';
import { BatchChange, type SimulatedProvider } from './provider.ts';

const ClockChange = z.strictObject({
  advance_ms: z.number().nonnegative().optional(),
  speed: z.number().positive().optional(),
});
const SettingsChange = z.record(z.string(), z.unknown());

/** The door to clock, faults, journal, settings and batches; README.md documents each route. */
export function createControlApp(parts: {
  clock: Clock;
  faults: Faults;
  journal: Journal;
  providers: readonly SimulatedProvider[];
}): Hono {
  const { clock, faults, journal, providers } = parts;
  const app = new Hono().basePath('/control');
  const clockView = () => ({ now_ms: clock.now(), ahead_ms: clock.now() - Date.now(), speed: clock.state().speed });

  app.get('/clock', (c) => c.json(clockView()));
  app.post('/clock', async (c) => {
    const change = ClockChange.parse(await c.req.json());
    if (change.speed !== undefined) clock.setSpeed(change.speed);
    if (change.advance_ms !== undefined) clock.advance(change.advance_ms);
    return c.json(clockView());
  });

  app.get('/faults', (c) => c.json({ faults: faults.remaining() }));
  app.post('/faults', async (c) => {
    const added = z.array(Fault).parse(await c.req.json());
    const misplaced = added.flatMap((fault, index) =>
      misplacements(fault, providers).map((text) => `[${index}] ${text}`),
    );
    if (misplaced.length > 0) return c.json({ error: misplaced.join('; ') }, 400);
    return c.json({ faults: faults.add(added) });
  });
  app.delete('/faults', (c) => {
    faults.clear();
    return c.json({ faults: [] });
  });

  app.get('/journal', (c) => c.json({ entries: journal.list(c.req.query()) }));
  app.delete('/journal', (c) => {
    journal.clear();
    return c.json({ entries: [] });
  });

  const settingsView = () => Object.fromEntries(providers.map((provider) => [provider.name, provider.settings()]));
  app.get('/settings', (c) => c.json(settingsView()));
  app.put('/settings', async (c) => {
    const changes = Object.entries(SettingsChange.parse(await c.req.json()));
    const unknown = changes.filter(([name]) => !providers.some((provider) => provider.name === name));
    if (unknown.length > 0) return c.json({ error: `no such provider: ${unknown.map(([name]) => name)}` }, 400);
    for (const [name, change] of changes) providers.find((provider) => provider.name === name)?.changeSettings(change);
    return c.json(settingsView());
  });

  app.get('/batches', (c) =>
    c.json(Object.fromEntries(providers.map((provider) => [provider.name, provider.listBatches()]))),
  );
  app.post('/batches/:id', async (c) => {
    const change = BatchChange.parse(await c.req.json());
    const batch = providers.map((provider) => provider.changeBatch(c.req.param('id'), change)).find(Boolean);
    return batch === undefined ? c.json({ error: 'no such batch' }, 404) : c.json(batch);
  });

  app.post('/reset', async (c) => {
    faults.clear();
    for (const provider of providers) await provider.reset();
    clock.reset();
    journal.clear();
    return c.json({ reset: true });
  });

  app.onError((error, c) => {
    if (error instanceof z.ZodError) return c.json({ error: z.prettifyError(error) }, 400);
    if (error instanceof SyntaxError) return c.json({ error: 'the body is not JSON' }, 400);
    throw error;
  });
  return app;
}

/** Why a fault could never fire or would do nothing; a script with a typing error must not look like a passing test. */
function misplacements(fault: z.output<typeof Fault>, providers: readonly SimulatedProvider[]): string[] {
  const provider = providers.find(({ name }) => name === fault.provider);
  if (provider === undefined) return [`no such provider: ${fault.provider}`];
  const known = fault.route === '*' ? HTTP_FAULTS : provider.faultRoutes[fault.route];
  if (known === undefined) {
    return [`${fault.provider} has no route ${fault.route}; it has ${Object.keys(provider.faultRoutes).join(', ')}`];
  }
  return unknownKeys(fault.action, known).map((key) => `${fault.route} does not know ${key}`);
}
