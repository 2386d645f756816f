import * as t from 'io-ts';
import { get, type StreamingOperation } from '#application/operations/operation.ts';
import { TargetStatus } from '#domain/usage/gateway-health.ts';
import type { ModelRoute } from '#gateway/config/catalogue.ts';
import { integer } from '#shared/codecs/number.ts';
import type { CircuitState } from './circuit-breaker.ts';
import { healthWindowMs, type TargetRecord } from './target-health.ts';

/** The sources of a target's status. */
export interface TargetSources {
  readonly circuit: (target: string) => CircuitState;
  readonly record: (target: string) => TargetRecord;
}

/** A target as the API shows it to operators. */
export interface ListedTarget extends TargetRecord {
  /** `provider/model`. */
  readonly target: string;
  readonly provider: string;
  readonly model: string;
  /** The tags of the catalogue, and the voices, that it serves. */
  readonly servesModels: ReadonlyArray<string>;
  readonly circuit: CircuitState;
}

/** Lists every target of some routes once, in the order of the configuration. */
export function listTargets(
  routes: ReadonlyArray<ModelRoute>,
  { circuit, record }: TargetSources,
): ReadonlyArray<ListedTarget> {
  const served = new Map<string, { provider: string; model: string; names: string[] }>();
  for (const { name, targets, fallbacks } of routes) {
    for (const { id, provider, model } of [...targets, ...fallbacks]) {
      const known = served.get(id) ?? { provider, model, names: [] };
      if (!known.names.includes(name)) known.names.push(name);
      served.set(id, known);
    }
  }
  return Array.from(served, ([target, { provider, model, names }]) => ({
    target,
    provider,
    model,
    servesModels: names,
    circuit: circuit(target),
    ...record(target),
  }));
}

/** How far back counts and latencies of a list go. */
export const targetWindowSeconds = healthWindowMs / 1_000;

const count = integer(0, Number.MAX_SAFE_INTEGER);

const Output = t.type({ node: t.string, windowSeconds: count, targets: t.readonlyArray(TargetStatus) }, 'TargetList');

/** The answer of `GET /v1/gateway/targets` for the documentation. */
export const targetListing = {
  name: 'list_targets',
  summary: 'List the targets of the gateway with their health',
  description:
    'Of each target of the configuration, as the answering node sees it: its circuit, its attempts in the last `windowSeconds`, how many of those that were served or failed were served, how long a served one took, its last failure since the start of the node, and whether its provider has refused the key of the gateway since the last served call. Nodes do not share this: ask each.',
  scope: 'operations:write',
  http: get('/v1/gateway/targets'),
  input: t.type({}),
  output: Output,
  failures: [],
  example: {
    output: {
      node: 'switchyard-1',
      windowSeconds: targetWindowSeconds,
      targets: [
        {
          target: 'openai/gpt-4.1',
          provider: 'openai',
          model: 'gpt-4.1',
          servesModels: ['gpt-large'],
          circuit: 'open',
          attempts: { served: 95, refused: 1, failed: 5, abandoned: 0 },
          successRate: 0.95,
          p50Ms: 820.5,
          p95Ms: 2410,
          lastFailure: {
            time: '2026-01-01T12:00:00.000Z',
            code: 'http_500',
            status: 500,
            requestId: '53db8bbd-6f6c-4c43-a4b2-6f4d4d1f6c2e',
          },
          isKeyRefused: false,
        },
      ],
    },
  },
} satisfies Partial<StreamingOperation>;
