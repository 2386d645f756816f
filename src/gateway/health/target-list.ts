import type { ModelRoute } from '#gateway/config/catalogue.ts';
import type { CircuitState } from './circuit-breaker.ts';
import { healthWindowMs, type TargetRecord } from './target-health.ts';

interface TargetSources {
  readonly circuit: (target: string) => CircuitState;
  readonly record: (target: string) => TargetRecord;
}

export interface ListedTarget extends TargetRecord {
  /** `provider/model`. */
  readonly target: string;
  readonly provider: string;
  readonly model: string;
  /** The tags of the catalogue, and the voices, that it serves. */
  readonly servesModels: ReadonlyArray<string>;
  readonly circuit: CircuitState;
}

/** Lists each target once, in the order of the configuration. */
export function listRouteTargets(
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
