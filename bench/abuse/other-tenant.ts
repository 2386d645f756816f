import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Server } from '#bench/http-processes/processes.ts';
import { print, type Result } from '#bench/measure.ts';
import { newProjectKey, type ProjectKey } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

/** One request of another tenant. */
export interface TenantRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

/** What another tenant sends, one request after the other. */
export interface TenantRequests {
  readonly url: string;
  readonly key: string;
  readonly requests: ReadonlyArray<TenantRequest>;
  /** Whether each request closes its connection. */
  readonly closesConnections: boolean;
}

/** How long each request of the other tenant took, in ms, and how many were not answered with success. */
export interface TenantTimes {
  readonly times: ReadonlyArray<number>;
  readonly failures: number;
}

/** An attack with one ordinary key, while another tenant reads as usual. */
interface AttackBesideTenant extends Pick<AbuseScenario, 'surround'> {
  readonly title: string;
  /** Further variables of the service under attack. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether each request of the other tenant closes its connection. Default: it keeps one. */
  readonly closesConnections?: boolean;
  /** Whether the maximum silence of `/healthz` has its usual limit. Default: it has. */
  readonly limitsFreeze?: boolean;
  /** Maximum silence of `/healthz` in ms. Default: the usual limit. */
  readonly maxFreezeMs?: number;
  /** How many times as long as at rest the other tenant may wait. Default: its wait has the usual limit. */
  readonly maxSlowdown?: number;
  /** Fills the service before the other tenant is made. */
  readonly prepare: (service: Server) => Promise<unknown>;
  readonly attack: (service: Server, key: ProjectKey) => Promise<unknown>;
}

const flows = 100;
const maxP95Ms = 1_000;
const usualFreezeMs = 300;
const restMs = 3_000;
const maxBytesAboveIdle = 300 * 1024 * 1024;

/** Makes a scenario that also measures how long another tenant waits. */
export function besideOtherTenant({
  title,
  environment = {},
  closesConnections = false,
  limitsFreeze = true,
  maxFreezeMs = usualFreezeMs,
  maxSlowdown,
  prepare,
  attack,
  surround,
}: AttackBesideTenant): AbuseScenario {
  let other: TenantRequests | null = null;
  return {
    title,
    environment,
    ...(surround === undefined ? {} : { surround }),
    ...(limitsFreeze ? { maxFreezeMs } : {}),
    maxBytesAboveIdle,
    prepare: async (service) => {
      await prepare(service);
      const { reads, ...tenant } = await makeOtherTenant(service);
      other = { ...tenant, requests: reads, closesConnections };
    },
    attack: async (service) => {
      if (other === null) throw new Error('The service is not prepared');
      const key = await newProjectKey(service);
      const restP95 = maxSlowdown === undefined ? null : await p95During(other, title, () => sleep(restMs));
      const p95 = await p95During(other, title, () => attack(service, key));
      return [waitOf(title, p95), ...(restP95 === null ? [] : [slowdownOf(title, p95 / restP95, maxSlowdown)])];
    },
  };
}

/** A tenant, and what ordinary clients of it send. */
interface OtherTenant extends Pick<TenantRequests, 'url' | 'key'> {
  readonly reads: ReadonlyArray<TenantRequest>;
  readonly commands: ReadonlyArray<TenantRequest>;
}

/** Makes a project with a hundred small flows and a key. */
export async function makeOtherTenant(service: Server): Promise<OtherTenant> {
  const make = async <Answer>(path: string, body: object) =>
    (await (await call(service, 'POST', path, body)).json()) as Answer;
  const { id } = await make<{ id: string }>('/v1/projects', { name: 'Other tenant' });
  const { key } = await make<{ key: string }>(`/v1/projects/${id}/keys`, { name: 'Key', keyType: 'project' });
  let flow = '';
  for (let number = 0; number < flows; number += 1)
    flow = (await make<{ id: string }>(`/v1/projects/${id}/flows`, { name: 'Hours', flowSchema: { number } })).id;
  const paths = [`/v1/flows/${flow}`, `/v1/projects/${id}/flows`, `/v1/flows/${flow}/history`, '/v1/audit?limit=20'];
  const reads = paths.map((path) => ({ method: 'GET', path }) as const);
  const commands = [
    { method: 'POST', path: `/v1/projects/${id}/flows`, body: { name: 'Hours', flowSchema: {} } },
    { method: 'POST', path: `/v1/flows/${flow}/versions`, body: { flowSchema: { number: 1 } } },
  ] as const;
  return { url: service.url, key, reads, commands };
}

/** Sends another tenant's requests from another process while some work runs. @returns their 95th percentile */
export async function p95During(sent: TenantRequests, title: string, run: () => Promise<unknown>): Promise<number> {
  const probe = fork(join(import.meta.dirname, 'other-tenant-probe.ts'), [JSON.stringify(sent)]);
  await once(probe, 'message');
  try {
    await run();
  } finally {
    probe.send('end');
  }
  const [{ times, failures }] = (await once(probe, 'message')) as [TenantTimes];
  await once(probe, 'exit');
  if (failures > 0) throw new Error(`${failures} of ${times.length} requests of the other tenant failed`);
  const p95 = times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
  print(`${title}: ${times.length} requests of another tenant, p95 ${p95.toFixed(1)} ms`);
  return p95;
}

function waitOf(title: string, p95: number): Result {
  return { what: `${title}: p95 of another tenant`, figure: p95, unit: ' ms', required: maxP95Ms, aim: maxP95Ms / 2 };
}

/** @param figure how many times as long as at rest another tenant waits */
export function slowdownOf(title: string, figure: number, maxSlowdown = 1): Result {
  return {
    what: `${title}: p95 of another tenant against rest`,
    figure,
    unit: ' ×',
    required: maxSlowdown,
    aim: maxSlowdown / 2,
  };
}
