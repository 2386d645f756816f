import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Freeze, freezeDuring } from './abuse/freeze.ts';
import type { AbuseScenario } from './abuse/scenario.ts';
import { idleMemory, peakMemory } from './gateway-processes/resident-memory.ts';
import { startService } from './http-processes/processes.ts';
import { print, printResults, type Result } from './measure.ts';

/** Files in `abuse/` that are not scenarios. */
const helpers = new Set([
  ...['scenario', 'freeze', 'health-probe', 'large-commands', 'many-flows', 'other-tenant', 'other-tenant-probe'],
  ...['project-key', 'provider', 'unfinished-request', 'unread-requests'],
]);
const idleMs = 2_000;
const mebibyte = 1024 * 1024;

/**
 * Measures how much one caller can affect others: each scenario attacks a separate service, while another process calls
 * `/healthz` without a pause. `npm run bench -- abuse <name> ...` runs the named scenarios, or all without a name.
 */
export default async function abuse(args: ReadonlyArray<string>): Promise<void> {
  const names = readdirSync(join(import.meta.dirname, 'abuse'))
    .map((file) => file.replace(/\.ts$/, ''))
    .filter((name) => !helpers.has(name) && (args.length === 0 || args.includes(name)));
  const results: Result[] = [];
  for (const name of names) {
    const { default: scenario } = (await import(`./abuse/${name}.ts`)) as { default: AbuseScenario };
    results.push(...(await measure(scenario)));
  }
  print();
  printResults(results);
}

async function measure(scenario: AbuseScenario): Promise<ReadonlyArray<Result>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-abuse-'));
  const surroundings = await scenario.surround?.();
  const service = await startService(folder, { ...scenario.environment, ...surroundings?.environment });
  try {
    await scenario.prepare?.(service);
    const idle = await idleMemory(service.pid);
    const idleFreeze = await freezeDuring(service.url, () => sleep(idleMs));
    let figures: ReadonlyArray<Result> = [];
    let freeze: Freeze = idleFreeze;
    const peak = await peakMemory(service.pid, async () => {
      freeze = await freezeDuring(service.url, async () => {
        figures = (await scenario.attack(service)) ?? [];
      });
    });
    const aboveIdle = (peak - idle) / mebibyte;
    const silence = `${Math.round(freeze.maxMs)} ms (idle ${Math.round(idleFreeze.maxMs)} ms)`;
    const failures = freeze.failures > 0 ? `, ${freeze.failures} times without an answer` : '';
    print(`${scenario.title}: longest silence ${silence}${failures}, ${Math.round(aboveIdle)} MiB above idle`);
    return [...boundsOf(scenario, freeze.maxMs, aboveIdle), ...figures];
  } finally {
    await service.stop();
    await surroundings?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function boundsOf(
  { title, maxFreezeMs, maxBytesAboveIdle }: AbuseScenario,
  freezeMs: number,
  mebibytesAboveIdle: number,
): Result[] {
  const results: Result[] = [];
  if (maxFreezeMs !== undefined) {
    results.push({
      what: `${title}: freeze`,
      figure: freezeMs,
      unit: ' ms',
      required: maxFreezeMs,
      aim: maxFreezeMs / 2,
    });
  }
  if (maxBytesAboveIdle !== undefined) {
    const required = maxBytesAboveIdle / mebibyte;
    const what = `${title}: memory above idle`;
    results.push({ what, figure: mebibytesAboveIdle, unit: ' MiB', required, aim: required / 2 });
  }
  return results;
}
